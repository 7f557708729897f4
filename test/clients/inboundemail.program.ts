import { randomBytes } from 'node:crypto';
import Inbound, {
  AuthenticationError,
  BadRequestError,
  ConflictError,
  NotFoundError,
  PermissionDeniedError,
  verifyWebhookFromHeaders,
} from 'inboundemail';
import { simpleParser } from 'mailparser';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWebhookReceiver, type WebhookReceiver } from '../support/servers/webhook-receiver.ts';
import { SendingStage, type SharedGround } from '../support/stages/sending-stage.ts';
import { publishedClient, receiveMail } from './client-stage.ts';

const INSTANT = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const ID = expect.stringMatching(/^[a-z]+_[0-9a-f]{32}$/);
const MESSAGE_ID = expect.stringMatching(/^<[^@]+@[^@]+>$/);
let stage: SendingStage<SharedGround>;
let receiver: WebhookReceiver;
let sender: string;
let client: Inbound;

const makeClient = (account: { apiKey: string }, more: object = {}) =>
  new Inbound({ apiKey: account.apiKey, baseURL: stage.service.url, ...more });
const email = (more: object = {}) => ({
  from: sender,
  to: 'bob@inboundemail-peer.test',
  subject: 'Hi',
  text: 'Hello',
  ...more,
});
const base64 = (content: string | Buffer) => Buffer.from(content).toString('base64');
const anHourAhead = () => new Date(Date.now() + 3_600_000).toISOString();

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  stage = await SendingStage.share('single', 'inboundemail-peer.test');
  sender = await stage.createAddress('hello');
  client = makeClient(stage.account);
}, 300_000);
afterAll(async () => {
  await stage?.stop();
  await receiver?.stop();
});

test('the client is the published version of the lock file', () => {
  expect(publishedClient('inboundemail')).toEqual({
    version: '0.20.0',
    integrity: expect.stringMatching(/^sha512-[A-Za-z0-9+/]{86}==$/),
  });
});

