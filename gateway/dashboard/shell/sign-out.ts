import { type AuthOutcome, auth } from '../pages/sign-in/auth-calls.ts';
import { notify } from '../parts/notify.ts';
import { announceSignOut } from './session-news.ts';

/** Ends the session and shows the sign-in page in all tabs. What was read goes with the pages. */
export async function signOut(): Promise<void> {
  leaveAfter(await auth.signOut());
}

/** As signOut, in all browsers where the account is signed in. */
export async function signOutEverywhere(): Promise<void> {
  leaveAfter(await auth.endAllSessions());
}

/** Shows the sign-in page. A page that is loaded anew remembers nothing. */
export function leave(): void {
  window.location.assign('/sign-in');
}

function leaveAfter({ problem }: AuthOutcome<unknown>): void {
  // Without an answer the session may well go on: whoever reads "signed out" then would be misled.
  if (problem !== null && problem.status !== 401) {
    notify({ title: 'You are still signed in', message: problem.message, color: 'red' });
    return;
  }
  announceSignOut();
  leave();
}
