import { describe, expect, test } from 'vitest';
import { releaseExpiredClaims } from '../../../actors/scheduling/release-claims.ts';
import type { OperationContext } from '../../../operations/context.ts';
import { claimThread, releaseClaim, renewClaim } from '../../../operations/threads/claim-thread.ts';
import { mergeThreads, moveEmails, splitThread } from '../../../operations/threads/thread-moves.ts';
import { listThreads, readThread, type ThreadPage } from '../../../operations/threads/threads.ts';
import { openForFile } from '../../support/open-for-file.ts';
import { moveClock } from '../../support/rows/outgoing-rows.ts';
import { makeMail, makeReply, newWorkspace, openThreadStage } from '../../support/stages/thread-stage.ts';

const stage = openForFile(() => openThreadStage());

/** Threads of one message each, `em_0`, `em_1` and so on, oldest first. */
async function threadsOfOne(count: number) {
  const workspaceId = newWorkspace();
  await stage.arrive(
    workspaceId,
    Array.from({ length: count }, (_, n) => makeMail(`em_${n}`, n)),
  );
  const threadIds = (await stage.listThreads(workspaceId)).map(({ id }) => id);
  return { workspaceId, context: stage.makeContext(workspaceId), threadIds };
}

const claim = (context: OperationContext, threadId: string, holder = 'agent-7', seconds: number | null = 300) =>
  claimThread(context, threadId, { holder, seconds });
const readHolder = async (context: OperationContext, threadId: string) =>
  (await readThread(context, threadId)).thread.claim?.holder ?? null;
const sweep = () => releaseExpiredClaims(stage.threading, {});
const passSeconds = (seconds: number) => moveClock(stage.owner, seconds);
/** What the feed says about claims: kind, thread, data without times. */
async function claimEvents(workspaceId: string) {
  const events = await stage.listEvents(workspaceId);
  return events
    .filter(({ kind }) => kind === 'thread.claimed' || kind === 'thread.released')
    .map(({ kind, thread_id: threadId, data }) => [kind, threadId, Object.values(data).slice(0, 2)]);
}
const LOST = { code: 'conflict', reason: 'CLAIM_LOST' };

test('a thread has one holder; others see who it is and until when', async () => {
  const { workspaceId, context, threadIds } = await threadsOfOne(2);
  const [threadId = '', other = ''] = threadIds;
  const granted = await claim(context, threadId);
  expect(granted).toMatchObject({ threadId, holder: 'agent-7', token: expect.stringMatching(/^clm_[0-9a-f]{32}$/) });
  expect(granted.expiresAt.getTime() - granted.claimedAt.getTime()).toBe(300_000);
  for (const holder of ['agent-8', 'agent-7'])
    await expect(claim(context, threadId, holder)).rejects.toMatchObject({
      code: 'conflict',
      reason: 'THREAD_CLAIMED',
      members: { holder: 'agent-7', expires_at: granted.expiresAt.toISOString() },
      retryAfterSeconds: 300,
    });
  expect((await readThread(context, threadId)).thread.claim).toEqual({
    holder: 'agent-7',
    claimedAt: granted.claimedAt,
    expiresAt: granted.expiresAt,
  });
  expect((await claim(context, other, 'agent-8')).holder).toBe('agent-8');
  expect(await claimEvents(workspaceId)).toEqual([
    ['thread.claimed', threadId, ['agent-7', granted.expiresAt.toISOString()]],
    ['thread.claimed', other, ['agent-8', expect.any(String)]],
  ]);
  const { rows } = await stage.owner.pool.query('select thread_claim::text as row from thread_claim');
  expect(JSON.stringify(rows), 'only the hash of a token is stored').not.toContain(granted.token);
});

test('a claim is renewed and released by its token, and then the thread is free', async () => {
  const { workspaceId, context, threadIds } = await threadsOfOne(1);
  const [threadId = ''] = threadIds;
  const { token } = await claim(context, threadId, ' Ada ', 60);
  await passSeconds(50);
  const renewed = await renewClaim(context, { threadId, token }, 60);
  expect(renewed).toMatchObject({ threadId, holder: 'Ada', token });
  await passSeconds(50);
  expect(await readHolder(context, threadId)).toBe('Ada');
  for (const wrong of ['', 'clm_0', `${token}0`]) {
    await expect(renewClaim(context, { threadId, token: wrong }, 60)).rejects.toMatchObject({
      ...LOST,
      members: { holder: 'Ada', expires_at: renewed.expiresAt.toISOString() },
    });
    await expect(releaseClaim(context, { threadId, token: wrong })).rejects.toMatchObject(LOST);
  }
  expect(await releaseClaim(context, { threadId, token })).toBe(threadId);
  expect(await readHolder(context, threadId)).toBeNull();
  await expect(releaseClaim(context, { threadId, token })).rejects.toMatchObject({ ...LOST, members: {} });
  await expect(renewClaim(context, { threadId, token }, 60)).rejects.toMatchObject(LOST);
  await claim(context, threadId, 'agent-8');
  expect(await claimEvents(workspaceId)).toEqual([
    ['thread.claimed', threadId, ['Ada', expect.any(String)]],
    ['thread.released', threadId, ['Ada', 'released']],
    ['thread.claimed', threadId, ['agent-8', expect.any(String)]],
  ]);
});