describe('sending', () => {
  test("an email with every field arrives and has every field of the client's types", async () => {
    const sent = await client.emails.send({
      from: `Ada <${sender}>`,
      to: ['bob@inboundemail-peer.test'],
      cc: 'carl@inboundemail-peer.test',
      bcc: ['blind@inboundemail-peer.test'],
      reply_to: 'answers@inboundemail-peer.test',
      subject: 'All of it',
      html: '<p>Hello',
      text: 'Hello',
      headers: { 'X-Order': '4711' },
      tags: [{ name: 'kind', value: 'any value is allowed: ü' }],
      attachments: [{ filename: 'a.txt', content: base64('one'), content_type: 'text/plain' }],
    });
    expect(sent).toMatchObject({ id: ID, message_id: MESSAGE_ID, status: 'sent' });
    await stage.awaitStatus(sent.id, 'delivered');
    const found = await client.emails.retrieve(sent.id);
    expect(found).toMatchObject({
      object: 'email',
      id: sent.id,
      type: 'sent',
      status: 'delivered',
      from: `Ada <${sender}>`,
      to: ['bob@inboundemail-peer.test'],
      cc: ['carl@inboundemail-peer.test'],
      bcc: ['blind@inboundemail-peer.test'],
      reply_to: ['answers@inboundemail-peer.test'],
      subject: 'All of it',
      html: '<p>Hello',
      text: 'Hello',
      created_at: INSTANT,
      sent_at: INSTANT,
      scheduled_at: null,
      has_attachments: true,
      attachments: [{ filename: 'a.txt', contentType: 'text/plain', size: 3, contentId: null }],
      headers: { 'x-order': '4711' },
      tags: [{ name: 'kind', value: 'any value is allowed: ü' }],
      thread_id: ID,
      thread_position: 0,
    });
    const message = await stage.awaitMessage(sent.message_id ?? '');
    expect(message.recipients).toHaveLength(3);
    const mail = await simpleParser(message.bytes);
    expect([mail.subject, mail.headers.get('x-order'), mail.attachments[0]?.content.toString()]).toEqual([
      'All of it',
      '4711',
      'one',
    ]);
  });

  test('attachments can be data: URLs, can have a Content-ID for the HTML, and are not fetched from a URL', async () => {
    const logo = { filename: 'logo.png', content: `data:image/png;base64,${base64('PNG')}`, content_id: 'logo' };
    const sent = await client.emails.send(email({ html: '<img src="cid:logo">', attachments: [logo] }));
    const mail = await simpleParser((await stage.awaitMessage(sent.message_id ?? '')).bytes);
    expect([mail.attachments[0]?.cid, mail.attachments[0]?.content.toString()]).toEqual(['logo', 'PNG']);
    const byPath = { filename: 'a.txt', content: '', path: 'https://files.test/a.txt' };
    await expect(client.emails.send(email({ attachments: [byPath] }))).rejects.toThrow(BadRequestError);
    const multipart = client.emails.send(email({ attachments: [{ filename: 'a', content: new File(['x'], 'a') }] }));
    await expect(multipart).rejects.toMatchObject({ status: 415 });
  });

  test('the idempotency key of the request options makes one email of two requests', async () => {
    const options = { headers: { 'Idempotency-Key': randomBytes(8).toString('hex') } };
    const first = await client.emails.send(email(), options);
    expect(await client.emails.send(email(), options)).toEqual(first);
    let requests = 0;
    const count: typeof fetch = (...request) => {
      requests++;
      return fetch(...request);
    };
    const counted = makeClient(stage.account, { fetch: count });
    await expect(counted.emails.send(email({ text: 'Other' }), options)).rejects.toThrow(ConflictError);
    // The response tells the client not to try again.
    expect(requests).toBe(1);
  });

  test('an email is scheduled by a phrase in a zone, listed, and cancelled', async () => {
    const sent = await client.emails.send(email({ scheduled_at: 'tomorrow at 9am', timezone: 'America/New_York' }));
    expect(sent).toMatchObject({ id: ID, status: 'scheduled', scheduled_at: INSTANT, timezone: 'America/New_York' });
    const inNewYork = new Intl.DateTimeFormat('en-GB', { timeZone: 'America/New_York', timeStyle: 'short' });
    expect(inNewYork.format(new Date(sent.scheduled_at ?? ''))).toBe('09:00');
    const found = await client.emails.retrieve(sent.id);
    expect(found).toMatchObject({ type: 'scheduled', status: 'scheduled', thread_id: null, thread_position: null });
    const listed = await client.emails.list({ type: 'scheduled', status: 'scheduled' });
    expect(listed.data.map((each) => each.id)).toEqual([sent.id]);
    expect(await client.emails.delete(sent.id)).toMatchObject({ success: true, message: /cancel/i, id: sent.id });
    expect(await client.emails.delete(sent.id)).toMatchObject({ success: true, message: 'Email already cancelled' });
    await expect(client.emails.delete((await client.emails.send(email())).id)).rejects.toThrow(BadRequestError);
  });

  test('operations without a method are sent as bare requests: rescheduling, batches', async () => {
    const { id } = await client.emails.send(email({ scheduled_at: anHourAhead() }));
    const scheduled_at = new Date(Date.now() + 7_200_000).toISOString();
    expect(await client.patch(`/api/e2/emails/${id}`, { body: { scheduled_at } })).toMatchObject({ id, scheduled_at });
    const batch = await client.post<{ id: string; counts: { total: number } }>('/api/e2/emails/batch', {
      body: { emails: [email({ subject: 'One' }), email({ subject: 'Two' })] },
    });
    expect(batch).toMatchObject({ id: ID, counts: { total: 2 } });
    expect(await client.get(`/api/e2/emails/batch/${batch.id}`)).toMatchObject({ items: [{ batch_index: 0 }, {}] });
  });
});

