import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tools } from '../../../gateway/mcp/tools.ts';
import { insertKey } from '../../support/rows/key-rows.ts';
import { makeTwoDomains, type TwoDomains } from '../../support/rows/two-domains.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { connectInjected } from '../../support/servers/mcp-client.ts';
import { neededScopes } from '../../support/stages/needed-scopes.ts';

let gateway: TestGateway;
let two: TwoDomains;
let key: string;
let client: Client;
/** of the domain: all its emails, and the threads that have no other ones */
let emailIds: Set<string>;
let threadIds: Set<string>;

beforeAll(async () => {
  gateway = await openTestGateway();
  two = await makeTwoDomains(gateway);
  key = (await insertKey(gateway.owner, two.mine.mailbox, { scopes: ['read', 'send'], domain: two.domain })).secret;
  client = await connectInjected(gateway, key);
  const { workspaceId, apiKey } = two.mine.mailbox;
  const { pool } = gateway.owner;
  for (const { mailbox } of [two.mine, two.theirs]) {
    const email = { from: mailbox.address, to: 'bob@elsewhere.test', subject: 'Harvest', text: 'Of green apples' };
    const sent = await gateway.call(apiKey, 'POST', '/emails', email);
    expect(sent.statusCode, sent.body).toBe(200);
  }
  await addNames();
  // One thread has mail of both domains, and is labelled like one that has not.
  await pool.query(
    `update email set thread_id = (select min(thread_id) from email where workspace_id = $1 and own_domain <> $2)
     where workspace_id = $1 and id = (select max(id) from email where workspace_id = $1 and own_domain = $2 and type = 'received')`,
    [workspaceId, two.domain.name],
  );
  await pool.query(`update thread set labels = '{Shared}', label_keys = '{shared}' where workspace_id = $1`, [
    workspaceId,
  ]);
  const emails = await pool.query<{ id: string }>(
    `select id from email where workspace_id = $1 and own_domain = $2 and trashed_at is null`,
    [workspaceId, two.domain.name],
  );
  emailIds = new Set(emails.rows.map(({ id }) => id));
  const threads = await pool.query<{ id: string }>(
    `select t.id from thread t where t.workspace_id = $1 and t.trashed_at is null and (
       select bool_and(e.own_domain = $2) from email e where e.workspace_id = t.workspace_id and e.thread_id = t.id)`,
    [workspaceId, two.domain.name],
  );
  threadIds = new Set(threads.rows.map(({ id }) => id));
});
afterAll(async () => {
  await client.close();
  await gateway.close();
});

/** What the account's other domain has since its holdings were read. */
async function addNames(): Promise<void> {
  const { rows } = await gateway.owner.pool.query<{ id: string }>(
    `select id from email where workspace_id = $1 and own_domain <> $2`,
    [two.mine.mailbox.workspaceId, two.domain.name],
  );
  two.theirs.ids.set(
    'em',
    rows.map(({ id }) => id),
  );
}

/** An email of the domain may be in a thread of both, and then shows its ID. */
const secrets = () =>
  [...two.theirs.ids].flatMap(([prefix, ids]) => (prefix === 'th' ? [] : ids)).concat(two.theirs.names);

function expectOwn(body: string, where: string): void {
  expect(body, where).not.toContain('limited to one domain');
  for (const secret of secrets()) expect(body, where).not.toContain(secret);
}

/** Each matches mail of both domains for a key of the whole account. */
const SEARCHES = [
  'harvest',
  'harv',
  'apples -pears',
  'subject:harvest',
  'to:bob@elsewhere.test',
  'is:unread',
  '-nothing',
  'label:shared',
  'after:2020-01-01',
  'harvest before:2100-01-01',
];

/** Those of the IDs of emails or threads that are in the body. */
const idsIn = (body: string, prefix: 'em' | 'th') => new Set(body.match(new RegExp(`\\b${prefix}_[0-9a-f]{32}`, 'g')));

