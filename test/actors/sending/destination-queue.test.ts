import { expect, test, vi } from 'vitest';
import {
  createDestinationQueue,
  type DestinationLimits,
  type DestinationQueue,
  type DestinationVerdict,
} from '../../../actors/sending/destination-queue.ts';
import type { Transaction } from '../../../actors/sending/sending-job.ts';

const PLENTY = { count: 100, bytes: 1_000_000 };
const LIMITS = { active: PLENTY, unproven: PLENTY, first: 2, most: 6 };

function createQueue(limits: DestinationLimits, onReady = () => undefined): DestinationQueue {
  return createDestinationQueue({ limits, keyOf: ({ domain }) => domain, onReady });
}

function transaction(name: string, domain: string, recipients = 1): Transaction {
  const jobs = Array.from({ length: recipients }, (_, n) => ({
    workspaceId: 'usr',
    recipientId: `${name}-${n}`,
    emailId: name,
    address: `${name}${n}@${domain}`,
    domain,
    attempts: 0,
    number: 1,
    ageSeconds: 0,
    isSuppressed: false,
    isForwarded: false,
    leaseUntil: Number.POSITIVE_INFINITY,
    claimedAt: 0,
  }));
  return {
    workspaceId: 'usr',
    emailId: name,
    rawId: null,
    bytes: 100,
    domain,
    senderDomain: 'box.test',
    isSenderVerified: true,
    isSystemSender: false,
    returnDomain: 'box.test',
    isHosted: false,
    jobs,
  };
}

function fill(queue: DestinationQueue, domain: string, count: number): void {
  for (let n = 0; n < count; n++) queue.add(transaction(`${domain}#${n}`, domain));
}

// What takeBatch took, in its order.
const running: { queue: DestinationQueue; transaction: Transaction }[] = [];

function takeBatch(queue: DestinationQueue): string[] {
  const taken = queue.take();
  running.push(...taken.map((one) => ({ queue, transaction: one })));
  return taken.map(({ emailId }) => emailId);
}

/** Ends the transaction of that destination that has run longest. */
function end(queue: DestinationQueue, key: string, verdict: DestinationVerdict, startedTick = performance.now()): void {
  const at = running.findIndex((one) => one.queue === queue && one.transaction.domain === key);
  const [ended] = running.splice(at, 1);
  if (at === -1 || ended === undefined) throw new Error(`nothing runs of ${key}`);
  queue.end(ended.transaction);
  queue.learn(key, startedTick, verdict);
}

test('destinations take turns, each up to its limit', () => {
  const queue = createQueue(LIMITS);
  fill(queue, 'a', 5);
  fill(queue, 'b', 5);
  fill(queue, 'c', 1);
  expect(takeBatch(queue)).toEqual(['a#0', 'b#0', 'c#0', 'a#1', 'b#1']);
  expect(takeBatch(queue)).toEqual([]);
});

test('users take turns within a destination', () => {
  const queue = createQueue({ ...LIMITS, first: 6 });
  fill(queue, 'a', 4);
  for (const workspaceId of ['ben', 'cay']) queue.add({ ...transaction(`of ${workspaceId}`, 'a'), workspaceId });
  expect(takeBatch(queue)).toEqual(['a#0', 'of ben', 'of cay', 'a#1', 'a#2', 'a#3']);
});

test('all destinations together have one limit', () => {
  const queue = createQueue({ ...LIMITS, active: { ...PLENTY, count: 3 } });
  for (const workspaceId of ['a', 'b', 'c', 'd'])
    queue.add({ ...transaction(`${workspaceId}#0`, workspaceId), workspaceId });
  expect(takeBatch(queue)).toEqual(['a#0', 'b#0', 'c#0']);
  end(queue, 'a', 'refused');
  expect(takeBatch(queue)).toEqual(['d#0']);
});

test('a destination gets one more transaction with each accepted message, up to the maximum', () => {
  const queue = createQueue(LIMITS);
  fill(queue, 'a', 40);
  const counts = [takeBatch(queue).length];
  for (let n = 0; n < 10; n++) {
    end(queue, 'a', 'sent');
    takeBatch(queue);
    counts.push(queue.runningOf('a'));
  }
  expect(counts).toEqual([2, 3, 4, 5, 6, 6, 6, 6, 6, 6, 6]);
});

test('a refusal of one message changes no limit', () => {
  const queue = createQueue(LIMITS);
  fill(queue, 'a', 10);
  takeBatch(queue);
  end(queue, 'a', 'refused');
  expect(takeBatch(queue)).toHaveLength(1);
});

test('a destination that defers gets a pause and half its limit, and others keep theirs', () => {
  vi.useFakeTimers();
  try {
    let ready = 0;
    const queue = createQueue(LIMITS, () => void ready++);
    fill(queue, 'a', 40);
    fill(queue, 'b', 3);
    takeBatch(queue);
    for (let n = 0; n < 4; n++) {
      end(queue, 'a', 'sent');
      takeBatch(queue);
    }
    expect(queue.runningOf('a')).toBe(6);
    end(queue, 'a', 'slow');
    end(queue, 'b', 'sent');
    expect(takeBatch(queue)).toEqual(['b#2']);
    for (let n = 0; n < 5; n++) end(queue, 'a', 'refused');
    vi.advanceTimersByTime(900);
    expect([takeBatch(queue), ready]).toEqual([[], 0]);
    vi.advanceTimersByTime(200);
    expect([takeBatch(queue).length, ready]).toEqual([3, 1]);
  } finally {
    vi.useRealTimers();
  }
});