describe('received mail', () => {
  test('is listed with texts as parameters, read, and replied to by its id or that of its thread', async () => {
    const subject = `Order ${randomBytes(4).toString('hex')}`;
    const id = await receiveMail(stage, sender, { subject, text: 'Two, please', cc: 'eve@inboundemail-peer.test' });
    const listed = await client.emails.list({ type: 'received', search: subject, limit: '1', offset: '0' });
    expect(listed).toMatchObject({
      data: [
        {
          id,
          type: 'received',
          message_id: MESSAGE_ID,
          from: 'ada@inboundemail-peer.test',
          from_name: 'Ada',
          to: [sender],
          cc: ['eve@inboundemail-peer.test'],
          preview: 'Two, please',
          status: 'delivered',
          is_read: false,
          read_at: null,
          is_archived: false,
          has_attachments: false,
          attachment_count: 0,
          scheduled_at: null,
          thread_id: ID,
        },
      ],
      pagination: { limit: 1, offset: 0, total: 1, has_more: false },
      filters: { type: 'received', search: subject, time_range: '30d' },
    });
    const threadId = listed.data[0]?.thread_id ?? '';

    const reply = await client.emails.reply(id, { from: sender, text: 'Sent today', reply_all: true });
    expect(reply).toMatchObject({
      id: ID,
      message_id: MESSAGE_ID,
      aws_message_id: expect.any(String),
      provider_message_id: expect.any(String),
      replied_to_email_id: id,
      is_thread_reply: false,
    });
    const message = await stage.awaitMessage(reply.message_id);
    expect(message.recipients.toSorted()).toEqual(['ada@inboundemail-peer.test', 'eve@inboundemail-peer.test']);
    const mail = await simpleParser(message.bytes);
    const original = (await client.emails.list({ search: subject, type: 'received' })).data[0]?.message_id;
    expect([mail.subject, mail.inReplyTo, mail.references]).toEqual([`Re: ${subject}`, original, original]);

    const second = await client.emails.reply(threadId, { from: sender, html: '<p>And thanks' });
    expect(second).toMatchObject({ is_thread_reply: true, replied_to_thread_id: threadId });
    expect((await stage.awaitMessage(second.message_id)).recipients).toContain('ada@inboundemail-peer.test');
    await expect(client.emails.reply('em_unknown', { from: sender, text: 'x' })).rejects.toThrow(NotFoundError);
  });

  test('appears in threads, which are paged by a cursor and have both directions', async () => {
    const account = await stage.service.createAccount();
    const other = makeClient(account);
    const from = `hello@${account.domain}`;
    const ids: string[] = [];
    for (const subject of ['First thread', 'Second thread', 'Third thread'])
      ids.push((await other.emails.send({ from, to: 'bob@inboundemail-peer.test', subject, text: 'x' })).id);
    await expect.poll(async () => (await other.mail.list()).threads.length).toBe(3);
    const first = await other.mail.list({ limit: '2', unread: 'false' });
    expect(first).toMatchObject({ pagination: { limit: 2, has_more: true, next_cursor: ID } });
    expect(first.threads[0]).toMatchObject({
      id: ID,
      normalized_subject: 'Third thread',
      root_message_id: MESSAGE_ID,
      message_count: 1,
      has_unread: false,
      unread_count: 0,
      is_archived: false,
      latest_message: { id: ids[2], type: 'outbound', has_attachments: false, date: INSTANT },
    });
    expect(first.threads[0]?.participant_emails.toSorted()).toEqual(['bob@inboundemail-peer.test', from]);
    const next = await other.mail.list({ limit: '2', cursor: first.pagination.next_cursor ?? '' });
    expect([next.threads.length, next.pagination.has_more, next.pagination.next_cursor]).toEqual([1, false, null]);

    const thread = await other.mail.retrieve(first.threads[0]?.id ?? '');
    expect(thread).toMatchObject({
      total_count: 1,
      thread: { message_count: 1, updated_at: INSTANT },
      messages: [
        {
          id: ids[2],
          type: 'outbound',
          thread_position: 0,
          text_body: 'x',
          html_body: null,
          from_address: from,
          received_at: null,
          is_read: true,
          references: [],
          status: expect.stringMatching(/^(pending|sent)$/),
          failure_reason: null,
        },
      ],
    });
  });

  test('returns attachments, whose bytes are complete only with asResponse', async () => {
    const bytes = randomBytes(5_000);
    const attachments = [
      { filename: 'café 100% "x".bin', content: bytes, contentType: 'application/octet-stream' },
      { filename: 'data.json', content: '{"a":1}', contentType: 'application/json' },
    ];
    const id = await receiveMail(stage, sender, { subject: 'Files', text: 'x', attachments });
    const { data } = await client.emails.list({ search: 'Files' });
    expect(data[0]).toMatchObject({ id, has_attachments: true, attachment_count: 2 });
    const response = await client.attachments.retrieve('café 100% "x".bin', { id }).asResponse();
    expect(response.headers.get('content-type')).toBe('application/octet-stream');
    expect(response.headers.get('content-disposition')).toContain(`filename*=UTF-8''caf%C3%A9%20100%25%20%22x%22.bin`);
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
    expect(await client.attachments.retrieve('data.json', { id })).toEqual({ a: 1 });
    await expect(client.attachments.retrieve('other.txt', { id })).rejects.toThrow(NotFoundError);
    await expect(client.attachments.retrieve('a.txt', { id: 'em_unknown' })).rejects.toMatchObject({
      error: { error: 'Email not found or access denied' },
    });
  });

  test('arrives by a webhook whose token the client verifies, and is delivered again on request', async () => {
    const endpoint = await client.endpoints.create({
      name: 'hook',
      type: 'webhook',
      config: { url: receiver.url, timeout: 30, retryAttempts: 3 },
    });
    expect(endpoint).toMatchObject({
      id: ID,
      description: null,
      groupEmails: null,
      deliveryStats: { total: 0, successful: 0, failed: 0, lastDelivery: null },
    });
    const address = await client.emailAddresses.create({
      address: `hooked@${stage.account.domain}`,
      domainId: stage.account.domainId,
      endpointId: endpoint.id,
    });
    expect(address).toMatchObject({ id: ID, routing: { type: 'endpoint', id: endpoint.id, isActive: true } });
    const id = await receiveMail(stage, address.address, { subject: 'Signed' });
    const [request] = await receiver.received(1);
    const headers = request?.headers ?? {};
    expect(await verifyWebhookFromHeaders(headers, client)).toBe(true);
    expect(await verifyWebhookFromHeaders(new Headers(headers as Record<string, string>), client)).toBe(true);
    const forged = { ...headers, 'x-webhook-verification-token': 'other' };
    expect(await verifyWebhookFromHeaders(forged, client)).toBe(false);

    const again = await client.emails.retry(id, { endpoint_id: endpoint.id });
    expect(again).toMatchObject({ success: true, message: expect.any(String), delivery_id: ID });
    await receiver.received(2);
    const found = await client.endpoints.retrieve(endpoint.id);
    expect(found).toMatchObject({ associatedEmails: [{ id: address.id, isActive: true }], catchAllDomains: [] });
    expect(found.recentDeliveries[0]).toMatchObject({ emailId: id, deliveryType: 'webhook' });
  });
});

