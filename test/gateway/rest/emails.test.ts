import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { EmailStatus, EmailType } from '../../../core/emails/email-status.ts';
import { makeIdentifier } from '../../../core/shared/identifiers.ts';
import { openForFile } from '../../support/open-for-file.ts';
import { insertMail, insertThread, type MailRow } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { seededRandom } from '../../support/rows/thread-mail.ts';
import { openTestGateway } from '../../support/servers/gateway.ts';

const gateway = openForFile(() => openTestGateway());

const HOUR = 3_600_000;

async function list(box: TestMailbox, query = '') {
  const response = await gateway.call(box.apiKey, 'GET', `/emails${query}`);
  expect(response.statusCode, response.body).toBe(200);
  return response.json();
}

const ids = (response: { data: { id: string }[] }) => response.data.map((email) => email.id);

test('a list shows every documented field', async () => {
  const box = await gateway.mailbox();
  const createdAt = new Date(Date.now() - 60_000);
  const [id] = await insertMail(gateway.actor, [
    {
      workspaceId: box.workspaceId,
      createdAt,
      fromName: 'Ada',
      subject: 'Hi',
      cc: ['c@x.test'],
      ownAddress: box.address,
    },
  ]);
  expect(await list(box)).toEqual({
    object: 'list',
    data: [
      {
        id,
        type: 'received',
        message_id: `<${id}@elsewhere.test>`,
        from: 'ada@elsewhere.test',
        from_name: 'Ada',
        to: [box.address],
        cc: ['c@x.test'],
        bcc: [],
        reply_to: null,
        subject: 'Hi',
        preview: 'preview',
        status: 'delivered',
        last_event: 'delivered',
        created_at: createdAt.toISOString(),
        sent_at: null,
        scheduled_at: null,
        has_attachments: false,
        attachment_count: 0,
        thread_id: null,
        is_read: false,
        read_at: null,
        is_archived: false,
        kept_apart: null,
        is_test: false,
        envelope_recipient: box.address,
        guard_status: null,
        guard_rule_id: null,
      },
    ],
    has_more: false,
    pagination: { limit: 50, offset: 0, total: 1, has_more: false },
    filters: { type: 'all', time_range: '30d' },
  });
});