test('an expired claim is over at once; the feed says so when the thread is taken, or with the next sweep', async () => {
  const { workspaceId, context, threadIds } = await threadsOfOne(2);
  const [taken = '', left = ''] = threadIds;
  const first = await claim(context, taken, 'agent-7', 10);
  await claim(context, left, 'agent-7', 10);
  await passSeconds(11);
  expect([await readHolder(context, taken), await readHolder(context, left)]).toEqual([null, null]);
  await expect(renewClaim(context, { threadId: taken, token: first.token }, 60)).rejects.toMatchObject(LOST);
  await claim(context, taken, 'agent-8');
  await expect(releaseClaim(context, { threadId: taken, token: first.token })).rejects.toMatchObject({
    ...LOST,
    members: { holder: 'agent-8' },
  });
  const ends: unknown[] = [];
  stage.threading.bus.subscribe('event.appended', (end) => void (end.workspaceId === workspaceId && ends.push(end)));
  await Promise.all([sweep(), sweep(), sweep()]);
  await sweep();
  expect((await claimEvents(workspaceId)).slice(2)).toEqual([
    ['thread.released', taken, ['agent-7', 'expired']],
    ['thread.claimed', taken, ['agent-8', expect.any(String)]],
    ['thread.released', left, ['agent-7', 'expired']],
  ]);
  expect(ends, 'announced once').toHaveLength(1);
  expect(await readHolder(context, taken)).toBe('agent-8');
});

test('exactly one of many concurrent claims wins, through two gateways and while the thread expires and is swept', async () => {
  const { workspaceId, context, threadIds } = await threadsOfOne(1);
  const [threadId = ''] = threadIds;
  const gateways = [context, stage.makeContext(workspaceId, stage.open('postroom_gateway'))];
  for (let round = 0; round < 5; round++) {
    const claims = Array.from({ length: 12 }, (_, n) =>
      claim(gateways[n % 2] ?? context, threadId, `agent-${n}`, 10).then(
        ({ holder }) => holder,
        (error: { reason?: string }) => error.reason,
      ),
    );
    const [replies] = await Promise.all([Promise.all(claims), sweep()]);
    const winners = replies.filter((reply) => reply !== 'THREAD_CLAIMED');
    expect(winners).toEqual([await readHolder(context, threadId)]);
    await passSeconds(11);
  }
  await sweep();
  const kinds = (await claimEvents(workspaceId)).map(([kind]) => kind);
  expect(kinds).toEqual(Array.from({ length: 5 }, () => ['thread.claimed', 'thread.released']).flat());
});