describe.each(SEARCHES)('the search %s', (search) => {
  const text = encodeURIComponent(search);

  test('finds emails of the domain only, and counts them, in every interface', async () => {
    const whole = await gateway.graphql(
      two.mine.mailbox.apiKey,
      `query($search: String!) { emails(search: $search, first: 100) { totalCount edges { node { id } } } }`,
      { search },
    );
    const all = [...idsIn(whole.body, 'em')];
    const wanted = all.filter((id) => emailIds.has(id));
    expect(all.length, whole.body).toBeGreaterThan(wanted.length);
    const graph = await gateway.graphql(
      key,
      `query($search: String!) { emails(search: $search, first: 100) { totalCount edges { node { id } } } }`,
      { search },
    );
    expectOwn(graph.body, search);
    expect(idsIn(graph.body, 'em')).toEqual(new Set(wanted));
    expect(graph.json().data.emails.totalCount).toBe(wanted.length);
    const tool = await client.callTool({ name: 'search_emails', arguments: { search, limit: 50 } });
    expect(tool.isError ?? false, JSON.stringify(tool)).toBe(false);
    expectOwn(JSON.stringify(tool), search);
    const found = (tool.structuredContent as { emails: { id: string }[] }).emails.map(({ id }) => id);
    expect(new Set(found)).toEqual(new Set(wanted));
    const rest = await gateway.call(key, 'GET', `/emails?search=${text}&limit=100&time_range=all`);
    expect(rest.statusCode, rest.body).toBe(200);
    expectOwn(rest.body, search);
  });

  test('finds threads of the domain only, in every interface', async () => {
    const query = `query($search: String!) { threads(filter: { search: $search }, first: 100) { totalCount edges { node { id } } } }`;
    const whole = await gateway.graphql(two.mine.mailbox.apiKey, query, { search });
    const wanted = [...idsIn(whole.body, 'th')].filter((id) => threadIds.has(id));
    const graph = await gateway.graphql(key, query, { search });
    expectOwn(graph.body, search);
    expect(idsIn(graph.body, 'th')).toEqual(new Set(wanted));
    expect(graph.json().data.threads.totalCount).toBe(wanted.length);
    const tool = await client.callTool({ name: 'search_threads', arguments: { search, limit: 50 } });
    expect(tool.isError ?? false, JSON.stringify(tool)).toBe(false);
    expectOwn(JSON.stringify(tool), search);
    const found = (tool.structuredContent as { threads: { id: string }[] }).threads.map(({ id }) => id);
    expect(new Set(found)).toEqual(new Set(wanted));
    for (const path of ['/mail/threads', '/mail/threads/selection']) {
      const rest = await gateway.call(key, 'GET', `${path}?search=${text}`);
      expect(rest.statusCode, rest.body).toBe(200);
      expectOwn(rest.body, path);
    }
  });
});

test('labels count the threads of the domain', async () => {
  const tool = await client.callTool({ name: 'list_labels', arguments: {} });
  expect(tool.structuredContent).toMatchObject({ labels: [{ name: 'Shared', thread_count: threadIds.size }] });
});

test('a name of the other domain finds nothing', async () => {
  for (const name of two.theirs.names) {
    for (const path of ['/emails', '/mail/threads', '/mail', '/emails/receiving']) {
      const { statusCode, body } = await gateway.call(key, 'GET', `${path}?search=${encodeURIComponent(name)}`);
      expect(statusCode, body).toBe(200);
      expect(
        [...idsIn(body, 'em'), ...idsIn(body, 'th')].filter((id) => !emailIds.has(id) && !threadIds.has(id)),
      ).toEqual([]);
    }
    for (const tool of ['search_emails', 'search_threads'])
      for (const given of [{ search: name }, { address: name }, { domain: name }]) {
        const result = await client.callTool({ name: tool, arguments: given });
        expectOwn(
          JSON.stringify(result)
            .replaceAll(name, 'GIVEN')
            .replaceAll(name.split('@')[1] ?? 'GIVEN', 'GIVEN'),
          tool,
        );
      }
  }
});

const reads = tools.filter(({ access }) => neededScopes(access).every((scope) => scope === 'read'));

test.each(reads.map(({ name }) => name))('the tool %s is limited to the domain, and not refused', async (name) => {
  // An email of the other domain is not reviewed: that its own ones are is said by the tests of the review.
  const foreign = two.theirs.ids.get('em')?.[0];
  const own = {
    email_id: name === 'review_email' ? foreign : [...emailIds][0],
    thread_id: [...threadIds][0],
    draft_id: two.mine.ids.get('drf')?.[0],
  };
  const ids = name === 'read_attachment' ? { ...own, index: 0 } : name === 'wait_for_email' ? { timeout: 0 } : own;
  const tool = tools.find((each) => each.name === name);
  const known = Object.keys((tool as unknown as { input: { shape: object } }).input.shape);
  const given = Object.fromEntries(Object.entries(ids).filter(([field]) => known.includes(field)));
  const result = await client.callTool({ name, arguments: given });
  expectOwn(JSON.stringify(result).replaceAll(foreign ?? '', 'GIVEN'), name);
});
