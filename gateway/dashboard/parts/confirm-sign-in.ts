type Ask = () => Promise<boolean>;
let shown: Ask | null = null;

/** Sets the dialog that asks the person to confirm the sign-in. Returns a function that takes it away. */
export function offerConfirmation(ask: Ask): () => void {
  shown = ask;
  return () => {
    if (shown === ask) shown = null;
  };
}

/** The code of the error of a change that needs a sign-in within the last minutes. */
const SIGN_IN_AGAIN = 'SIGN_IN_AGAIN';

/** Runs a call, and once more after the person has confirmed the sign-in, if the service asks for it. */
export async function confirmed<Outcome extends { problem: { code: string | null } | null }>(
  call: () => Promise<Outcome>,
): Promise<Outcome> {
  const outcome = await call();
  if (outcome.problem?.code !== SIGN_IN_AGAIN || shown === null) return outcome;
  return (await shown()) ? call() : outcome;
}

/** Asks the person to confirm the sign-in. Returns whether that was done. */
export async function confirmSignIn(): Promise<boolean> {
  return shown !== null && (await shown());
}