describe('filters', () => {
  let box: TestMailbox;
  let second: TestMailbox;
  const made: Record<string, string> = {};

  beforeAll(async () => {
    box = await gateway.mailbox({ domain: 'first-domain.test' });
    second = await gateway.mailbox({ workspaceId: box.workspaceId, domain: 'second-domain.test' });
    const now = Date.now();
    const rows = {
      unread: { createdAt: new Date(now - 0.5 * HOUR), subject: '100% off_now' },
      read: { createdAt: new Date(now - 2 * HOUR), isRead: true, subject: 'Invoice' },
      archived: { createdAt: new Date(now - 30 * HOUR), isArchived: true, from: 'Zoe@Other.test' },
      sent: { createdAt: new Date(now - 8 * 24 * HOUR), type: 'sent', status: 'bounced' },
      scheduled: { createdAt: new Date(now - 40 * 24 * HOUR), type: 'scheduled' },
      old: { createdAt: new Date(now - 100 * 24 * HOUR), status: 'failed' },
      other: { createdAt: new Date(now - 0.25 * HOUR), ownAddress: second.address, to: ['Grüße@x.test'] },
    } satisfies Record<string, Omit<MailRow, 'workspaceId'>>;
    for (const [name, row] of Object.entries(rows))
      made[name] =
        (await insertMail(gateway.actor, [{ workspaceId: box.workspaceId, ownAddress: box.address, ...row }]))[0] ?? '';
  });

  const cases: [query: string, names: string[]][] = [
    ['', ['other', 'unread', 'read', 'archived', 'sent']],
    ['time_range=all', ['other', 'unread', 'read', 'archived', 'sent', 'scheduled', 'old']],
    ['time_range=1h', ['other', 'unread']],
    ['time_range=24h', ['other', 'unread', 'read']],
    ['time_range=7d', ['other', 'unread', 'read', 'archived']],
    ['time_range=90d', ['other', 'unread', 'read', 'archived', 'sent', 'scheduled']],
    ['time_range=all&type=sent', ['sent']],
    ['time_range=all&type=scheduled', ['scheduled']],
    ['time_range=all&type=received', ['other', 'unread', 'read', 'archived', 'old']],
    ['time_range=all&status=failed', ['old']],
    ['time_range=all&status=bounced', ['sent']],
    ['time_range=all&status=paused', []],
    ['time_range=all&status=cancelled', []],
    ['time_range=all&status=all&type=all', ['other', 'unread', 'read', 'archived', 'sent', 'scheduled', 'old']],
    ['time_range=all&status=unread', ['other', 'unread', 'old']],
    ['time_range=all&status=read', ['read']],
    ['time_range=all&status=archived', ['archived']],
    ['time_range=all&status=unread&type=sent', []],
    ['time_range=all&search=INVOICE', ['read']],
    ['time_range=all&search=zoe@other', ['archived']],
    ['time_range=all&search=gr%C3%9C%C3%9Fe', ['other']],
    ['time_range=all&search=%25+off_', ['unread']],
    ['time_range=all&search=100_', []],
    ['time_range=all&search=E', ['other', 'unread', 'read', 'archived', 'sent', 'scheduled', 'old']],
    ['time_range=1h&search=subject', ['other']],
    ['time_range=all&search=subject&type=sent', ['sent']],
    ['time_range=all&domain=first-domain.test', ['unread', 'read', 'archived', 'sent', 'scheduled', 'old']],
    ['time_range=all&domain=SECOND-domain.test', ['other']],
    ['time_range=all&domain=second-domain.test&search=subject', ['other']],
    ['time_range=all&domain=nobodys.test', []],
    ['time_range=all&domain=dom_00000000000000000000000000000000', []],
    ['time_range=all&address=nobody@first-domain.test', []],
    ['time_range=all&address=addr_none', []],
  ];
  test.each(cases)('%s', async (query, names) => {
    const response = await list(box, `?${query}`);
    expect(ids(response)).toEqual(names.map((name) => made[name]));
    expect(response.pagination.total).toBe(names.length);
  });

  test('accept a domain and an address by id, and the address in any case', async () => {
    for (const query of [
      `domain=${second.domainId}`,
      `address=${second.addressId}`,
      `address=${second.address.toUpperCase()}`,
    ])
      expect(ids(await list(box, `?${query}`))).toEqual([made['other']]);
  });

  test('are echoed when they were applied', async () => {
    const { filters } = await list(
      box,
      `?type=received&status=read&time_range=7d&search=x&domain=a.test&address=b@a.test`,
    );
    expect(filters).toEqual({
      type: 'received',
      status: 'read',
      time_range: '7d',
      search: 'x',
      domain: 'a.test',
      address: 'b@a.test',
    });
  });

  test('by objects of another user match nothing', async () => {
    const foreign = await gateway.mailbox();
    await insertMail(gateway.actor, [
      { workspaceId: foreign.workspaceId, ownAddress: foreign.address },
      { workspaceId: box.workspaceId, ownAddress: box.address },
    ]);
    for (const query of [
      `domain=${foreign.domainId}`,
      `domain=*`,
      `address=${foreign.addressId}`,
      `address=${foreign.address}`,
      'address=*',
    ])
      expect(await list(box, `?time_range=all&${query}`), query).toMatchObject({ data: [], pagination: { total: 0 } });
  });
});

test.each([
  ['limit=0', 'limit'],
  ['limit=-1', 'limit'],
  ['limit=ten', 'limit'],
  ['limit=1.5', 'limit'],
  ['limit=', 'limit'],
  ['limit=1&limit=2', 'limit'],
  ['offset=-1', 'offset'],
  ['offset=1e400', 'offset'],
  ['type=spam', 'type'],
  ['status=gone', 'status'],
  ['time_range=1y', 'time_range'],
  ['search=a&search=b', 'search'],
  [`search=${'a'.repeat(501)}`, 'search'],
  ['search=%00', 'search'],
  ['domain=%00', 'domain'],
])('%s is 400 and names the field', async (query, field) => {
  const box = await gateway.mailbox();
  const response = await gateway.call(box.apiKey, 'GET', `/emails?${query}`);
  expect(response.statusCode).toBe(400);
  expect(response.json()).toEqual({
    error: 'Bad Request',
    message: 'Validation failed. Check your request parameters.',
    statusCode: 400,
    name: 'validation_error',
    details: [{ field, message: expect.any(String) }],
  });
});

