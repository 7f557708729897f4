/** What one tab of a browser tells the others about its session. */
export type SessionNews = { kind: 'signed-in'; userId: string } | { kind: 'signed-out' };

/** All tabs of one browser share a session, since they share its cookie. */
const channel = new BroadcastChannel('postroom-session');

/** Tells the other tabs that somebody signed in here. */
export function announceSignIn(userId: string): void {
  channel.postMessage({ kind: 'signed-in', userId } satisfies SessionNews);
}

/** Tells the other tabs that the session was ended here. */
export function announceSignOut(): void {
  channel.postMessage({ kind: 'signed-out' } satisfies SessionNews);
}

/** Hears what other tabs tell, not what this one does; answers how to stop. */
export function listenForSessionNews(listener: (news: SessionNews) => void): () => void {
  const hear = ({ data }: MessageEvent<SessionNews>) => listener(data);
  channel.addEventListener('message', hear);
  return () => channel.removeEventListener('message', hear);
}
