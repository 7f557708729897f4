import { expect, test } from 'vitest';
import { UserError } from '../../../core/shared/errors.ts';
import { COMPOSED_AT_ONCE, inComposingTurn } from '../../../operations/sending/composing-turns.ts';

const stays = new AbortController().signal;

function composer({ workspaceId = 'one', respondBy = Number.POSITIVE_INFINITY, gone = stays } = {}) {
  return { workspaceId, respondBy, caller: { gone } };
}

/** Takes all turns until it is let go; resolves when it has them. */
async function takeAll(): Promise<{ letGo: () => void; ended: Promise<unknown> }> {
  const begun = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const ended = inComposingTurn(composer({ workspaceId: 'holder' }), COMPOSED_AT_ONCE, () => {
    begun.resolve();
    return held.promise;
  });
  await begun.promise;
  return { letGo: () => held.resolve(), ended };
}

const large = (options: Parameters<typeof composer>[0], work: () => Promise<string>) =>
  inComposingTurn(composer(options), COMPOSED_AT_ONCE / 2, work);

test('work that fails gives its turn back', async () => {
  const fail = () => Promise.reject(new Error('not composed'));
  for (let at = 0; at < 3; at++) await expect(large({}, fail)).rejects.toThrow('not composed');
  expect(await large({}, async () => 'composed')).toBe('composed');
});

test('who leaves while it waits gets no turn, and those behind it do not wait for it', async () => {
  const { letGo, ended } = await takeAll();
  const leaving = new AbortController();
  const done: string[] = [];
  const left = large({ gone: leaving.signal }, async () => String(done.push('left')));
  const behind = large({}, async () => String(done.push('behind')));
  const other = large({ workspaceId: 'two' }, async () => String(done.push('other')));
  leaving.abort(new UserError('unavailable', 'The connection is closed'));
  await expect(left).rejects.toThrow('The connection is closed');
  letGo();
  await Promise.all([ended, behind, other]);
  expect(done.toSorted()).toEqual(['behind', 'other']);
});

test('who has left before it asks gets no turn', async () => {
  const done: string[] = [];
  const gone = AbortSignal.abort(new UserError('unavailable', 'The connection is closed'));
  await expect(large({ gone }, async () => String(done.push('left')))).rejects.toThrow('The connection is closed');
  expect(done).toEqual([]);
});

test('whose time is up is refused with a time to try again, and what takes little from the store does not wait', async () => {
  const { letGo, ended } = await takeAll();
  const late = large({ respondBy: performance.now() }, async () => 'late');
  await expect(late).rejects.toMatchObject({ code: 'unavailable', reason: 'EMAILS_IN_PROGRESS', retryAfterSeconds: 5 });
  expect(await inComposingTurn(composer(), 1_000, async () => 'small')).toBe('small');
  letGo();
  await ended;
  expect(await large({}, async () => 'later')).toBe('later');
});
