import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createInProcessBus } from '../../../actors/bus/in-process.ts';
import { MAX_PRESENT, PRESENCE_MS, PRESENCE_REPEAT_MS } from '../../../core/threads/presence.ts';
import { createPresenceHub, type PresenceHub } from '../../../operations/threads/presence-hub.ts';

let bus: ReturnType<typeof createInProcessBus>;
let nowMs = 0;
let hub: PresenceHub;
/** of another gateway */
let other: PresenceHub;
let published = 0;

beforeEach(() => {
  nowMs = 1_000_000;
  published = 0;
  bus = createInProcessBus();
  const clock = () => nowMs;
  hub = createPresenceHub({ bus, nowMs: clock });
  other = createPresenceHub({ bus, nowMs: clock });
  bus.subscribe('presence.changed', () => void published++);
});
afterEach(() => {
  hub.close();
  other.close();
});

/** Resolves when all that was published has arrived. */
const arrived = () => new Promise((resolve) => void setImmediate(resolve));
const ann = { personId: 'usr_ann', name: 'Ann' };
const says = async (from: PresenceHub, state: 'reading' | 'replying' | 'gone', person = ann, workspaceId = 'usr_1') => {
  from.announce(workspaceId, 'th_1', { ...person, state });
  await arrived();
};

describe('a presence', () => {
  test('is known to all gateways of its workspace and thread, and to no other', async () => {
    await says(hub, 'replying');
    expect(other.list('usr_1', 'th_1')).toEqual([{ ...ann, state: 'replying' }]);
    expect(other.list('usr_2', 'th_1')).toEqual([]);
    expect(other.list('usr_1', 'th_2')).toEqual([]);
    await says(other, 'gone');
    expect(hub.list('usr_1', 'th_1')).toEqual([]);
  });

  test('ends by itself after a minute', async () => {
    await says(hub, 'reading');
    nowMs += PRESENCE_MS - 1;
    expect(hub.list('usr_1', 'th_1')).toHaveLength(1);
    nowMs += 1;
    expect(hub.list('usr_1', 'th_1')).toEqual([]);
  });

  test('is announced again at most every 15 s, unless it changes', async () => {
    for (let at = 0; at < 100; at++) await says(hub, 'replying');
    expect(published).toBe(1);
    await says(hub, 'reading');
    expect(published).toBe(2);
    nowMs += PRESENCE_REPEAT_MS;
    await says(hub, 'reading');
    expect(published).toBe(3);
  });

  test('is one of at most 50 in a thread', async () => {
    for (let at = 0; at < MAX_PRESENT + 10; at++) await says(hub, 'reading', { personId: `usr_${at}`, name: `P${at}` });
    expect(hub.list('usr_1', 'th_1')).toHaveLength(MAX_PRESENT);
  });

  test('reaches followers at once, when it changes and when it ends by itself', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const sweeping = createPresenceHub({ bus, nowMs: () => nowMs });
      const ending = new AbortController();
      const followed = sweeping.follow('usr_1', 'th_1', ending.signal)[Symbol.asyncIterator]();
      expect((await followed.next()).value).toEqual([]);
      const changed = followed.next();
      await says(hub, 'replying');
      expect((await changed).value).toEqual([{ ...ann, state: 'replying' }]);
      const ended = followed.next();
      nowMs += PRESENCE_MS;
      vi.advanceTimersByTime(5_000);
      expect((await ended).value).toEqual([]);
      const over = followed.next();
      ending.abort();
      expect((await over).done).toBe(true);
      sweeping.close();
    } finally {
      vi.useRealTimers();
    }
  });

  test('is followed by at most 500 readers of a workspace', () => {
    const ending = new AbortController();
    for (let at = 0; at < 500; at++) hub.follow('usr_1', 'th_1', ending.signal);
    expect(() => hub.follow('usr_1', 'th_1', ending.signal)).toThrow('Too many subscriptions');
    expect(() => hub.follow('usr_2', 'th_1', ending.signal)).not.toThrow();
  });
});
