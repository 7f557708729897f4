import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ActorContext } from '../../../actors/actor.ts';
import { assignThreads } from '../../../actors/threading/assign-thread.ts';
import { inTransaction } from '../../../db/connection/transaction.ts';
import { lockThreads } from '../../../db/queries/threads/thread-claim.ts';
import { insertMail } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';
import { countStatements } from '../../support/statements.ts';

let gateway: TestGateway;
let threading: ActorContext;

beforeAll(async () => {
  gateway = await openTestGateway();
  threading = testActorContext(gateway.actor);
});
afterAll(() => gateway.close());

interface Mail {
  name: string;
  parents?: string[];
  from?: string;
  type?: 'received' | 'sent';
}

const START = Date.UTC(2026, 5, 1);

/** A mailbox with mails a minute apart; each replies to the last of its parents. Returns the ids of emails by their names. */
async function mailboxWith(mails: readonly Mail[]) {
  const box = await gateway.mailbox();
  return { box, ids: await arrive(box, mails) };
}

async function arrive(box: TestMailbox, mails: readonly Mail[], minutes = 0): Promise<Record<string, string>> {
  const list = (address: string, name: string | null = null) => ({ text: address, addresses: [{ name, address }] });
  const emailIds = await insertMail(
    gateway.actor,
    mails.map(({ name, parents = [], from = 'ada@elsewhere.test', type = 'received' }, at) => ({
      workspaceId: box.workspaceId,
      type,
      ownAddress: box.address,
      subject: name,
      messageId: `<${name}@elsewhere.test>`,
      references: parents.map((parent) => `<${parent}@elsewhere.test>`),
      inReplyTo: parents.slice(-1).map((parent) => `<${parent}@elsewhere.test>`),
      createdAt: new Date(START + (minutes + at) * 60_000),
      from,
      addresses: { from: list(from, 'Ada'), to: list(box.address), cc: null, bcc: null, replyTo: null },
    })),
  );
  for (const emailId of emailIds) await assignThreads(threading, box.workspaceId, [emailId]);
  return Object.fromEntries(mails.map(({ name }, at) => [name, emailIds[at] ?? '']));
}

async function ask(box: TestMailbox, query: string, variables: Record<string, unknown> = {}) {
  const response = await gateway.graphql(box.apiKey, query, variables);
  const { data, errors } = response.json();
  expect(errors, response.body).toBeUndefined();
  return data;
}

const ERRORS = `... on Error { message code } ... on ValidationError { fields { path message } } ... on Conflict { isRetryable }`;
const THREAD = `id messageCount unreadCount isArchived labels messages(first: 50) { nodes: edges { node { id } } }`;

const UPDATE = `mutation ($input: UpdateThreadsInput!) { updateThreads(input: $input) {
  __typename ${ERRORS} ... on UpdateThreadsPayload { threads { ${THREAD} } } } }`;
const MERGE = `mutation ($input: MergeThreadsInput!) { mergeThreads(input: $input) {
  __typename ${ERRORS} ... on MergeThreadsPayload { thread { ${THREAD} } } } }`;
const SPLIT = `mutation ($input: SplitThreadInput!) { splitThread(input: $input) {
  __typename ${ERRORS} ... on SplitThreadPayload { thread { ${THREAD} } newThread { ${THREAD} } } } }`;
const MOVE = `mutation ($input: MoveEmailsInput!) { moveEmails(input: $input) {
  __typename ${ERRORS} ... on MoveEmailsPayload { thread { ${THREAD} } } } }`;

async function change(box: TestMailbox, mutation: string, input: Record<string, unknown>) {
  const data = await ask(box, mutation, { input });
  return Object.values(data)[0] as {
    __typename: string;
    thread: ShownThread;
    newThread: ShownThread;
    threads: ShownThread[];
  };
}

interface ShownThread {
  id: string;
  messageCount: number;
  unreadCount: number;
  isArchived: boolean;
  labels: string[];
  messages: { nodes: { node: { id: string } }[] };
}

