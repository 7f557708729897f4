import { SIGN_IN_AGAIN } from '../../../core/accounts/session-refusals.ts';

/** `reason`: a sentence for the person, what it is for. */
type Ask = (reason: string) => Promise<boolean>;

/** The dialog that asks the person, as soon as its code is loaded. */
let dialog = Promise.withResolvers<Ask>();
/** Shows the dialog; null: no page can. */
let summon: (() => void) | null = null;

/** Sets what shows the dialog when it is needed for the first time. Returns a function that takes it away. */
export function summonConfirmation(show: () => void): () => void {
  summon = show;
  return () => {
    if (summon === show) summon = null;
  };
}

/** Sets the dialog that asks the person to confirm the sign-in. Returns a function that takes it away. */
export function offerConfirmation(ask: Ask): () => void {
  dialog.resolve(ask);
  return () => {
    dialog = Promise.withResolvers();
  };
}

/** Runs a call, and once more after the person has confirmed the sign-in, if the service asks for it, in the words of the service. */
export async function confirmed<Outcome extends { problem: { code: string | null; message: string } | null }>(
  call: () => Promise<Outcome>,
): Promise<Outcome> {
  const outcome = await call();
  const { problem } = outcome;
  return problem?.code === SIGN_IN_AGAIN && (await confirmSignIn(problem.message)) ? call() : outcome;
}

/** Asks the person to confirm the sign-in, and says what for. Returns whether that was done. */
export async function confirmSignIn(reason: string): Promise<boolean> {
  if (summon === null) return false;
  summon();
  return (await dialog.promise)(reason);
}
