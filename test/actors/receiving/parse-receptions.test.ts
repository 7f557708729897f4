import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterEach, expect, test, vi } from 'vitest';
import { createParseQueue, type ParseQueue, type QueuedReception } from '../../../actors/receiving/parse-receptions.ts';
import type { Reception } from '../../../db/queries/emails/reception-claim.ts';

const log = pino({ level: 'silent' });

afterEach(() => void vi.useRealTimers());

function queued(
  emailId: string,
  changes: { tries?: number; sizeBytes?: number; workspaceId?: string } = {},
): QueuedReception {
  const reception: Reception = {
    workspaceId: changes.workspaceId ?? 'usr_a',
    emailId,
    rawId: `raw_${emailId}`,
    reversePath: '',
    recipient: 'x@a.test',
    ownAddress: 'x@a.test',
    addressId: null,
    domainId: 'dom_a',
    replyAddressId: null,
    imported: null,
    screening: null,
    remoteAddress: '192.0.2.1',
    helo: 'elsewhere.test',
    isTls: false,
    traceFields: '',
    acceptedAt: new Date(),
    tries: changes.tries ?? 1,
  };
  return { reception, sizeBytes: changes.sizeBytes ?? 100 };
}

/** A queue whose work notes the chunks and then does as told; `seen(n)` resolves when n receptions were worked on. */
function makeQueue(work: (chunk: Reception[]) => Promise<void> = async () => undefined) {
  const chunks: string[][] = [];
  const faults: string[] = [];
  let wake = () => undefined as void;
  const queue: ParseQueue = createParseQueue({
    concurrency: 1,
    log,
    async onFault({ emailId }) {
      faults.push(emailId);
    },
    async work(chunk) {
      chunks.push(chunk.map((reception) => reception.emailId));
      wake();
      await work(chunk);
    },
  });
  async function seen(count: number): Promise<void> {
    while (chunks.flat().length < count) await new Promise<void>((resolve) => void (wake = resolve));
  }
  return { queue, chunks, faults, seen };
}

test('receptions are parsed in their order, in chunks of at most twenty-five', async () => {
  const { queue, chunks, seen } = makeQueue();
  const ids = Array.from({ length: 60 }, (_, n) => `em_${n}`);
  queue.add(ids.map((id) => queued(id)));
  await seen(60);
  expect(chunks.map((chunk) => chunk.length)).toEqual([25, 25, 10]);
  expect(chunks.flat()).toEqual(ids);
});

test('users take turns, each in its own order', async () => {
  const { queue, chunks, seen } = makeQueue();
  queue.add([queued('a')]);
  queue.add(Array.from({ length: 40 }, (_, n) => queued(`b${n}`, { workspaceId: 'usr_b' })));
  queue.add(['c0', 'c1'].map((id) => queued(id, { workspaceId: 'usr_c' })));
  await seen(43);
  expect(chunks[0]).toEqual(['a']);
  expect(chunks[1]?.slice(0, 5)).toEqual(['b0', 'c0', 'b1', 'c1', 'b2']);
  expect(chunks.flat().filter((id) => id.startsWith('b'))).toEqual(Array.from({ length: 40 }, (_, n) => `b${n}`));
});

test('only users with few messages continue while parsing yields to accepts', async () => {
  vi.useFakeTimers();
  const { queue, chunks, seen } = makeQueue();
  for (let n = 0; n < 200; n++) queue.noteAccept(4_000, 1);
  queue.add(Array.from({ length: 100 }, (_, n) => queued(`a${n}`)));
  queue.add([queued('b', { workspaceId: 'usr_b' })]);
  await seen(1);
  expect(chunks).toEqual([['b']]);
  await vi.advanceTimersByTimeAsync(4_000);
  expect(chunks.flat()).toHaveLength(101);
});

test('a user with many queued messages leaves room for others', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { queue } = makeQueue(() => promise);
  expect(queue.hasRoom(['usr_a'])).toBe(true);
  queue.add(Array.from({ length: 16_000 }, (_, n) => queued(`a${n}`)));
  expect([queue.hasRoom(), queue.hasRoom(['usr_a']), queue.hasRoom(['usr_a', 'usr_b'])]).toEqual([false, false, true]);
  queue.add(Array.from({ length: 5_000 }, (_, n) => queued(`b${n}`, { workspaceId: 'usr_b' })));
  expect(queue.hasRoom(['usr_c'])).toBe(false);
  resolve();
  await queue.stop();
});

