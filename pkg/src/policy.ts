// What a Content-Security-Policy refuses looks like any other failure to the code that asked; an event beside it says what it was.

/** Something that was refused. */
type Refused = Pick<SecurityPolicyViolationEvent, "blockedURI" | "effectiveDirective">;

/** All that this page's or worker's policy has refused since somebody first wanted to know. */
let refused: Refused[] | undefined;

/** Listens from now on. What it gives tells, after a failure, whether the policy has refused something like this since. */
export function watchPolicy(): (isIt: (refused: Refused) => boolean) => Promise<boolean> {
  if (!refused) {
    refused = [];
    globalThis.addEventListener?.("securitypolicyviolation", (event) => event.disposition === "enforce" && refused?.push(event));
  }
  const before = refused.length;
  return async (isIt) => {
    await new Promise((resolve) => setTimeout(resolve)); // the event may come after the failure
    return (refused as Refused[]).slice(before).some(isIt);
  };
}
