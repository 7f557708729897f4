import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createAcceptor } from '../../../actors/receiving/accept-message.ts';
import {
  type ParsedReception,
  type StoreOptions,
  storeParsed,
  type ThreadedEmails,
} from '../../../actors/receiving/store-parsed.ts';
import { type DmarcReport, readDmarcReport } from '../../../core/domains/dmarc-report.ts';
import { type Authentication, undecided } from '../../../core/mime/authentication.ts';
import { type ParsedMessage, scanHeaders } from '../../../core/mime/parse-message.ts';
import { type IdentifierKind, makeIdentifier } from '../../../core/shared/identifiers.ts';
import { createByteStore } from '../../../db/byte-store.ts';
import type { Database } from '../../../db/connection/database.ts';
import { claimReceptions, type Reception } from '../../../db/queries/emails/reception-claim.ts';
import { createTestDatabase, type TestDatabase } from '../../support/cluster/database.ts';
import { dmarcXml } from '../../support/mail/dmarc-reports.ts';
import { createMailbox, type TestMailbox } from '../../support/rows/routing-rows.ts';

let test_: TestDatabase;
let actor: Database;
let hello: TestMailbox;
let stranger: TestMailbox;
let options: StoreOptions;

const log = pino({ level: 'silent' });
const makeId = (kind: IdentifierKind) => makeIdentifier(kind, new Date(), randomBytes(10));

beforeAll(async () => {
  test_ = await createTestDatabase();
  actor = test_.open('postroom_actor');
});
afterAll(() => test_.drop());
beforeEach(async () => {
  const unique = randomBytes(4).toString('hex');
  hello = await createMailbox(actor, { domain: `${unique}.test`, address: `hello@${unique}.test` });
  stranger = await createMailbox(actor, { domain: `b${unique}.test`, address: `hello@b${unique}.test` });
  options = {
    database: actor,
    bytes: createByteStore({ database: actor, log }),
    log,
    claimant: 'one',
    mailHostname: 'mx.test',
    now: () => new Date(),
    random: (bytes) => randomBytes(bytes),
    makeId,
  };
});

/** Accepts that many messages for the mailbox, leased to the claimant `one`. */
async function accept(mailbox: TestMailbox, count: number): Promise<Reception[]> {
  const accepted: Reception[] = [];
  const acceptor = createAcceptor({
    database: actor,
    makeId,
    claimant: 'one',
    hasRoom: async () => true,
    ahead: null,
    queue: {
      hasRoom: () => true,
      noteAccept: () => undefined,
      add: (queued) => void accepted.push(...queued.map(({ reception }) => reception)),
    },
    bytes: options.bytes,
    fault: () => undefined,
  });
  const { workspaceId, addressId, domainId, address } = mailbox;
  const [local, domain] = address.split('@');
  await Promise.all(
    Array.from({ length: count }, () =>
      acceptor.accept(
        {
          reversePath: 'sender@elsewhere.test',
          recipients: [{ recipient: `${local}+tag@${domain}`, workspaceId, addressId, domainId, ownAddress: address }],
          remoteAddress: '192.0.2.1',
          helo: 'elsewhere.test',
          isTls: false,
          traceFields: '',
        },
        Buffer.from(`Subject: as scanned\r\n\r\n${randomBytes(20).toString('hex')}`),
      ),
    ),
  );
  return accepted;
}

const message: ParsedMessage = {
  headers: [
    ['subject', 'Re: Grüße'],
    ['received', 'from a'],
  ],
  addresses: {
    from: { text: 'Ann <Ann@Elsewhere.test>', addresses: [{ name: 'Ann', address: 'Ann@Elsewhere.test' }] },
    to: { text: 'x@y.test', addresses: [{ name: null, address: 'x@y.test' }] },
    cc: { text: 'c@y.test', addresses: [{ name: null, address: 'c@y.test' }] },
    bcc: null,
    replyTo: null,
  },
  messageId: '<one@elsewhere.test>',
  inReplyTo: ['<zero@elsewhere.test>'],
  references: ['<zero@elsewhere.test>', '<"odd, {id}"@elsewhere.test>'],
  subject: 'Re: Grüße',
  date: new Date('2026-11-26T10:00:00Z'),
  textBody: 'Grüße \u{1f600}\n',
  htmlBody: '<p>Grüße</p>',
  cleanedText: '',
  cleanedHtml: null,
  removedParts: [],
  preview: 'Grüße',
  attachments: [
    {
      index: 0,
      filename: 'a.pdf',
      contentType: 'application/pdf',
      size: 3,
      contentId: null,
      contentDisposition: 'attachment',
      start: 10,
      length: 4,
      transferEncoding: 'base64',
    },
  ],
  injection: { verdict: 'clear', findings: [] },
  priority: 'high',
  hasAttachments: true,
  isTruncated: false,
  hasSeveralFromFields: false,
  hasUnsignedContent: false,
  holdsReport: false,
  parseError: null,
};

