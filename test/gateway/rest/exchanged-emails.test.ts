import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertKey } from '../../support/rows/key-rows.ts';
import { insertMail } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

const CUSTOMER = 'ada@away.test';
const OTHERS = 20_000;

let gateway: TestGateway;
let box: TestMailbox;
/** what an email is called in this file, by its id */
const names = new Map<string, string>();
const now = Date.now();

beforeAll(async () => {
  gateway = await openTestGateway();
  box = await gateway.mailbox({ domain: 'mine.test', address: 'hello@mine.test' });
  const received = async (name: string, from: string, minutesAgo: number, ownAddress = box.address) => {
    const mail = {
      workspaceId: box.workspaceId,
      ownAddress,
      from,
      createdAt: new Date(now - minutesAgo * 60_000),
      subject: name,
    };
    names.set((await insertMail(gateway.actor, [mail]))[0] ?? '', name);
  };
  await received('from her', 'Ada@AWAY.test', 60);
  await received('from another there', 'bob@away.test', 50);
  await received('from her, long ago', CUSTOMER, 60 * 24 * 60);
  await received('from a namesake', 'ada@away.test.example', 40);
  await received('from elsewhere', 'x@elsewhere.test', 30);
  for (const [name, fields] of [
    ['to her', { to: [CUSTOMER] }],
    ['cc her', { to: ['x@elsewhere.test'], cc: [CUSTOMER] }],
    ['bcc her', { to: ['x@elsewhere.test'], bcc: [CUSTOMER] }],
    ['scheduled for her', { to: [CUSTOMER], scheduled_at: 'in 3 hours' }],
    ['to elsewhere', { to: ['x@elsewhere.test'] }],
  ] as const) {
    const body = { from: box.address, subject: name, text: 'x', ...fields };
    const response = await gateway.call(box.apiKey, 'POST', '/emails', body);
    names.set(response.json().id, name);
  }
});
afterAll(() => gateway.close());

const ALL = ['from her', 'to her', 'cc her', 'bcc her', 'scheduled for her'];
const list = async (query: string, key = box.apiKey) => {
  const response = await gateway.call(key, 'GET', `/emails?${query}`);
  const { data, pagination, has_more: hasMore } = response.json();
  const subjects = data.map((email: { id: string }) => names.get(email.id) ?? email.id);
  return { subjects, total: pagination.total, hasMore, ids: data.map((email: { id: string }) => email.id) };
};
const sorted = (subjects: readonly string[]) => [...subjects].toSorted();

describe('an address of another party', () => {
  test.each([
    ['', ALL],
    ['&time_range=all', [...ALL, 'from her, long ago']],
    ['&type=received', ['from her']],
    ['&type=sent', ['to her', 'cc her', 'bcc her']],
    ['&type=scheduled', ['scheduled for her']],
    ['&status=unread', ['from her']],
    ['&status=scheduled', ['scheduled for her']],
    ['&search=cc%20her', ['cc her', 'bcc her']],
    ['&domain=mine.test', ALL],
    ['&domain=away.test', ALL],
    ['&domain=elsewhere.test', ['cc her', 'bcc her']],
    ['&domain=nobody.test', []],
    ['&status=blocked', []],
  ])('lists all mail exchanged with it%s', async (more, expected) => {
    const { subjects, total } = await list(`address=ADA%40away.test${more}`);
    expect([sorted(subjects), total]).toEqual([sorted(expected), expected.length]);
  });

  test('is paged by offset and by email without gap or repeat', async () => {
    const whole = await list(`address=${CUSTOMER}`);
    const byOffset = await Promise.all(
      whole.ids.map((_: string, offset: number) => list(`address=${CUSTOMER}&limit=1&offset=${offset}`)),
    );
    expect(byOffset.flatMap(({ ids }) => ids)).toEqual(whole.ids);
    const behind = await list(`address=${CUSTOMER}&limit=2&after=${whole.ids[1]}`);
    expect([behind.ids, behind.hasMore, behind.total]).toEqual([whole.ids.slice(2, 4), true, whole.total]);
    const before = await list(`address=${CUSTOMER}&limit=2&before=${whole.ids[3]}`);
    expect(before.ids).toEqual(whole.ids.slice(1, 3));
  });
});

test('a domain of another party lists all mail exchanged with it', async () => {
  const expected = [...ALL, 'from another there'];
  const { subjects, total } = await list('domain=AWAY.test');
  expect([sorted(subjects), total]).toEqual([sorted(expected), expected.length]);
  const narrowed = await list('domain=away.test&search=another');
  expect([narrowed.subjects, narrowed.total]).toEqual([['from another there'], 1]);
});

test('an address of the user matches its own side, by its id and by its name', async () => {
  const everything = names.size - 1;
  for (const query of [
    `address=${box.address}`,
    `address=${box.addressId}`,
    'domain=mine.test',
    `domain=${box.domainId}`,
  ])
    expect((await list(query)).total, query).toBe(everything);
});