test('a limit above 100 counts as 100', async () => {
  const box = await gateway.mailbox();
  expect((await list(box, '?limit=5000')).pagination.limit).toBe(100);
});

test('pages follow each other without gap or repeat, mail of the same instant included', async () => {
  const box = await gateway.mailbox();
  const at = new Date(Date.now() - HOUR);
  const made = await insertMail(
    gateway.actor,
    Array.from({ length: 23 }, (_, n) => ({
      workspaceId: box.workspaceId,
      createdAt: new Date(at.getTime() - Math.floor(n / 5)),
    })),
  );
  const seen: string[] = [];
  for (let offset = 0; offset < 30; offset += 5) {
    const response = await list(box, `?limit=5&offset=${offset}`);
    expect(response.pagination).toEqual({ limit: 5, offset, total: 23, has_more: offset + 5 < 23 });
    expect(response.has_more).toBe(offset + 5 < 23);
    seen.push(...ids(response));
  }
  expect(seen).toHaveLength(23);
  expect(new Set(seen)).toEqual(new Set(made));
  const searched = await list(box, '?search=subject&limit=5&offset=20');
  expect(ids(searched)).toEqual(seen.slice(20));
  expect(searched.pagination.total).toBe(23);
});

describe('pages by an email id, as the resend client requests them,', () => {
  let box: TestMailbox;
  let newestFirst: string[];

  beforeAll(async () => {
    box = await gateway.mailbox();
    const at = Date.now() - HOUR;
    await insertMail(
      gateway.actor,
      Array.from({ length: 11 }, (_, n) => ({
        workspaceId: box.workspaceId,
        createdAt: new Date(at - Math.floor(n / 4)),
      })),
    );
    newestFirst = ids(await list(box));
  });

  test('lead to the end and back without gap or repeat', async () => {
    const seen = ids(await list(box, '?limit=3'));
    for (let hasMore = true; hasMore; ) {
      const page = await list(box, `?limit=3&after=${seen.at(-1)}`);
      seen.push(...ids(page));
      hasMore = page.has_more;
      expect(page.pagination).toMatchObject({ limit: 3, total: 11, has_more: hasMore });
    }
    expect(seen).toEqual(newestFirst);
    const page = await list(box, `?limit=3&before=${newestFirst[5]}`);
    expect([ids(page), page.has_more]).toEqual([newestFirst.slice(2, 5), true]);
    const first = await list(box, `?limit=3&before=${newestFirst[2]}`);
    expect([ids(first), first.has_more]).toEqual([newestFirst.slice(0, 2), false]);
    expect(ids(await list(box, `?after=${newestFirst[7]}&search=subject`))).toEqual(newestFirst.slice(8));
  });

  test('of an email that is unknown, malformed or of another user are 400 Invalid cursor', async () => {
    const other = await gateway.mailbox();
    const [foreign] = await insertMail(gateway.actor, [{ workspaceId: other.workspaceId }]);
    for (const side of ['after', 'before'])
      for (const id of [foreign, 'em_00000000000000000000000000000000', '', '%00', "';--"]) {
        const response = await gateway.call(box.apiKey, 'GET', `/emails?${side}=${id}`);
        expect([response.statusCode, response.json()]).toEqual([
          400,
          {
            error: 'Invalid cursor',
            message: 'Invalid cursor',
            statusCode: 400,
            name: 'validation_error',
            details: [{ field: side, message: 'Invalid cursor' }],
          },
        ]);
      }
    const both = await gateway.call(box.apiKey, 'GET', `/emails?after=${newestFirst[0]}&before=${newestFirst[5]}`);
    expect([both.statusCode, both.json().details[0].field]).toEqual([400, 'before']);
  });
});

