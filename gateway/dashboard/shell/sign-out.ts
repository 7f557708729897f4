import { type AuthOutcome, auth } from '../pages/sign-in/auth-calls.ts';
import { forgetShown } from '../parts/browser-storage.ts';
import { notify } from '../parts/notify.ts';
import { announceSignOut } from './session-news.ts';
import { rememberSignIn } from './shell-outline.tsx';

/**
 * Ends the session and shows the sign-in page in all tabs. Loaded data is discarded. A session by single sign-on ends at the provider, too, which
 * then shows the sign-in page.
 */
export async function signOut(): Promise<void> {
  const { answer } = await auth.findProviderSignOut();
  leaveAfter(await auth.signOut(), answer?.url ?? null);
}

/** Ends all sessions of the account, in all browsers. */
export async function signOutEverywhere(): Promise<void> {
  leaveAfter(await auth.endAllSessions());
}

/** Shows the sign-in page. The reload discards all data. */
export function leave(): void {
  window.location.assign('/sign-in');
}

/** Shows the sign-in page to a user whose account is erased. */
export function leaveErased(): void {
  window.location.assign('/sign-in?account=erased');
}

function leaveAfter({ problem }: AuthOutcome<unknown>, elsewhere: string | null = null): void {
  // Without a response the session may still exist, so do not claim that the user is signed out.
  if (problem !== null && problem.status !== 401) {
    notify({ title: 'You are still signed in', message: problem.message, color: 'red' });
    return;
  }
  announceSignOut();
  rememberSignIn(false);
  forgetShown();
  if (elsewhere === null) leave();
  else window.location.assign(elsewhere);
}