test('mail between two addresses of the user is exchanged with either, and an id matches its own side only', async () => {
  const second = await gateway.mailbox({
    workspaceId: box.workspaceId,
    domain: 'second-mine.test',
    address: 'b@second-mine.test',
  });
  const body = { from: second.address, to: ['between@mine.test'], subject: 'between', text: 'x' };
  await gateway.call(box.apiKey, 'POST', '/emails', body);
  expect((await list('address=between@mine.test')).total).toBe(1);
  expect((await list(`address=${second.address}`)).total).toBe(1);
  expect((await list(`address=${second.addressId}`)).total).toBe(1);
  expect((await list(`address=${second.addressId}&domain=mine.test`)).total).toBe(1);
  expect((await list(`address=${second.addressId}&domain=${box.domainId}`)).total).toBe(0);
});

test('the graph filters as REST does, with words, too', async () => {
  const query = `query ($filter: EmailFilter, $search: String) {
    emails(first: 20, filter: $filter, search: $search) { totalCount edges { node { id } } } }`;
  const ask = async (filter: object, search?: string) => {
    const response = await gateway.graphql(box.apiKey, query, { filter, search });
    const { data, errors } = response.json();
    expect(errors).toBeUndefined();
    return sorted(data.emails.edges.map(({ node }: { node: { id: string } }) => names.get(node.id) ?? node.id));
  };
  expect(await ask({ address: CUSTOMER })).toEqual(sorted(ALL));
  expect(await ask({ domain: 'away.test' })).toEqual(sorted([...ALL, 'from another there']));
  expect(await ask({ address: CUSTOMER }, 'is:unread')).toEqual(sorted(['from her', 'from her, long ago']));
  expect(await ask({ domain: 'away.test' }, 'is:unread')).toEqual(
    sorted(['from her', 'from another there', 'from her, long ago']),
  );
});

test('another user sees none of the mail, and a key limited to a domain only mail of that domain', async () => {
  const other = await gateway.mailbox();
  for (const query of [`address=${CUSTOMER}`, 'domain=away.test', `address=${CUSTOMER}&search=her`])
    expect((await list(query, other.apiKey)).total, query).toBe(0);
  const { rows } = await gateway.owner.pool.query(
    `select set_config('postroom.workspace_id', $1, false), (select count(*)::integer from exchanged_emails($2, $3, null, null)) as n`,
    [other.workspaceId, box.workspaceId, CUSTOMER],
  );
  expect(rows[0].n).toBe(0);
  const third = await gateway.mailbox({
    workspaceId: box.workspaceId,
    domain: 'third-mine.test',
    address: 'c@third-mine.test',
  });
  await insertMail(gateway.actor, [
    { workspaceId: box.workspaceId, ownAddress: third.address, from: 'only@third-party.test' },
  ]);
  const limit = (domain: { id: string; name: string }) =>
    insertKey(gateway.owner, box, { scopes: ['read'], domain }).then(({ secret }) => secret);
  const [mine, thirds] = await Promise.all([
    limit({ id: box.domainId, name: 'mine.test' }),
    limit({ id: third.domainId, name: 'third-mine.test' }),
  ]);
  expect((await list('address=only@third-party.test', mine)).total).toBe(0);
  expect((await list('address=only@third-party.test', thirds)).total).toBe(1);
});

test('the other side is found by its index, however large the mailbox is', async () => {
  const large = await gateway.mailbox({ domain: 'large.test' });
  await gateway.owner.pool.query(
    `insert into email_search (workspace_id, email_id, created_at, text, parties)
     select $1, 'em_' || n, now() - n * interval '1 second', 'subject ' || n, array['p' || n % 5000 || '@peer.test', '@peer.test']
     from generate_series(1, $2) n`,
    [large.workspaceId, OTHERS],
  );
  await gateway.owner.pool.query('vacuum analyze email_search');
  const client = await gateway.owner.pool.connect();
  try {
    await client.query(`select set_config('postroom.workspace_id', $1, false)`, [large.workspaceId]);
    const { rows } = await client.query(
      `explain (analyze, buffers, format json) select * from exchanged_emails($1, 'p7@peer.test', null, null)`,
      [large.workspaceId],
    );
    const plan = rows[0]['QUERY PLAN'][0].Plan;
    const table = await client.query(`select pg_relation_size('email_search') / 8192 as pages`);
    expect(plan['Actual Rows']).toBe(OTHERS / 5_000);
    // The catalog is read to plan the statement; the table would be many times as much.
    expect(Number(table.rows[0].pages)).toBeGreaterThan(250);
    expect(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']).toBeLessThan(200);
  } finally {
    client.release(true);
  }
});
