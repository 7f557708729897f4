import { afterAll, beforeAll, expect, test } from 'vitest';
import { assignThreads } from '../../../../actors/threading/assign-thread.ts';
import type { WordSource } from '../../../../core/search/email-terms.ts';
import { storableText } from '../../../../core/shared/text.ts';
import type { Database } from '../../../../db/connection/database.ts';
import { emailVector, writeWords } from '../../../../db/queries/search/email-words.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/cluster/database.ts';
import { type SearchedMail, storeMail } from '../../../support/rows/searched-mail.ts';
import { testActorContext } from '../../../support/stages/actor-context.ts';

let testDatabase: TestDatabase;
let actor: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  actor = testDatabase.open('postroom_actor');
});
afterAll(() => testDatabase.drop());

const PLAIN: WordSource = {
  subject: 'Rent',
  fromText: '"Ann Lee" <ann@x.test>',
  fromAddress: 'ann@x.test',
  recipientTexts: ['Bob <bob@y.test>'],
  recipients: ['bob@y.test'],
  ownAddress: 'bob@y.test',
  text: 'the text',
  html: null,
  hasAttachments: false,
};

test('an email has its words with their places, its domains, and whether it has attachments', async () => {
  expect(await taken({ ...PLAIN, hasAttachments: true })).toEqual(
    '#attachment @x.test @y.test rent:1A ann:3B,5B lee:4B x:6B test:7B,12C bob:9C,10C y:11C the:15 text:16'
      .split(' ')
      .toSorted(),
  );
});

test('HTML is looked at where there is no text', async () => {
  const html = '<style>.unseen{}</style><p>Gr&uuml;&szlig;e</p>';
  expect(await taken({ ...PLAIN, text: null, html })).toContain('grusse:15');
  expect(await taken({ ...PLAIN, text: ' \r\n\t', html })).toContain('grusse:15');
  expect((await taken({ ...PLAIN, text: 'x', html })).join(' ')).not.toContain('grusse');
  expect((await taken({ ...PLAIN, text: null, html })).join(' ')).not.toContain('unseen');
});

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

test.each(Object.entries(HOSTILE))('%s cannot stop the words of an email from being written', async (_name, text) => {
  for (const email of [
    { ...PLAIN, text },
    { ...PLAIN, text: null, html: text },
    {
      ...PLAIN,
      subject: text,
      fromText: text,
      fromAddress: text,
      recipientTexts: [text, text],
      recipients: [text, `a@${text}`],
      ownAddress: text,
    },
  ]) {
    const vector = emailVector('usr_a', email);
    const { rows } = await actor.pool.query<{ bytes: number }>('select pg_column_size($1::tsvector) as bytes', [
      vector,
    ]);
    expect(rows[0]?.bytes).toBeLessThan(1_000_000);
  }
});

test('mail of any content is stored with its words and gets its thread', async () => {
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
  const { rows } = await actor.pool.query(`select from email_words where user_id = 'usr_hostile'`);
  expect(rows).toHaveLength(ids.length);
});

test('an email without content, as one whose parser failed, has the words of its fields, and writing them twice changes nothing', async () => {
  await actor.pool.query(
    `insert into email (user_id, id, type, status, created_at, own_address, own_domain, message_id, subject, base_subject, from_address,
       from_text, to_addresses, cc_addresses, preview)
     values ('usr_a', 'em_bare', 'received', 'delivered', now(), 'own@home.test', 'home.test', '<1@x.test>', 'Bare', 'Bare', '', '', '{}', '{}', '')`,
  );
  const stored = async () => {
    await writeWords(actor.pool as never, 'usr_a', ['em_bare', 'em_unknown']);
    const { rows } = await actor.pool.query<{ words: string }>(
      `select words::text from email_words where user_id = 'usr_a'`,
    );
    return rows;
  };
  const first = await stored();
  expect(first).toHaveLength(1);
  expect(first[0]?.words).toMatch(/^'..@home\.test' '..bare':1A$/);
  expect(await stored()).toEqual(first);
});

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

/** The words as PostgreSQL took them, without what stands before each. */
async function taken(email: WordSource): Promise<string[]> {
  const { rows } = await actor.pool.query<{ lexeme: string; positions: number[] | null; weights: string[] | null }>(
    'select * from unnest($1::tsvector)',
    [emailVector('usr_a', email)],
  );
  return rows
    .map(({ lexeme, positions, weights }) => {
      const at = (positions ?? []).map((position, index) => `${position}${(weights?.[index] ?? 'D').replace('D', '')}`);
      return at.length === 0 ? lexeme.slice(2) : `${lexeme.slice(2)}:${at.join(',')}`;
    })
    .toSorted();
}
