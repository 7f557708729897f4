import { describe, expect, test } from 'vitest';
import { mergeThreads, moveEmails, splitThread } from '../../../operations/threads/thread-moves.ts';
import { readThread } from '../../../operations/threads/threads.ts';
import { openForFile } from '../../support/open-for-file.ts';
import { makeMail, makeReply, newWorkspace, openThreadStage } from '../../support/stages/thread-stage.ts';

const stage = openForFile(() => openThreadStage());

/** A thread a <- b <- c <- d of one user. */
async function chain(workspaceId = newWorkspace()) {
  const context = stage.makeContext(workspaceId);
  await stage.arrive(workspaceId, [
    makeMail('em_a', 0),
    makeReply(['em_a'], 'em_b', 1),
    makeReply(['em_a', 'em_b'], 'em_c', 2),
    makeReply(['em_a', 'em_b', 'em_c'], 'em_d', 3),
  ]);
  return { workspaceId, context, threadId: await stage.findThread(workspaceId, 'em_a') };
}

const listIds = async (workspaceId: string, threadId: string) =>
  (await readThread(stage.makeContext(workspaceId), threadId)).messages.map(({ id }) => id);

describe('a thread that is split', () => {
  test('becomes two, numbered from 0, each with its counters and participants', async () => {
    const { workspaceId, context, threadId } = await chain();
    await stage.arrive(workspaceId, [
      makeReply(['em_a'], 'em_e', 4, { addresses: ['bob@b.test', 'me@home.test'], isRead: true }),
    ]);
    const split = await splitThread(context, threadId, ['em_b', 'em_e']);
    expect(split.threadId).toBe(threadId);
    expect(await listIds(workspaceId, threadId)).toEqual(['em_a', 'em_c', 'em_d']);
    expect(await listIds(workspaceId, split.newThreadId)).toEqual(['em_b', 'em_e']);
    const [old, made] = await stage.listThreads(workspaceId);
    expect(old).toMatchObject({ participant_emails: ['ann@a.test', 'me@home.test'], unread_count: 3 });
    expect(made).toMatchObject({
      participant_names: ['Ann <ann@a.test>', 'Me <me@home.test>', 'Bob <bob@b.test>'],
      unread_count: 1,
      normalized_subject: 'about em_b',
    });
    const emails = await stage.listEmails(workspaceId);
    expect(Object.fromEntries(emails.map((email) => [email.id, email.thread_reason]))).toEqual({
      em_a: 'new',
      em_b: 'manual',
      em_c: 'header',
      em_d: 'header',
      em_e: 'manual',
    });
    expect(await stage.findFaults(workspaceId)).toEqual([]);
  });

  test('gets replies in the part of the message they reply to, even if they refer to both', async () => {
    const { workspaceId, context, threadId } = await chain();
    const { newThreadId } = await splitThread(context, threadId, ['em_c']);
    await stage.arrive(workspaceId, [makeReply(['em_a', 'em_b', 'em_c'], 'em_to_c', 5)]);
    await stage.arrive(workspaceId, [makeReply(['em_a', 'em_b', 'em_c', 'em_d'], 'em_to_d', 6)]);
    await stage.arrive(workspaceId, [makeReply(['em_a', 'em_b', 'em_c', 'em_to_c'], 'em_again', 7)]);
    expect(await listIds(workspaceId, newThreadId)).toEqual(['em_c', 'em_to_c', 'em_again']);
    expect(await listIds(workspaceId, threadId)).toEqual(['em_a', 'em_b', 'em_d', 'em_to_d']);
    expect(await stage.findFaults(workspaceId)).toEqual([]);
  });

  test('stays two for a batch of mail that refers to both in every way', async () => {
    const { workspaceId, context, threadId } = await chain();
    const { newThreadId } = await splitThread(context, threadId, ['em_c']);
    await stage.arrive(workspaceId, [
      makeMail('em_1', 5, { references: ['<em_c@mail.test>', '<em_a@mail.test>'] }),
      makeMail('em_2', 6, { references: ['<em_a@mail.test>', '<em_c@mail.test>'] }),
      makeMail('em_3', 7, { references: ['<em_1@mail.test>', '<em_2@mail.test>'] }),
      makeMail('em_4', 8, { inReplyTo: ['<em_1@mail.test>'], references: ['<em_2@mail.test>'] }),
    ]);
    expect(await listIds(workspaceId, threadId)).toEqual(['em_a', 'em_b', 'em_d', 'em_1', 'em_4']);
    expect(await listIds(workspaceId, newThreadId)).toEqual(['em_c', 'em_2', 'em_3']);
    expect(await stage.findFaults(workspaceId)).toEqual([]);
  });

  test('keeps its parts apart, however often it is split', async () => {
    const { workspaceId, context, threadId } = await chain();
    const { newThreadId: ofC } = await splitThread(context, threadId, ['em_c']);
    const { newThreadId: ofD } = await splitThread(context, threadId, ['em_d']);
    await stage.arrive(workspaceId, [makeReply(['em_a', 'em_b', 'em_c', 'em_d'], 'em_to_d', 6)]);
    expect(await listIds(workspaceId, ofD)).toEqual(['em_d', 'em_to_d']);
    expect(await listIds(workspaceId, ofC)).toEqual(['em_c']);
  });

  test('merges with what joins one part, which stays apart from the other', async () => {
    const { workspaceId, context, threadId } = await chain();
    const { newThreadId } = await splitThread(context, threadId, ['em_c']);
    await stage.arrive(workspaceId, [makeMail('em_older', -1)]);
    await stage.arrive(workspaceId, [
      makeMail('em_link', 5, { references: ['<em_older@mail.test>', '<em_a@mail.test>'] }),
    ]);
    const older = await stage.findThread(workspaceId, 'em_older');
    expect(await stage.findThread(workspaceId, 'em_a')).toBe(older);
    await stage.arrive(workspaceId, [makeReply(['em_a', 'em_c'], 'em_to_c', 6)]);
    expect(await listIds(workspaceId, newThreadId)).toEqual(['em_c', 'em_to_c']);
    // The former id leads to the thread in which it ended.
    expect(await listIds(workspaceId, threadId)).toEqual(['em_older', 'em_a', 'em_b', 'em_d', 'em_link']);
    expect(await stage.findFaults(workspaceId)).toEqual([]);
  });

  test('is one again when the user merges it, and new mail joins it as before', async () => {
    const { workspaceId, context, threadId } = await chain();
    const { newThreadId } = await splitThread(context, threadId, ['em_c', 'em_d']);
    expect(await mergeThreads(context, [newThreadId, threadId])).toBe(threadId);
    expect(await listIds(workspaceId, newThreadId)).toEqual(['em_a', 'em_b', 'em_c', 'em_d']);
    const { newThreadId: ofD } = await splitThread(context, newThreadId, ['em_d']);
    expect(await mergeThreads(context, [threadId, ofD])).toBe(threadId);
    const { rows } = await stage.actor.pool.query('select * from thread_apart where workspace_id = $1', [workspaceId]);
    expect(rows).toEqual([]);
    expect(await stage.findFaults(workspaceId)).toEqual([]);
  });

  test('may lose its first message, and the older part takes the other in a merge', async () => {
    const { workspaceId, context, threadId } = await chain();
    const { newThreadId } = await splitThread(context, threadId, ['em_a']);
    await stage.arrive(workspaceId, [makeReply(['em_a'], 'em_to_a', 5), makeReply(['em_a', 'em_b'], 'em_to_b', 6)]);
    expect(await listIds(workspaceId, newThreadId)).toEqual(['em_a', 'em_to_a']);
    expect(await mergeThreads(context, [threadId, newThreadId])).toBe(newThreadId);
    expect(await listIds(workspaceId, threadId)).toEqual(['em_a', 'em_b', 'em_c', 'em_d', 'em_to_a', 'em_to_b']);
    expect(await stage.findFaults(workspaceId)).toEqual([]);
  });

  test('gives a late parent to the messages that refer to it, and its replies to wherever it is', async () => {
    const { workspaceId, context, threadId } = await chain();
    await stage.arrive(workspaceId, [
      makeReply(['em_a', 'em_late'], 'em_x', 5),
      makeReply(['em_a', 'em_gone'], 'em_y', 6),
    ]);
    const { newThreadId } = await splitThread(context, threadId, ['em_x']);
    // Only what was split off refers to em_late, only what stayed to em_gone.
    await stage.arrive(workspaceId, [makeMail('em_late', 4)]);
    await stage.arrive(workspaceId, [makeMail('em_gone', 4)]);
    expect(await listIds(workspaceId, newThreadId)).toEqual(['em_late', 'em_x']);
    expect(await listIds(workspaceId, threadId)).toEqual(['em_a', 'em_b', 'em_c', 'em_d', 'em_gone', 'em_y']);

    // A parent whose own parent is in the other part joins that one; replies to it follow it.
    await stage.arrive(workspaceId, [makeReply(['em_b', 'em_own'], 'em_z', 8)]);
    await stage.arrive(workspaceId, [makeMail('em_own', 7, { inReplyTo: ['<em_x@mail.test>'] })]);
    await stage.arrive(workspaceId, [makeReply(['em_own'], 'em_to_own', 9)]);
    expect(await stage.findThread(workspaceId, 'em_z')).toBe(threadId);
    expect(await stage.findThread(workspaceId, 'em_own')).toBe(newThreadId);
    expect(await stage.findThread(workspaceId, 'em_to_own')).toBe(newThreadId);
    expect(await stage.findFaults(workspaceId)).toEqual([]);
  });

  test('joined by subject gets bare replies in the part of the nearest reply', async () => {
    const workspaceId = newWorkspace();
    const context = stage.makeContext(workspaceId);
    const about = (id: string, days: number, subject = 'Re: rent') =>
      makeMail(id, days, { subject, baseSubject: 'rent' });
    await stage.arrive(workspaceId, [about('em_1', 0, 'rent'), about('em_2', 1), about('em_3', 5)]);
    const threadId = await stage.findThread(workspaceId, 'em_1');
    const { newThreadId } = await splitThread(context, threadId, ['em_3']);
    await stage.arrive(workspaceId, [about('em_4', 2)]);
    await stage.arrive(workspaceId, [about('em_5', 6)]);
    expect(await listIds(workspaceId, threadId)).toEqual(['em_1', 'em_2', 'em_4']);
    expect(await listIds(workspaceId, newThreadId)).toEqual(['em_3', 'em_5']);
    expect(await stage.findFaults(workspaceId)).toEqual([]);
  });

  test('with two messages of one Message-ID keeps replies with the one that stays', async () => {
    const { workspaceId, context, threadId } = await chain();
    await stage.arrive(workspaceId, [makeReply(['em_a'], 'em_twin', 4, { messageId: '<em_b@mail.test>' })]);
    await splitThread(context, threadId, ['em_twin']);
    await stage.arrive(workspaceId, [makeReply(['em_a', 'em_b'], 'em_to_b', 5)]);
    expect(await stage.findThread(workspaceId, 'em_to_b')).toBe(threadId);
  });

  test('adds events to the feed, and keeps its labels on both parts', async () => {
    const { workspaceId, context, threadId } = await chain();
    await stage.actor.pool.query(`update thread set labels = '{Work}', label_keys = '{work}' where workspace_id = $1`, [
      workspaceId,
    ]);
    const before = (await stage.listEvents(workspaceId)).length;
    const { newThreadId } = await splitThread(context, threadId, ['em_d', 'em_b']);
    expect(await stage.listEvents(workspaceId, before)).toEqual([
      { kind: 'thread.split', thread_id: threadId, email_id: null, data: { thread: newThreadId } },
      { kind: 'thread.renumbered', thread_id: threadId, email_id: null, data: {} },
      { kind: 'email.threaded', thread_id: newThreadId, email_id: 'em_b', data: { position: 0, reason: 'manual' } },
      { kind: 'email.threaded', thread_id: newThreadId, email_id: 'em_d', data: { position: 1, reason: 'manual' } },
    ]);
    expect((await stage.listThreads(workspaceId)).map(({ labels }) => labels)).toEqual([['Work'], ['Work']]);
    // Asked again, as after a lost reply, it is the same.
    expect(await splitThread(context, threadId, ['em_b', 'em_d'])).toEqual({ threadId, newThreadId });
  });

  test('does not change the threads of existing deliveries', async () => {
    const { workspaceId, context, threadId } = await chain();
    await stage.owner.pool.query(
      `insert into delivery (workspace_id, id, email_id, endpoint_id, delivery_type, thread_id, thread_position, attempts_allowed,
         created_at)
       values ($1, 'dlv_' || $1, 'em_c', 'ep_1', 'webhook', $2, 2, 1, now())`,
      [workspaceId, threadId],
    );
    await splitThread(context, threadId, ['em_c']);
    const { rows } = await stage.actor.pool.query(
      'select thread_id, thread_position from delivery where workspace_id = $1',
      [workspaceId],
    );
    expect(rows).toEqual([{ thread_id: threadId, thread_position: 2 }]);
  });

  test('cannot lose all its messages, other threads’ messages, or none', async () => {
    const { workspaceId, context, threadId } = await chain();
    await stage.arrive(workspaceId, [makeMail('em_other', 9)]);
    await stage.insert(workspaceId, [makeMail('em_scheduled', 9, { type: 'scheduled' }), makeMail('em_fresh', 9)]);
    const refused = (ids: string[], id = threadId) =>
      splitThread(context, id, ids).then(
        () => 'done',
        (error) => `${error.code}: ${error.message}`,
      );
    expect(
      await Promise.all([
        refused(['em_a', 'em_b', 'em_c', 'em_d']),
        refused(['em_a', 'em_other']),
        refused(['em_other']),
        refused(['em_scheduled']),
        refused(['em_fresh']),
        refused(['em_unknown']),
        refused(['em_a'], 'th_unknown'),
        refused(['em_a', "';--"]),
      ]),
    ).toEqual([
      'validation: At least one message must stay in the thread',
      'validation: All messages must belong to the thread',
      'validation: All messages must belong to the thread',
      'validation: Scheduled emails get a thread when they are sent',
      'conflict: An email has no thread yet. Try again in a moment.',
      'not_found: Email not found',
      'not_found: Thread not found',
      'not_found: Email not found',
    ]);
    await expect(splitThread(context, threadId, [])).rejects.toThrow('Give 1 to 500 messages');
    expect(await stage.findFaults(workspaceId)).toEqual([]);
  });

  test('200 times cannot be split again until parts are merged', async () => {
    const { workspaceId, context, threadId } = await chain();
    await stage.owner.pool.query(
      `insert into thread_apart select $1, $2, 'th_' || n from generate_series(1, 200) n
       union all select $1, 'th_' || n, $2 from generate_series(1, 200) n`,
      [workspaceId, threadId],
    );
    await expect(splitThread(context, threadId, ['em_b'])).rejects.toMatchObject({ code: 'conflict', isFinal: true });
    expect(await listIds(workspaceId, threadId)).toHaveLength(4);
  });
});

