import { readFileSync } from 'node:fs';
import path from 'node:path';
import { getOperationAST, OperationTypeNode, parse } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readSampleOperations } from '../../../gateway/graphql/sample-operations.ts';
import { insertMail, insertThread } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { countStatements } from '../../support/statements.ts';

/** Statements that each published query sends to PostgreSQL, the two that open and end the transaction included. */
const EXPECTED: Record<string, number> = {
  viewer: 3,
  inbox: 4,
  thread: 6,
  activity: 5,
  email: 7,
  'wait-for-email': 13,
  'explain-route': 8,
};

type Variables = Record<string, unknown>;

/** Messages of a thread, threads of an inbox, recipients of an email. */
const MANY = 50;
/** of an email, as many as the query asks for */
const DELIVERIES = 10;

const queries = readSampleOperations().filter(
  ({ text }) => getOperationAST(parse(text))?.operation === OperationTypeNode.QUERY,
);
const guide = readFileSync(path.resolve(import.meta.dirname, '../../../docs/graphql.md'), 'utf8');

let gateway: TestGateway;
let box: TestMailbox;
/** of each query: variables for a response with one of what it shows, and for responses with many; none where it shows one alone */
let variables: Record<string, { one: Variables; many: Variables[] }>;

beforeAll(async () => {
  gateway = await openTestGateway();
  box = await gateway.mailbox({ endpointUrl: 'https://hooks.example.com/' });
  const { workspaceId, address: ownAddress } = box;
  const mail = { workspaceId, ownAddress, text: 'Hello', lastMessageAt: new Date() };
  for (let n = 0; n < MANY; n++) await insertThread(gateway.actor, { ...mail, count: 1 });
  const { threadId, emailIds } = await insertThread(gateway.actor, { ...mail, count: MANY });
  await gateway.actor.pool.query(
    `update email set type = case when thread_position % 2 = 0 then 'sent' else 'received' end where workspace_id = $1 and thread_id = $2`,
    [workspaceId, threadId],
  );
  const attachments = [
    {
      index: 0,
      filename: 'a.txt',
      contentType: 'text/plain',
      size: 3,
      contentId: null,
      contentDisposition: 'attachment',
      start: 0,
      length: 4,
      transferEncoding: 'base64',
    },
  ];
  await gateway.actor.pool.query(
    `update email_content set attachments = $2 where workspace_id = $1 and email_id = any($3)`,
    [workspaceId, JSON.stringify(attachments), emailIds],
  );
  await gateway.actor.pool.query(`update email set has_attachments = true, attachment_count = 1 where id = any($1)`, [
    emailIds,
  ]);
  const [received = '', delivered = '', sent = ''] = [emailIds[1], emailIds[3], emailIds[4]];
  for (const id of emailIds) await insertRecipients(id, 1);
  await insertRecipients(sent, MANY - 1, 1);
  await insertDeliveries(received, 1);
  await insertDeliveries(delivered, DELIVERIES);
  const [arrived = ''] = await insertMail(gateway.actor, [
    { workspaceId, ownAddress, subject: 'Your code', text: 'Your code is 482913', threadId, threadPosition: MANY },
  ]);
  await gateway.actor.pool.query(`update email set address_id = $2, domain_id = $3 where id = $1`, [
    arrived,
    box.addressId,
    box.domainId,
  ]);
  const since = new Date(Date.now() - 3_600_000).toISOString();
  const filter = { timeRange: 'ALL' };
  variables = {
    viewer: { one: {}, many: [] },
    inbox: { one: { first: 1 }, many: [{ first: MANY }] },
    thread: { one: { id: threadId, first: 1 }, many: [{ id: threadId, first: MANY }] },
    activity: { one: { filter, first: 1 }, many: [{ filter, first: MANY }] },
    email: { one: { id: received }, many: [{ id: delivered }, { id: sent }] },
    'wait-for-email': { one: { subject: 'code', since, timeout: 1 }, many: [] },
    'explain-route': { one: { emailId: arrived }, many: [] },
  };
});
afterAll(() => gateway.close());

