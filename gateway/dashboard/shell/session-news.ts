import { type AuthOutcome, type AuthProblem, auth } from '../pages/sign-in/auth-calls.ts';
import { forgetShown } from '../parts/browser-storage.ts';
import { notify } from '../parts/notify.tsx';
import { rememberSignIn } from './shell-outline.tsx';

/** Message between tabs about the session. */
type SessionNews =
  | { kind: 'signed-in'; personId: string }
  | { kind: 'signed-out' }
  | { kind: 'switched'; workspaceId: string };

/** Tabs of one browser share the session cookie. */
const channel = new BroadcastChannel('postroom-session');

/** What is being written on the page, each with what stores its last words. */
const writers = new Set<() => Promise<unknown>>();

/** Takes part in saveAll, until the returned function is called. */
export function saveBeforeLeaving(save: () => Promise<unknown>): () => void {
  writers.add(save);
  return () => void writers.delete(save);
}

/** Stores what is being written, before the page is left for another workspace or the session ends: afterwards it could not, or in the wrong place. */
async function saveAll(): Promise<void> {
  await Promise.allSettled([...writers].map((save) => save()));
}

/** Tells the other tabs that a user signed in. */
export function announceSignIn(personId: string): void {
  channel.postMessage({ kind: 'signed-in', personId } satisfies SessionNews);
}

/** Tells the other tabs that the user signed out. */
export function announceSignOut(): void {
  channel.postMessage({ kind: 'signed-out' } satisfies SessionNews);
}

/** Stores what is being written, makes a workspace the active one and opens a page of it. Returns why that is not possible. */
export async function openWorkspace(workspaceId: string, path: string): Promise<AuthProblem | null> {
  await saveAll();
  const problem = await activateWorkspace(workspaceId);
  if (problem === null) window.location.assign(path);
  return problem;
}

/** Makes a workspace the active one, and tells the other tabs. Returns why that is not possible. */
export async function activateWorkspace(workspaceId: string): Promise<AuthProblem | null> {
  const { problem } = await auth.switchWorkspace(workspaceId);
  if (problem === null) announceSwitch(workspaceId);
  return problem;
}

/** Tells the other tabs that the session is in a workspace, which may be another one than before. */
export function announceSwitch(workspaceId: string): void {
  forgetShown();
  channel.postMessage({ kind: 'switched', workspaceId } satisfies SessionNews);
}

/** Listens for messages of other tabs. Returns a function that stops listening. */
export function listenForSessionNews(listener: (news: SessionNews) => void): () => void {
  const hear = ({ data }: MessageEvent<SessionNews>) => {
    if (data.kind === 'switched') forgetShown();
    listener(data);
  };
  channel.addEventListener('message', hear);
  return () => channel.removeEventListener('message', hear);
}

/**
 * Ends the session and shows the sign-in page in all tabs. Loaded data is discarded. A session by single sign-on ends at the provider, too, which
 * then shows the sign-in page.
 */
export async function signOut(): Promise<void> {
  await saveAll();
  const { result } = await auth.findProviderSignOut();
  leaveAfter(await auth.signOut(), result?.url ?? null);
}

/** Ends all sessions of the account, in all browsers. */
export async function signOutEverywhere(): Promise<void> {
  await saveAll();
  leaveAfter(await auth.endAllSessions());
}

/** Shows the sign-in page. The reload discards all data. A tab that hears of it has its own that can be undone. */
export function leave(): void {
  forgetShown();
  window.location.assign('/sign-in');
}

/** Shows the sign-in page to a user whose account is erased. */
export function leaveErased(): void {
  forgetShown();
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
