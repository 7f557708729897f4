import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createWorkEngine } from '../../../actors/work/engine.ts';
import { createFairQueue } from '../../../actors/work/fair-queue.ts';
import { createInHand } from '../../../actors/work/in-hand.ts';
import { createLeases, type Leased, leaseEnd } from '../../../actors/work/leases.ts';

interface Job extends Leased {
  id: string;
}

function createEngine() {
  const inHand = createInHand<Job>({
    idOf: ({ id }) => id,
    laneOf: ({ workspaceId }) => ({ workspaceId, key: 'a.test' }),
  });
  const released: string[] = [];
  const claimedAgain: [id: string, isHeld: boolean][] = [];
  const kept: Promise<unknown>[] = [];
  const engine = createWorkEngine<Job, Job>({
    queue: createFairQueue({ keyOf: () => 'a.test', workspaceOf: ({ workspaceId }) => workspaceId, limits: [] }),
    inHand,
    leases: createLeases({
      log: pino({ level: 'silent' }),
      actor: 'test',
      idOf: ({ id }) => id,
      renew: async (jobs) => jobs.map(({ id }) => id),
      release: async (jobs) => void released.push(...jobs.map(({ id }) => id)),
    }),
    jobsOf: (job) => [job],
    run: async () => undefined,
    onClaimedAgain: ({ id }, held) => void claimedAgain.push([id, held !== null]),
    onRoom: () => undefined,
    keep: (work) => void kept.push(work),
  });
  return { engine, released, claimedAgain, kept };
}

const makeJob = (id: string, askedAt: number): Job => ({ id, workspaceId: 'ann', leaseUntil: leaseEnd(askedAt) });

test('a row whose outcome was recorded while it was claimed again is not attempted twice', async () => {
  const { engine, released, claimedAgain, kept } = createEngine();
  const [first, second] = [makeJob('1', performance.now()), makeJob('2', performance.now())];
  expect(engine.hold([first, second])).toHaveLength(2);

  // A sweep asks for due rows; before it has its response, the first job is recorded.
  const askedAt = performance.now();
  await engine.finish([first], Promise.resolve());
  expect(
    engine.hold([makeJob('1', askedAt), makeJob('2', askedAt), makeJob('3', askedAt)]).map(({ id }) => id),
  ).toEqual(['3']);
  expect(claimedAgain).toEqual([
    ['1', false],
    ['2', true],
  ]);
  await Promise.all(kept);
  expect(released).toEqual(['1']);

  // What a later claim finds is due once more.
  expect(engine.hold([makeJob('1', performance.now() + 1)])).toHaveLength(1);
});
