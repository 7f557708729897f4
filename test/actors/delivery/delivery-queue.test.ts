import { expect, test } from 'vitest';
import type { DeliveryJob } from '../../../actors/delivery/delivery-job.ts';
import { createDeliveryQueue, type DeliveryLimits } from '../../../actors/delivery/delivery-queue.ts';

const limits: DeliveryLimits = {
  active: { count: 100, bytes: 1_000 },
  large: { count: 10, bytes: 4_000_000 },
  ofEndpoint: { count: 4, bytes: 400 },
  refillOfEndpoint: 1,
};

function makeQueue(...added: DeliveryJob[]) {
  const queue = createDeliveryQueue(limits);
  for (const job of added) queue.add(job);
  return queue;
}

function jobs(endpointId: string, count: number, sizeBytes = 1): DeliveryJob[] {
  return Array.from({ length: count }, (_, n) => ({
    workspaceId: 'usr',
    deliveryId: `${endpointId}${n}`,
    emailId: 'em',
    eventSeq: null,
    eventKind: null,
    endpointId,
    attempts: 0,
    attemptsAllowed: 1,
    createdAt: new Date(0),
    threadId: null,
    threadPosition: null,
    orderKey: null,
    sizeBytes,
    content: null,
    leaseUntil: Number.POSITIVE_INFINITY,
  }));
}

const ids = (list: readonly DeliveryJob[]) => list.map((job) => job.deliveryId);

test('endpoints take turns, each in its own order', () => {
  const queue = makeQueue(...jobs('a', 3), ...jobs('b', 2), ...jobs('c', 1));
  expect(ids(queue.take())).toEqual(['a0', 'b0', 'c0', 'a1', 'b1', 'a2']);
});

test('an endpoint at its limit waits until it falls to the refill mark, while others continue', () => {
  const queue = makeQueue(...jobs('a', 9));
  const first = queue.take();
  expect(ids(first)).toEqual(['a0', 'a1', 'a2', 'a3']);
  for (const job of jobs('b', 1)) queue.add(job);
  expect(ids(queue.take())).toEqual(['b0']);
  for (const job of first.slice(0, 2)) queue.end(job);
  expect(queue.take()).toEqual([]);
  for (const job of first.slice(2, 3)) queue.end(job);
  expect(ids(queue.take())).toEqual(['a4', 'a5', 'a6']);
});

test('bytes in the queue are limited in total and per endpoint, and a single job always passes', () => {
  const queue = makeQueue(...jobs('a', 3, 300), ...jobs('b', 1, 300), ...jobs('c', 1, 300), ...jobs('d', 1, 300));
  expect(ids(queue.take())).toEqual(['a0', 'b0', 'c0']);
  const alone = makeQueue(...jobs('a', 2, 5_000));
  expect(ids(alone.take())).toEqual(['a0']);
});

test('counts running jobs, and removes waiting ones on request', () => {
  const queue = makeQueue(...jobs('a', 6));
  const [first] = queue.take();
  if (first === undefined) throw new Error('nothing was taken');
  queue.end(first);
  expect(queue.runningOf('a')).toBe(3);
  expect(ids(queue.takeAllWaiting())).toEqual(['a4', 'a5']);
});

test('an account with large mail leaves half of its room to others, and small mail does not wait for it', () => {
  const queue = createDeliveryQueue({
    active: { count: 100, bytes: 100_000_000 },
    large: { count: 10, bytes: 20_000_000 },
    ofEndpoint: { count: 50, bytes: 100_000_000 },
    refillOfEndpoint: 1,
  });
  for (const job of [...jobs('a', 1, 9_000_000), ...jobs('b', 1, 9_000_000), ...jobs('c', 1)]) queue.add(job);
  for (const job of jobs('d', 1, 9_000_000)) queue.add({ ...job, workspaceId: 'other' });
  expect(ids(queue.take())).toEqual(['a0', 'c0', 'd0']);
});

test('a mail of 14 MB, and the small one behind it, start although another account always has large mail', () => {
  const queue = createDeliveryQueue({
    active: { count: 100, bytes: 100_000_000 },
    large: { count: 100, bytes: 24_000_000 },
    ofEndpoint: { count: 50, bytes: 16_000_000 },
    refillOfEndpoint: 20,
  });
  for (const job of ['a', 'b', 'c'].flatMap((endpoint) => jobs(endpoint, 20, 1_000_000))) queue.add(job);
  const running = queue.take();
  expect(running).toHaveLength(12);
  const victim = { workspaceId: 'victim' };
  for (const job of [...jobs('v', 1, 14_000_000), ...jobs('v', 1)]) queue.add({ ...job, ...victim });
  const started: DeliveryJob[] = [];
  for (let n = 0; n < 20 && started.length < 2; n++) {
    const ended = running.shift();
    if (ended === undefined) break;
    queue.end(ended);
    queue.add({ ...ended });
    const more = queue.take();
    started.push(...more.filter(({ workspaceId }) => workspaceId === 'victim'));
    running.push(...more.filter(({ workspaceId }) => workspaceId !== 'victim'));
  }
  expect(started.map(({ sizeBytes }) => sizeBytes)).toEqual([14_000_000, 1]);
});

test('first large mail of many accounts exceeds the room by less than one mail', () => {
  const queue = createDeliveryQueue({
    active: { count: 100, bytes: 1_000_000_000 },
    large: { count: 100, bytes: 24_000_000 },
    ofEndpoint: { count: 50, bytes: 16_000_000 },
    refillOfEndpoint: 20,
  });
  for (const name of 'abcdefgh') queue.add({ ...(jobs(name, 1, 10_000_000)[0] as DeliveryJob), workspaceId: name });
  expect(queue.take()).toHaveLength(3);
});
