import { UserError } from '../../core/shared/errors.ts';
import { MAX_PRESENT, PRESENCE_MS, PRESENCE_REPEAT_MS, type PresenceState } from '../../core/threads/presence.ts';
import type { Broadcast, Bus } from '../../schema/messages.ts';

/** A member who has a thread open. */
export interface Present {
  personId: string;
  /** name or address */
  name: string;
  state: Exclude<PresenceState, 'gone'>;
}

/**
 * Who has which thread open, in the memory of each gateway: gateways tell each other over the bus, and nothing is stored. A gateway that
 * starts knows everyone again within the time in which pages renew their presence.
 */
export interface PresenceHub {
  /** Announces what a member does with a thread. A repetition is announced at most every PRESENCE_REPEAT_MS. */
  announce(workspaceId: string, threadId: string, present: Omit<Present, 'state'> & { state: PresenceState }): void;
  /** Returns who has the thread open. */
  list(workspaceId: string, threadId: string): Present[];
  /** Yields who has the thread open, at once and after each change, until the signal is aborted. Throws rate_limited, unavailable. */
  follow(workspaceId: string, threadId: string, signal: AbortSignal): AsyncIterable<Present[]>;
  /** Ends all followers. */
  close(): void;
}

/** Threads of all workspaces in which someone is present. The longest unchanged one is forgotten. @limit */
const MAX_THREADS = 10_000;
/** Followers of one workspace, and of all. @limit */
const MAX_FOLLOWERS_OF_WORKSPACE = 500;
const MAX_FOLLOWERS = 5_000;
/** Milliseconds between two looks for presences that have ended. */
const SWEEP_MS = 5_000;

interface Entry extends Present {
  endsAt: number;
  announcedAt: number;
}

/** `nowMs`: a clock that only goes on, milliseconds. */
export function createPresenceHub({
  bus,
  nowMs = () => performance.now(),
}: {
  bus: Pick<Bus, 'publish' | 'subscribe'>;
  nowMs?: () => number;
}): PresenceHub {
  const threads = new Map<string, Map<string, Entry>>();
  const followers = new Map<string, Set<() => void>>();
  const counts = new Map<string, number>();
  let followerCount = 0;
  const ending = new AbortController();
  const threadKey = (workspaceId: string, threadId: string) => `${workspaceId} ${threadId}`;
  const tell = (key: string) => {
    for (const wake of followers.get(key) ?? []) wake();
  };

  const sweep = setInterval(() => {
    const now = nowMs();
    for (const [key, present] of threads) {
      const ended = [...present.values()].filter(({ endsAt }) => endsAt <= now);
      for (const { personId } of ended) present.delete(personId);
      if (present.size === 0) threads.delete(key);
      if (ended.length > 0) tell(key);
    }
  }, SWEEP_MS).unref();

  const apply = ({ workspaceId, threadId, personId, name, state }: Broadcast<'presence.changed'>) => {
    const key = threadKey(workspaceId, threadId);
    const present = threads.get(key) ?? new Map<string, Entry>();
    const before = present.get(personId);
    const now = nowMs();
    if (state === 'gone') present.delete(personId);
    else if (before !== undefined || present.size < MAX_PRESENT)
      present.set(personId, { personId, name, state, endsAt: now + PRESENCE_MS, announcedAt: now });
    // The last of the map is the one that changed last.
    threads.delete(key);
    if (present.size > 0) threads.set(key, present);
    if (threads.size > MAX_THREADS) {
      const [oldest = ''] = threads.keys();
      threads.delete(oldest);
    }
    if (before?.state !== present.get(personId)?.state) tell(key);
  };
  const subscription = bus.subscribe('presence.changed', apply);

  const list = (workspaceId: string, threadId: string): Present[] => {
    const now = nowMs();
    return [...(threads.get(threadKey(workspaceId, threadId))?.values() ?? [])].flatMap(
      ({ personId, name, state, endsAt }) => (endsAt > now ? [{ personId, name, state }] : []),
    );
  };

  async function* read(workspaceId: string, threadId: string, signal: AbortSignal): AsyncGenerator<Present[], void> {
    const key = threadKey(workspaceId, threadId);
    const ended = AbortSignal.any([signal, ending.signal]);
    let isChanged = true;
    let wake: () => void = () => undefined;
    const change = () => {
      isChanged = true;
      wake();
    };
    const own = followers.get(key) ?? new Set();
    followers.set(key, own.add(change));
    ended.addEventListener('abort', change);
    try {
      while (!ended.aborted) {
        if (isChanged) {
          isChanged = false;
          yield list(workspaceId, threadId);
        } else {
          const { promise, resolve } = Promise.withResolvers<void>();
          wake = resolve;
          await promise;
        }
      }
    } finally {
      ended.removeEventListener('abort', change);
      own.delete(change);
      if (own.size === 0) followers.delete(key);
      leave(workspaceId);
    }
  }
  const leave = (workspaceId: string) => {
    followerCount--;
    const left = (counts.get(workspaceId) ?? 1) - 1;
    if (left === 0) counts.delete(workspaceId);
    else counts.set(workspaceId, left);
  };

  return {
    announce(workspaceId, threadId, { personId, name, state }) {
      const known = threads.get(threadKey(workspaceId, threadId))?.get(personId);
      const isRepeated = known?.state === state && nowMs() - known.announcedAt < PRESENCE_REPEAT_MS;
      if (isRepeated) return;
      const change = { workspaceId, threadId, personId, name, state };
      // Its own response shows it, before the bus does.
      apply(change);
      bus.publish('presence.changed', change);
    },
    list,
    follow(workspaceId, threadId, signal) {
      const count = counts.get(workspaceId) ?? 0;
      if (count >= MAX_FOLLOWERS_OF_WORKSPACE)
        throw new UserError('rate_limited', 'Too many subscriptions to presence are open in this workspace', {
          retryAfterSeconds: 60,
        });
      if (followerCount >= MAX_FOLLOWERS)
        throw new UserError('unavailable', 'Too many subscriptions to presence are open', { retryAfterSeconds: 60 });
      followerCount++;
      counts.set(workspaceId, count + 1);
      return read(workspaceId, threadId, signal);
    },
    close() {
      clearInterval(sweep);
      ending.abort();
      void subscription.stop();
    },
  };
}