describe('one email', () => {
  test('shows every documented field', async () => {
    const box = await gateway.mailbox();
    const { threadId } = await insertThread(gateway.actor, {
      workspaceId: box.workspaceId,
      count: 1,
      lastMessageAt: new Date(),
    });
    const createdAt = new Date();
    const attachment = {
      index: 0,
      filename: 'a b.pdf',
      contentType: 'application/pdf',
      size: 3,
      contentId: '<one@x.test>',
      contentDisposition: 'inline' as const,
      start: 0,
      length: 4,
      transferEncoding: 'base64' as const,
    };
    const [id = ''] = await insertMail(gateway.actor, [
      {
        workspaceId: box.workspaceId,
        createdAt,
        fromName: 'Ada',
        threadId,
        threadPosition: 1,
        text: 'Hello',
        html: null,
        attachments: [attachment],
        headers: [
          ['received', 'by one'],
          ['subject', 'A subject'],
          ['received', 'by two'],
          ['__proto__', 'polluted'],
          ['constructor', 'x'],
        ],
        addresses: {
          from: { text: 'Ada <ada@elsewhere.test>', addresses: [{ name: 'Ada', address: 'ada@elsewhere.test' }] },
          to: null,
          cc: null,
          bcc: { text: 'b@x.test', addresses: [{ name: null, address: 'b@x.test' }] },
          replyTo: { text: 'r@x.test', addresses: [{ name: null, address: 'r@x.test' }] },
        },
      },
    ]);
    const response = await gateway.call(box.apiKey, 'GET', `/emails/${id}`);
    expect(response.statusCode).toBe(200);
    expect(response.body).toContain('"__proto__":"polluted"');
    const { headers, ...body } = response.json();
    expect(Object.entries(headers)).toContainEqual(['received', 'by one\nby two']);
    expect(Object.entries(headers)).toContainEqual(['constructor', 'x']);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(body).toEqual({
      object: 'email',
      id,
      type: 'received',
      message_id: `<${id}@elsewhere.test>`,
      from: 'Ada <ada@elsewhere.test>',
      to: ['hello@box.test'],
      cc: [],
      bcc: ['b@x.test'],
      reply_to: ['r@x.test'],
      subject: 'A subject',
      html: null,
      text: 'Hello',
      cleaned_content: {
        text: 'Hello',
        html: null,
        quoted_text: null,
        signature: null,
        removed_from: 'text',
        removed_parts: [],
      },
      status: 'delivered',
      last_event: 'delivered',
      created_at: createdAt.toISOString(),
      updated_at: expect.any(String),
      sent_at: null,
      scheduled_at: null,
      event: null,
      has_attachments: true,
      attachments: [
        {
          filename: 'a b.pdf',
          contentType: 'application/pdf',
          size: 3,
          contentId: '<one@x.test>',
          contentDisposition: 'inline',
          downloadUrl: `http://postroom.test/api/e2/attachments/${id}/parts/0`,
        },
      ],
      is_read: false,
      read_at: null,
      is_archived: false,
      trashed_at: null,
      kept_apart: null,
      is_test: false,
      metadata: null,
      thread_id: threadId,
      thread_position: 1,
      envelope_recipient: 'hello@box.test',
      guard_status: null,
      guard_rule_id: null,
      tags: [],
      authentication: null,
      sender_verdict: null,
      security_warnings: [],
      security: {
        injection: null,
        spam: { verdict: 'not_checked', score: null, required: null, symbols: [], by: 'filter' },
        virus: null,
      },
      approval: null,
      recipients: [],
    });
  });

  describe('shows warnings about deceptive content', () => {
    const AUTHENTICATION = {
      spf: { result: 'pass', domain: 'elsewhere.test' },
      dkim: [{ result: 'pass', domain: 'elsewhere.test', selector: 's1' }],
      dmarc: { result: 'pass', policy: 'reject', domain: 'elsewhere.test' },
      arc: { result: 'none' },
      hasSeveralFromFields: false,
    };
    const named = (name: string, address: string) => ({ text: '', addresses: [{ name, address }] });

    async function examine(box: TestMailbox, mail: Partial<MailRow>) {
      const [id = ''] = await insertMail(gateway.actor, [
        { workspaceId: box.workspaceId, ownAddress: box.address, ...mail },
      ]);
      await gateway.actor.pool.query('update email_content set authentication = $1 where email_id = $2', [
        JSON.stringify(AUTHENTICATION),
        id,
      ]);
      const rest = (await gateway.call(box.apiKey, 'GET', `/emails/${id}`)).json();
      const { email } = (
        await gateway.graphql(
          box.apiKey,
          `query ($id: ID!) { email(id: $id) { securityWarnings { kind text shown actual }
             content { authentication { sender { verdict domain text } } } } }`,
          { id },
        )
      ).json().data;
      const upper = (one: { kind: string }) => ({ ...one, kind: one.kind.toUpperCase() });
      expect(email.securityWarnings).toEqual(rest.security_warnings.map(upper));
      const { sender } = email.content.authentication;
      expect(sender).toEqual({ ...rest.sender_verdict, verdict: rest.sender_verdict.verdict.toUpperCase() });
      return rest;
    }

    test('and the domain that vouches for the sender, in REST and GraphQL', async () => {
      const box = await gateway.mailbox();
      const html = '<p>Sign in: <a href="https://evil.example/x">https://bank.co.uk/login</a></p>';
      const email = await examine(box, { fromName: 'boss@corp.test', from: 'x@elsewhere.test', html });
      expect(email).toMatchObject({
        sender_verdict: {
          verdict: 'verified',
          domain: 'elsewhere.test',
          text: 'elsewhere.test signed this message (DKIM).',
        },
        security_warnings: [
          {
            kind: 'address_in_name',
            text: 'The sender’s name contains boss@corp.test, but the message is from x@elsewhere.test.',
            shown: 'boss@corp.test',
            actual: 'x@elsewhere.test',
          },
          {
            kind: 'link_text',
            text: 'A link shows bank.co.uk but leads to evil.example.',
            shown: 'bank.co.uk',
            actual: 'evil.example',
          },
        ],
      });
    });

    test('with a name that imitates a person to whom the user has written, or the user', async () => {
      const box = await gateway.mailbox();
      const other = await gateway.mailbox();
      const write = (workspaceId: string, name: string, address: string) => ({
        workspaceId,
        type: 'sent' as const,
        from: box.address,
        fromName: 'Jo Own',
        to: [address],
        addresses: { from: null, to: named(name, address), cc: null, bcc: null, replyTo: null },
      });
      await insertMail(gateway.actor, [
        write(box.workspaceId, 'Grace Hopper', 'grace@navy.test'),
        write(box.workspaceId, 'Alan Turing', 'alan@mail.elsewhere.test'),
        // The name is known from received mail; the user wrote to the address alone.
        {
          ...write(box.workspaceId, '', 'ada@friend.test'),
          addresses: { from: null, to: null, cc: null, bcc: null, replyTo: null },
        },
        { workspaceId: box.workspaceId, from: 'Ada@friend.test', fromName: 'Ada Lovelace' },
        { workspaceId: box.workspaceId, from: 'never@answered.test', fromName: 'Eve Stranger' },
        write(other.workspaceId, 'Linus Other', 'linus@other.test'),
        ...['Ann One', 'Bob Two', 'Cy Three'].map((fromName) => ({
          workspaceId: box.workspaceId,
          from: 'bot@hub.test',
          fromName,
        })),
      ]);
      const about = async (fromName: string, from: string) =>
        (await examine(box, { fromName, from })).security_warnings.map(({ text }: { text: string }) => text);
      expect(await about('Grace Hopper', 'grace@evil.test')).toEqual([
        'The sender’s name is Grace Hopper. You know this name from grace@navy.test, but the message is from grace@evil.test.',
      ]);
      expect(await about('Lovelace, Аdа', 'x@evil.test')).toEqual([expect.stringContaining('ada@friend.test')]);
      expect(await about('Jo Own', 'jo@evil.test')).toEqual([
        `The sender’s name is Jo Own. This is the name on your own mail from ${box.address}, but the message is from jo@evil.test.`,
      ]);
      expect(await about('Grace Hopper', 'Grace@navy.test')).toEqual([]);
      // A second address at the same, verified organization; strangers; other users' contacts; a service that writes for many.
      expect(await about('Alan Turing', 'turing@elsewhere.test')).toEqual([]);
      expect(await about('Eve Stranger', 'x@evil.test')).toEqual([]);
      expect(await about('Linus Other', 'x@evil.test')).toEqual([]);
      expect(await about('Grace Hopper', 'bot@hub.test')).toEqual([]);
    });

    test('with a domain that resembles that of a person to whom the user has written, or a verified domain of the user', async () => {
      const box = await gateway.mailbox();
      const other = await gateway.mailbox();
      await insertMail(gateway.actor, [
        { workspaceId: box.workspaceId, type: 'sent', from: box.address, to: ['ada@friend.test'] },
        { workspaceId: box.workspaceId, from: 'never@answered.test' },
        { workspaceId: other.workspaceId, type: 'sent', from: other.address, to: ['linus@others.test'] },
      ]);
      for (const [name, status] of [
        ['company.test', 'verified'],
        ['unproven.test', 'pending'],
      ])
        await gateway.actor.pool.query('insert into domain (workspace_id, id, name, status) values ($1, $2, $2, $3)', [
          box.workspaceId,
          name,
          status,
        ]);
      const about = async (from: string, fromName: string | null = null) =>
        (await examine(box, { fromName, from })).security_warnings;
      expect(await about('x@mail.friénd.test')).toEqual([
        {
          kind: 'lookalike_domain',
          text: 'The message is from xn--frind-dsa.test, which looks like friend.test, the domain of ada@friend.test.',
          shown: 'friend.test',
          actual: 'xn--frind-dsa.test',
        },
      ]);
      const texts = (await about('ceo@cornpany.test', 'boss@company.test')).map(({ text }: { text: string }) => text);
      expect(texts).toEqual([
        'The sender’s name contains boss@company.test, but the message is from ceo@cornpany.test.',
        'The message is from cornpany.test, which looks like your own domain company.test.',
      ]);
      for (const domain of ['friend.test', 'answereds.test', 'otherss.test', 'unprovens.test'])
        expect(await about(`x@${domain}`), domain).toEqual([]);
    });
  });

  test.each([
    ['sent', 'pending', 'queued'],
    ['scheduled', 'cancelled', 'canceled'],
    ['scheduled', 'scheduled', 'scheduled'],
    ['sent', 'bounced', 'bounced'],
  ] as const)('of %s mail that is %s has the last event %s', async (type, status, event) => {
    const box = await gateway.mailbox();
    const [id] = await insertMail(gateway.actor, [{ workspaceId: box.workspaceId, type, status }]);
    const response = await gateway.call(box.apiKey, 'GET', `/emails/${id}`);
    expect(response.json()).toMatchObject({ status, last_event: event });
  });

  test('without bodies, names and Reply-To has null for them, and empty lists', async () => {
    const box = await gateway.mailbox();
    const [id] = await insertMail(gateway.actor, [
      { workspaceId: box.workspaceId, from: '', to: [], text: null, html: null },
    ]);
    expect((await gateway.call(box.apiKey, 'GET', `/emails/${id}`)).json()).toMatchObject({
      from: '',
      to: [],
      cc: [],
      bcc: [],
      reply_to: null,
      html: null,
      text: null,
      headers: {},
      attachments: [],
      thread_id: null,
      thread_position: null,
    });
    expect((await list(box)).data[0]).toMatchObject({ from: '', from_name: null, to: [], cc: [] });
  });

  test('is not marked as read by reading it', async () => {
    const box = await gateway.mailbox();
    const [id] = await insertMail(gateway.actor, [{ workspaceId: box.workspaceId }]);
    await gateway.call(box.apiKey, 'GET', `/emails/${id}`);
    expect((await list(box)).data[0].is_read).toBe(false);
  });
});

