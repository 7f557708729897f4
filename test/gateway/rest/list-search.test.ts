import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertMail } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

let gateway: TestGateway;
let box: TestMailbox;
/** IDs of the emails by a letter */
const ids = new Map<string, string>();

const MAILS: Record<string, Record<string, unknown>> = {
  a: { name: 'Ann Lee', to: 'bob@north.test', subject: 'Quarterly figures', text: 'The green turbine turns' },
  b: { name: 'Ann Lee', to: 'carl@south.test', subject: 'Preturbine note', text: 'Nothing else' },
  c: { name: 'Max', to: 'ann@north.test', subject: 'Lunch', text: 'Turbines are loud', attachments: [file('map.txt')] },
  d: { name: 'Max', to: 'dora@west.test', subject: '100% & more (really)', text: 'Crème brûlée' },
};

function file(filename: string) {
  return { filename, content: 'eA==' };
}

beforeAll(async () => {
  gateway = await openTestGateway({ config: { rateLimitPerSecond: 0 } });
  box = await gateway.mailbox();
  for (const [letter, { name, ...email }] of Object.entries(MAILS)) {
    const sent = await gateway.call(box.apiKey, 'POST', '/emails', {
      from: `${String(name)} <${box.address}>`,
      ...email,
    });
    expect(sent.statusCode, sent.body).toBe(200);
    ids.set(letter, sent.json().id);
  }
});
afterAll(() => gateway.close());

/** The letters of the emails that a response names, in order. */
function lettersIn(body: string): string {
  return [...ids].flatMap(([letter, id]) => (body.includes(id) ? [letter] : [])).join('');
}

const get = (path: string) => gateway.call(box.apiKey, 'GET', path);

describe.each([
  ['figures', 'a', 'a word of the subject'],
  ['turbine', 'abc', 'a word of the body, and a part of a subject'],
  ['urbin', 'b', 'a part of a subject alone'],
  ['north.test', 'ac', 'a part of an address'],
  ['TURBINE green', 'a', 'two words of one body'],
  ['from:ann', 'ab', 'the name of the sender, not of a recipient'],
  ['to:ann', 'c', 'a recipient'],
  ['subject:turbine', '', 'a word of the subject, not a part of one'],
  ['subject:preturb', 'b', 'the start of a word of the subject'],
  ['turbine -green', 'c', 'words without another, and no parts'],
  ['"green turbine"', 'a', 'a phrase'],
  ['has:attachment', 'c', 'mail with a file'],
  ['in:sent from:max', 'cd', 'two operators'],
  ['creme brulee', 'd', 'words without their accents'],
  ['%', 'd', 'a part without a word'],
  ['& more', 'd', 'a part with a word'],
  ['nothing-here', '', 'nothing'],
  ['-', '', 'a minus alone'],
  ['"unclosed', '', 'a phrase without its end'],
  ['before:2020-01-01', '', 'what is older'],
])('the search %s', (search, wanted, _what) => {
  const text = encodeURIComponent(search);

  test('finds the same emails over REST by page, by cursor and counted', async () => {
    const list = await get(`/emails?search=${text}`);
    expect(list.statusCode, list.body).toBe(200);
    expect(lettersIn(list.body)).toBe(wanted);
    expect(list.json().pagination.total).toBe(wanted.length);
    expect(list.json().filters.search).toBe(search);
    const newest = ids.get(wanted.slice(-1));
    if (newest === undefined) return;
    const after = await get(`/emails?search=${text}&after=${newest}`);
    expect(lettersIn(after.body)).toBe(wanted.slice(0, -1));
  });

  test('finds their threads over REST and GraphQL', async () => {
    const rest = await get(`/mail/threads?search=${text}`);
    expect(rest.statusCode, rest.body).toBe(200);
    expect(lettersIn(rest.body)).toBe(wanted);
    for (const claimed of ['true', 'false']) {
      const part = await get(`/mail/threads?search=${text}&claimed=${claimed}&limit=2`);
      expect(lettersIn(part.body)).toBe(claimed === 'true' ? '' : wanted.slice(-2));
    }
    const graph = await gateway.graphql(
      box.apiKey,
      `query($search: String!) { threads(filter: { search: $search }) { totalCount nodes { latestMessage { id } } } }`,
      { search },
    );
    expect(lettersIn(graph.body), graph.body).toBe(wanted);
    expect(graph.json().data.threads.totalCount).toBe(wanted.length);
  });
});