test('pauses double while nothing is accepted, up to a minute', () => {
  vi.useFakeTimers();
  try {
    const queue = createQueue(LIMITS);
    fill(queue, 'a', 40);
    const pauses: number[] = [];
    takeBatch(queue);
    end(queue, 'a', 'refused');
    for (let n = 0; n < 8; n++) {
      end(queue, 'a', 'slow');
      const from = performance.now();
      while (takeBatch(queue).length === 0) vi.advanceTimersByTime(100);
      pauses.push(Math.round((performance.now() - from) / 1_000));
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
    end(queue, 'a', 'sent');
    takeBatch(queue);
    end(queue, 'a', 'slow');
    vi.advanceTimersByTime(1_100);
    expect(takeBatch(queue)).toHaveLength(1);
  } finally {
    vi.useRealTimers();
  }
});

test('deferrals of single recipients do not lengthen the pauses', () => {
  vi.useFakeTimers();
  try {
    const queue = createQueue(LIMITS);
    fill(queue, 'a', 10);
    takeBatch(queue);
    end(queue, 'a', 'refused');
    for (let n = 0; n < 5; n++) {
      end(queue, 'a', 'hesitant');
      expect(takeBatch(queue)).toEqual([]);
      vi.advanceTimersByTime(1_100);
      expect(takeBatch(queue)).toHaveLength(1);
    }
  } finally {
    vi.useRealTimers();
  }
});

test('results of transactions that began before a pause are ignored', () => {
  vi.useFakeTimers();
  try {
    const queue = createQueue({ ...LIMITS, first: 4 });
    fill(queue, 'a', 10);
    const startedTick = performance.now();
    takeBatch(queue);
    vi.advanceTimersByTime(50);
    for (let n = 0; n < 4; n++) end(queue, 'a', 'slow', startedTick);
    vi.advanceTimersByTime(1_100);
    expect(takeBatch(queue)).toHaveLength(2);
  } finally {
    vi.useRealTimers();
  }
});

test('a job that is put back comes first', () => {
  const queue = createQueue({ ...LIMITS, first: 1 });
  fill(queue, 'a', 3);
  const [taken] = queue.take();
  if (taken === undefined) throw new Error('nothing was taken');
  queue.end(taken);
  queue.putBack(taken);
  expect(takeBatch(queue)).toEqual(['a#0']);
});

test('waiting jobs can be removed, of one destination and of all', () => {
  const queue = createQueue({ ...LIMITS, first: 1 });
  fill(queue, 'a', 3);
  fill(queue, 'b', 2);
  takeBatch(queue);
  expect(queue.takeWaiting('a').map(({ emailId }) => emailId)).toEqual(['a#1', 'a#2']);
  expect(queue.takeAllWaiting().map(({ emailId }) => emailId)).toEqual(['b#1']);
  end(queue, 'a', 'sent');
  expect(queue.take()).toEqual([]);
});

/** Adds one transaction to a destination of its own. */
function addOne(queue: DestinationQueue, workspaceId: string, name: string, bytes = 100): void {
  queue.add({ ...transaction(name, name), workspaceId, bytes });
}

test('a user gets as many transactions as are left free, half of them alone, and another user always gets one', () => {
  const queue = createQueue({ ...LIMITS, active: { ...PLENTY, count: 12 } });
  for (let n = 0; n < 20; n++) addOne(queue, 'ann', `ann${n}`);
  expect(takeBatch(queue)).toHaveLength(6);
  for (let n = 0; n < 20; n++) addOne(queue, 'ben', `ben${n}`);
  expect(takeBatch(queue)).toEqual(['ben0', 'ben1', 'ben2']);
  addOne(queue, 'cay', 'cay0');
  expect(takeBatch(queue)).toEqual(['cay0']);
  for (const name of ['ann0', 'ann1']) end(queue, name, 'refused');
  // Ann has more than are free, Ben has not.
  expect(takeBatch(queue)).toEqual(['ben3']);
});

test('destinations that have accepted nothing cannot take all transactions, however many users they have', () => {
  const unproven = { ...PLENTY, count: 4 };
  const queue = createQueue({ ...LIMITS, unproven, active: { ...PLENTY, count: 8 } });
  addOne(queue, 'zoe', 'known');
  takeBatch(queue);
  end(queue, 'known', 'sent');
  for (let n = 0; n < 20; n++) addOne(queue, `user${n}`, `new${n}`);
  expect(takeBatch(queue)).toEqual(['new0', 'new1', 'new2', 'new3']);
  addOne(queue, 'zoe', 'known');
  expect(takeBatch(queue)).toEqual(['known']);
  end(queue, 'known', 'slow');
  end(queue, 'new0', 'sent');
  expect(takeBatch(queue)).toEqual(['new4']);
});

test('bytes of running messages are limited, of all and of a user, and a large one passes alone', () => {
  const queue = createQueue({ ...LIMITS, active: { ...PLENTY, bytes: 1_000 } });
  addOne(queue, 'ann', 'huge', 5_000);
  for (const name of ['a', 'b', 'c']) addOne(queue, 'ann', name, 250);
  addOne(queue, 'ben', 'large', 600);
  addOne(queue, 'ben', 'small', 400);
  expect(takeBatch(queue)).toEqual(['huge']);
  end(queue, 'huge', 'sent');
  expect(takeBatch(queue)).toEqual(['a', 'b', 'small']);
  for (const name of ['a', 'small']) end(queue, name, 'sent');
  expect(takeBatch(queue)).toEqual(['c']);
  end(queue, 'b', 'sent');
  expect(takeBatch(queue)).toEqual(['large']);
});
