import { expect, test, vi } from 'vitest';
import { createDestinationQueue, type DestinationQueue } from '../../../actors/sending/destination-queue.ts';
import type { Transaction } from '../../../actors/sending/job.ts';

const LIMITS = { active: 10, first: 2, most: 6 };

function transaction(name: string, domain: string, recipients = 1): Transaction {
  const jobs = Array.from({ length: recipients }, (_, n) => ({
    userId: 'usr',
    recipientId: `${name}-${n}`,
    emailId: name,
    address: `${name}${n}@${domain}`,
    attempts: 0,
    number: 1,
    ageSeconds: 0,
    isSuppressed: false,
    leaseUntil: Number.POSITIVE_INFINITY,
    claimedAt: 0,
  }));
  return {
    userId: 'usr',
    emailId: name,
    rawId: null,
    domain,
    senderDomain: 'box.test',
    isSenderVerified: true,
    returnDomain: 'box.test',
    isHosted: false,
    jobs,
  };
}

function fill(queue: DestinationQueue, domain: string, count: number): void {
  for (let n = 0; n < count; n++) queue.add(domain, transaction(`${domain}#${n}`, domain));
}

const takenOf = (queue: DestinationQueue) => queue.take().map(({ transaction: { emailId } }) => emailId);
const end = (queue: DestinationQueue, key: string, verdict: Parameters<DestinationQueue['end']>[2]) =>
  queue.end(key, performance.now(), verdict);

test('destinations take turns, each up to its limit', () => {
  const queue = createDestinationQueue(LIMITS, () => undefined);
  fill(queue, 'a', 5);
  fill(queue, 'b', 5);
  fill(queue, 'c', 1);
  expect(takenOf(queue)).toEqual(['a#0', 'b#0', 'c#0', 'a#1', 'b#1']);
  expect(takenOf(queue)).toEqual([]);
});

test('within a destination users take turns', () => {
  const queue = createDestinationQueue({ ...LIMITS, first: 6 }, () => undefined);
  fill(queue, 'a', 4);
  for (const userId of ['ben', 'cay']) queue.add('a', { ...transaction(`of ${userId}`, 'a'), userId });
  expect(takenOf(queue)).toEqual(['a#0', 'of ben', 'of cay', 'a#1', 'a#2', 'a#3']);
});

test('there is a limit on all of them together', () => {
  const queue = createDestinationQueue({ ...LIMITS, active: 3 }, () => undefined);
  for (const domain of ['a', 'b', 'c', 'd']) fill(queue, domain, 1);
  expect(takenOf(queue)).toEqual(['a#0', 'b#0', 'c#0']);
  end(queue, 'a', 'refused');
  expect(takenOf(queue)).toEqual(['d#0']);
});

test('a destination gets more with each message that it takes, up to the most', () => {
  const queue = createDestinationQueue(LIMITS, () => undefined);
  fill(queue, 'a', 40);
  const counts = [takenOf(queue).length];
  for (let n = 0; n < 10; n++) {
    end(queue, 'a', 'sent');
    takenOf(queue);
    counts.push(queue.activeOf('a'));
  }
  expect(counts).toEqual([2, 3, 4, 5, 6, 6, 6, 6, 6, 6, 6]);
});

test('a refusal of one message changes nothing', () => {
  const queue = createDestinationQueue(LIMITS, () => undefined);
  fill(queue, 'a', 10);
  takenOf(queue);
  end(queue, 'a', 'refused');
  expect(takenOf(queue)).toHaveLength(1);
});

