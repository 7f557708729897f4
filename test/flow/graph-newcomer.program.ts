import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readSampleOperations } from '../../gateway/graphql/sample-operations.ts';
import type { TestAccount } from '../support/servers/service.ts';
import { type SharedService, sharedService } from '../support/servers/shared-service.ts';

/** All that a client developer has: the published operations, as the explorer shows them. */
const operations = new Map(readSampleOperations().map(({ name, text }) => [name, text]));
/** Those that were asked for so far. */
const used = new Set<string>();
const INTROSPECTION = `{ __schema { queryType { name } subscriptionType { name } types { name description fields { name description } } } }`;

let service: SharedService;
let account: TestAccount & { domain: string; domainId: string };
let address: string;
const ends: (() => void)[] = [];

beforeAll(async () => {
  service = await sharedService('single');
  account = await service.createAccount();
  address = `hello@${account.domain}`;
  const made = await account.call('POST', '/email-addresses', { address, domainId: account.domainId });
  expect(made.status).toBe(201);
});
afterAll(() => {
  for (const end of ends) end();
});

// oxlint-disable-next-line typescript/no-explicit-any -- tests read into the responses of many operations
type Data = any;

const request = (body: unknown, accept: string, signal: AbortSignal | null = null): Promise<Response> =>
  fetch(`${service.url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.apiKey}`, 'content-type': 'application/json', accept },
    body: JSON.stringify(body),
    signal,
  });

/** The text of a published operation. */
function operation(name: string): string {
  used.add(name);
  const text = operations.get(name);
  if (text === undefined) throw new Error(`there is no operation ${name}`);
  return text;
}

/** Runs a published operation by its name. */
async function run(name: string, variables: Record<string, unknown> = {}): Promise<Data> {
  const response = await request({ query: operation(name), variables }, 'application/json');
  const { data, errors } = (await response.json()) as { data: Data; errors?: unknown };
  expect(errors, name).toBeUndefined();
  return data;
}

interface Subscriber {
  told: Data[];
  /** Resolves with the first that fits, told already or later. */
  until(fits: (data: Data) => boolean): Promise<Data>;
}

/** Subscribes by a published operation: resolves when the response has begun. */
async function subscribe(name: string, variables: Record<string, unknown> = {}): Promise<Subscriber> {
  const over = new AbortController();
  ends.push(() => over.abort());
  const response = await request({ query: operation(name), variables }, 'text/event-stream', over.signal);
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    expect.stringMatching(/^text\/event-stream/),
  ]);
  const told: Data[] = [];
  void (async () => {
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of response.body ?? []) {
      const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const line = block.split('\n').find((each) => each.startsWith('data: {'));
        if (line !== undefined) told.push(JSON.parse(line.slice('data: '.length)).data);
      }
    }
  })().catch(() => undefined);
  return {
    told,
    async until(fits) {
      await expect.poll(() => told.some(fits), { message: JSON.stringify(told) }).toBe(true);
      return told.find(fits);
    },
  };
}

/** Mail of a stranger, by simulation; resolves with the news of it. */
async function arrive(news: Subscriber, from: string, subject: string): Promise<Data> {
  const input = { template: 'PLAIN', to: address, from, subject };
  const { simulateInbound } = await run('simulate-inbound', { input });
  expect(simulateInbound).toMatchObject({ __typename: 'SimulateInboundPayload', to: address });
  const { emailReceived } = await news.until((data) => data.emailReceived.email.id === simulateInbound.emailId);
  return emailReceived;
}

const inbox = async (variables: Record<string, unknown> = {}) =>
  (await run('inbox', variables)).inbox.edges.map(({ node }: { node: Data }) => node);
const thread = async (id: string) => (await run('thread', { id })).thread;

