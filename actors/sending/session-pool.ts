import type { SmtpSession } from './smtp-session.ts';

/** Open idle sessions by destination, reused within seconds. */
export interface SessionPool {
  /** Removes an idle session of that destination and returns it; null when there is none. */
  take(key: string): SmtpSession | null;
  /** Keeps a session that can be reused, and closes any other. */
  give(key: string, session: SmtpSession): void;
  /** Closes idle sessions, and every session that is returned later. */
  close(): void;
}

/** An idle session is closed after this time: servers close them too, and the next message on it would fail. Milliseconds. */
const IDLE_MS = 5_000;
/** Maximum transactions of one session: servers count them, and a host that moved must be noticed. */
const MAX_TRANSACTIONS = 100;
/** Maximum idle sessions in total. */
const MAX_IDLE = 100;

export function createSessionPool(): SessionPool {
  // The sessions of one destination, newest last.
  const idle = new Map<string, { session: SmtpSession; timer: NodeJS.Timeout }[]>();
  let count = 0;
  let isClosed = false;

  const remove = (key: string, session: SmtpSession): boolean => {
    const sessions = idle.get(key) ?? [];
    const at = sessions.findIndex((entry) => entry.session === session);
    if (at === -1) return false;
    clearTimeout(sessions[at]?.timer);
    sessions.splice(at, 1);
    if (sessions.length === 0) idle.delete(key);
    count--;
    session.onIdleEnd = null;
    return true;
  };

  return {
    take(key) {
      for (;;) {
        const last = idle.get(key)?.at(-1);
        if (last === undefined) return null;
        remove(key, last.session);
        if (last.session.isUsable) return last.session;
      }
    },
    give(key, session) {
      if (!session.isUsable) return;
      if (isClosed || count >= MAX_IDLE || session.transactionCount >= MAX_TRANSACTIONS) {
        session.quit();
        return;
      }
      const timer = setTimeout(() => {
        if (remove(key, session)) session.quit();
      }, IDLE_MS);
      const sessions = idle.get(key) ?? [];
      sessions.push({ session, timer });
      idle.set(key, sessions);
      count++;
      session.onIdleEnd = () => void remove(key, session);
    },
    close() {
      isClosed = true;
      for (const [key, sessions] of idle)
        for (const { session } of sessions.slice()) {
          remove(key, session);
          session.quit();
        }
    },
  };
}