describe('marking', () => {
  test('as read or archived changes the email, its thread, the totals and the event feed', async () => {
    const box = await gateway.mailbox();
    const { threadId, emailIds } = await insertThread(gateway.actor, {
      workspaceId: box.workspaceId,
      count: 2,
      lastMessageAt: new Date(),
    });
    const thread = async () => (await gateway.call(box.apiKey, 'GET', '/mail/threads')).json().threads[0];
    const broadcasts: unknown[] = [];
    gateway.bus.subscribe('event.appended', (message) => void broadcasts.push(message));

    const response = await gateway.call(box.apiKey, 'PATCH', `/emails/${emailIds[0]}`, { is_read: true });
    expect(response.statusCode).toBe(200);
    expect(response.json()).toEqual({
      object: 'email',
      id: emailIds[0],
      is_read: true,
      is_archived: false,
      updated_at: expect.any(String),
    });
    expect(await thread()).toMatchObject({ id: threadId, unread_count: 1, has_unread: true, is_archived: false });
    expect((await list(box, '?status=unread')).pagination.total).toBe(1);
    expect((await list(box, '?status=read')).data[0]).toMatchObject({ id: emailIds[0], read_at: expect.any(String) });

    for (const id of emailIds)
      await gateway.call(box.apiKey, 'PATCH', `/emails/${id}`, { is_archived: true, is_read: true });
    expect(await thread()).toMatchObject({ unread_count: 0, has_unread: false, is_archived: true });
    expect((await list(box, '?status=archived')).pagination.total).toBe(2);
    // A repetition changes nothing and publishes no event.
    await gateway.call(box.apiKey, 'PATCH', `/emails/${emailIds[0]}`, { is_archived: true });
    await gateway.call(box.apiKey, 'PATCH', `/emails/${emailIds[0]}`, { is_archived: false, is_read: false });
    expect(await thread()).toMatchObject({ unread_count: 1, is_archived: false });
    expect((await list(box, '?status=read')).data[0].read_at).toEqual(expect.any(String));
    expect((await list(box, '?status=unread')).data[0].read_at).toBeNull();

    const { rows } = await gateway.actor.pool.query(
      'select seq, kind, email_id, thread_id from event where workspace_id = $1 order by seq',
      [box.workspaceId],
    );
    expect(rows.map((row) => [row.kind, row.email_id])).toEqual([
      ['email.read', emailIds[0]],
      ['email.archived', emailIds[0]],
      ['email.read', emailIds[1]],
      ['email.archived', emailIds[1]],
      ['email.unread', emailIds[0]],
      ['email.unarchived', emailIds[0]],
    ]);
    expect(rows.every((row) => row.thread_id === threadId)).toBe(true);
    expect(broadcasts).toContainEqual({ workspaceId: box.workspaceId, lastSeq: 6 });
  });

  test('twenty times at once counts once each', async () => {
    const box = await gateway.mailbox();
    const { emailIds } = await insertThread(gateway.actor, {
      workspaceId: box.workspaceId,
      count: 5,
      lastMessageAt: new Date(),
    });
    const changes = emailIds.flatMap((id) => [true, false, true, true].map((is_read) => ({ id, is_read })));
    const responses = await Promise.all(
      changes.map(({ id, is_read }) => gateway.call(box.apiKey, 'PATCH', `/emails/${id}`, { is_read })),
    );
    expect(responses.every((response) => response.statusCode === 200)).toBe(true);
    const { rows } = await gateway.actor.pool.query(
      `select t.unread_count, (select count(*) from email e where e.workspace_id = $1 and not e.is_read) as unread,
         (select sum(count) from email_counter where workspace_id = $1 and grain = 'all' and own_address = '*' and not is_read)::bigint as counted
       from thread t where t.workspace_id = $1`,
      [box.workspaceId],
    );
    expect(rows[0].unread_count).toBe(rows[0].unread);
    expect(rows[0].counted).toBe(rows[0].unread);
  });

  test.each([
    [{}, 'At least one field must be provided: is_read, is_archived'],
    [{ scheduled: 1 }, 'At least one field must be provided: is_read, is_archived'],
  ])('with %o is 400', async (body, error) => {
    const box = await gateway.mailbox();
    const [id] = await insertMail(gateway.actor, [{ workspaceId: box.workspaceId }]);
    const response = await gateway.call(box.apiKey, 'PATCH', `/emails/${id}`, body);
    expect([response.statusCode, response.json().error]).toEqual([400, error]);
  });

  test('with a flag that is not boolean is 400 and names the field', async () => {
    const box = await gateway.mailbox();
    const response = await gateway.call(box.apiKey, 'PATCH', '/emails/x', { is_read: 'yes' });
    expect([response.statusCode, response.json().details[0].field]).toEqual([400, 'is_read']);
  });

  test('is refused for sent mail', async () => {
    const box = await gateway.mailbox();
    const [id] = await insertMail(gateway.actor, [{ workspaceId: box.workspaceId, type: 'sent' }]);
    const response = await gateway.call(box.apiKey, 'PATCH', `/emails/${id}`, { is_read: true });
    expect([response.statusCode, response.json().error]).toEqual([400, 'Only received emails can be updated']);
  });
});