describe('when threads are merged', () => {
  test('the claim passes to the remaining thread and holds there, by either id', async () => {
    const { context, threadIds } = await threadsOfOne(2);
    const [survivor = '', loser = ''] = threadIds;
    const { token } = await claim(context, loser);
    await mergeThreads(context, [survivor, loser]);
    expect(await readHolder(context, survivor)).toBe('agent-7');
    await expect(claim(context, loser, 'agent-8')).rejects.toMatchObject({ reason: 'THREAD_CLAIMED' });
    expect((await renewClaim(context, { threadId: loser, token }, 60)).threadId).toBe(survivor);
    expect(await releaseClaim(context, { threadId: survivor, token })).toBe(survivor);
  });

  test('the claim of the remaining thread stays, else the earliest; the others end with an event', async () => {
    const { workspaceId, context, threadIds } = await threadsOfOne(4);
    const [survivor = '', ...losers] = threadIds;
    const claims = [];
    for (const threadId of [losers[1], losers[0], losers[2]])
      claims.push(await claim(context, threadId ?? '', `of ${threadId}`));
    await mergeThreads(context, [survivor, losers[0] ?? '', losers[1] ?? '']);
    expect(await readHolder(context, survivor)).toBe(`of ${losers[1]}`);
    await mergeThreads(context, [survivor, losers[2] ?? '']);
    expect(await readHolder(context, survivor)).toBe(`of ${losers[1]}`);
    for (const { threadId, token } of claims.slice(1))
      await expect(renewClaim(context, { threadId, token }, 60)).rejects.toMatchObject(LOST);
    await sweep();
    expect((await claimEvents(workspaceId)).slice(3)).toEqual([
      ['thread.released', survivor, [`of ${losers[0]}`, 'merged']],
      ['thread.released', survivor, [`of ${losers[2]}`, 'merged']],
    ]);
  });

  test('an expired claim of the remaining thread is not in the way', async () => {
    const { context, threadIds } = await threadsOfOne(2);
    const [survivor = '', loser = ''] = threadIds;
    await claim(context, survivor, 'agent-7', 10);
    await passSeconds(11);
    await claim(context, loser, 'agent-8');
    await mergeThreads(context, [survivor, loser]);
    expect(await readHolder(context, survivor)).toBe('agent-8');
    await sweep();
    expect(await readHolder(context, survivor)).toBe('agent-8');
  });

  test('the claim passes with mail that refers to both, and when all messages are moved', async () => {
    const { workspaceId, context, threadIds } = await threadsOfOne(3);
    const [survivor = '', second = '', third = ''] = threadIds;
    await claim(context, second);
    await stage.arrive(workspaceId, [
      makeMail('em_3', 3, { references: ['<em_0@mail.test>', '<em_1@mail.test>'], inReplyTo: ['<em_1@mail.test>'] }),
    ]);
    expect(await readHolder(context, survivor)).toBe('agent-7');
    await moveEmails(context, ['em_0', 'em_1', 'em_3'], third);
    expect(await readHolder(context, third)).toBe('agent-7');
  });
});

test('a split leaves the claim with the thread of the remaining messages', async () => {
  const { workspaceId, context, threadIds } = await threadsOfOne(1);
  const [threadId = ''] = threadIds;
  await stage.arrive(workspaceId, [makeReply(['em_0'], 'em_1', 1)]);
  await claim(context, threadId);
  const { newThreadId } = await splitThread(context, threadId, ['em_1']);
  expect([await readHolder(context, threadId), await readHolder(context, newThreadId)]).toEqual(['agent-7', null]);
});

test.each([true, false])(
  'a list of claimed: %s has exactly those threads on its pages, with any other filter',
  async (isClaimed) => {
    const { context, threadIds } = await threadsOfOne(6);
    for (const at of [0, 3, 4]) await claim(context, threadIds[at] ?? '', 'agent-7', at === 0 ? 10 : 300);
    await passSeconds(11);
    const expected = threadIds.filter((_, at) => [3, 4].includes(at) === isClaimed).toReversed();
    for (const query of [{ isClaimed }, { isClaimed, search: 'about' }, { isClaimed, address: 'ann@a.test' }]) {
      const found: string[] = [];
      let cursor: string | null = null;
      do {
        const page: ThreadPage = await listThreads(context, query, { limit: 1, cursor });
        expect(page.threads.map(({ claim: of }) => of?.holder)).toEqual([isClaimed ? 'agent-7' : undefined]);
        found.push(...page.threads.map(({ id }) => id));
        cursor = page.nextCursor;
      } while (cursor !== null);
      expect(found, JSON.stringify(query)).toEqual(expected);
    }
  },
);

test.each([
  ['ttl', { holder: 'a', seconds: 9 }],
  ['ttl', { holder: 'a', seconds: 86_401 }],
  ['ttl', { holder: 'a', seconds: 10.5 }],
  ['ttl', { holder: 'a', seconds: Number.NaN }],
  ['holder', { holder: ' ', seconds: 60 }],
  ['holder', { holder: 'x'.repeat(101), seconds: 60 }],
  ['holder', { holder: 'a\nb', seconds: 60 }],
  ['holder', { holder: '\ud800', seconds: 60 }],
])('a claim with a bad %s is refused: %j', async (field, request) => {
  const { context, threadIds } = await threadsOfOne(1);
  await expect(claimThread(context, threadIds[0] ?? '', request)).rejects.toMatchObject({
    code: 'validation',
    details: [{ field, message: expect.any(String) }],
  });
});

test('threads of other users and unknown ones are not found', async () => {
  const { context, threadIds } = await threadsOfOne(1);
  const stranger = stage.makeContext(newWorkspace());
  const { token } = await claim(context, threadIds[0] ?? '');
  for (const threadId of [threadIds[0] ?? '', 'th_unknown', 'not an id']) {
    const notFound = { code: 'not_found', message: 'Thread not found' };
    await expect(claim(stranger, threadId)).rejects.toMatchObject(notFound);
    await expect(renewClaim(stranger, { threadId, token }, 60)).rejects.toMatchObject(notFound);
    await expect(releaseClaim(stranger, { threadId, token })).rejects.toMatchObject(notFound);
  }
});
