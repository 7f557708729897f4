import { hash, randomBytes, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { insertKey } from '../../support/rows/key-rows.ts';
import { insertMail } from '../../support/rows/mail-rows.ts';
import { moveClock } from '../../support/rows/outgoing-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { MESSAGE_COLUMNS, readStoredMessage } from '../../support/rows/stored-message.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

let gateway: TestGateway;
let box: TestMailbox;
let domain: string;

beforeAll(async () => {
  gateway = await openTestGateway();
  box = await gateway.mailbox();
  domain = box.address.split('@')[1] ?? '';
});
afterAll(() => gateway.close());

const post = (body: unknown, key = box.apiKey) => gateway.call(key, 'POST', '/emails', body);
const read = async (id: string) => (await gateway.call(box.apiKey, 'GET', `/emails/${id}`)).json();
const email = (more: object = {}) => ({
  from: box.address,
  to: 'ada@elsewhere.test',
  subject: 'Hi',
  text: 'Hello',
  ...more,
});
const base64 = (content: string | Buffer) => Buffer.from(content).toString('base64');

async function readRows(emailId: string) {
  const rows = async (text: string) => (await gateway.actor.pool.query(text, [emailId])).rows;
  const [row] = await rows('select * from email where id = $1');
  const [raw] = await rows(
    `select ${MESSAGE_COLUMNS} from raw_message m join email e on e.raw_id = m.id where e.id = $1`,
  );
  const recipients = await rows('select * from recipient where email_id = $1 order by address');
  const events = await rows('select kind, seq from event where email_id = $1');
  return { email: row, bytes: readStoredMessage(raw).toString('latin1'), recipients, events };
}

/** Rows that sending writes, of all users. */
async function countRows(): Promise<unknown> {
  const tables = ['email', 'email_content', 'email_search', 'raw_message', 'recipient', 'event', 'idempotency_key'];
  const counts = tables.map((table) => `(select count(*) from ${table}) as ${table}`);
  return (await gateway.actor.pool.query(`select ${counts.join(', ')}`)).rows[0];
}

test('an email is queued with all its rows, and wakes the actors', async () => {
  const wakes: unknown[] = [];
  const subscriptions = (['sending.send.wake', 'threading.assign.wake'] as const).map((subject) =>
    gateway.bus.onWake(subject, (message) => void wakes.push([subject, message])),
  );
  const published: unknown[] = [];
  const live = gateway.bus.subscribe('event.appended', (message) => void published.push(message));
  const response = await post(
    email({ from: `Ann <${box.address}>`, cc: ['c@x.test'], bcc: 'b@y.test', html: '<p>Hi' }),
  );
  const { id, message_id: messageId } = response.json();
  expect([response.statusCode, response.json()]).toEqual([
    200,
    {
      id: expect.stringMatching(/^em_/),
      message_id: expect.stringMatching(new RegExp(`^<[0-9a-f]{32}@${domain}>$`)),
      messageId,
      status: 'sent',
      provider_message_id: id,
      aws_message_id: id,
      awsMessageId: id,
    },
  ]);
  const rows = await readRows(id);
  expect(rows.email).toMatchObject({
    workspace_id: box.workspaceId,
    type: 'sent',
    status: 'pending',
    own_address: box.address,
    own_domain: domain,
    address_id: box.addressId,
    domain_id: box.domainId,
    recipient: null,
    message_id: messageId,
    is_read: false,
    scheduled_at: null,
    from_text: `Ann <${box.address}>`,
    preview: 'Hello',
  });
  expect(rows.recipients.map((row) => [row.address, row.domain, row.status, row.attempts])).toEqual([
    ['ada@elsewhere.test', 'elsewhere.test', 'pending', 0],
    ['b@y.test', 'y.test', 'pending', 0],
    ['c@x.test', 'x.test', 'pending', 0],
  ]);
  for (const row of rows.recipients) {
    expect(row.next_attempt_at).toEqual(rows.email.created_at);
    expect(row.queued_at).toEqual(rows.email.created_at);
  }
  expect(rows.bytes).toContain(`Message-ID: ${messageId}\r\n`);
  expect(rows.bytes).not.toContain('b@y.test');
  expect(rows.events).toEqual([
    { kind: 'email.sent', seq: expect.any(Number) },
    { kind: 'email.threaded', seq: expect.any(Number) },
  ]);
  await expect.poll(() => wakes.length).toBe(1);
  expect(wakes).toEqual([['sending.send.wake', { workspaceId: box.workspaceId, emailIds: [id] }]]);
  expect(published).toEqual([{ workspaceId: box.workspaceId, lastSeq: rows.events[1]?.seq }]);
  await Promise.all([...subscriptions, live].map((subscription) => subscription.stop()));
});

describe('the content of an email', () => {
  test('is returned, blind copies and tags included', async () => {
    const response = await post({
      from: `Ännchen "A." Smith <${box.address}>`,
      to: ['Ada <ada@elsewhere.test>', 'bob@Elsewhere.TEST'],
      cc: 'c@x.test, d@x.test',
      bcc: ['b@y.test'],
      reply_to: ['Team <team@y.test>', 'r@y.test'],
      subject: 'Grüße 🎉',
      text: 'Line one\nLine two',
      html: '<p>Line</p>',
      headers: { 'X-Entity-Ref-ID': '42', 'List-Unsubscribe': '<https://x.test/u?a=1>' },
      tags: [{ name: 'kind', value: 'any text: ü' }],
    });
    expect(response.statusCode, response.body).toBe(200);
    const shown = await read(response.json().id);
    expect(shown).toMatchObject({
      object: 'email',
      type: 'sent',
      message_id: response.json().message_id,
      from: `"Ännchen A. Smith" <${box.address}>`,
      to: ['ada@elsewhere.test', 'bob@elsewhere.test'],
      cc: ['c@x.test', 'd@x.test'],
      bcc: ['b@y.test'],
      reply_to: ['team@y.test', 'r@y.test'],
      subject: 'Grüße 🎉',
      text: 'Line one\nLine two',
      html: '<p>Line</p>',
      status: 'pending',
      last_event: 'queued',
      scheduled_at: null,
      has_attachments: false,
      attachments: [],
      tags: [{ name: 'kind', value: 'any text: ü' }],
    });
    expect(shown.headers).toMatchObject({
      'x-entity-ref-id': '42',
      'list-unsubscribe': '<https://x.test/u?a=1>',
      'message-id': response.json().message_id,
      subject: 'Grüße 🎉',
      to: 'Ada <ada@elsewhere.test>, bob@elsewhere.test',
      'mime-version': '1.0',
    });
    expect(shown.headers).not.toHaveProperty('bcc');
    const list = (await gateway.call(box.apiKey, 'GET', '/emails?type=sent&search=b%40y.test')).json();
    expect(list.data.map((each: { id: string }) => each.id)).toContain(response.json().id);
  });

  test('may be in camel case, and null means omission', async () => {
    const at = new Date(Date.now() + 3_600_000).toISOString();
    const response = await post(
      email({
        replyTo: 'r@y.test',
        scheduledAt: at,
        cc: null,
        bcc: null,
        html: null,
        headers: null,
        tags: null,
        timezone: null,
        attachments: [{ filename: 'a.bin', content: base64('abc'), contentType: 'image/png', contentId: 'logo@x' }],
      }),
    );
    expect([response.statusCode, response.json()]).toMatchObject([201, { scheduled_at: at, timezone: 'UTC' }]);
    expect(await read(response.json().id)).toMatchObject({
      reply_to: ['r@y.test'],
      attachments: [{ filename: 'a.bin', contentType: 'image/png', contentId: '<logo@x>' }],
    });
  });

  test('drops unknown fields', async () => {
    expect((await post(email({ surprise: 1, template: { id: 'x' } }))).statusCode).toBe(200);
  });

  test('joins a thread by In-Reply-To and References among its header fields', async () => {
    const headers = { 'In-Reply-To': '<b@x.test>', References: '<a@x.test> <b@x.test>' };
    const { id } = (await post(email({ headers }))).json();
    const { rows } = await gateway.actor.pool.query(
      'select in_reply_to, reference_ids from email_content where email_id = $1',
      [id],
    );
    expect(rows).toEqual([{ in_reply_to: ['<b@x.test>'], reference_ids: ['<a@x.test>', '<b@x.test>'] }]);
    const { bytes } = await readRows(id);
    const lines = bytes.split('\r\n').filter((line) => /^(?:In-Reply-To|References):/.test(line));
    expect(lines).toEqual(['In-Reply-To: <b@x.test>', 'References: <a@x.test> <b@x.test>']);
  });

  test('is stored without text, with an excerpt of its HTML', async () => {
    const html = '<style>p { color: red }</style><p>Dear &amp; near</p><script>x()</script>';
    const { id } = (await post(email({ text: '', html }))).json();
    expect(await read(id)).toMatchObject({ text: 'Dear & near', html });
    expect((await readRows(id)).email.preview).toBe('Dear & near');
  });
});

describe('attachments', () => {
  const bytes = randomBytes(5_000);

  test('of every kind are listed and downloaded whole', async () => {
    const files = [
      { filename: 'Größe 1.pdf', content: base64(bytes), content_type: 'application/pdf' },
      { filename: 'logo.png', content: `data:image/png;base64,${base64('png')}`, content_id: '<logo@x.test>' },
      { filename: 'empty.txt', content: '' },
      { filename: 'note.eml', content: base64('Subject: x\n\nbody'), content_type: 'message/rfc822' },
      { filename: 'same.txt', content: base64('one') },
      { filename: 'same.txt', content: base64('two') },
      { content: base64('nameless'), content_type: 'text/csv; charset=utf-8' },
    ];
    const response = await post(email({ html: '<img src="cid:logo@x.test">', attachments: files }));
    expect(response.statusCode, response.body).toBe(200);
    const { id } = response.json();
    const shown = await read(id);
    expect(shown.has_attachments).toBe(true);
    const listed = shown.attachments.map((each: Record<string, unknown>) => [
      each['filename'],
      each['contentType'],
      each['size'],
      each['contentId'],
      each['contentDisposition'],
    ]);
    expect(listed.map((each: unknown[]) => each.join(' ')).toSorted()).toEqual(
      [
        ['Größe 1.pdf', 'application/pdf', 5_000, null, 'attachment'],
        ['logo.png', 'image/png', 3, '<logo@x.test>', 'inline'],
        ['empty.txt', 'text/plain', 0, null, 'attachment'],
        ['note.eml', 'message/rfc822', 18, null, 'attachment'],
        ['same.txt', 'text/plain', 3, null, 'attachment'],
        ['same.txt', 'text/plain', 3, null, 'attachment'],
        ['attachment-7.csv', 'text/csv', 8, null, 'attachment'],
      ]
        .map((each) => each.join(' '))
        .toSorted(),
    );
    const download = (path: string) => gateway.call(box.apiKey, 'GET', `/attachments/${id}/${path}`);
    const whole = await download(encodeURIComponent('Größe 1.pdf'));
    expect(whole.rawPayload.equals(bytes)).toBe(true);
    expect(whole.headers['content-type']).toBe('application/pdf');
    expect((await download('logo.png')).body).toBe('png');
    expect((await download('note.eml')).body).toBe('Subject: x\r\n\r\nbody');
    expect((await download('empty.txt')).rawPayload).toHaveLength(0);
    const places = shown.attachments.flatMap((each: { filename: string }, index: number) =>
      each.filename === 'same.txt' ? [index] : [],
    );
    const same = await Promise.all(places.map((place: number) => download(`parts/${place}`)));
    expect(same.map((each) => each.body)).toEqual(['one', 'two']);
  });

  test('10 MiB including the bodies are accepted, and one byte more is rejected', async () => {
    const most = 10 * 1_024 * 1_024;
    const content = Buffer.alloc(most - 5, 'abcdefgh');
    const before = await post(email({ attachments: [{ filename: 'big.bin', content: base64(content) }] }));
    expect(before.statusCode, before.body).toBe(200);
    const file = await gateway.call(box.apiKey, 'GET', `/attachments/${before.json().id}/big.bin`);
    expect(file.rawPayload.equals(content)).toBe(true);
    const counted = await countRows();
    const after = await post(
      email({ text: 'Hello!', attachments: [{ filename: 'big.bin', content: base64(content) }] }),
    );
    expect([after.statusCode, after.json()]).toMatchObject([
      400,
      { error: expect.stringContaining('big.bin'), details: [{ field: 'attachments.0' }] },
    ]);
    expect(await countRows()).toEqual(counted);
  });
});

describe('an email with scheduled_at', () => {
  test('waits until it is due', async () => {
    const wakes: unknown[] = [];
    const subscription = gateway.bus.onWake('scheduling.release.wake', (message) => void wakes.push(message));
    const at = new Date(Date.now() + 3_600_000);
    const response = await post(email({ scheduled_at: at.toISOString(), timezone: 'Europe/Berlin' }));
    const { id, message_id: messageId } = response.json();
    expect([response.statusCode, response.json()]).toEqual([
      201,
      {
        id: expect.stringMatching(/^em_/),
        message_id: expect.any(String),
        messageId,
        status: 'scheduled',
        scheduled_at: at.toISOString(),
        timezone: 'Europe/Berlin',
      },
    ]);
    const rows = await readRows(id);
    expect(rows.email).toMatchObject({ type: 'scheduled', status: 'scheduled', scheduled_at: at, released_at: null });
    expect(rows.email.timezone).toBe('Europe/Berlin');
    expect(rows.recipients.map((row) => [row.queued_at, row.next_attempt_at])).toEqual([[null, null]]);
    expect(rows.bytes).toContain(`Date: ${at.toUTCString().replace('GMT', '+0000')}\r\n`);
    expect(rows.events.map((event) => event.kind)).toEqual(['email.scheduled']);
    await expect.poll(() => wakes).toEqual([{ workspaceId: box.workspaceId, at: at.toISOString() }]);
    await subscription.stop();
  });

  test('is due by PostgreSQL’s clock', async () => {
    const other = await openTestGateway();
    try {
      const owner = await other.mailbox();
      await moveClock(other.actor, 30 * 86_400);
      const body = { from: owner.address, to: 'a@x.test', subject: 'Hi', text: 'x', scheduled_at: 'in 2 hours' };
      const response = await other.call(owner.apiKey, 'POST', '/emails', body);
      const ahead = Date.parse(response.json().scheduled_at) - Date.now() - 30 * 86_400_000;
      expect(Math.abs(ahead - 7_200_000)).toBeLessThan(60_000);
    } finally {
      await other.close();
    }
  });

  const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString();
  const zone = 'Unknown time zone. Use an IANA name such as Europe/Berlin';
  const soon = 'Scheduled time must be at least 1 minute(s) in the future';
  const late = 'Scheduled time cannot be more than 1 year in the future';
  const unreadable = 'Unable to parse date. Use ISO 8601 or a phrase such as "tomorrow at 9am"';
  const ambiguous =
    '"05/06/2099 09:00" can mean 2099-05-06T09:00:00+02:00 or 2099-06-05T09:00:00+02:00. Send the one you mean in ISO 8601';
  const twofold = { scheduled_at: '05/06/2099 09:00', timezone: 'Europe/Berlin' };
  const refused: [what: string, more: object, field: string, error: string][] = [
    ['a date that reads in two ways', twofold, 'scheduled_at', ambiguous],
    ['a time that is past', { scheduled_at: '2001-01-01T00:00:00Z' }, 'scheduled_at', soon],
    ['less than a minute ahead', { scheduled_at: inSeconds(50) }, 'scheduled_at', soon],
    ['more than a year ahead', { scheduled_at: inSeconds(367 * 86_400) }, 'scheduled_at', late],
    ['no time', { scheduled_at: 'whenever' }, 'scheduled_at', unreadable],
    ['nothing', { scheduled_at: '' }, 'scheduled_at', unreadable],
    ['two lines', { scheduled_at: 'tomorrow\nat 9am' }, 'scheduled_at', unreadable],
    ['50 KB', { scheduled_at: 'a'.repeat(50_000) }, 'scheduled_at', unreadable],
    ['an unknown zone', { scheduled_at: 'tomorrow at 9am', timezone: 'Mars/Olympus' }, 'timezone', zone],
    ['an empty zone', { scheduled_at: 'tomorrow at 9am', timezone: '' }, 'timezone', zone],
    ['a zone of two lines', { scheduled_at: 'tomorrow at 9am', timezone: 'UTC\r\nX: y' }, 'timezone', zone],
    ['a zone of 50 KB', { scheduled_at: 'tomorrow at 9am', timezone: 'U'.repeat(50_000) }, 'timezone', zone],
  ];

  test.each(refused)('with %s is refused', async (_what, more, field, error) => {
    const counted = await countRows();
    const response = await post(email(more));
    expect([response.statusCode, response.json()]).toEqual([
      400,
      { error, message: error, statusCode: 400, name: 'validation_error', details: [{ field, message: error }] },
    ]);
    expect(await countRows()).toEqual(counted);
  });
});

describe('the hourly limit', () => {
  const LIMIT = 5;

  let gateway: TestGateway;
  let second: Pick<TestGateway, 'call'>;

  beforeAll(async () => {
    gateway = await openTestGateway({ config: { sendLimitPerHour: LIMIT } });
    second = await gateway.beside();
  });
  afterAll(() => gateway.close());
  afterEach(() => gateway.actor.pool.query(`update clock set shift = '0'`));

  const email = (box: TestMailbox, more: object = {}) => ({
    from: box.address,
    to: 'ada@elsewhere.test',
    subject: 'Hi',
    text: 'Hello',
    ...more,
  });
  const post = (box: TestMailbox, more: object = {}, through: Pick<TestGateway, 'call'> = gateway) =>
    through.call(box.apiKey, 'POST', '/emails', email(box, more));

  async function countEmails(box: TestMailbox): Promise<number> {
    const text = `select count(*)::integer as n from email where workspace_id = $1 and type <> 'received'`;
    return (await gateway.actor.pool.query(text, [box.workspaceId])).rows[0].n;
  }

  test('applies to submitted messages too, with 451; a refused sender is 550', async () => {
    const box = await gateway.mailbox();
    const name = box.address.split('@')[1] ?? '';
    const other = `other-${name}`;
    await gateway.owner.pool.query(
      `insert into domain (workspace_id, id, name, status) values ($1, $2, $3, 'verified'), ($1, $4, $5, 'pending')`,
      [box.workspaceId, `dom_${randomUUID()}`, other, `dom_${randomUUID()}`, `new-${name}`],
    );
    const limited = await insertKey(gateway.owner, box, { scopes: ['send'], domain: { id: box.domainId, name } });
    const submit = async (from: string, { envelope = from, key = box.apiKey } = {}) => {
      const bytes = Buffer.from(`From: <${from}>\r\nSubject: x\r\n\r\nx\r\n`);
      const keySha256 = hash('sha256', key, 'hex');
      const request = { keySha256, reversePath: envelope, recipients: ['ada@elsewhere.test'] };
      const response = await gateway.bus.ask('gateway.message.submit', request, { bytes });
      return response.verdict === 'refused' ? `${response.code} ${response.enhancedCode}` : response.verdict;
    };
    expect(await submit(box.address, { key: limited.secret })).toBe('accepted');
    expect(await submit(`a@${other}`, { key: limited.secret })).toBe('550 5.7.1');
    expect(await submit(box.address, { key: limited.secret, envelope: `a@${other}` })).toBe('550 5.7.1');
    expect(await submit(box.address, { envelope: `a@new-${name}` })).toBe('550 5.7.1');
    expect(await submit(box.address, { envelope: `a@unknown.test` })).toBe('550 5.7.1');
    expect(await submit(box.address, { key: 'none' })).toBe('550 5.7.1');
    for (let n = 1; n < LIMIT; n++) expect(await submit(box.address, { envelope: `a@${other}` })).toBe('accepted');
    expect(await submit(box.address)).toBe('451 4.7.1');
    expect(await countEmails(box)).toBe(LIMIT);
  });

  test('returns 429 beyond it, with the time when there is room again', async () => {
    const box = await gateway.mailbox();
    await insertMail(
      gateway.actor,
      Array.from({ length: 10 }, () => ({ workspaceId: box.workspaceId, ownAddress: box.address })),
    );
    for (let n = 0; n < LIMIT; n++) {
      expect((await post(box)).statusCode).toBe(200);
      await moveClock(gateway.actor, 60);
    }
    const text = 'Hourly sending limit reached (5 emails per hour). Please try again later.';
    const refused = await post(box);
    expect([refused.statusCode, refused.json()]).toEqual([
      429,
      { error: text, message: text, statusCode: 429, name: 'rate_limit_exceeded', code: 'HOURLY_LIMIT_REACHED' },
    ]);
    // The first left five minutes ago.
    const wait = Number(refused.headers['retry-after']);
    expect(Math.abs(wait - 55 * 60)).toBeLessThan(30);
    expect(await countEmails(box)).toBe(LIMIT);

    await moveClock(gateway.actor, wait);
    expect((await post(box)).statusCode).toBe(200);
    expect((await post(box)).statusCode).toBe(429);
  });

  test('is separate for each user', async () => {
    const [full, free] = [await gateway.mailbox(), await gateway.mailbox()];
    for (let n = 0; n < LIMIT; n++) await post(full);
    expect((await post(full)).statusCode).toBe(429);
    expect((await post(free)).statusCode).toBe(200);
  });

  test('counts scheduled mail when it is requested', async () => {
    const box = await gateway.mailbox();
    for (let n = 0; n < LIMIT; n++) expect((await post(box, { scheduled_at: 'in 2 days' })).statusCode).toBe(201);
    expect((await post(box)).statusCode).toBe(429);
  });

  test('holds for many concurrent requests through two gateways', async () => {
    const box = await gateway.mailbox();
    const responses = await Promise.all(
      Array.from({ length: 40 }, (_, n) => post(box, {}, n % 2 === 0 ? gateway : second)),
    );
    expect(responses.filter((response) => response.statusCode === 200)).toHaveLength(LIMIT);
    expect(responses.filter((response) => response.statusCode === 429)).toHaveLength(40 - LIMIT);
    for (const response of responses.filter((each) => each.statusCode === 429)) {
      const wait = Number(response.headers['retry-after']);
      expect(wait).toBeGreaterThan(3_500);
      expect(wait).toBeLessThanOrEqual(3_600);
    }
    expect(await countEmails(box)).toBe(LIMIT);
  });

  test('does not count refused requests, nor repetitions', async () => {
    const box = await gateway.mailbox();
    for (let n = 0; n < LIMIT; n++) await post(box, { from: 'a@strange.test' });
    const headers = {
      authorization: `Bearer ${box.apiKey}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    };
    const repeat = () =>
      gateway.app.inject({ method: 'POST', url: '/api/e2/emails', headers, payload: JSON.stringify(email(box)) });
    const first = await repeat();
    for (let n = 1; n < LIMIT; n++) expect((await post(box)).statusCode).toBe(200);
    expect((await repeat()).body).toBe(first.body);
    expect((await post(box)).statusCode).toBe(429);
  });
});