test('a destination that asks for patience gets a pause and half as much, and the others theirs', () => {
  vi.useFakeTimers();
  try {
    let ready = 0;
    const queue = createDestinationQueue(LIMITS, () => ready++);
    fill(queue, 'a', 40);
    fill(queue, 'b', 3);
    takenOf(queue);
    for (let n = 0; n < 4; n++) {
      end(queue, 'a', 'sent');
      takenOf(queue);
    }
    expect(queue.activeOf('a')).toBe(6);
    end(queue, 'a', 'slow');
    end(queue, 'b', 'sent');
    expect(takenOf(queue)).toEqual(['b#2']);
    for (let n = 0; n < 5; n++) end(queue, 'a', 'refused');
    vi.advanceTimersByTime(900);
    expect([takenOf(queue), ready]).toEqual([[], 0]);
    vi.advanceTimersByTime(200);
    expect([takenOf(queue).length, ready]).toEqual([3, 1]);
  } finally {
    vi.useRealTimers();
  }
});

test('pauses double as long as nothing gets through, up to a minute', () => {
  vi.useFakeTimers();
  try {
    const queue = createDestinationQueue(LIMITS, () => undefined);
    fill(queue, 'a', 40);
    const pauses: number[] = [];
    takenOf(queue);
    end(queue, 'a', 'refused');
    for (let n = 0; n < 8; n++) {
      end(queue, 'a', 'slow');
      const from = performance.now();
      while (takenOf(queue).length === 0) vi.advanceTimersByTime(100);
      pauses.push(Math.round((performance.now() - from) / 1_000));
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
    end(queue, 'a', 'sent');
    takenOf(queue);
    end(queue, 'a', 'slow');
    vi.advanceTimersByTime(1_100);
    expect(takenOf(queue)).toHaveLength(1);
  } finally {
    vi.useRealTimers();
  }
});

test('patience that is asked for with single recipients makes no longer pauses', () => {
  vi.useFakeTimers();
  try {
    const queue = createDestinationQueue(LIMITS, () => undefined);
    fill(queue, 'a', 10);
    takenOf(queue);
    end(queue, 'a', 'refused');
    for (let n = 0; n < 5; n++) {
      end(queue, 'a', 'hesitant');
      expect(takenOf(queue)).toEqual([]);
      vi.advanceTimersByTime(1_100);
      expect(takenOf(queue)).toHaveLength(1);
    }
  } finally {
    vi.useRealTimers();
  }
});

test('transactions that began before a pause tell nothing new', () => {
  vi.useFakeTimers();
  try {
    const queue = createDestinationQueue({ ...LIMITS, first: 4 }, () => undefined);
    fill(queue, 'a', 10);
    const startedTick = performance.now();
    takenOf(queue);
    vi.advanceTimersByTime(50);
    for (let n = 0; n < 4; n++) queue.end('a', startedTick, 'slow');
    vi.advanceTimersByTime(1_100);
    expect(takenOf(queue)).toHaveLength(2);
  } finally {
    vi.useRealTimers();
  }
});

test('what is put back goes first', () => {
  const queue = createDestinationQueue({ ...LIMITS, first: 1 }, () => undefined);
  fill(queue, 'a', 3);
  const [taken] = queue.take();
  end(queue, 'a', 'refused');
  if (taken !== undefined) queue.putBack('a', taken.transaction);
  expect(takenOf(queue)).toEqual(['a#0']);
});

test('recipients are in hand until they are forgotten, and counted by domain', () => {
  const queue = createDestinationQueue(LIMITS, () => undefined);
  const sizeOf = (domain: string) => queue.sizeOf({ userId: 'usr', domain });
  const one = transaction('x', 'a.test', 3);
  queue.add(':relay', one);
  queue.add(':relay', transaction('y', 'b.test'));
  expect([queue.size(), sizeOf('a.test'), sizeOf('b.test'), queue.lanesAbove(2).map(({ domain }) => domain)]).toEqual([
    4,
    3,
    1,
    ['a.test'],
  ]);
  expect(queue.has('x-1')).toBe(true);
  queue.forget(one.jobs.slice(0, 2));
  queue.forget(one.jobs.slice(0, 2));
  expect([queue.size(), sizeOf('a.test'), queue.has('x-1')]).toEqual([2, 1, false]);
  expect(queue.takeAllWaiting().map(({ emailId }) => emailId)).toEqual(['x', 'y']);
  expect(queue.take()).toEqual([]);
});
