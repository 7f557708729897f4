import { randomUUID } from 'node:crypto';
import { setTimeout as setTimeoutPromise } from 'node:timers/promises';
import type { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { doorNetwork } from '../../../core/screening/door/door-network.ts';
import { addGuesses, decayGuesses, type GuessScore, judgeGuesses } from '../../../core/screening/door/guess-score.ts';
import { clientNetwork } from '../../../core/shared/network-address.ts';
import { createCountedCache } from '../../../core/shared/sized-cache.ts';
import type { Bus } from '../../../schema/messages.ts';
import type { SmtpLimits } from '../../settings.ts';

/** Clients, and networks, whose unknown recipients are counted over their sessions: the last counted ones. */
const MAX_COUNTED = 20_000;
/** How long counts are gathered before other processes get them; milliseconds. */
const SHARE_MS = 500;
/** Clients whose counts other processes get at once. */
const MAX_SHARED = 1_000;

/** Slows down clients that guess addresses. */
export interface UnknownRecipients {
  /**
   * Counts an unknown recipient of a session, which had `ofSession` of them with this one. Returns after its delay whether the session ends;
   * at once when it has none.
   */
  count(clientAddress: string, ofSession: number): boolean | Promise<boolean>;
  /** Counts on what clients did before this process started, as soon as an actor says it. Never rejects. */
  recall(): Promise<void>;
  /** Ends all delays, and those to come. */
  release(): void;
}

/** How often, and how long after each other, the actor is asked what clients did before. */
const RECALL_TRIES = 60;
const RECALL_PAUSE_MS = 1_000;

/**
 * Creates the counter of one process: judgeGuesses says what the counts mean. They are shared with the other SMTP processes, and survive a
 * restart: what was refused is stored. The loopback addresses are counted by session only, because a proxy or a relay on this machine acts
 * for many clients.
 */
export function limitUnknownRecipients(limits: SmtpLimits, bus: Bus, log: Logger): UnknownRecipients {
  const clients = createCountedCache<GuessScore>(MAX_COUNTED);
  const networks = createCountedCache<GuessScore>(MAX_COUNTED);
  const ownId = randomUUID();
  let unshared = new Map<string, number>();
  let timer: NodeJS.Timeout | null = null;
  const waiting = new Set<() => void>();
  let isReleased = false;

  const add = (address: string, times: number, at: number): void => {
    const [client, network] = [clientNetwork(address), doorNetwork(address)];
    clients.set(client, addGuesses(clients.get(client), times, at));
    networks.set(network, addGuesses(networks.get(network), times, at));
  };

  const share = (): void => {
    timer = null;
    const guesses = [...unshared].map(([address, times]) => ({ address, times }));
    unshared = new Map();
    bus.publish('guesses.counted', { from: ownId, guesses });
  };

  bus.subscribe('guesses.counted', ({ from, guesses }) => {
    if (from === ownId) return;
    for (const { address, times } of guesses) add(address, times, performance.now());
  });

  const wait = (milliseconds: number): Promise<void> =>
    new Promise((resolve) => {
      const end = () => {
        clearTimeout(limit);
        waiting.delete(end);
        resolve();
      };
      const limit = setTimeout(end, milliseconds);
      waiting.add(end);
    });

  return {
    count(address, ofSession) {
      if (limits.unknownRecipients === 0) return false;
      const isLoopback = LOOPBACK.has(clientNetwork(address));
      const now = performance.now();
      if (!isLoopback) {
        add(address, 1, now);
        if (unshared.has(address) || unshared.size < MAX_SHARED)
          unshared.set(address, (unshared.get(address) ?? 0) + 1);
        timer ??= setTimeout(share, SHARE_MS).unref();
      }
      const { delayMs, isEnded } = judgeGuesses(
        {
          ofSession,
          ofClient: isLoopback ? null : read(clients, clientNetwork(address), now),
          ofNetwork: isLoopback ? 0 : read(networks, doorNetwork(address), now),
        },
        limits,
      );
      return delayMs === 0 || isReleased ? isEnded : wait(delayMs).then(() => isEnded);
    },
    async recall() {
      for (let tries = 0; tries < RECALL_TRIES && !isReleased; tries++)
        try {
          const { guesses } = await bus.ask('receiving.guesses.recall', {});
          const now = performance.now();
          for (const { address, times, secondsAgo } of guesses)
            add(address, decayGuesses({ score: times, at: now - secondsAgo * 1_000 }, now), now);
          return;
        } catch (error) {
          // The bus or the actor may start after this process.
          log.debug({ event: 'smtp.guesses-recalled', err: error });
          await setTimeoutPromise(RECALL_PAUSE_MS, undefined, { ref: false });
        }
    },
    release() {
      isReleased = true;
      for (const end of waiting) end();
    },
  };
}

function read(scores: LRUCache<string, GuessScore>, key: string, now: number): number {
  const known = scores.get(key);
  return known === undefined ? 0 : decayGuesses(known, now);
}

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', clientNetwork('::1')]);
