import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pino from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Actor, type ActorContext, type ActorPlan, type Run, runActor } from '../../actors/actor.ts';
import { createInProcessBus } from '../../actors/bus/in-process.ts';
import { createByteStore } from '../../db/byte-store.ts';
import { openDatabase } from '../../db/connection/database.ts';
import { BusRemoteError, BusUnavailable } from '../../schema/messages.ts';
import { waitFor } from '../support/wait-for.ts';

/** Long enough never to come within a test. */
const NEVER_MS = 1_000_000;

let context: ActorContext;
let lines: { level: number; msg: string; step?: string }[];
const actors: Actor[] = [];

beforeEach(() => {
  lines = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  // The frame itself asks nothing of PostgreSQL: nothing listens at port 1.
  const url = 'postgresql://nobody@127.0.0.1:1/none';
  const database = openDatabase({ url, role: null, poolSize: 1, applicationName: 'test', onError: () => undefined });
  context = {
    bus: createInProcessBus({ log }),
    database,
    bytes: createByteStore({ database, log }),
    directDelivery: { current: null },
    log,
    now: () => new Date(),
    random: (count) => randomBytes(count),
    name: 'test',
  };
});
afterEach(async () => {
  await Promise.all(actors.splice(0).map((actor) => actor.stop()));
  await context.bus.close();
  await context.database.close();
});

function start(plan: Pick<ActorPlan, 'steps' | 'questions'>) {
  const actor = runActor({ context, name: 'testing', ...plan });
  actors.push(actor);
  return actor;
}

function wake(...emailIds: string[]): void {
  context.bus.wake('receiving.parse.wake', { workspaceId: 'usr_1', emailIds });
}

test('a step runs at the start, and again each time its interval is over', async () => {
  const work = vi.fn(async () => undefined);
  start({ steps: [{ name: 'sweep', everyMs: 20, work }] });
  expect(work).not.toHaveBeenCalled();
  await waitFor(() => expect(work.mock.calls.length).toBeGreaterThanOrEqual(4));
});

test('a sweep never overlaps itself', async () => {
  let running = 0;
  let most = 0;
  let runs = 0;
  const actor = start({
    steps: [
      {
        name: 'sweep',
        everyMs: 1,
        async work() {
          most = Math.max(most, ++running);
          await delay(15);
          running--;
          runs++;
        },
      },
    ],
  });
  const nudging = setInterval(() => actor.nudge('sweep'), 2);
  await waitFor(() => expect(runs).toBeGreaterThan(5));
  clearInterval(nudging);
  expect(most).toBe(1);
});

test('wakes that arrive during a run are passed together to the next run', async () => {
  const runs: string[][] = [];
  const first = Promise.withResolvers<void>();
  start({
    steps: [
      {
        name: 'parse',
        wake: 'receiving.parse.wake',
        everyMs: NEVER_MS,
        async work({ wakes }) {
          if (wakes.length === 0) return;
          runs.push(wakes.flatMap((each) => each.emailIds));
          if (runs.length === 1) await first.promise;
        },
      },
    ],
  });
  wake('em_1');
  await waitFor(() => expect(runs).toHaveLength(1));
  wake('em_2');
  wake('em_3', 'em_4');
  wake('em_5');
  await delay(20);
  expect(runs).toEqual([['em_1']]);
  first.resolve();
  await waitFor(() => expect(runs).toEqual([['em_1'], ['em_2', 'em_3', 'em_4', 'em_5']]));
});

test('the step runs for several wakes at once, up to its limit', async () => {
  let running = 0;
  let most = 0;
  let done = 0;
  start({
    steps: [
      {
        name: 'parse',
        wake: 'receiving.parse.wake',
        everyMs: NEVER_MS,
        concurrency: 3,
        async work({ wakes }) {
          if (wakes.length === 0) return;
          most = Math.max(most, ++running);
          await delay(10);
          running--;
          done += wakes.length;
        },
      },
    ],
  });
  for (let number = 0; number < 40; number++) {
    wake(`em_${number}`);
    await delay(1);
  }
  await waitFor(() => expect(done).toBe(40));
  expect(most).toBe(3);
});

test('a sweep replaces the wakes that exceed the limit of held wakes', async () => {
  const first = Promise.withResolvers<void>();
  let sweeps = 0;
  let woken = 0;
  start({
    steps: [
      {
        name: 'parse',
        wake: 'receiving.parse.wake',
        everyMs: NEVER_MS,
        async work({ wakes }) {
          if (wakes.length === 0) sweeps++;
          else await first.promise;
          woken += wakes.length;
        },
      },
    ],
  });
  await waitFor(() => expect(sweeps).toBe(1));
  for (let number = 0; number < 1_500; number++) wake(`em_${number}`);
  await waitFor(() => expect(sweeps).toBeGreaterThanOrEqual(2));
  first.resolve();
  await waitFor(() => expect(woken).toBeGreaterThanOrEqual(1_000));
  expect(woken).toBeLessThan(1_500);
});

test('a full batch makes the step run again at once', async () => {
  let waiting = 25;
  let runs = 0;
  const work = async () => {
    runs++;
    const done = Math.min(10, waiting);
    waiting -= done;
    return done;
  };
  start({ steps: [{ name: 'sweep', everyMs: NEVER_MS, batchSize: 10, work }] });
  await waitFor(() => expect(waiting).toBe(0));
  await delay(20);
  expect(runs).toBe(3);
});