test('totals equal count(*) for every pair of filters after random changes', async () => {
  const box = await gateway.mailbox({ domain: 'random-a.test' });
  const second = await gateway.mailbox({ workspaceId: box.workspaceId, domain: 'random-b.test' });
  const random = seededRandom(513);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const types: EmailType[] = ['received', 'received', 'sent', 'scheduled'];
  const statuses: EmailStatus[] = ['delivered', 'pending', 'failed'];
  const made = await insertMail(
    gateway.actor,
    Array.from({ length: 150 }, () => {
      // Half an hour away from where a time range ends, so that none gets over its end meanwhile.
      const createdAt = new Date(Date.now() - (Math.floor(random() ** 4 * 100 * 24) + 0.5) * HOUR);
      return {
        workspaceId: box.workspaceId,
        id: makeIdentifier('email', createdAt, randomBytes(10)),
        createdAt,
        type: pick(types),
        status: pick(statuses),
        ownAddress: pick([box.address, second.address]),
        isRead: random() < 0.5,
        isArchived: random() < 0.3,
      };
    }),
  );
  for (let n = 0; n < 100; n++)
    await gateway.call(box.apiKey, 'PATCH', `/emails/${pick(made)}`, {
      [pick(['is_read', 'is_archived'])]: pick([true, false]),
    });
  await gateway.actor.pool.query(
    `insert into route (workspace_id, email_id, created_at, threaded_at, decided_at, outcome, released_at)
     select workspace_id, id, created_at, now(), now(), (array['blocked', 'review', 'stored', 'endpoint'])[1 + row_number() over (order by created_at, id) % 4],
            case when row_number() over (order by created_at desc, id) % 3 = 0 then now() end
     from email where workspace_id = $1 and type = 'received'`,
    [box.workspaceId],
  );

  const filters = [
    'type=received',
    'type=sent',
    'status=failed',
    'status=unread',
    'status=read',
    'status=archived',
    'status=blocked',
    'time_range=1h',
    'time_range=24h',
    'time_range=7d',
    'time_range=30d',
    'time_range=90d',
    'time_range=all',
    `domain=${box.domainId}`,
    'domain=random-b.test',
    `address=${second.addressId}`,
    'search=subject',
  ];
  const sqlByPart: Record<string, string> = {
    'type=received': `type = 'received'`,
    'type=sent': `type = 'sent'`,
    'status=failed': `status = 'failed'`,
    'status=unread': `type = 'received' and not is_read and not is_archived`,
    'status=read': `type = 'received' and is_read`,
    'status=archived': `type = 'received' and is_archived`,
    'status=blocked': `exists (select from route r where r.workspace_id = email.workspace_id and r.email_id = email.id
      and r.outcome in ('blocked', 'review') and r.released_at is null)`,
    'time_range=1h': `created_at >= $2::timestamptz - interval '1 hour'`,
    'time_range=24h': `created_at >= $2::timestamptz - interval '24 hours'`,
    'time_range=7d': `created_at >= $2::timestamptz - interval '168 hours'`,
    'time_range=30d': `created_at >= $2::timestamptz - interval '720 hours'`,
    'time_range=90d': `created_at >= $2::timestamptz - interval '2160 hours'`,
    'time_range=all': 'true',
    [`domain=${box.domainId}`]: `own_domain = 'random-a.test'`,
    'domain=random-b.test': `own_domain = 'random-b.test'`,
    [`address=${second.addressId}`]: `own_address = 'hello@random-b.test'`,
    'search=subject': 'true',
  };
  for (const one of filters)
    for (const other of filters) {
      const names = [one, other].map((filter) => filter.split('=')[0]);
      if (names[0] === names[1] && one !== other) continue;
      const parts = [...new Set([one, other])];
      const query = [...parts, ...(names.includes('time_range') ? [] : ['time_range=all'])].join('&');
      const { pagination } = await list(box, `?limit=1&${query}`);
      const { rows } = await gateway.actor.pool.query(
        `select count(*) as count from email where workspace_id = $1 and $2::timestamptz is not null and ${parts.map((part) => `(${sqlByPart[part]})`).join(' and ')}`,
        [box.workspaceId, new Date()],
      );
      expect(pagination.total, query).toBe(rows[0].count);
    }
});
