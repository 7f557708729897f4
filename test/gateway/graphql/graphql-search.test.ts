import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { assignThreads } from '../../../actors/threading/assign-thread.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { matchingIds } from '../../support/rows/search-definition.ts';
import { type SearchedMail, storeMail } from '../../support/rows/searched-mail.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';

const NOW = new Date('2026-03-01T00:00:00Z');

let gateway: TestGateway;
let mailbox: TestMailbox;
let mails: SearchedMail[];

beforeAll(async () => {
  gateway = await openTestGateway({ now: () => NOW });
  mailbox = await gateway.mailbox();
  mails = documentedMail();
  const other = await gateway.mailbox();
  for (const { workspaceId } of [mailbox, other]) {
    await storeMail(gateway.actor, workspaceId, mails);
    await assignThreads(
      testActorContext(gateway.actor),
      workspaceId,
      mails.map((mail) => mail.id),
    );
  }
  const { rows } = await gateway.actor.pool.query<{ id: string; thread_id: string | null }>(
    'select id, thread_id from email where workspace_id = $1',
    [mailbox.workspaceId],
  );
  const threadById = new Map(rows.map((row) => [row.id, row.thread_id]));
  mails = mails.map((mail) => ({ ...mail, threadId: threadById.get(mail.id) ?? null }));
  for (const mail of mails)
    await gateway.actor.pool.query(
      'update thread set labels = $3, label_keys = $3 where workspace_id = $1 and id = $2',
      [mailbox.workspaceId, mail.threadId, mail.labels],
    );
});
afterAll(() => gateway.close());

const document = readFileSync(path.resolve(import.meta.dirname, '../../../docs/search.md'), 'utf8');

