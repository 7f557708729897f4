import { clientNetwork } from '../../../core/shared/network-address.ts';
import type { SmtpLimits } from '../../settings.ts';

/** Clients whose unknown recipients are counted over their sessions. */
const MAX_CLIENTS = 20_000;
/** A client's count is forgotten after this time without a further one; milliseconds. */
const COUNT_LIFETIME_MS = 600_000;
/** How often the delay doubles, at most: 250 ms become 4 s. */
const MAX_DOUBLINGS = 4;
/** How many times as many unknown recipients as of a session end the sessions of a client. */
const SESSIONS_OF_CLIENT = 5;

type Limits = Pick<SmtpLimits, 'unknownRecipients' | 'freeUnknownRecipients' | 'unknownRecipientDelayMs'>;

/** Slows down clients that guess addresses. */
export interface UnknownRecipients {
  /**
   * Counts an unknown recipient of a session, which had `ofSession` of them with this one. Returns after its delay whether the session ends;
   * at once when it has none.
   */
  count(clientAddress: string, ofSession: number): boolean | Promise<boolean>;
  /** Ends all delays, and those to come. */
  release(): void;
}

/**
 * Creates the counter of one process. The first unknown recipients of a session cost nothing, because each mailing list has some; from then
 * on each waits for twice as long as the last one, up to 16 times the first delay. A client that had many in its sessions of the last ten
 * minutes gets no free ones. The loopback addresses are counted by session only: a proxy or a relay on this machine acts for many clients.
 */
export function limitUnknownRecipients(limits: Limits): UnknownRecipients {
  /** by client, the one that was counted longest ago first */
  const counts = new Map<string, { count: number; until: number }>();
  const waiting = new Set<() => void>();
  let isReleased = false;

  return {
    count(clientAddress, ofSession) {
      const { unknownRecipients: most, freeUnknownRecipients: free } = limits;
      if (most === 0) return false;
      const client = clientNetwork(clientAddress);
      const isLoopback = client === '127.0.0.1' || client === LOOPBACK_V6;
      const ofClient = isLoopback ? ofSession : countOf(client);
      const isEnded = ofSession >= most || ofClient >= most * SESSIONS_OF_CLIENT;
      const beyond = Math.max(ofSession, ofClient >= most ? ofClient : 0) - free;
      if (beyond <= 0 || isReleased) return isEnded;
      const delayMs = limits.unknownRecipientDelayMs * 2 ** Math.min(beyond - 1, MAX_DOUBLINGS);
      return wait(delayMs).then(() => isEnded);
    },
    release() {
      isReleased = true;
      for (const end of waiting) end();
    },
  };

  function countOf(client: string): number {
    const now = performance.now();
    const known = counts.get(client);
    const count = known === undefined || known.until < now ? 1 : known.count + 1;
    counts.delete(client);
    const { value: oldest } = counts.keys().next();
    if (counts.size >= MAX_CLIENTS && oldest !== undefined) counts.delete(oldest);
    counts.set(client, { count, until: now + COUNT_LIFETIME_MS });
    return count;
  }

  function wait(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        waiting.delete(end);
        resolve();
      };
      const timer = setTimeout(end, milliseconds);
      waiting.add(end);
    });
  }
}

/** Maximum delay; milliseconds. */
export function maxUnknownDelayMs({ unknownRecipientDelayMs }: Limits): number {
  return unknownRecipientDelayMs * 2 ** MAX_DOUBLINGS;
}

const LOOPBACK_V6 = clientNetwork('::1');