async function store(given: StoreOptions, receptions: readonly ParsedReception[]) {
  const all: ThreadedEmails[] = [];
  for (let waiting = receptions; waiting.length > 0; ) {
    const { stored, busy } = await storeParsed(given, waiting);
    all.push(...stored);
    waiting = busy;
  }
  return all;
}

function parsed(receptions: readonly Reception[], changes: Partial<ParsedMessage> = {}): ParsedReception[] {
  const outcome = { message: { ...message, ...changes }, authentication: null, dmarcReport: null };
  return receptions.map((reception) => ({ reception, outcome }));
}

async function count(table: string, workspaceId = hello.workspaceId): Promise<number> {
  const { rows } = await actor.pool.query<{ count: number }>(`select count(*) from ${table} where workspace_id = $1`, [
    workspaceId,
  ]);
  return rows[0]?.count ?? -1;
}

/** Events of received mail; others tell what became of threads. */
async function countEvents(): Promise<number> {
  const { rows } = await actor.pool.query<{ count: number }>(
    `select count(*) from event where workspace_id = $1 and kind = 'email.received'`,
    [hello.workspaceId],
  );
  return rows[0]?.count ?? -1;
}

async function counted(workspaceId = hello.workspaceId): Promise<number> {
  const { rows } = await actor.pool.query<{ sum: string }>(
    `select coalesce(sum(count), 0) as sum from email_counter where workspace_id = $1 and grain = 'all' and own_address = '*'`,
    [workspaceId],
  );
  return Number(rows[0]?.sum);
}

test('a parsed message becomes an email with every field', async () => {
  const [reception] = await accept(hello, 1);
  const stored = await store(options, parsed(reception ? [reception] : []));
  expect(stored).toEqual([{ workspaceId: hello.workspaceId, emailIds: [reception?.emailId], lastSeq: 2 }]);
  const { rows } = await actor.pool.query(
    `select e.*, c.*, s.text as search, r.parsed_at is not null as is_parsed, r.claimed_by, r.accepted_at
     from email e join email_content c on c.email_id = e.id join email_search s on s.email_id = e.id
     join reception r on r.email_id = e.id where e.workspace_id = $1`,
    [hello.workspaceId],
  );
  expect(rows[0]).toMatchObject({
    type: 'received',
    status: 'delivered',
    created_at: rows[0].accepted_at,
    own_address: hello.address,
    own_domain: hello.address.split('@')[1],
    address_id: hello.addressId,
    domain_id: hello.domainId,
    recipient: hello.address.replace('@', '+tag@'),
    message_id: '<one@elsewhere.test>',
    subject: 'Re: Grüße',
    base_subject: 'Grüße',
    from_name: 'Ann',
    from_address: 'Ann@Elsewhere.test',
    from_text: 'Ann <Ann@Elsewhere.test>',
    to_addresses: ['x@y.test'],
    cc_addresses: ['c@y.test'],
    preview: 'Grüße',
    date: new Date('2026-11-26T10:00:00Z'),
    has_attachments: true,
    attachment_count: 1,
    is_read: false,
    thread_id: expect.stringMatching(/^th_/),
    headers: message.headers,
    addresses: message.addresses,
    in_reply_to: message.inReplyTo,
    reference_ids: message.references,
    text_body: message.textBody,
    html_body: message.htmlBody,
    cleaned_text: '',
    cleaned_html: null,
    removed_parts: [],
    attachments: message.attachments,
    authentication: null,
    priority: 'high',
    is_truncated: false,
    parse_error: null,
    is_parsed: true,
    claimed_by: null,
  });
  expect(rows[0].search).toContain('re: grüße');
  expect(rows[0].search).toContain('ann <ann@elsewhere.test>');
  const events = await actor.pool.query('select seq, kind, email_id from event where workspace_id = $1', [
    hello.workspaceId,
  ]);
  expect(events.rows).toEqual([
    { seq: 1, kind: 'email.received', email_id: reception?.emailId },
    { seq: 2, kind: 'email.threaded', email_id: reception?.emailId },
  ]);
});