const listMessages = (thread: ShownThread) => thread.messages.nodes.map(({ node }) => node.id);
const rest = async (box: TestMailbox, path: string) => (await gateway.call(box.apiKey, 'GET', path)).json();
const listThreadIds = async (box: TestMailbox): Promise<string[]> =>
  (await rest(box, '/mail/threads')).threads.map(({ id }: { id: string }) => id).toReversed();

describe('a thread', () => {
  test('shows the fields of REST, and its participants and labels', async () => {
    const { box, ids } = await mailboxWith([{ name: 'a' }, { name: 'b', parents: ['a'], from: 'Bob@Elsewhere.test' }]);
    const [threadId = ''] = await listThreadIds(box);
    await change(box, UPDATE, { threadIds: [threadId], addLabels: ['Work'] });
    const { thread: shown } = await rest(box, `/mail/threads/${threadId}`);
    const { thread } = await ask(
      box,
      `query ($id: ID!) { thread(id: $id) { id rootMessageId normalizedSubject participants { name address } participantEmails
         participantNames labels messageCount unreadCount isArchived createdAt updatedAt lastMessageAt latestMessage { id } } }`,
      { id: threadId },
    );
    expect(thread).toEqual({
      id: threadId,
      rootMessageId: shown.root_message_id,
      normalizedSubject: 'a',
      participants: [
        { name: 'Ada', address: 'ada@elsewhere.test' },
        { name: null, address: box.address },
        { name: 'Ada', address: 'bob@elsewhere.test' },
      ],
      participantEmails: shown.participant_emails,
      participantNames: shown.participant_names,
      labels: ['Work'],
      messageCount: 2,
      unreadCount: 2,
      isArchived: false,
      createdAt: shown.created_at,
      updatedAt: shown.updated_at,
      lastMessageAt: shown.last_message_at,
      latestMessage: { id: ids['b'] },
    });
  });

  test('has its messages by pages, forward and backward, and their number', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const { box, ids } = await mailboxWith(names.map((name) => ({ name, parents: name === 'a' ? [] : ['a'] })));
    const [id] = await listThreadIds(box);
    const page = async (args: string) => {
      const { thread } = await ask(
        box,
        `query ($id: ID!) { thread(id: $id) { messages(${args}) { totalCount edges { node { id } }
           pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }`,
        { id },
      );
      const { edges, pageInfo, totalCount } = thread.messages;
      expect(totalCount).toBe(5);
      return { ids: edges.map(({ node }: { node: { id: string } }) => node.id), ...pageInfo };
    };
    const of = (...some: string[]) => some.map((name) => ids[name]);
    const first = await page('first: 2');
    expect(first).toMatchObject({ ids: of('a', 'b'), hasNextPage: true });
    const second = await page(`first: 2, after: "${first.endCursor}"`);
    expect(second).toMatchObject({ ids: of('c', 'd'), hasNextPage: true });
    const last = await page('last: 2');
    expect(last).toMatchObject({ ids: of('d', 'e'), hasPreviousPage: true });
    expect(await page(`last: 2, before: "${last.startCursor}"`)).toMatchObject({ ids: of('b', 'c') });
  });
});