describe('a client developer can build an inbox from the explorer alone', () => {
  let news: Subscriber;
  let feed: Subscriber;
  let first: Data;
  let second: Data;

  test('the schema describes every field', async () => {
    const response = await request({ query: INTROSPECTION }, 'application/json');
    const { __schema: schema } = ((await response.json()) as { data: Data }).data;
    expect([schema.queryType.name, schema.subscriptionType.name]).toEqual(['Query', 'Subscription']);
    const own = schema.types.filter(({ name }: { name: string }) => /^(Email|Thread|Query|Mutation)$/.test(name));
    expect(own).toHaveLength(4);
    for (const { name, fields } of own)
      for (const field of fields) expect(field.description, `${name}.${field.name}`).toBeTruthy();
  });

  test('the inbox is empty, and then shows mail that arrives live', async () => {
    expect((await run('viewer')).viewer.id).toBe(account.workspaceId);
    expect(await inbox()).toEqual([]);
    [news, feed] = [await subscribe('email-received', { domain: account.domain }), await subscribe('events')];
    first = await arrive(news, 'Ada <ada@example.org>', 'An invoice');
    second = await arrive(news, 'Bob <bob@example.com>', 'Lunch on Friday');
    expect(first.email).toMatchObject({
      subject: 'An invoice',
      from: { name: 'Ada', address: 'ada@example.org' },
      thread: { messageCount: 1, unreadCount: 1 },
    });
    expect(await inbox()).toMatchObject([
      { id: second.email.thread.id, unreadCount: 1, latestMessage: { subject: 'Lunch on Friday' } },
      { id: first.email.thread.id, unreadCount: 1, latestMessage: { id: first.email.id, type: 'RECEIVED' } },
    ]);
  });

  test('a thread is opened and replied to', async () => {
    const { id } = first.email.thread;
    const opened = await thread(id);
    expect(opened.messages.edges).toHaveLength(1);
    expect(opened.messages.edges[0].node.content.cleanedText).toBeTruthy();
    const { replyToEmail } = await run('reply', { input: { id, from: address, text: 'It is paid.' } });
    expect(replyToEmail).toMatchObject({
      __typename: 'ReplyToEmailPayload',
      email: { subject: 'Re: An invoice', to: [{ address: 'ada@example.org' }] },
    });
    await feed.until(({ events }) => events.kind === 'EMAIL_SENT' || events.email?.id === replyToEmail.email.id);
    expect((await thread(id)).messages.edges.map(({ node }: { node: Data }) => [node.type, node.id])).toEqual([
      ['RECEIVED', first.email.id],
      ['SENT', replyToEmail.email.id],
    ]);
    expect((await run('email', { id: replyToEmail.email.id })).email.recipients).toMatchObject([
      { address: 'ada@example.org' },
    ]);
  });

  test('threads are read, labelled, archived and found', async () => {
    const threadIds = [first.email.thread.id];
    const { updateThreads } = await run('update-threads', {
      input: { threadIds, isRead: true, isArchived: true, addLabels: ['Money'] },
    });
    expect(updateThreads.threads).toMatchObject([{ unreadCount: 0, isArchived: true, labels: ['Money'] }]);
    await feed.until(({ events }) => events.kind === 'THREAD_LABELLED' && events.thread.id === threadIds[0]);
    const ids = async (variables: Record<string, unknown>) =>
      (await inbox(variables)).map((node: { id: string }) => node.id);
    expect(await ids({})).toEqual([second.email.thread.id]);
    expect(await ids({ search: 'invoice label:money is:archived' })).toEqual(threadIds);
    expect(await ids({ search: 'lunch is:unread' })).toEqual([second.email.thread.id]);
    expect(await ids({ filter: { archived: 'ARCHIVED', label: 'Money' } })).toEqual(threadIds);
    expect((await run('activity', { search: 'invoice' })).emails.totalCount).toBe(2);
  });

  test('two threads are merged, and the old id still works', async () => {
    const [kept, gone] = [first.email.thread.id, second.email.thread.id];
    const { mergeThreads } = await run('merge-threads', { input: { threadIds: [gone, kept] } });
    expect(mergeThreads).toMatchObject({ __typename: 'MergeThreadsPayload', thread: { id: kept, messageCount: 3 } });
    await feed.until(({ events }) => events.kind === 'THREAD_MERGED');
    expect(await thread(gone)).toEqual(await thread(kept));
    expect((await thread(gone)).messages.edges.map(({ node }: { node: Data }) => node.subject).toSorted()).toEqual([
      'An invoice',
      'Lunch on Friday',
      'Re: An invoice',
    ]);
  });

  test('a client that was disconnected reads the missed events from its last cursor', async () => {
    const { cursor } = second;
    const later = await arrive(news, 'Cy <cy@example.net>', 'Keys');
    const resumed = await subscribe('email-received', { after: cursor });
    await resumed.until((data) => data.emailReceived.cursor === later.cursor);
    expect(resumed.told.map(({ emailReceived }) => emailReceived.email.subject)).toEqual(['Keys']);
  });

  test('a code is waited for and read, and a route explained', async () => {
    const waiting = run('wait-for-email', {
      address,
      subject: 'your code',
      since: new Date().toISOString(),
      timeout: 60,
    });
    await run('simulate-inbound', { input: { template: 'ONE_TIME_CODE', to: address } });
    const { waitForEmail } = await waiting;
    expect(waitForEmail.subject).toContain(waitForEmail.extracts.codes[0].code);
    const { explainRoute } = await run('explain-route', { mail: { to: address, from: 'bob@example.com' } });
    expect(explainRoute).toMatchObject({ outcome: 'STORED', endpoint: null, tried: [] });
  });

  test('mail is sent, once with the same key', async () => {
    const input = { from: address, to: ['ada@example.org'], subject: 'Hello', text: 'Hi', idempotencyKey: 'once' };
    const [one, again] = [await run('send-email', { input }), await run('send-email', { input })];
    expect(one.sendEmail).toMatchObject({ __typename: 'SendEmailPayload', email: { scheduledAt: null } });
    expect(again.sendEmail.email.id).toBe(one.sendEmail.email.id);
  });

  test('every published operation was used by these tests', () => expect(used).toEqual(new Set(operations.keys())));
});