test('an email is noted as unindexed as soon as it is stored', async () => {
  const [one] = await accept(hello, 1);
  if (!one) throw new Error('one was accepted');
  await store(options, parsed([one]));
  const { rows } = await actor.pool.query(
    `select u.state, u.created_at = e.created_at as is_dated from unindexed_email u
     join email e on e.workspace_id = u.workspace_id and e.id = u.email_id where u.workspace_id = $1 and u.email_id = $2`,
    [hello.workspaceId, one.emailId],
  );
  expect(rows).toEqual([{ state: 'new', is_dated: true }]);
});

test('bodies of a batch are stored in their own rows', async () => {
  const receptions = await accept(hello, 40);
  const outcomes = receptions.flatMap((reception, n) =>
    parsed([reception], {
      textBody: n % 3 === 0 ? null : `text ${n} ${'ä'.repeat(n * 97)}`,
      htmlBody: n % 2 === 0 ? null : `<p>${n}</p>`,
      cleanedText: n % 5 === 0 ? null : `${n}`,
    }),
  );
  await store(options, outcomes);
  const { rows } = await actor.pool.query('select * from email_content where workspace_id = $1', [hello.workspaceId]);
  const byId = new Map(rows.map((row) => [row.email_id, row]));
  for (const { reception, outcome } of outcomes) {
    const { textBody, htmlBody, cleanedText } = outcome.message;
    expect(byId.get(reception.emailId)).toMatchObject({
      text_body: textBody,
      html_body: htmlBody,
      cleaned_text: cleanedText,
    });
  }
});

test('mail without a Message-ID, or with an absurdly long one, gets one of ours', async () => {
  const receptions = await accept(hello, 2);
  const ids = [null, `<${'x'.repeat(2_000)}@y>`];
  await store(
    options,
    receptions.flatMap((reception, n) => parsed([reception], { messageId: ids[n] ?? null })),
  );
  const { rows } = await actor.pool.query('select id, message_id from email where workspace_id = $1', [
    hello.workspaceId,
  ]);
  expect(rows).toHaveLength(2);
  for (const { id, message_id } of rows) expect(message_id).toBe(`<${id}@mx.test>`);
});

test('a batch of two users stores both, each with its own feed', async () => {
  const receptions = [...(await accept(hello, 3)), ...(await accept(stranger, 2))];
  const stored = await store(options, parsed(receptions));
  expect(
    new Map(stored.map(({ workspaceId, emailIds, lastSeq }) => [workspaceId, [emailIds.length, lastSeq]])),
  ).toEqual(
    new Map([
      [hello.workspaceId, [3, 6]],
      [stranger.workspaceId, [2, 4]],
    ]),
  );
});

test('storing a message twice changes nothing', async () => {
  const receptions = await accept(hello, 5);
  await store(options, parsed(receptions));
  expect(await store(options, parsed(receptions))).toEqual([]);
  expect([await count('email'), await count('email_content'), await counted(), await countEvents()]).toEqual([
    5, 5, 5, 5,
  ]);
});

test('a row that another process has claimed since is not stored', async () => {
  const receptions = await accept(hello, 3);
  await actor.pool.query(
    `update reception set claimed_until = now() - interval '1 s' where workspace_id = $1 and email_id = $2`,
    [hello.workspaceId, receptions[0]?.emailId],
  );
  const taken = await claimReceptions(actor, 'two', 50);
  expect(taken.map(({ reception }) => [reception.emailId, reception.tries])).toEqual([[receptions[0]?.emailId, 2]]);
  await store(options, parsed(receptions));
  expect(await count('email')).toBe(2);
  await store({ ...options, claimant: 'two' }, parsed(taken.map(({ reception }) => reception)));
  expect([await count('email'), await counted()]).toEqual([3, 3]);
});