test('a chunk has at most two million bytes, and a larger message is parsed alone', async () => {
  const { queue, chunks, seen } = makeQueue();
  queue.add([
    queued('a', { sizeBytes: 15_000_000 }),
    ...['b', 'c', 'd'].map((id) => queued(id, { sizeBytes: 900_000 })),
  ]);
  await seen(4);
  expect(chunks).toEqual([['a'], ['b', 'c'], ['d']]);
});

/** After that long, what may begin has begun. */
const GATHERED_MS = 20;

/** A queue of eight slots whose work ends when told, oldest first. */
function makeSlowQueue() {
  const chunks: string[][] = [];
  const ends: (() => void)[] = [];
  const queue = createParseQueue({
    concurrency: 8,
    log,
    onFault: () => Promise.resolve(),
    work(chunk) {
      chunks.push(chunk.map(({ emailId }) => emailId));
      return new Promise<void>((resolve) => ends.push(resolve));
    },
  });
  return { queue, chunks, endOldest: () => ends.shift()?.() };
}

test('large messages leave half of the slots to small ones', async () => {
  const { queue, chunks } = makeSlowQueue();
  for (let n = 0; n < 9; n++) queue.add([queued(`large${n}`, { sizeBytes: 2_000_000, workspaceId: `usr_${n}` })]);
  queue.add([queued('small', { workspaceId: 'usr_small' })]);
  await vi.waitFor(() => expect(chunks.flat()).toContain('small'));
  expect(chunks).toEqual([['large0'], ['large1'], ['large2'], ['large3'], ['small']]);
});

test('a message of 15 MB begins although other accounts always have large ones', async () => {
  const { queue, chunks, endOldest } = makeSlowQueue();
  let count = 0;
  const addOne = () => queue.add([queued(`a${count}`, { sizeBytes: 1_500_000, workspaceId: `usr_${count++ % 5}` })]);
  for (let n = 0; n < 10; n++) addOne();
  await sleep(GATHERED_MS);
  queue.add([queued('largest', { sizeBytes: 15_000_000, workspaceId: 'usr_victim' })]);
  for (let n = 0; n < 30 && !chunks.flat().includes('largest'); n++) {
    addOne();
    endOldest();
    await sleep(GATHERED_MS);
  }
  expect(chunks.flat()).toContain('largest');
  const before = chunks.length;
  for (let n = 0; n < 5; n++) {
    endOldest();
    await sleep(GATHERED_MS);
  }
  expect(chunks.length).toBeGreaterThan(before + 4);
});

test('a reception that may have killed a process is parsed alone', async () => {
  const { queue, chunks, seen } = makeQueue();
  queue.add([queued('a'), queued('b', { tries: 3 }), queued('c')]);
  await seen(3);
  expect(chunks).toEqual([['a'], ['b'], ['c']]);
});

test('a message that is queued already is not queued again', async () => {
  const { queue, chunks, seen } = makeQueue();
  queue.add([queued('a'), queued('b'), queued('a')]);
  queue.add([queued('b')]);
  await seen(2);
  await queue.stop();
  expect(chunks.flat()).toEqual(['a', 'b']);
});

test('a chunk that found PostgreSQL unreachable is retried after a pause, before later ones', async () => {
  let failures = 1;
  const { queue, chunks, seen } = makeQueue(async () => {
    if (failures-- > 0) throw Object.assign(new Error('away'), { code: '57P01' });
  });
  const startedAt = performance.now();
  queue.add([queued('a')]);
  queue.add([queued('b')]);
  await seen(3);
  expect(chunks).toEqual([['a'], ['a', 'b']]);
  expect(performance.now() - startedAt).toBeGreaterThan(900);
});

test('each message of a chunk that fails is tried alone, and the faulty one is returned', async () => {
  const { queue, chunks, faults, seen } = makeQueue(async (chunk) => {
    if (chunk.some(({ emailId }) => emailId === 'b')) throw new Error('a fault of ours');
  });
  queue.add(['a', 'b', 'c'].map((id) => queued(id)));
  await seen(6);
  queue.add([queued('d')]);
  await seen(7);
  await queue.stop();
  expect(chunks.map((chunk) => chunk.join(''))).toEqual(['abc', 'a', 'b', 'c', 'd']);
  expect(faults).toEqual(['b']);
});