async function insertRecipients(emailId: string, count: number, from = 0): Promise<void> {
  await gateway.actor.pool.query(
    `with r as (
       insert into recipient (workspace_id, id, email_id, address, domain, created_at)
       select $1, 'rcp_' || $2 || '_' || n, $2, 'x' || n || '@y.test', 'y.test', now() from generate_series($3::int, $4::int) n returning id)
     insert into sending_attempt (workspace_id, recipient_id, number, started_at, finished_at, outcome, code, text)
     select $1, id, 1, now(), now(), 'deferred', 451, 'later' from r`,
    [box.workspaceId, emailId, from, from + count - 1],
  );
}

async function insertDeliveries(emailId: string, count: number): Promise<void> {
  await gateway.actor.pool.query(
    `insert into delivery (workspace_id, id, email_id, endpoint_id, delivery_type, attempts_allowed, status, created_at, next_attempt_at,
       last_attempt, attempts)
     select $1, 'dlv_' || $2 || '_' || n, $2, $3, 'webhook', 4, 'failed', now(), now(),
       '{"number": 1, "started_at": "2026-11-01T00:00:00Z", "duration_ms": 5, "outcome": "failed", "request_headers": {}}', 1
     from generate_series(1, $4::int) n`,
    [box.workspaceId, emailId, box.endpointId, count],
  );
}

/** The fewest of three counts: now and then the gateway writes down when keys were used, which is none of the query's doing. */
async function ask(name: string, given: Variables | undefined) {
  const text = queries.find((query) => query.name === name)?.text ?? '';
  // The key is looked up now, so that it is known while the statements are counted.
  await gateway.graphql(box.apiKey, '{ __typename }');
  const counts: number[] = [];
  let data;
  for (let n = 0; n < 3; n++) {
    const { response, statements } = await countStatements(() => gateway.graphql(box.apiKey, text, given));
    counts.push(statements);
    const { errors, ...more } = response.json();
    expect(errors).toBeUndefined();
    ({ data } = more);
  }
  return { data, statements: Math.min(...counts) };
}

test('every published query is counted', () => {
  const names = queries.map(({ name }) => name);
  expect([names, Object.keys(variables)]).toEqual([Object.keys(EXPECTED), Object.keys(EXPECTED)]);
});

describe.each(Object.entries(EXPECTED))('%s', (name, expected) => {
  test(`takes ${expected} statements`, async () => {
    const { data, statements } = await ask(name, variables[name]?.one);
    expect(Object.values(data)).not.toContain(null);
    expect(statements).toBe(expected);
  });

  test('takes no more for many rows than for one', async () => {
    for (const many of variables[name]?.many ?? []) expect((await ask(name, many)).statements).toBe(expected);
  });
});

test('the fixture has many rows of each kind', async () => {
  const shown = async (name: string, which = 0) => (await ask(name, variables[name]?.many[which])).data;
  const { inbox } = await shown('inbox');
  const { emails } = await shown('activity');
  const { thread } = await shown('thread');
  expect([inbox, emails, thread.messages].map(({ edges }) => edges.length)).toEqual([MANY, MANY, MANY]);
  const messages: { attachments: unknown[]; recipients: unknown[]; type: string }[] = thread.messages.edges.map(
    ({ node }: { node: unknown }) => node,
  );
  expect(messages.filter(({ attachments }) => attachments.length === 1)).toHaveLength(MANY);
  expect(messages.filter(({ type, recipients }) => type === 'SENT' && recipients.length > 0)).toHaveLength(MANY / 2);
  const [{ email: delivered }, { email: sent }] = [await shown('email', 0), await shown('email', 1)];
  const countAttempts = (list: { attempts: unknown[] }[]) =>
    list.filter(({ attempts }) => attempts.length === 1).length;
  expect(countAttempts(sent.recipients)).toBe(MANY);
  expect(countAttempts(delivered.deliveries.edges.map(({ node }: { node: unknown }) => node))).toBe(DELIVERIES);
});

test('a page of 50 messages takes at most 6 statements', () => expect(EXPECTED['thread']).toBeLessThanOrEqual(6));

test('the guide has the same numbers', () => {
  const table = [...guide.matchAll(/^\| `\d+-([a-z-]+)` \| (\d+) \|/gm)].map(([, name, count]) => [
    name,
    Number(count),
  ]);
  expect(Object.fromEntries(table)).toEqual(EXPECTED);
});
