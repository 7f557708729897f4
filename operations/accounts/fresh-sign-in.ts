import { SIGN_IN_AGAIN } from '../../core/accounts/session-refusals.ts';
import { FRESH_SIGN_IN_MINUTES } from '../../core/accounts/sign-in.ts';
import { UserError } from '../../core/shared/errors.ts';
import type { OperationContext } from '../context.ts';

/**
 * Requires that the person of a session has signed in, or confirmed to be there, within the last minutes: for what gives access. API keys change
 * no more than their scopes allow. `what` completes "Sign in again to …". Throws forbidden.
 */
export function requireFreshSignIn(
  { caller, now }: { caller: Pick<OperationContext['caller'], 'via' | 'signedInAt'>; now: () => Date },
  what: string,
): void {
  if (caller.via !== 'session') return;
  const signedInAt = caller.signedInAt?.getTime() ?? 0;
  if (now().getTime() - signedInAt <= FRESH_SIGN_IN_MINUTES * 60_000) return;
  throw new UserError(
    'forbidden',
    `Sign in again to ${what}. You can do so within ${FRESH_SIGN_IN_MINUTES} minutes of signing in.`,
    { title: 'Forbidden', reason: SIGN_IN_AGAIN },
  );
}
