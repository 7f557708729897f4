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
const contextOf = (answerBy: number) =>
  ({
    database: {} as Database,
    userId: 'usr_1',
    rights: FULL_RIGHTS,
    answerBy,
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
  const member = (answerBy: number): Waiting => ({
    context: contextOf(answerBy),
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
