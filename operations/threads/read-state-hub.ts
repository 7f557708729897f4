import { UserError } from '../../core/shared/errors.ts';
import type { Bus } from '../../schema/messages.ts';

/** What a member's own mark changed. */
export interface ReadByMember {
  /** the threads that it was set for, as they are now; null: all */
  threadIds: string[] | null;
  isRead: boolean;
}

/** Tells the sessions of a member, on all gateways, what the member marks as read. Nothing is stored here, and a gateway that starts knows nothing. */
export interface ReadStateHub {
  announce(workspaceId: string, personId: string, change: ReadByMember): void;
  /** Yields the changes of a member from now on, until the signal is aborted. Throws rate_limited, unavailable. */
  follow(workspaceId: string, personId: string, signal: AbortSignal): AsyncIterable<ReadByMember>;
  /** Ends all followers. */
  close(): void;
}

/** Followers of one person in a workspace, and of all. @limit */
const MAX_FOLLOWERS_OF_PERSON = 100;
const MAX_FOLLOWERS = 5_000;
/** Changes that a slow reader is behind at most. Then it gets one change that replaces all: read everything again. @limit */
const MAX_BEHIND = 100;

interface Follower {
  waiting: ReadByMember[];
  wake: () => void;
}

export function createReadStateHub({ bus }: { bus: Pick<Bus, 'publish' | 'subscribe'> }): ReadStateHub {
  const followers = new Map<string, Set<Follower>>();
  let followerCount = 0;
  const ending = new AbortController();
  const makeKey = (workspaceId: string, personId: string) => `${workspaceId} ${personId}`;

  const subscription = bus.subscribe('read.changed', ({ workspaceId, personId, threadIds, isRead }) => {
    for (const follower of followers.get(makeKey(workspaceId, personId)) ?? []) {
      if (follower.waiting.length >= MAX_BEHIND) follower.waiting = [{ threadIds: null, isRead: true }];
      else follower.waiting.push({ threadIds, isRead });
      follower.wake();
    }
  });

  async function* read(key: string, signal: AbortSignal): AsyncGenerator<ReadByMember, void> {
    const ended = AbortSignal.any([signal, ending.signal]);
    const follower: Follower = { waiting: [], wake: () => undefined };
    const of = followers.get(key) ?? new Set();
    followers.set(key, of.add(follower));
    followerCount++;
    const stop = () => follower.wake();
    ended.addEventListener('abort', stop);
    try {
      while (!ended.aborted) {
        const change = follower.waiting.shift();
        if (change !== undefined) {
          yield change;
          continue;
        }
        const { promise, resolve } = Promise.withResolvers<void>();
        follower.wake = resolve;
        await promise;
      }
    } finally {
      ended.removeEventListener('abort', stop);
      of.delete(follower);
      if (of.size === 0) followers.delete(key);
      followerCount--;
    }
  }

  return {
    announce: (workspaceId, personId, change) => bus.publish('read.changed', { workspaceId, personId, ...change }),
    follow(workspaceId, personId, signal) {
      const key = makeKey(workspaceId, personId);
      if ((followers.get(key)?.size ?? 0) >= MAX_FOLLOWERS_OF_PERSON)
        throw new UserError('rate_limited', 'You have too many subscriptions to your read state open', {
          retryAfterSeconds: 60,
        });
      if (followerCount >= MAX_FOLLOWERS)
        throw new UserError('unavailable', 'Too many subscriptions to read states are open', { retryAfterSeconds: 60 });
      return read(key, signal);
    },
    close() {
      ending.abort();
      void subscription.stop();
    },
  };
}