test('pages of a search follow each other without gap or repeat', async () => {
  const pages: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const response = await get(`/mail/threads?search=turbine&limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`);
    pages.push(lettersIn(response.body));
    cursor = response.json().pagination.next_cursor;
  }
  expect(pages).toEqual(['c', 'b', 'a']);
  const offsets = await Promise.all(
    [0, 1, 2, 3].map((offset) => get(`/emails?search=turbine&limit=1&offset=${offset}`)),
  );
  expect(offsets.map(({ body }) => lettersIn(body))).toEqual(['c', 'b', 'a', '']);
});

test.each([
  ['from:', /^from: needs a value directly after it: a name, an address or part of one/],
  ['is:unred', /^is: does not take "unred"\. It takes unread, read, archived or snoozed\. Did you mean is:unread\?$/],
  ['cc:bob', /^cc: is not a search operator\. Operators are from: to:/],
  ['before:tomorrow', /^before: does not take "tomorrow"\. It takes a date/],
])('the search %s is 400 over REST and names what is wrong', async (search, message) => {
  for (const path of ['/emails', '/mail/threads', '/mail', '/mail/threads/selection']) {
    const response = await get(`${path}?search=${encodeURIComponent(search)}`);
    expect(response.statusCode, path).toBe(400);
    expect(response.json().details, path).toEqual([{ field: 'search', message: expect.stringMatching(message) }]);
  }
});

test('many plain words match as a part alone', async () => {
  const search = encodeURIComponent('a b c d e f g h i j k l m n o p q r s t u v w');
  expect((await get(`/emails?search=${search}`)).json().data).toEqual([]);
});

test('another account finds no email of the search', async () => {
  const stranger = await gateway.mailbox();
  for (const search of ['turbine', 'from:ann', 'in:sent', '-x'])
    for (const path of ['/emails', '/mail/threads']) {
      const response = await gateway.call(stranger.apiKey, 'GET', `${path}?search=${encodeURIComponent(search)}`);
      expect(lettersIn(response.body)).toBe('');
    }
});

describe('an empty page because of its time range', () => {
  const HOUR = 3_600_000;

  test('says how many emails are older, and only then', async () => {
    const old = await gateway.mailbox();
    const call = async (query: string) => (await gateway.call(old.apiKey, 'GET', query)).json();
    expect((await call('/emails')).warnings).toBeUndefined();
    await insertMail(
      gateway.actor,
      [40, 50].map((days) => ({
        workspaceId: old.workspaceId,
        ownAddress: old.address,
        subject: `Age ${days}`,
        createdAt: new Date(Date.now() - days * 24 * HOUR),
      })),
    );
    const two = '2 matching emails are older than 30d. Add time_range=all to list all.';
    expect(await call('/emails')).toMatchObject({ data: [], warnings: [{ field: 'time_range', message: two }] });
    const one = '1 matching email is older than 24h. Add time_range=all to list all.';
    expect((await call('/emails?search=age+50&time_range=24h')).warnings).toEqual([
      { field: 'time_range', message: one },
    ]);
    expect((await call('/emails?type=sent')).warnings).toBeUndefined();
    expect((await call('/emails?time_range=90d')).warnings).toBeUndefined();
    expect((await call('/emails?time_range=all&search=nothing')).warnings).toBeUndefined();
    expect((await call('/mail?search=age')).warnings).toEqual([
      { field: 'timeRange', message: two.replace('time_range', 'timeRange') },
    ]);
    expect((await call('/emails?strict=true')).warnings, 'strict refuses unknown parameters only').toHaveLength(1);
  });
});