describe('updateThreads', () => {
  test('marks and labels whole threads, and REST shows it', async () => {
    const { box } = await mailboxWith([{ name: 'a' }, { name: 'b', parents: ['a'] }, { name: 'c' }]);
    const threadIds = await listThreadIds(box);
    const { threads } = await change(box, UPDATE, { threadIds, isRead: true, isArchived: true, addLabels: [' Tax '] });
    expect(threads).toMatchObject([
      { id: threadIds[0], messageCount: 2, unreadCount: 0, isArchived: true, labels: ['Tax'] },
      { id: threadIds[1], messageCount: 1, unreadCount: 0, isArchived: true, labels: ['Tax'] },
    ]);
    const listed = (await rest(box, '/mail/threads')).threads;
    expect(listed).toMatchObject([
      { unread_count: 0, is_archived: true },
      { unread_count: 0, is_archived: true },
    ]);
    expect(await rest(box, '/emails?status=unread&time_range=all')).toMatchObject({
      data: [],
      pagination: { total: 0 },
    });
    await change(box, UPDATE, { threadIds: threadIds.slice(1), isRead: false, removeLabels: ['TAX'] });
    expect(await ask(box, '{ labels { name threadCount unreadThreadCount } }')).toEqual({
      labels: [{ name: 'Tax', threadCount: 1, unreadThreadCount: 0 }],
    });
    // null is as if left out
    const { threads: same } = await change(box, UPDATE, { threadIds, isRead: null, labels: null, isArchived: true });
    expect(same).toMatchObject([{ unreadCount: 0 }, { unreadCount: 1 }]);
  });

  test('shows the state after each of several changes in one request', async () => {
    const { box } = await mailboxWith([{ name: 'a' }]);
    const [id = ''] = await listThreadIds(box);
    const data = await ask(
      box,
      `mutation ($id: ID!) {
        one: updateThreads(input: { threadIds: [$id], isRead: true }) { ... on UpdateThreadsPayload { threads { unreadCount } } }
        two: updateThreads(input: { threadIds: [$id], isRead: false }) { ... on UpdateThreadsPayload { threads { unreadCount } } } }`,
      { id },
    );
    expect(data).toEqual({ one: { threads: [{ unreadCount: 0 }] }, two: { threads: [{ unreadCount: 1 }] } });
  });

  test('says which field is wrong, and reports foreign IDs as unknown', async () => {
    const { box } = await mailboxWith([{ name: 'a' }]);
    const [threadId = ''] = await listThreadIds(box);
    const [foreign] = await listThreadIds((await mailboxWith([{ name: 'x' }])).box);
    expect(await change(box, UPDATE, { threadIds: [threadId], addLabels: ['a', '\u0007'] })).toEqual({
      __typename: 'ValidationError',
      message: 'A label must have 1 to 64 characters and no control characters',
      code: null,
      fields: [{ path: ['addLabels', '1'], message: 'A label must have 1 to 64 characters and no control characters' }],
    });
    expect(await change(box, UPDATE, { threadIds: [], isRead: true })).toMatchObject({
      __typename: 'ValidationError',
      fields: [{ path: ['threadIds'] }],
    });
    expect(await change(box, UPDATE, { threadIds: [threadId] })).toMatchObject({ __typename: 'ValidationError' });
    const [unknown, ofAnother] = await Promise.all(
      ['th_none', foreign].map((id) => change(box, UPDATE, { threadIds: [threadId, id], isRead: true })),
    );
    expect(unknown).toEqual({ __typename: 'NotFound', message: 'Thread not found', code: null });
    expect(ofAnother).toEqual(unknown);
  });

  test('returns an error that the threads are being changed when it waited too long', async () => {
    const { box } = await mailboxWith([{ name: 'a' }]);
    const threadIds = await listThreadIds(box);
    await inTransaction(gateway.actor, async (client) => {
      await lockThreads(client, box.workspaceId);
      expect(await change(box, UPDATE, { threadIds, isRead: true })).toMatchObject({
        __typename: 'Conflict',
        isRetryable: true,
      });
    });
  });
});

