import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { insertMail } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

let gateway: TestGateway;
let box: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway({ config: { trustedDomains: ['*.beside.test'] } });
});
beforeEach(async () => {
  box = await gateway.mailbox();
});
afterAll(() => gateway.close());

const call = (method: string, path: string, body?: unknown, key = box.apiKey) => gateway.call(key, method, path, body);
const post = async (path: string, body: object) => {
  const made = await call('POST', path, body);
  expect(made.statusCode, made.body).toBeLessThan(300);
  return made.json().id as string;
};

/** What the lists of the `resend` client page through, each with how to add an item. */
const lists: [path: string, add: (n: number) => Promise<unknown>][] = [
  ['/domains', (n) => post('/domains', { domain: `d${n}-${box.workspaceId.slice(-12)}.beside.test` })],
  ['/api-keys', (n) => post('/api-keys', { name: `key ${n}` })],
  ['/suppressions', (n) => post('/suppressions', { email: `a${n}@x.test` })],
  ['/emails', () => insertMail(gateway.actor, [{ workspaceId: box.workspaceId }])],
  ['/emails/receiving', () => insertMail(gateway.actor, [{ workspaceId: box.workspaceId }])],
];

interface List {
  data: { id: string }[];
  has_more: boolean;
}

describe.each(lists)('%s', (path, add) => {
  const read = async (query: string): Promise<List> => {
    const response = await call('GET', `${path}?${query}`);
    expect(response.statusCode, response.body).toBe(200);
    return response.json();
  };
  const listIds = ({ data }: List) => data.map(({ id }) => id);

  test('is read to its end by the id of the last item, and back by that of the first', async () => {
    for (let n = 0; n < 4; n++) await add(n);
    const all = listIds(await read('limit=100'));
    expect(all.length).toBeGreaterThanOrEqual(4);
    const forward: string[] = [];
    for (let page = await read('limit=2'); ; page = await read(`limit=2&after=${forward.at(-1)}`)) {
      forward.push(...listIds(page));
      if (!page.has_more) break;
      expect(forward.length).toBeLessThan(all.length);
    }
    expect(forward).toEqual(all);
    const before = await read(`limit=2&before=${all.at(-1)}`);
    expect([listIds(before), before.has_more]).toEqual([all.slice(-3, -1), all.length > 3]);
    const first = await read(`limit=100&before=${all[1]}`);
    expect([listIds(first), first.has_more]).toEqual([all.slice(0, 1), false]);
    const end = await read(`after=${all.at(-1)}`);
    expect([end.data, end.has_more]).toEqual([[], false]);
  });

  test('refuses the id of another account, an unknown one, and both sides at once', async () => {
    await add(0);
    const [id] = listIds(await read('limit=1'));
    const other = await gateway.mailbox();
    for (const side of ['after', 'before']) {
      const foreign = await call('GET', `${path}?${side}=${id}`, undefined, other.apiKey);
      expect([foreign.statusCode, foreign.json().message]).toEqual([400, 'Invalid cursor']);
      const unknown = await call('GET', `${path}?${side}=x`, undefined, other.apiKey);
      expect(unknown.body).toBe(foreign.body);
    }
    expect((await call('GET', `${path}?after=${id}&before=${id}`)).statusCode).toBe(400);
  });
});

test('the attachments of an email are read page by page', async () => {
  const attachments = ['a', 'b', 'c'].map((name) => ({ filename: `${name}.txt`, content: 'aGk=' }));
  const id = await post('/emails', { from: box.address, to: 'joe@x.test', subject: 's', text: 't', attachments });
  const path = `/emails/${id}/attachments`;
  const read = async (query: string) => (await call('GET', `${path}?${query}`)).json();
  const names = (list: { data: { filename: string }[] }) => list.data.map(({ filename }) => filename);
  const first = await read('limit=2');
  expect([names(first), first.has_more]).toEqual([['a.txt', 'b.txt'], true]);
  const last = await read(`limit=2&after=${first.data[1].id}`);
  expect([names(last), last.has_more]).toEqual([['c.txt'], false]);
  const back = await read(`limit=1&before=${last.data[0].id}`);
  expect([names(back), back.has_more]).toEqual([['b.txt'], true]);
  for (const query of ['limit=0', 'limit=x', 'after=9', 'before=x', 'after=0&before=1'])
    expect((await call('GET', `${path}?${query}`)).statusCode, query).toBe(400);
  expect(names(await read('limit=1000'))).toHaveLength(3);
});

test('a DNS check is paged by offset only', async () => {
  const id = await post('/domains', { domain: `c-${box.workspaceId.slice(-12)}.beside.test` });
  const refused = await call('GET', `/domains?check=true&after=${id}`);
  expect(refused.json()).toMatchObject({ statusCode: 400, details: [{ field: 'check' }] });
});
