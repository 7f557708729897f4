import { afterAll, beforeAll, expect, test } from 'vitest';
import { assignThreads } from '../../../../actors/threading/assign-thread.ts';
import { parseSearch } from '../../../../core/search/search-query.ts';
import { storableText } from '../../../../core/shared/text.ts';
import type { Database } from '../../../../db/connection/database.ts';
import { asWorkspace } from '../../../../db/connection/transaction.ts';
import { countMatchingEmails } from '../../../../db/queries/search/find-mail.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/cluster/database.ts';
import { type SearchedMail, storeMail } from '../../../support/rows/searched-mail.ts';
import { testActorContext } from '../../../support/stages/actor-context.ts';
import { buildAllWords } from '../../../support/stages/build-all-words.ts';

let testDatabase: TestDatabase;
let actor: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  actor = testDatabase.open('postroom_actor');
});
afterAll(() => testDatabase.drop());

const N = 40_000;
const HOSTILE: Record<string, string> = {
  'quotes and backslashes': `'"\\ ':1A \\' ''' <-> | & ! ( ) * :* `.repeat(1_000),
  'a word of a megabyte': 'a'.repeat(1_048_576),
  'a word of four bytes a character': '𐐷'.repeat(N),
  'as many different words as fit': Array.from({ length: N }, (_, at) => at.toString(36)).join(' '),
  'different words of other scripts': Array.from({ length: N }, (_, at) =>
    String.fromCodePoint(0xac00 + (at % 11_172), 0xac00 + Math.floor(at / 7)),
  ).join(' '),
  'different long words of four bytes a character': Array.from({ length: 1_200 }, (_, at) => '𐐷'.repeat(32) + at).join(
    ' ',
  ),
  'one word ever again': 'spam '.repeat(N),
  'one character of Chinese ever again': '的'.repeat(N),
  'characters that stand for sentences': '\ufdfa'.repeat(N),
  'crowds of marks': `a${'\u0301\u0316\u05b0'.repeat(N)}`,
  'nothing but marks': '\u0301'.repeat(N),
  'halves of surrogate pairs': '\ud83d\udc00\ud83d a\ud83d'.repeat(N / 4),
  'control characters': '\x01\x02\x7f\u0085\u2028\u200b\ufeff\ufffd'.repeat(N / 8),
  'tags that do not end': '<style><script><!--<a "'.repeat(N / 10),
  'references that say nothing': '&#1114112;&#xd800;&#0;&#x0;&amp&'.repeat(N / 10),
  digits: '1 '.repeat(N) + '9'.repeat(N),
};

test('mail of any content gets its thread and is found, before and after its words are in a segment', async () => {
  const texts = Object.values(HOSTILE).map((text) => storableText(text));
  const mails = texts.flatMap((text, at) => [
    anyMail(`em_text_${at}`, { text }),
    anyMail(`em_html_${at}`, { text: null, html: text }),
    anyMail(`em_head_${at}`, {
      subject: text.slice(0, 100_000),
      from: { name: text.slice(0, 100_000), address: 'a@b' },
    }),
  ]);
  await storeMail(actor, 'usr_hostile', mails);
  const ids = mails.map(({ id }) => id);
  expect(await assignThreads(testActorContext(actor), 'usr_hostile', ids)).toBe(ids.length);
  const before = await countAll();
  expect(before).toMatchObject({ 'domain:home.test': ids.length });
  await buildAllWords(actor);
  expect((await actor.pool.query('select from unindexed_email')).rowCount).toBe(0);
  expect(await countAll()).toEqual(before);
});

test('an email without content, as one whose parser failed, has the words of its fields', async () => {
  await actor.pool.query(
    `with stored as (
       insert into email (workspace_id, id, type, status, created_at, own_address, own_domain, message_id, subject, base_subject, from_address,
         from_text, to_addresses, cc_addresses, preview)
       values ('usr_a', 'em_bare', 'received', 'delivered', now(), 'own@home.test', 'home.test', '<1@x.test>', 'Bare', 'Bare', '', '', '{}', '{}', ''))
     insert into unindexed_email (workspace_id, email_id, state, created_at) values ('usr_a', 'em_bare', 'new', now())`,
  );
  expect(await countFound('usr_a', 'bare domain:home.test')).toBe(1);
  await buildAllWords(actor);
  expect(await countFound('usr_a', 'bare domain:home.test')).toBe(1);
  expect(await countFound('usr_a', 'bare has:attachment')).toBe(0);
});

const SEARCHES = [
  'to:own',
  'domain:home.test',
  'spam',
  '"spam spam"',
  '的',
  '"的 的 的"',
  'a',
  'any',
  '-any',
  '"1 1"',
  '𐐷',
  'subject:a',
  'from:x',
];

async function countAll(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const text of SEARCHES) counts[text] = await countFound('usr_hostile', text);
  return counts;
}

function countFound(workspaceId: string, text: string): Promise<number> {
  const search = { workspaceId, terms: parseSearch(text, new Date()), conditions: {} };
  return asWorkspace(actor, workspaceId, (transaction) => countMatchingEmails(transaction, search));
}

function anyMail(id: string, more: Partial<SearchedMail>): SearchedMail {
  return {
    id,
    type: 'received',
    createdAt: new Date('2026-01-01T00:00:00Z'),
    subject: 'Any',
    from: { name: 'Ann', address: 'ann@x.test' },
    to: [{ name: 'Own', address: 'own@home.test' }],
    ownAddress: 'own@home.test',
    recipient: 'own@home.test',
    text: 'any',
    html: null,
    visible: '',
    hasAttachments: false,
    isRead: false,
    isArchived: false,
    inReplyTo: [],
    threadId: null,
    labels: [],
    ...more,
  };
}