describe('threads that are merged and split', () => {
  test('keep all their old IDs in GraphQL, REST, replies and cursors, after chains of merges and splits', async () => {
    const { box, ids } = await mailboxWith([
      { name: 'newest', from: 'zoe@elsewhere.test' },
      { name: 'a' },
      { name: 'b', parents: ['a'] },
      { name: 'c' },
      { name: 'd' },
    ]);
    const [first = '', ofA = '', ofC = '', ofD = ''] = await listThreadIds(box);
    expect((await change(box, MERGE, { threadIds: [ofC, ofD] })).thread.id).toBe(ofC);
    const { newThread, thread } = await change(box, SPLIT, { threadId: ofA, emailIds: [ids['b']] });
    expect([listMessages(thread), listMessages(newThread)]).toEqual([[ids['a']], [ids['b']]]);
    expect((await change(box, MERGE, { threadIds: [ofD, newThread.id] })).thread.id).toBe(newThread.id);
    const moved = await change(box, MOVE, { emailIds: [ids['a']], threadId: ofD });
    expect(listMessages(moved.thread)).toEqual(['a', 'b', 'c', 'd'].map((name) => ids[name]));

    const former = [ofA, ofC, ofD, newThread.id];
    const { nodes } = await ask(box, `query ($ids: [ID!]!) { nodes(ids: $ids) { id } }`, { ids: former });
    expect(nodes).toEqual(former.map(() => ({ id: newThread.id })));
    // Each reply joins its thread at once, so the next one replies to it.
    let latest = ids['d'];
    for (const [n, id] of former.entries()) {
      const response = await rest(box, `/mail/threads/${id}`);
      expect([response.thread.id, response.total_count]).toEqual([newThread.id, 4 + n]);
      const { threads } = await rest(box, `/mail/threads?cursor=${id}`);
      expect(threads.map((listed: { id: string }) => listed.id)).toEqual([first]);
      const reply = await gateway.call(box.apiKey, 'POST', `/emails/${id}/reply`, { from: box.address, text: 'Yes' });
      expect(reply.json()).toMatchObject({ replied_to_email_id: latest, is_thread_reply: true });
      latest = reply.json().id;
    }
  });

  test('return an error for an impossible move', async () => {
    const { box, ids } = await mailboxWith([{ name: 'a' }, { name: 'b', parents: ['a'] }, { name: 'c' }]);
    const [ofA = '', ofC = ''] = await listThreadIds(box);
    const foreign = await mailboxWith([{ name: 'x' }]);
    const [foreignId] = await listThreadIds(foreign.box);
    const invalid = (path: string[]) => ({ __typename: 'ValidationError', fields: [{ path }] });
    const notFound = (message: string) => ({ __typename: 'NotFound', message });
    expect(await change(box, MERGE, { threadIds: [ofA] })).toMatchObject(invalid(['threadIds']));
    expect(await change(box, MERGE, { threadIds: [ofA, foreignId] })).toMatchObject(notFound('Thread not found'));
    expect(await change(box, SPLIT, { threadId: ofA, emailIds: [ids['a'], ids['b']] })).toMatchObject(
      invalid(['emailIds']),
    );
    expect(await change(box, SPLIT, { threadId: ofA, emailIds: [ids['c']] })).toMatchObject(invalid(['emailIds']));
    expect(await change(box, SPLIT, { threadId: foreignId, emailIds: [ids['a']] })).toMatchObject(
      notFound('Thread not found'),
    );
    expect(await change(box, MOVE, { threadId: ofC, emailIds: [] })).toMatchObject(invalid(['emailIds']));
    expect(await change(box, MOVE, { threadId: ofC, emailIds: [foreign.ids['x']] })).toMatchObject(
      notFound('Email not found'),
    );
    expect(await listThreadIds(box)).toEqual([ofA, ofC]);
  });

  test('take replies where their user split them', async () => {
    const { box, ids } = await mailboxWith([{ name: 'a' }, { name: 'b', parents: ['a'] }]);
    const [ofA = ''] = await listThreadIds(box);
    const { newThread } = await change(box, SPLIT, { threadId: ofA, emailIds: [ids['b']] });
    const later = await arrive(
      box,
      [
        { name: 'to_b', parents: ['a', 'b'] },
        { name: 'to_a', parents: ['a'] },
      ],
      60,
    );
    const messages = async (id: string) =>
      (await rest(box, `/mail/threads/${id}`)).messages.map((message: { id: string; thread_position: number }) => [
        message.id,
        message.thread_position,
      ]);
    expect(await messages(newThread.id)).toEqual([
      [ids['b'], 0],
      [later['to_b'], 1],
    ]);
    expect(await messages(ofA)).toEqual([
      [ids['a'], 0],
      [later['to_a'], 1],
    ]);
  });
});