describe('messages that are moved', () => {
  test('are in another thread, and so are replies to them', async () => {
    const { workspaceId, context, threadId } = await chain();
    await stage.arrive(workspaceId, [makeMail('em_x', 2.5, { addresses: ['zoe@z.test', 'me@home.test'] })]);
    const target = await stage.findThread(workspaceId, 'em_x');
    const before = (await stage.listEvents(workspaceId)).length;
    expect(await moveEmails(context, ['em_d', 'em_b', 'em_b', 'em_x'], target)).toBe(target);
    expect(await listIds(workspaceId, target)).toEqual(['em_b', 'em_x', 'em_d']);
    expect((await stage.listEvents(workspaceId, before)).map(({ kind, thread_id }) => [kind, thread_id])).toEqual([
      ['thread.moved', threadId],
      ['thread.renumbered', threadId],
      ['thread.renumbered', target],
      ['email.threaded', target],
      ['email.threaded', target],
    ]);
    await stage.arrive(workspaceId, [
      makeReply(['em_a', 'em_b', 'em_c', 'em_d'], 'em_to_d', 5),
      makeReply(['em_a', 'em_b', 'em_c'], 'em_to_c', 6),
    ]);
    expect(await stage.findThread(workspaceId, 'em_to_d')).toBe(target);
    expect(await stage.findThread(workspaceId, 'em_to_c')).toBe(threadId);
    expect(await stage.findFaults(workspaceId)).toEqual([]);
    // Once there, nothing happens.
    const after = (await stage.listEvents(workspaceId)).length;
    expect(await moveEmails(context, ['em_d'], target)).toBe(target);
    expect(await stage.listEvents(workspaceId)).toHaveLength(after);
  });

  test('keep their new thread apart from the threads of their old one', async () => {
    const { workspaceId, context, threadId } = await chain();
    await stage.arrive(workspaceId, [makeMail('em_x', 4)]);
    const { newThreadId: ofC } = await splitThread(context, threadId, ['em_c']);
    const target = await stage.findThread(workspaceId, 'em_x');
    await moveEmails(context, ['em_d'], target);
    await stage.arrive(workspaceId, [makeReply(['em_a', 'em_b', 'em_c', 'em_d'], 'em_to_d', 5)]);
    expect(await listIds(workspaceId, target)).toEqual(['em_d', 'em_x', 'em_to_d']);
    expect(await listIds(workspaceId, ofC)).toEqual(['em_c']);
  });

  test('that were all of a thread merge it: its id leads to the new one, which gets its labels', async () => {
    const { workspaceId, context, threadId } = await chain();
    await stage.arrive(workspaceId, [makeMail('em_x', 4), makeMail('em_y', 5)]);
    const [, ofX = '', ofY = ''] = (await stage.listThreads(workspaceId)).map(({ id }) => id);
    await stage.actor.pool.query(`update thread set labels = '{Work,Tax}', label_keys = '{work,tax}' where id = $1`, [
      ofX,
    ]);
    await stage.actor.pool.query(`update thread set labels = '{TAX}', label_keys = '{tax}' where id = $1`, [threadId]);
    await moveEmails(context, ['em_x', 'em_d', 'em_y'], threadId);
    expect(await listIds(workspaceId, ofX)).toEqual(['em_a', 'em_b', 'em_c', 'em_d', 'em_x', 'em_y']);
    expect(await listIds(workspaceId, ofY)).toHaveLength(6);
    expect(await stage.listThreads(workspaceId)).toMatchObject([{ id: threadId, labels: ['TAX', 'Work'] }]);
    await stage.arrive(workspaceId, [makeReply(['em_x'], 'em_to_x', 9)]);
    expect(await stage.findThread(workspaceId, 'em_to_x')).toBe(threadId);
    const { rows } = await stage.actor.pool.query('select * from thread_apart where workspace_id = $1', [workspaceId]);
    expect(rows).toEqual([]);
    expect(await stage.findFaults(workspaceId)).toEqual([]);
  });

  test('may come from several threads; each that keeps some stays apart', async () => {
    const { workspaceId, context, threadId } = await chain();
    await stage.arrive(workspaceId, [makeMail('em_x', 4), makeReply(['em_x'], 'em_y', 5), makeMail('em_t', 6)]);
    const target = await stage.findThread(workspaceId, 'em_t');
    const ofX = await stage.findThread(workspaceId, 'em_x');
    await moveEmails(context, ['em_d', 'em_y'], target);
    await stage.arrive(workspaceId, [makeReply(['em_x', 'em_a', 'em_y', 'em_d'], 'em_z', 7)]);
    expect(await listIds(workspaceId, target)).toEqual(['em_d', 'em_y', 'em_t', 'em_z']);
    // What had nothing to do with each other before may still be joined.
    expect(await stage.findThread(workspaceId, 'em_x')).toBe(ofX);
    expect(await stage.findThread(workspaceId, 'em_a')).toBe(threadId);
    expect(await stage.findFaults(workspaceId)).toEqual([]);
  });

  // The second role has no wall of row-level security, so that the statements alone must know whose rows they touch.
  test.each(['postroom_gateway', 'postroom_actor'] as const)(
    'of another user are unknown, and so is the thread (%s)',
    async (role) => {
      const database = stage.open(role);
      const one = await chain();
      const context = stage.makeContext(one.workspaceId, database);
      const other = await chain();
      await stage.arrive(other.workspaceId, [makeMail('em_foreign', 5)]);
      const foreign = await stage.findThread(other.workspaceId, 'em_foreign');
      const refusal = (work: Promise<unknown>) => work.catch(({ code, message }) => `${code} ${message}`);
      expect([
        await refusal(moveEmails(context, ['em_foreign'], one.threadId)),
        await refusal(moveEmails(context, ['em_none'], one.threadId)),
        await refusal(moveEmails(context, ['em_b'], foreign)),
        await refusal(moveEmails(context, ['em_b'], 'th_none')),
        await refusal(splitThread(context, other.threadId, ['em_b'])),
        await refusal(mergeThreads(context, [one.threadId, foreign])),
      ]).toEqual([
        'not_found Email not found',
        'not_found Email not found',
        'not_found Thread not found',
        'not_found Thread not found',
        'not_found Thread not found',
        'not_found Thread not found',
      ]);
      expect(await stage.findFaults(other.workspaceId)).toEqual([]);
    },
  );
});
