import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { connectInjected } from '../../support/servers/mcp-client.ts';
import { buildAllWords } from '../../support/stages/build-all-words.ts';

let gateway: TestGateway;
let box: TestMailbox;
/** IDs of the emails by a letter */
const ids = new Map<string, string>();

const MAILS: Record<string, [subject: string, text: string]> = {
  a: ['Invoice 12', 'Please pay'],
  b: ['Payment', 'We are invoicing you'],
  c: ['Rechnungen', 'im Anhang'],
  d: ['Involved', 'in nothing'],
};

beforeAll(async () => {
  gateway = await openTestGateway({ config: { rateLimitPerSecond: 0 } });
  box = await gateway.mailbox();
  for (const [letter, [subject, text]] of Object.entries(MAILS)) {
    const sent = await gateway.call(box.apiKey, 'POST', '/emails', {
      from: box.address,
      to: 'ann@invoices.test',
      subject,
      text,
    });
    expect(sent.statusCode, sent.body).toBe(200);
    ids.set(letter, sent.json().id);
  }
});
afterAll(() => gateway.close());

/** The letters of the emails that a response names. */
function lettersIn(body: string): string {
  return [...ids].flatMap(([letter, id]) => (body.includes(id) ? [letter] : [])).join('');
}

const SEARCHES: [search: string, language: string | null, wanted: string][] = [
  ['subject:invoices', null, ''],
  ['subject:invoices', 'english', 'a'],
  ['"invoicing"', 'english', 'b'],
  ['invoicing -to:invoices.test', 'english', ''],
  ['pay -subject:invoiced', 'english', 'b'],
  ['pay -subject:invoiced', null, 'ab'],
  ['subject:rechnung', 'german', 'c'],
  ['subject:rechnung im', 'german', 'c'],
  ['subject:rechnungs', 'english', ''],
  ['invoicing', 'english', 'abcd'],
  ['invoiced we', 'english', 'b'],
  ['subject:invoi', 'english', 'a'],
];

describe.each(['unindexed mail', 'a segment'])('in %s', (state) => {
  beforeAll(async () => {
    if (state === 'a segment') await buildAllWords(gateway.actor);
  });

  test.each(SEARCHES)('the search %s with the language %s finds %s', async (search, language, wanted) => {
    const query = `search=${encodeURIComponent(search)}${language === null ? '' : `&language=${language}`}`;
    const found = async (path: string) => {
      const response = await gateway.call(box.apiKey, 'GET', path);
      expect(response.statusCode, response.body).toBe(200);
      return lettersIn(response.body);
    };
    expect(await found(`/emails?${query}`)).toBe(wanted);
    expect(await found(`/mail/threads?${query}`)).toBe(wanted);
    expect(await found(`/emails?${query}&order_by=relevance`)).toBe(wanted);
    expect(await found(`/mail/threads?${query}&order_by=relevance`)).toBe(wanted);
    const graph = await gateway.graphql(
      box.apiKey,
      `query($search: String!, $language: SearchLanguage) {
        emails(search: $search, language: $language) { totalCount nodes { id } }
        inbox(search: $search, language: $language, orderBy: RELEVANCE) { totalCount nodes { latestMessage { id } } }
        threads(filter: { search: $search, language: $language }) { totalCount nodes { latestMessage { id } } }
        inboxSelection(search: $search, language: $language) { threadIds }
      }`,
      { search, language: language?.toUpperCase() ?? null },
    );
    expect(graph.json().errors).toBeUndefined();
    const { emails, inbox, threads, inboxSelection } = graph.json().data;
    for (const list of [emails, inbox, threads]) {
      expect(lettersIn(JSON.stringify(list))).toBe(wanted);
      expect(list.totalCount).toBe(wanted.length);
    }
    expect(inboxSelection.threadIds).toHaveLength(wanted.length);
    const client = await connectInjected(gateway, box.apiKey);
    for (const name of ['search_emails', 'search_threads']) {
      const result = await client.callTool({ name, arguments: { search, ...(language === null ? {} : { language }) } });
      expect(lettersIn(JSON.stringify(result.structuredContent)), name).toBe(wanted);
    }
    await client.close();
  });
});

test.each(['/emails', '/mail/threads'])('%s names the languages it has', async (path) => {
  const response = await gateway.call(box.apiKey, 'GET', `${path}?search=invoices&language=klingon`);
  expect(response.statusCode).toBe(400);
  expect(response.body).toContain('swedish');
});

test('the most relevant form of a word comes first', async () => {
  const response = await gateway.call(
    box.apiKey,
    'GET',
    '/emails?search=invoiced&language=english&order_by=relevance&limit=2',
  );
  expect(response.json().data.map(({ id }: { id: string }) => id)[0]).toBe(ids.get('a'));
});
