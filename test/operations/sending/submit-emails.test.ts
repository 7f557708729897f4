import { expect, test } from 'vitest';
import { FULL_RIGHTS } from '../../../core/accounts/key-rights.ts';
import type { Database } from '../../../db/connection/database.ts';
import type { OperationContext } from '../../../operations/context.ts';
import { queueSubmission, requireTimely, type Waiting } from '../../../operations/sending/submit-emails.ts';

const submission = {
  emails: [],
  batchId: null,
  idempotency: null,
  receipt: { emails: [], batchId: null, repliedTo: null },
};
/** The queue looks at no more of it. */
const contextOf = (respondBy: number) =>
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
  const late = queueSubmission(contextOf(performance.now() + 1_000), submission, commit);
  await expect(late).rejects.toMatchObject({ code: 'unavailable' });
  await expect(queueSubmission(contextOf(inTime()), submission, commit)).resolves.toMatchObject({
    receipt: submission.receipt,
  });
  expect(begun).toBe(1);
});

test('a group is not committed when the deadline of one member would pass before the commit', () => {
  const member = (respondBy: number): Waiting => ({
    context: contextOf(respondBy),
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

test.each([
  ['another transaction begins beside the first while many wait, and no third', 0, [1, 8, 20]],
  ['under an hourly limit, the transactions of a user follow each other', 10, [1, 28]],
])('concurrent submissions of a user are stored in groups: %s', async (_what, sendLimitPerHour, sizes) => {
  const groups: { size: number; end: () => void }[] = [];
  const commit = (group: readonly Waiting[]) =>
    new Promise<Waiting[]>((resolve) => {
      const end = () => {
        for (const member of group) member.resolve({ receipt: submission.receipt, at: new Date() });
        resolve([]);
      };
      groups.push({ size: group.length, end });
    });
  const settings = { sendLimitPerHour } as OperationContext['settings'];
  const context = { ...contextOf(inTime()), settings };
  const answers = Array.from({ length: 29 }, () => queueSubmission(context, submission, commit));
  for (let ended = 0; ended < sizes.length; ended++) {
    groups[ended]?.end();
    await answers[ended];
    await new Promise(setImmediate);
  }
  await Promise.all(answers);
  expect(groups.map(({ size }) => size)).toEqual(sizes);
});

test('a submission that must be retried is, also when the other transaction has stored more meanwhile', async () => {
  const groups: { end: (again: Waiting[]) => void; members: readonly Waiting[] }[] = [];
  const commit = (members: readonly Waiting[]) =>
    new Promise<Waiting[]>((resolve) => {
      const end = (again: Waiting[]) => {
        for (const member of members)
          if (!again.includes(member)) member.resolve({ receipt: submission.receipt, at: new Date() });
        resolve(again);
      };
      groups.push({ end, members });
    });
  const context = { ...contextOf(inTime()), settings: { sendLimitPerHour: 0 } as OperationContext['settings'] };
  const answers = Array.from({ length: 29 }, () => queueSubmission(context, submission, commit));
  groups[1]?.end([]);
  await answers[1];
  await new Promise(setImmediate);
  groups[0]?.end([...(groups[0]?.members ?? [])]);
  await new Promise(setImmediate);
  for (const { end } of groups.slice(2)) end([]);
  await Promise.all(answers);
  expect(groups.map(({ members }) => members.length)).toEqual([1, 8, 20, 1]);
});