describe('domains, addresses and endpoints', () => {
  test('are listed with booleans as texts', async () => {
    const domains = await client.domains.list({ canReceive: 'true', limit: '10' });
    expect(domains.data[0]).toMatchObject({
      id: stage.account.domainId,
      domain: stage.account.domain,
    });
    expect(await client.domains.retrieve(stage.account.domainId)).toMatchObject({
      stats: { emailsLast24h: expect.any(Number), emailsLast7d: expect.any(Number), emailsLast30d: expect.any(Number) },
    });
    const addresses = await client.emailAddresses.list({ isActive: 'true', isReceiptRuleConfigured: 'true' });
    const plain = addresses.data.find((each) => each.address === sender);
    expect(plain?.routing).toEqual({ type: 'none', id: null, name: null, isActive: false });
    expect((await client.endpoints.list({ active: 'false' })).pagination.total).toBe(0);
    expect((await client.endpoints.list({ active: 'true', sortBy: 'oldest' })).pagination).toEqual({
      limit: 50,
      offset: 0,
      total: 1,
      hasMore: false,
    });
  });
});

describe('errors', () => {
  test.each([
    ['an unknown key', () => makeClient({ apiKey: 'wrong' }).emails.list(), AuthenticationError, 'Unauthorized'],
    [
      'no text',
      () => client.emails.send(email({ text: undefined })),
      BadRequestError,
      'Either html or text content must be provided',
    ],
    [
      "another's domain",
      () => client.emails.send(email({ from: 'a@inboundemail-peer.test' })),
      PermissionDeniedError,
      /permission/,
    ],
    ['no such email', () => client.emails.retrieve('em_unknown'), NotFoundError, 'Email not found'],
    ['no such thread', () => client.mail.retrieve('th_unknown'), NotFoundError, 'Thread not found'],
    ['a limit that is none', () => client.emails.list({ limit: 'many' }), BadRequestError, 'Bad Request'],
  ] as const)('%s has the error class of its status', async (_case, request, type, error) => {
    const caught = await Promise.resolve(request()).catch((each: unknown) => each);
    expect(caught).toBeInstanceOf(type);
    expect(caught).toMatchObject({
      error: {
        error: typeof error === 'string' ? error : expect.stringMatching(error),
        message: expect.any(String),
        statusCode: (caught as { status: number }).status,
      },
    });
  });
});