/** The code of the first column of every table, and all code that begins with an operator. */
function examples(): string[] {
  const firsts = [...document.matchAll(/^\| `([^`]+)` \|/gm)].map((match) => match[1] ?? '');
  const others = [
    ...document.matchAll(/`(-?(?:from|to|subject|domain|label|before|after|has|is|in):[^` ]+(?: [^`]*)?)`/g),
  ];
  return [...new Set([...firsts, ...others.map((match) => match[1] ?? '')])];
}

describe('every example of docs/search.md finds the described mail', () => {
  test('and every operator has an example', () => {
    for (const operator of ['from', 'to', 'subject', 'domain', 'label', 'before', 'after', 'has', 'is', 'in'])
      expect(
        examples().some((example) => example.startsWith(`${operator}:`)),
        operator,
      ).toBe(true);
  });

  // Here nothing is in the trash, assigned or snoozed, and no person asks: trash.test.ts, thread-assignment.test.ts, snooze.test.ts and
  // thread-read-state.test.ts find such mail.
  test.each(examples().filter((example) => !/^(?:in:trash$|assigned:|is:snoozed$|unread:)/.test(example)))(
    '%s',
    async (search) => {
      const expected = matchingIds(mails, search, NOW);
      expect(expected.emails.length, 'it finds something').toBeGreaterThan(0);
      expect(expected.emails.length, 'it does not find everything').toBeLessThan(mails.length);
      const found = await ask(search);
      expect(found).toEqual({ ...expected, emailCount: expected.emails.length, threadCount: expected.threads.length });
    },
  );

  test('by the query', async () => {
    const query = /```graphql\n([\s\S]*?)```/.exec(document)?.[1] ?? '';
    const { data, errors } = (await gateway.graphql(mailbox.apiKey, query)).json();
    expect(errors).toBeUndefined();
    expect(data.inbox.totalCount).toBe(1);
    expect(data.inbox.edges[0].node.latestMessage.subject).toBe('Invoices of March');
  });

  test.each(['cc:ann', 'older_than:7d', 'is:starred', 'a '.repeat(21), 'x'.repeat(501)])(
    'but %s is refused',
    async (search) => {
      for (const field of ['inbox', 'emails']) {
        const query = `query ($search: String) { ${field}(search: $search) { totalCount edges { node { id } } } }`;
        const { data, errors } = (await gateway.graphql(mailbox.apiKey, query, { search })).json();
        expect(data ?? null).toBeNull();
        expect(errors[0].extensions.details).toEqual([{ field: 'search', message: errors[0].message }]);
        expect(errors[0].message).toMatch(/^(\w+: is not a search operator|is: does not take|A search must not)/);
      }
    },
  );
});

test('the inbox leaves out archived threads and those of only sent mail, and filters by label, reading and participants', async () => {
  const inbox = async (given: string) => {
    const { data, errors } = (
      await gateway.graphql(mailbox.apiKey, `query { inbox(${given}) { edges { node { latestMessage { id } } } } }`)
    ).json();
    expect(errors).toBeUndefined();
    return data.inbox.edges.map((edge: { node: { latestMessage: { id: string } } }) => edge.node.latestMessage.id);
  };
  expect(await inbox('filter: {}')).toEqual(['em_invoice', 'em_report', 'em_tokyo']);
  expect(await inbox('filter: { archived: ARCHIVED }')).toEqual(['em_archived']);
  expect(await inbox('filter: { archived: ANY }, first: 1')).toEqual(['em_invoice']);
  expect(await inbox('search: "is:archived"')).toEqual(['em_archived']);
  expect(await inbox('filter: { label: "URGENT" }')).toEqual(['em_invoice']);
  expect(await inbox('filter: { isUnread: true }')).toEqual(['em_invoice']);
  expect(await inbox('filter: { domain: "example.com" }, search: "annual"')).toEqual(['em_report']);
  expect(await inbox('filter: { address: "bob@shop.test" }')).toEqual([]);
  expect(await inbox('filter: { address: "bob@shop.test", archived: ANY }')).toEqual(['em_sent', 'em_archived']);
  expect(await inbox('search: "in:sent"')).toEqual(['em_sent']);
});

test('a search of emails is not limited to the 30 days of a list, but by a given time range', async () => {
  const count = async (given: string) =>
    (await gateway.graphql(mailbox.apiKey, `query { emails(${given}) { totalCount } }`)).json().data.emails.totalCount;
  expect(await count('search: "tokyo"')).toBe(1);
  expect(await count('search: "tokyo", filter: { type: RECEIVED }')).toBe(1);
  expect(await count('search: "tokyo", filter: { timeRange: MONTH }')).toBe(0);
});

test('sent mail is found by its words as soon as it is stored, before it has a thread', async () => {
  const sent = await gateway.call(mailbox.apiKey, 'POST', '/emails', {
    from: mailbox.address,
    to: 'Lea Okapi <lea@away.test>',
    subject: 'Wombats',
    html: '<style>.zebu{}</style><p>about the numbat</p>',
  });
  expect(sent.body).toContain('"id"');
  const { id } = sent.json();
  for (const search of ['numbat', 'womb', 'to:okapi', 'domain:away.test in:sent'])
    expect((await ask(search)).emails, search).toEqual([id]);
  expect((await ask('zebu')).emails).toEqual([]);
});

test('scheduled mail is found by its words, recipients and domain as soon as it is scheduled', async () => {
  const { apiKey } = mailbox;
  const scheduled = await gateway.call(apiKey, 'POST', '/emails', {
    from: mailbox.address,
    to: 'Kim Zephyr <kim@far.test>',
    bcc: 'secret@hidden.test',
    subject: 'Greetings',
    html: '<style>.zebra{}</style><p>about the quagga</p>',
    scheduled_at: new Date(Date.now() + 86_400_000).toISOString(),
  });
  expect(scheduled.body).toContain('"id"');
  const { id } = scheduled.json();
  for (const search of ['quagga', 'greet', 'to:zephyr', 'to:secret@hidden.test', 'domain:far.test in:scheduled'])
    expect((await ask(search)).emails, search).toEqual([id]);
  expect((await ask('zebra')).emails).toEqual([]);
});

async function ask(search: string) {
  const query = `query ($search: String) {
    emails(search: $search, first: 50) { totalCount edges { node { id } } }
    inbox(search: $search, first: 50, filter: { archived: ANY }) { totalCount edges { node { id } } }
  }`;
  const { data, errors } = (await gateway.graphql(mailbox.apiKey, query, { search })).json();
  expect(errors).toBeUndefined();
  const ids = (list: { edges: { node: { id: string } }[] }) => list.edges.map(({ node }) => node.id);
  return {
    emails: ids(data.emails),
    threads: ids(data.inbox),
    emailCount: data.emails.totalCount,
    threadCount: data.inbox.totalCount,
  };
}

function documentedMail(): SearchedMail[] {
  const ann = { name: 'Ann Lee', address: 'ann@example.com' };
  const bob = { name: 'Bob', address: 'bob@shop.test' };
  const own = { name: 'Own', address: 'own@home.test' };
  const plain = {
    type: 'received',
    from: bob,
    to: [own],
    ownAddress: own.address,
    recipient: own.address,
    html: null,
    hasAttachments: false,
    isRead: true,
    isArchived: false,
    inReplyTo: [],
    threadId: null,
    labels: [],
  } as const satisfies Partial<SearchedMail>;
  const mail = (id: string, at: string, subject: string, text: string, more: Partial<SearchedMail>): SearchedMail => {
    return {
      ...plain,
      to: [own],
      inReplyTo: [],
      labels: [],
      id,
      createdAt: new Date(at),
      subject,
      text,
      visible: text,
      ...more,
    };
  };
  const unread = { from: ann, isRead: false, hasAttachments: true, labels: ['urgent', 'to do'] };
  return [
    mail('em_invoice', '2026-02-28T10:00:00Z', 'Invoices of March', 'See the draft', unread),
    mail('em_report', '2026-02-10T10:00:00Z', 'The annual report', 'Crème brûlée', { from: ann }),
    mail('em_sent', '2026-02-20T10:00:00Z', 'Lunch', 'Invoice? March!', {
      type: 'sent',
      from: own,
      to: [bob],
      recipient: null,
      isRead: false,
    }),
    mail('em_scheduled', '2026-02-27T10:00:00Z', 'Later', 'hello', {
      type: 'scheduled',
      from: own,
      to: [bob],
      recipient: null,
      isRead: false,
    }),
    mail('em_tokyo', '2026-01-05T10:00:00Z', '東京 Tokyo', 'hello', { from: { name: 'Cy', address: 'cy@z.test' } }),
    mail('em_archived', '2025-12-05T10:00:00Z', 'Old', 'long ago', {
      isArchived: true,
    }),
  ];
}