test('a page of 50 threads, and a thread of 50 messages, need as many statements as one of each', async () => {
  const { box } = await mailboxWith([
    ...Array.from({ length: 50 }, (_, n) => ({ name: `m${n}`, parents: n === 0 ? [] : ['m0'] })),
    ...Array.from({ length: 50 }, (_, n) => ({ name: `t${n}` })),
  ]);
  const [large, small] = await listThreadIds(box);
  const LIST = `query ($n: Int!) { threads(first: $n) { edges { node { id labels participants { name address } unreadCount
    latestMessage { id subject } } } } }`;
  const PAGE = `query ($id: ID!) { thread(id: $id) { labels participants { address } latestMessage { id }
    messages(first: 50) { totalCount edges { node { id subject } } } } }`;
  const statements = async (query: string, variables: Record<string, unknown>) =>
    (await countStatements(() => ask(box, query, variables))).statements;
  expect(await statements(LIST, { n: 50 })).toBe(await statements(LIST, { n: 1 }));
  const ofLarge = await statements(PAGE, { id: large });
  expect(ofLarge).toBe(await statements(PAGE, { id: small }));
  expect(ofLarge).toBeLessThanOrEqual(6);
});

describe('claims of threads', () => {
  const CLAIM = 'claim { holder claimedAt expiresAt }';

  test('are granted, renewed and released; the thread shows the holder, and lists are filtered by it', async () => {
    const { box, ids } = await mailboxWith([{ name: 'claimed' }, { name: 'free' }]);
    const { threads } = await ask(box, '{ threads { edges { node { id normalizedSubject claim { holder } } } } }');
    const nodes: { id: string; normalizedSubject: string }[] = threads.edges.map(({ node }: { node: object }) => node);
    const threadId = nodes.find((node) => node.normalizedSubject === 'claimed')?.id;
    const mutate = async (field: string, input: object, selection: string) =>
      (
        await ask(
          box,
          `mutation Change($input: ${field[0]?.toUpperCase()}${field.slice(1)}Input!) { ${field}(input: $input) {
        __typename ${selection} ... on Conflict { code isRetryable details } ... on ValidationError { fields { path } } } }`,
          { input },
        )
      )[field];
    const granting = `token ${CLAIM} thread { id ${CLAIM} }`;

    const claimed = await mutate(
      'claimThread',
      { threadId, holder: 'agent-7', ttl: 300 },
      `... on ClaimThreadPayload { ${granting} }`,
    );
    const { token, claim } = claimed;
    expect(claimed).toEqual({
      __typename: 'ClaimThreadPayload',
      token: expect.stringMatching(/^clm_/),
      claim: { holder: 'agent-7', claimedAt: expect.any(String), expiresAt: expect.any(String) },
      thread: { id: threadId, claim },
    });
    expect(await mutate('claimThread', { threadId, holder: 'agent-8' }, '')).toEqual({
      __typename: 'Conflict',
      code: 'THREAD_CLAIMED',
      isRetryable: true,
      details: { holder: 'agent-7', expires_at: claim.expiresAt },
    });
    const filtered = (isClaimed: boolean) =>
      ask(
        box,
        `{ threads(filter: { claimed: ${isClaimed} }) { totalCount edges { node { latestMessage { id } ${CLAIM} } } } }`,
      );
    expect((await filtered(true)).threads).toEqual({
      totalCount: 1,
      edges: [{ node: { latestMessage: { id: ids['claimed'] }, claim } }],
    });
    expect((await filtered(false)).threads).toEqual({
      totalCount: 1,
      edges: [{ node: { latestMessage: { id: ids['free'] }, claim: null } }],
    });
    const renewed = await mutate(
      'renewThreadClaim',
      { threadId, token, ttl: 600 },
      `... on RenewThreadClaimPayload { ${granting} }`,
    );
    expect(Date.parse(renewed.claim.expiresAt)).toBeGreaterThan(Date.parse(claim.expiresAt));
    expect(await mutate('renewThreadClaim', { threadId, token, ttl: 1 }, '')).toMatchObject({
      fields: [{ path: ['ttl'] }],
    });
    const release = () =>
      mutate('releaseThreadClaim', { threadId, token }, `... on ReleaseThreadClaimPayload { thread { id ${CLAIM} } }`);
    expect(await release()).toMatchObject({ thread: { id: threadId, claim: null } });
    expect(await release()).toMatchObject({ code: 'CLAIM_LOST', isRetryable: false });
  });
});
