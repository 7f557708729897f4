import { expect, test } from 'vitest';
import { createInHand, type Lane } from '../../../actors/work/in-hand.ts';

interface Job {
  id: string;
  lane: Lane;
}

const makeLane = (workspaceId: string, key: string): Lane => ({ workspaceId, key });
const makeJobs = (lane: Lane, count: number): Job[] =>
  Array.from({ length: count }, (_, n) => ({ id: `${lane.key}${lane.workspaceId}${n}`, lane }));

test('counts jobs by lane until they are recorded, and by user until they are forgotten', () => {
  const inHand = createInHand<Job>({ idOf: ({ id }) => id, laneOf: ({ lane }) => lane });
  const [a, b] = [makeLane('ann', 'a.test'), makeLane('ann', 'b.test')];
  const ofA = makeJobs(a, 3);
  for (const job of [...ofA, ...makeJobs(b, 1), ...makeJobs(makeLane('ben', 'a.test'), 1)]) inHand.hold(job);
  const sizes = () => [inHand.size(), inHand.sizeOf(a), inHand.sizeOfWorkspace('ann')];
  expect(sizes()).toEqual([5, 3, 4]);
  expect(inHand.lanesAbove(2).map(({ workspaceId, key }) => [workspaceId, key])).toEqual([['ann', 'a.test']]);

  inHand.move(ofA.slice(0, 1), 'running');
  expect(sizes()).toEqual([5, 3, 4]);
  inHand.move(ofA.slice(0, 2), 'recording');
  inHand.move(ofA.slice(0, 2), 'recording');
  expect(sizes()).toEqual([5, 1, 4]);

  inHand.forget(ofA.slice(1));
  inHand.forget(ofA.slice(1));
  expect(sizes()).toEqual([3, 0, 2]);
  expect(inHand.has('a.testann0')).toBe(true);
  expect(inHand.has('a.testann1')).toBe(false);
  inHand.forget(ofA);
  expect(inHand.jobs().map(({ id }) => id)).toEqual(['b.testann0', 'a.testben0']);
});