test('parsing does not wait at a moderate rate of accepts', async () => {
  vi.useFakeTimers();
  const { queue, seen } = makeQueue();
  for (let n = 0; n < 40; n++) queue.noteAccept(4_000, 1);
  queue.add([queued('a')]);
  await seen(1);
});

test('parsing waits at the same rate when accepts had to wait for each other', async () => {
  vi.useFakeTimers();
  const { queue, chunks, seen } = makeQueue();
  const crowd = setInterval(() => {
    for (let n = 0; n < 4; n++) queue.noteAccept(4_000, 4);
  }, 10);
  for (let n = 0; n < 40; n++) queue.noteAccept(4_000, 4);
  queue.add([queued('a')]);
  await vi.advanceTimersByTimeAsync(300);
  expect(chunks).toEqual([]);
  clearInterval(crowd);
  await vi.advanceTimersByTimeAsync(300);
  await seen(1);
});

test('parsing waits while many messages are accepted, until they cease', async () => {
  vi.useFakeTimers();
  const { queue, chunks, seen } = makeQueue();
  const burst = setInterval(() => {
    for (let n = 0; n < 40; n++) queue.noteAccept(4_000, 1);
  }, 10);
  for (let n = 0; n < 100; n++) queue.noteAccept(4_000, 1);
  queue.add([queued('a')]);
  await vi.advanceTimersByTimeAsync(500);
  expect(chunks).toEqual([]);
  clearInterval(burst);
  await vi.advanceTimersByTimeAsync(300);
  await seen(1);
});

test('a message waits at most three seconds for accepts to cease', async () => {
  vi.useFakeTimers();
  const { queue, chunks } = makeQueue();
  for (let n = 0; n < 100; n++) queue.noteAccept(4_000, 1);
  const burst = setInterval(() => {
    for (let n = 0; n < 100; n++) queue.noteAccept(4_000, 1);
  }, 10);
  queue.add([queued('a')]);
  await vi.advanceTimersByTimeAsync(2_900);
  expect(chunks).toEqual([]);
  await vi.advanceTimersByTimeAsync(200);
  expect(chunks).toEqual([['a']]);
  clearInterval(burst);
});

test('four thousand waiting messages are parsed whatever is accepted', async () => {
  vi.useFakeTimers();
  const { queue, seen } = makeQueue();
  for (let n = 0; n < 100; n++) queue.noteAccept(4_000, 1);
  queue.add(Array.from({ length: 4_000 }, (_, n) => queued(`em_${n}`)));
  await seen(1);
});

test('a user may queue at most fifteen thousand messages, or three quarters of 112,000,000 bytes', async () => {
  const many = makeQueue(() => new Promise(() => undefined)).queue;
  many.add(Array.from({ length: 15_024 }, (_, n) => queued(`em_${n}`)));
  expect(many.hasRoom()).toBe(true);
  many.add([queued('more')]);
  expect(many.hasRoom()).toBe(false);
  const large = makeQueue(() => new Promise(() => undefined)).queue;
  large.add(Array.from({ length: 9 }, (_, n) => queued(`em_${n}`, { sizeBytes: 14_500_000 })));
  expect(large.hasRoom()).toBe(false);
});

test('stopping waits for the running chunk and begins no other', async () => {
  let finish: () => void = () => undefined;
  const { queue, chunks } = makeQueue(() => new Promise((resolve) => void (finish = resolve)));
  queue.add(Array.from({ length: 30 }, (_, n) => queued(`em_${n}`)));
  const stopped = queue.stop();
  finish();
  await stopped;
  expect(chunks).toHaveLength(1);
});

test('large messages of 16 MB at most are in progress at once, and small ones do not wait for them', async () => {
  let end = () => undefined as void;
  const ended = new Promise<void>((resolve) => void (end = resolve));
  const chunks: string[][] = [];
  const queue = createParseQueue({
    concurrency: 10,
    log,
    onFault: async () => undefined,
    async work(chunk) {
      chunks.push(chunk.map(({ emailId }) => emailId));
      if (chunk.some(({ emailId }) => emailId.startsWith('large'))) await ended;
    },
  });
  const large = [1, 2, 3].map((n) => queued(`large${n}`, { sizeBytes: 7_000_000 }));
  queue.add([...large, queued('small')]);
  await vi.waitFor(() => expect(chunks.flat()).toContain('small'));
  expect(chunks.flat().toSorted()).toEqual(['large1', 'large2', 'small']);
  end();
  await vi.waitFor(() => expect(chunks.flat()).toContain('large3'));
  await queue.stop();
});
