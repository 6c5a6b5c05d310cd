// How <case-lens> looks: text in the page's own colour and font, so that it fits light and dark pages alike. What a page
// may want to change is a custom property; everything else can be reached through ::part.

export const STYLE = `
:host {
  --_accent: var(--case-lens-accent, #3b78e7);
  --_track: var(--case-lens-track, color-mix(in srgb, currentColor 14%, transparent));
  --_border: var(--case-lens-border, color-mix(in srgb, currentColor 60%, transparent));
  --_gap: var(--case-lens-gap, 0.75rem);
  --_radius: var(--case-lens-radius, 0.375rem);
  display: block;
  container-type: inline-size;
  line-height: 1.4;
}
:host([hidden]) { display: none; }
* { box-sizing: border-box; }
[hidden] { display: none !important; }
.base, .sentences, ul { display: flex; flex-direction: column; gap: var(--_gap); }
p, ul { margin: 0; padding: 0; list-style: none; }
.sentence { padding-inline-start: 0.75em; border-inline-start: 0.2em solid var(--_accent); overflow-wrap: anywhere; }
label { display: grid; gap: 0.25em; }
textarea, input, button { font: inherit; color: inherit; background: transparent; border: 1px solid var(--_border); border-radius: var(--_radius); }
textarea, input { width: 100%; padding: 0.4em 0.6em; }
textarea { resize: vertical; field-sizing: content; min-height: 2.2em; }
button { padding: 0.4em 0.8em; min-height: 2em; cursor: pointer; }
button:hover { background: var(--_track); }
:is(textarea, input, button, [tabindex]):focus-visible { outline: 2px solid var(--_accent); outline-offset: 2px; }
.row { display: grid; grid-template-columns: minmax(6rem, 1fr) minmax(5rem, 2fr) minmax(13rem, max-content) auto; gap: 0.25rem var(--_gap); align-items: center; }
.condition { overflow-wrap: anywhere; }
.meter { height: 0.75em; border-radius: var(--_radius); background: var(--_track); overflow: hidden; }
.bar { height: 100%; width: var(--_share, 0%); background: var(--_accent); }
.numbers { font-variant-numeric: tabular-nums; white-space: nowrap; }
.unsaid, .uncertain { opacity: 0.75; }
:is(.unsaid, .uncertain) .numbers { font-style: italic; white-space: normal; max-width: 17rem; }
.uncertain .bar { background: repeating-linear-gradient(90deg, currentColor 0 2px, transparent 2px 6px); }
.foreign { padding-inline-start: 0.75em; border-inline-start: 0.2em dashed var(--case-lens-error, #d3413a); }
.stale .numbers, .stale .bar { opacity: 0.5; }
.remove { width: 2em; padding: 0; justify-self: end; }
.add { align-self: start; }
progress { width: 100%; accent-color: var(--_accent); }
.error { display: flex; flex-wrap: wrap; gap: var(--_gap); align-items: center; padding: 0.6em 0.8em; border: 2px solid var(--case-lens-error, #d3413a); border-radius: var(--_radius); }
.error p { flex: 1 1 16rem; overflow-wrap: anywhere; }
.spoken { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
@container (max-width: 34rem) {
  .row { grid-template-columns: 1fr auto; }
  .row .condition { grid-column: 1 / -1; }
  .row .meter { grid-column: 1 / -1; grid-row: 2; }
  .row .numbers { grid-column: 1 / -1; grid-row: 3; }
}
@media (prefers-reduced-motion: no-preference) {
  .bar { transition: width 0.3s ease-out; }
}
@media (forced-colors: active) {
  .meter { border: 1px solid CanvasText; }
  .bar { background: Highlight; forced-color-adjust: none; }
}
`;