test('a step that throws is tried again after pauses that grow, and logs each surprise', async () => {
  const times: number[] = [];
  start({
    steps: [
      {
        name: 'sweep',
        everyMs: NEVER_MS,
        async work() {
          times.push(performance.now());
          if (times.length < 4) throw new TypeError('surprise');
        },
      },
    ],
  });
  await waitFor(() => expect(times).toHaveLength(4));
  const gaps = times.slice(1).map((time, place) => time - (times[place] ?? 0));
  [100, 200, 400].forEach((least, place) => expect(gaps[place]).toBeGreaterThan(least - 10));
  expect(lines.filter((line) => line.msg === 'actor: step failed')).toHaveLength(3);
});

test('an unreachable PostgreSQL is logged once, and its return once, whatever the number of retries', async () => {
  let tries = 0;
  start({
    steps: [
      {
        name: 'sweep',
        everyMs: NEVER_MS,
        async work() {
          if (++tries < 4) await context.database.pool.query('select 1');
        },
      },
    ],
  });
  await waitFor(() => expect(tries).toBe(4));
  await waitFor(() =>
    expect(lines.map((line) => line.msg)).toEqual([
      'actor: step waits for PostgreSQL or the bus',
      'actor: step works again',
    ]),
  );
});

test('a sweep repeats the work of a wake whose run failed', async () => {
  const seen: number[] = [];
  start({
    steps: [
      {
        name: 'parse',
        wake: 'receiving.parse.wake',
        everyMs: NEVER_MS,
        async work({ wakes }) {
          seen.push(wakes.length);
          if (wakes.length > 0) throw new BusUnavailable('away');
        },
      },
    ],
  });
  await waitFor(() => expect(seen).toEqual([0]));
  wake('em_1');
  await waitFor(() => expect(seen).toEqual([0, 1, 0]));
});

test('a failing step does not delay other steps', async () => {
  const good = vi.fn(async () => undefined);
  start({
    steps: [
      { name: 'bad', everyMs: 1, work: () => Promise.reject(new Error('always')) },
      { name: 'good', everyMs: 10, work: good },
    ],
  });
  await waitFor(() => expect(good.mock.calls.length).toBeGreaterThan(10));
});

test("an exception of a question's handler is logged and returned to the caller", async () => {
  start({
    questions: {
      'receiving.capacity.check': () => Promise.reject(new Error('no room for a thought')),
    },
  });
  await expect(context.bus.ask('receiving.capacity.check', {})).rejects.toBeInstanceOf(BusRemoteError);
  expect(lines.map((line) => line.msg)).toEqual(['actor: question failed']);
});

test('a stopped actor serves no question, takes no wake and does not sweep', async () => {
  const work = vi.fn(async (_run: Run<'receiving.parse.wake'>) => undefined);
  const actor = start({
    questions: { 'receiving.capacity.check': async () => ({ hasRoom: true }) },
    steps: [{ name: 'parse', wake: 'receiving.parse.wake', everyMs: 5, work }],
  });
  expect(await context.bus.ask('receiving.capacity.check', {})).toEqual({ hasRoom: true });
  await waitFor(() => expect(work).toHaveBeenCalled());
  await actor.stop();
  const calls = work.mock.calls.length;
  wake('em_1');
  actor.nudge('parse');
  await delay(30);
  expect(work).toHaveBeenCalledTimes(calls);
  await expect(context.bus.ask('receiving.capacity.check', {})).rejects.toBeInstanceOf(BusUnavailable);
});

test.each(['run', 'kept work', 'question'] as const)('stop waits for the %s in progress', async (kind) => {
  const begun = Promise.withResolvers<void>();
  const mayEnd = Promise.withResolvers<void>();
  const order: string[] = [];
  const held = async () => {
    begun.resolve();
    await mayEnd.promise;
    order.push('ended');
  };
  const actor = start({
    questions: {
      async 'receiving.capacity.check'() {
        await held();
        return { hasRoom: true };
      },
    },
    steps: [
      {
        name: 'sweep',
        everyMs: NEVER_MS,
        async work(run) {
          if (kind === 'run') await held();
          if (kind === 'kept work') run.keep(held());
        },
      },
    ],
  });
  const asked = kind === 'question' ? context.bus.ask('receiving.capacity.check', {}) : null;
  await begun.promise;
  const stopped = actor.stop().then(() => order.push('stopped'));
  // A stop that does not wait is over by then.
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  mayEnd.resolve();
  await stopped;
  expect(order).toEqual(['ended', 'stopped']);
  if (asked !== null) expect(await asked).toEqual({ hasRoom: true });
});

test('a run is notified when its actor stops', async () => {
  const begun = Promise.withResolvers<void>();
  const actor = start({
    steps: [
      {
        name: 'sweep',
        everyMs: NEVER_MS,
        async work(run) {
          begun.resolve();
          while (!run.isStopping()) await delay(5);
        },
      },
    ],
  });
  await begun.promise;
  await actor.stop();
});

test('stop ends work that still runs after 8 s, and returns even if that work does not end', async () => {
  const began = Promise.withResolvers<void>();
  const deafBegan = Promise.withResolvers<void>();
  let abortedAfterMs = 0;
  const actor = runActor({
    context,
    name: 'testing',
    steps: [
      {
        name: 'polite',
        everyMs: NEVER_MS,
        work: ({ signal }) =>
          new Promise((resolve) => {
            const startedAt = performance.now();
            began.resolve();
            signal.addEventListener('abort', () => {
              abortedAfterMs = performance.now() - startedAt;
              resolve();
            });
          }),
      },
      {
        name: 'deaf',
        everyMs: NEVER_MS,
        work() {
          deafBegan.resolve();
          return new Promise(() => undefined);
        },
      },
    ],
  });
  await Promise.all([began.promise, deafBegan.promise]);
  await actor.stop();
  expect(abortedAfterMs).toBeGreaterThan(7_900);
  expect(lines.map((line) => line.msg)).toContain('actor: work in hand did not end');
});
