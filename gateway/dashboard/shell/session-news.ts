/** Message between tabs about the session. */
export type SessionNews = { kind: 'signed-in'; personId: string } | { kind: 'signed-out' } | { kind: 'switched' };

/** Tabs of one browser share the session cookie. */
const channel = new BroadcastChannel('postroom-session');

/** Tells the other tabs that a user signed in. */
export function announceSignIn(personId: string): void {
  channel.postMessage({ kind: 'signed-in', personId } satisfies SessionNews);
}

/** Tells the other tabs that the user signed out. */
export function announceSignOut(): void {
  channel.postMessage({ kind: 'signed-out' } satisfies SessionNews);
}

/** Tells the other tabs that the session is in another workspace. */
export function announceSwitch(): void {
  channel.postMessage({ kind: 'switched' } satisfies SessionNews);
}

/** Listens for messages of other tabs. Returns a function that stops listening. */
export function listenForSessionNews(listener: (news: SessionNews) => void): () => void {
  const hear = ({ data }: MessageEvent<SessionNews>) => listener(data);
  channel.addEventListener('message', hear);
  return () => channel.removeEventListener('message', hear);
}