test('a message that PostgreSQL refuses is stored by its header section, and the rest of its batch unchanged', async () => {
  const receptions = await accept(hello, 20);
  const outcomes = receptions.flatMap((reception, n) => parsed([reception], n === 7 ? { textBody: 'a\0b' } : {}));
  const stored = await store(options, outcomes);
  expect(stored.flatMap(({ emailIds }) => emailIds)).toHaveLength(20);
  const { rows } = await actor.pool.query(
    `select e.id, e.subject from email e join email_content c on (c.workspace_id, c.email_id) = (e.workspace_id, e.id)
     where e.workspace_id = $1 and c.parse_error is not null`,
    [hello.workspaceId],
  );
  expect(rows).toEqual([{ id: receptions[7]?.emailId, subject: 'as scanned' }]);
  expect([await counted(), await countEvents()]).toEqual([20, 20]);
});

test('a message that could not be parsed becomes a flagged email', async () => {
  const receptions = await accept(hello, 1);
  await store(
    options,
    receptions.map((reception) => ({
      reception,
      outcome: {
        message: scanHeaders(Buffer.from('Subject: x'), 'it broke'),
        authentication: null,
        dmarcReport: null,
      },
    })),
  );
  const { rows } = await actor.pool.query(
    'select e.status, c.parse_error, r.last_error from email e join email_content c on c.email_id = e.id join reception r on r.email_id = e.id where e.workspace_id = $1',
    [hello.workspaceId],
  );
  expect(rows).toEqual([{ status: 'delivered', parse_error: 'it broke', last_error: 'it broke' }]);
});

test('counters equal a count, and feeds have no gap, after many concurrent batches', async () => {
  const receptions = [...(await accept(hello, 300)), ...(await accept(stranger, 100))];
  const shuffled = receptions.toSorted((one, other) => one.emailId.slice(-6).localeCompare(other.emailId.slice(-6)));
  const chunks = Array.from({ length: 8 }, (_, n) => shuffled.slice(n * 50, n * 50 + 50));
  await Promise.all(chunks.map((chunk) => store(options, parsed(chunk))));
  for (const [workspaceId, expected] of [
    [hello.workspaceId, 300],
    [stranger.workspaceId, 100],
  ] as const) {
    expect([await count('email', workspaceId), await counted(workspaceId)]).toEqual([expected, expected]);
    const { rows } = await actor.pool.query('select seq from event where workspace_id = $1 order by seq', [
      workspaceId,
    ]);
    expect(rows.length).toBeGreaterThanOrEqual(2 * expected);
    expect(rows.map((row) => row.seq)).toEqual(rows.map((_, n) => n + 1));
  }
});

describe('a DMARC report', () => {
  const report = readDmarcReport(dmarcXml({ domain: 'own.test' }));
  const stored = async (changes: Partial<DmarcReport>, authentication: Authentication | null = null) => {
    if (report === null) throw new Error('no report');
    const receptions = await accept(hello, 2);
    const policy = { ...report.policy, domain: hello.address.split('@')[1] ?? '' };
    const outcome = { message, authentication, dmarcReport: { ...report, policy, ...changes } };
    await store(
      options,
      receptions.map((reception, at) => ({
        reception,
        outcome: at === 0 ? outcome : { ...outcome, dmarcReport: null },
      })),
    );
    const { rows } = await actor.pool.query(
      `select (select count(*) from email where workspace_id = $1 and subject = 'Re: Grüße') as emails,
         (select count(*) from dmarc_report where workspace_id = $1) as reports`,
      [hello.workspaceId],
    );
    return rows[0];
  };

  test('is stored with its email and beside others', async () => {
    expect(await stored({})).toEqual({ emails: 2, reports: 1 });
  });

  test('is only mail when its mail fails DMARC itself', async () => {
    const forged: Authentication = {
      ...undecided(false),
      dmarc: { result: 'fail', policy: 'reject', domain: 'receiver.test' },
    };
    expect(await stored({}, forged)).toEqual({ emails: 2, reports: 0 });
  });

  test('that cannot be stored does not affect its email', async () => {
    expect(await stored({ messageCount: 1e12 })).toEqual({ emails: 2, reports: 0 });
  });
});
