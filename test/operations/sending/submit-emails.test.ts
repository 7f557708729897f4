import { expect, test } from 'vitest';
import { FULL_RIGHTS } from '../../../core/accounts/key-rights.ts';
import type { Database } from '../../../db/connection/database.ts';
import type { OperationContext } from '../../../operations/context.ts';
import type { Submission } from '../../../operations/sending/idempotency.ts';
import { queueSubmission, requireTimely, type Waiting } from '../../../operations/sending/submit-emails.ts';

const submission = {
  emails: [],
  batchId: null,
  idempotency: null,
  receipt: { emails: [], batchId: null, repliedTo: null },
};
/** The queue looks at no more of it. */
const makeContext = (respondBy: number) =>
  ({
    database: { pool: {} } as Database,
    workspaceId: 'usr_1',
    rights: FULL_RIGHTS,
    respondBy,
  }) as Partial<OperationContext> as OperationContext;
const inTime = () => performance.now() + 9_000;

test('a submission whose deadline is close is not started', async () => {
  let begun = 0;
  const commit = async (group: readonly Waiting[]) => {
    begun += group.length;
    for (const {
      submission: { receipt },
      resolve,
    } of group)
      resolve({ receipt, at: new Date() });
    return [];
  };
  const late = queueSubmission(makeContext(performance.now() + 1_000), submission, commit);
  await expect(late).rejects.toMatchObject({ code: 'unavailable' });
  await expect(queueSubmission(makeContext(inTime()), submission, commit)).resolves.toMatchObject({
    receipt: submission.receipt,
  });
  expect(begun).toBe(1);
});

test('a group is not committed when the deadline of one member would pass before the commit', () => {
  const member = (respondBy: number): Waiting => ({
    context: makeContext(respondBy),
    submission,
    keyId: null,
    isAutomatic: false,
    since: performance.now(),
    traceParent: null,
    resolve: () => undefined,
    reject: () => undefined,
  });
  expect(() => requireTimely([member(inTime()), member(inTime())])).not.toThrow();
  expect(() => requireTimely([member(inTime()), member(performance.now() + 1_000)])).toThrow(
    expect.objectContaining({ code: 'unavailable' }),
  );
});

/** Records groups, each of which ends when the test says so: its members are stored but for those to try again. */
function openStore() {
  const groups: { members: readonly Waiting[]; end: (again?: readonly Waiting[]) => Promise<void> }[] = [];
  const commit = (members: readonly Waiting[]) =>
    new Promise<Waiting[]>((resolve) => {
      const end = async (again: readonly Waiting[] = []) => {
        for (const member of members)
          if (!again.includes(member)) member.resolve({ receipt: submission.receipt, at: new Date() });
        resolve([...again]);
        await gathering();
      };
      groups.push({ members, end });
    });
  return { groups, commit, sizes: () => groups.map(({ members }) => members.length) };
}

/** Resolves when a group that nothing joins any more has begun. */
async function gathering(): Promise<void> {
  for (let round = 0; round < 6; round++) await new Promise(setImmediate);
}

const email = { bytes: Buffer.alloc(1) } as Submission['emails'][number];
const submitting = (commit: Parameters<typeof queueSubmission>[2], sendLimitPerHour = 0) => {
  const settings = { sendLimitPerHour } as OperationContext['settings'];
  const context = { ...makeContext(inTime()), settings };
  return (count: number, emails = [email]) =>
    Array.from({ length: count }, () => queueSubmission(context, { ...submission, emails }, commit));
};

test.each([
  ['those of one moment together, and those that arrive meanwhile behind them', 0, 19, [19], [19, 20]],
  ['another group beside the first when it is full, and no third', 0, 60, [25, 25], [25, 25, 25, 5]],
  ['one after another under an hourly limit', 10, 60, [25], [25, 25, 25, 5]],
])('submissions of a user are stored in groups: %s', async (_what, sendLimitPerHour, count, atOnce, all) => {
  const { groups, commit, sizes } = openStore();
  const submit = submitting(commit, sendLimitPerHour);
  const responses = submit(count);
  await gathering();
  expect(sizes()).toEqual(atOnce);
  responses.push(...submit(20));
  await gathering();
  expect(sizes()).toEqual(atOnce);
  for (let ended = 0; ended < all.length; ended++) await groups[ended]?.end();
  await Promise.all(responses);
  expect(sizes()).toEqual(all);
});

test('a group waits while each round of the event loop brings another submission', async () => {
  const { groups, commit, sizes } = openStore();
  const submit = submitting(commit);
  const responses: Promise<unknown>[] = [];
  for (let n = 0; n < 5; n++) {
    responses.push(...submit(1));
    await new Promise(setImmediate);
  }
  await gathering();
  await groups[0]?.end();
  await Promise.all(responses);
  expect(sizes()).toEqual([5]);
});

test('another group begins beside one that runs for long, and no third', async () => {
  const { groups, commit, sizes } = openStore();
  const submit = submitting(commit);
  const responses = submit(1);
  await gathering();
  responses.push(...submit(3));
  await gathering();
  expect(sizes()).toEqual([1]);
  while (groups.length < 2) await new Promise(setImmediate);
  expect(sizes()).toEqual([1, 3]);
  responses.push(...submit(2));
  await gathering();
  expect(sizes()).toEqual([1, 3]);
  await groups[1]?.end();
  await groups[2]?.end();
  await groups[0]?.end();
  await Promise.all(responses);
  expect(sizes()).toEqual([1, 3, 2]);
});

test('a group begins although submissions go on arriving', async () => {
  const { groups, commit } = openStore();
  const submit = submitting(commit);
  const responses: Promise<unknown>[] = [];
  while (groups.length === 0) {
    // They never fill it.
    responses.push(...submit(1, []));
    await new Promise(setImmediate);
  }
  await groups[0]?.end();
  await groups[1]?.end();
  await Promise.all(responses);
});

test('a submission that must be retried is, also when the other transaction has stored more meanwhile', async () => {
  const { groups, commit, sizes } = openStore();
  const responses = submitting(commit)(60);
  await gathering();
  await groups[1]?.end();
  await groups[0]?.end(groups[0].members);
  for (const { end } of groups.slice(2)) await end();
  await Promise.all(responses);
  expect(sizes()).toEqual([25, 25, 10, 25]);
});
