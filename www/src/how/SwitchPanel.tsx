// Switches that leave steps out or do them otherwise, and what they do to the answer.

import { type TokenPooling, unsaid } from "caselens";
import { strings } from "../strings";
import { type Explained, explained, noSwitches, switches, touched, waiting, type Switches } from "./state";

const words = strings.how.switches;
const poolings: readonly TokenPooling[] = ["all", "condition", "sentence", "cls"];

/** Sets one switch; back at the model's own way it is as if it had not been touched. */
function set<K extends keyof Switches>(key: K, value: Switches[K], own: Switches[K]): void {
  const { [key]: _, ...others } = switches.value;
  switches.value = (value === own && key !== "condition" ? others : { ...others, [key]: value }) as Switches;
}

interface ToggleProps {
  readonly label: string;
  readonly on: boolean;
  readonly disabled?: boolean;
  readonly change: (on: boolean) => void;
}

const Toggle = ({ label, on, disabled = false, change }: ToggleProps) => (
  <label class="toggle">
    <input
      type="checkbox"
      role="switch"
      checked={on}
      disabled={disabled}
      onChange={(event) => change(event.currentTarget.checked)}
    />
    <span>{label}</span>
  </label>
);

/** The answer, done as switched and as the model does it; words in its place where a sentence says nothing about the condition. */
function told({ by, own, now }: Explained): string {
  const nothing = unsaid(own, by.info);
  if (!nothing) return touched.value ? words.changed(now.similarity, own.similarity) : words.own(own.similarity);
  const plain = now.recipe === null ? `${strings.results.spokenUnaided(now.similarity)} ` : "";
  return `${plain}${strings.how.steps.cosine.unsaid[nothing]}`;
}

export function SwitchPanel() {
  const result = explained.value;
  const usual = result?.own.usual;
  const { condition, subtract, pooling, head } = switches.value;
  return (
    <fieldset class="switches">
      <legend>{words.title}</legend>
      <div class="switches-row">
        <Toggle label={words.condition} on={condition} change={(on) => set("condition", on, true)} />
        <label class="chooser">
          <span>{words.pooling}</span>
          <select
            value={pooling ?? usual?.pooling ?? "all"}
            disabled={!usual || !condition}
            onChange={(event) => set("pooling", event.currentTarget.value as TokenPooling, usual?.pooling)}
          >
            {poolings.map((name) => (
              <option key={name} value={name}>
                {words.poolings[name]}
              </option>
            ))}
          </select>
        </label>
        <Toggle
          label={words.subtract}
          on={subtract ?? usual?.subtract ?? false}
          disabled={!usual || !condition}
          change={(on) => set("subtract", on, usual?.subtract)}
        />
        <Toggle
          label={usual?.head === false ? `${words.head} (${words.noHead})` : words.head}
          on={usual?.head === true && head !== false}
          disabled={!usual?.head || !condition}
          change={(on) => set("head", on, usual?.head)}
        />
        <button type="button" class="button" disabled={!touched.value} onClick={() => (switches.value = noSwitches)}>
          {words.reset}
        </button>
      </div>
      <p class={waiting.value ? "verdict stale" : "verdict"} role="status" data-waiting={waiting.value ? "" : undefined}>
        {result && told(result)}
      </p>
    </fieldset>
  );
}
