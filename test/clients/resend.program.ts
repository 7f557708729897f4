import { randomBytes } from 'node:crypto';
import { simpleParser } from 'mailparser';
import { Resend } from 'resend';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWebhookReceiver } from '../support/servers/webhook-receiver.ts';
import { SendingStage, type SharedGround } from '../support/stages/sending-stage.ts';
import { publishedClient, receiveMail } from './client-stage.ts';
import { findTypeDifferences } from './response-types.ts';

let stage: SendingStage<SharedGround>;
let sender: string;
let client: Resend;

const makeClient = (account: { apiKey: string }) =>
  new Resend(account.apiKey, { baseUrl: `${stage.service.url}/api/e2` });

beforeAll(async () => {
  stage = await SendingStage.share('single', 'resend-peer.test');
  stage.service.openZone('not-mine.example');
  sender = await stage.createAddress('hello');
  client = makeClient(stage.account);
}, 300_000);
afterAll(() => stage?.stop());

/** Returns the data of a response. Throws its error if there is one. */
function readData<T>(response: { data: T; error: unknown }): NonNullable<T> {
  if (response.data == null) throw new Error(JSON.stringify(response.error));
  return response.data;
}

const email = (more: object = {}) => ({
  from: sender,
  to: 'bob@resend-peer.test',
  subject: 'Hi',
  text: 'Hello',
  ...more,
});

test('the client is the published version of the lock file', () => {
  expect(publishedClient('resend')).toEqual({
    version: '6.38.0',
    integrity: expect.stringMatching(/^sha512-[A-Za-z0-9+/]{86}==$/),
  });
});

describe('sending', () => {
  test('an email with every option arrives, and its state can be followed', async () => {
    const bytes = randomBytes(40_000);
    const { id } = readData(
      await client.emails.send({
        from: `Ada Lovelace <${sender}>`,
        to: ['bob@resend-peer.test', 'Eve <eve@resend-peer.test>'],
        cc: 'carl@resend-peer.test',
        bcc: ['blind@resend-peer.test'],
        replyTo: ['answers@resend-peer.test'],
        subject: 'Où est ma commande ?',
        html: '<p>Bonjour <img src="cid:logo"></p>',
        text: 'Bonjour',
        headers: { 'X-Order': '4711' },
        tags: [{ name: 'kind', value: 'order_1' }],
        attachments: [
          { filename: 'blob.bin', content: bytes },
          { filename: 'note.txt', content: Buffer.from('a note').toString('base64'), contentType: 'text/plain' },
          { filename: 'logo.png', content: bytes.subarray(0, 300), contentId: 'logo', contentType: 'image/png' },
        ],
      }),
    );
    await stage.awaitStatus(id, 'delivered');
    const found = readData(await client.emails.get(id));
    expect(found).toMatchObject({
      object: 'email',
      id,
      from: `Ada Lovelace <${sender}>`,
      to: ['bob@resend-peer.test', 'eve@resend-peer.test'],
      cc: ['carl@resend-peer.test'],
      bcc: ['blind@resend-peer.test'],
      reply_to: ['answers@resend-peer.test'],
      subject: 'Où est ma commande ?',
      html: '<p>Bonjour <img src="cid:logo"></p>',
      text: 'Bonjour',
      last_event: 'delivered',
      tags: [{ name: 'kind', value: 'order_1' }],
      scheduled_at: null,
    });
    expect(found.message_id).toMatch(/^<[^@]+@[^@]+>$/);
    expect(new Date(found.created_at).toISOString()).toBe(found.created_at);

    const message = await stage.awaitMessage(found.message_id);
    expect(message.recipients.toSorted()).toEqual([
      'blind@resend-peer.test',
      'bob@resend-peer.test',
      'carl@resend-peer.test',
      'eve@resend-peer.test',
    ]);
    const mail = await simpleParser(message.bytes);
    expect(mail.headers.has('bcc')).toBe(false);
    expect(mail.headers.get('x-order')).toBe('4711');
    expect([mail.subject, mail.from?.text, mail.replyTo?.text]).toEqual([
      'Où est ma commande ?',
      `"Ada Lovelace" <${sender}>`,
      'answers@resend-peer.test',
    ]);
    const files = new Map(mail.attachments.map((file) => [file.filename, file]));
    expect(files.get('blob.bin')?.content.equals(bytes)).toBe(true);
    expect(files.get('note.txt')?.content.toString()).toBe('a note');
    expect([files.get('logo.png')?.cid, files.get('logo.png')?.contentType]).toEqual(['logo', 'image/png']);
  });

  test('attachments of sent mail are listed and read', async () => {
    const attachments = [{ filename: 'a.txt', content: Buffer.from('one') }];
    const { id } = readData(await client.emails.send(email({ attachments })));
    const listed = readData(await client.emails.attachments.list({ emailId: id }));
    expect(listed).toMatchObject({ object: 'list', has_more: false, data: [{ filename: 'a.txt', size: 3 }] });
    const [first] = listed.data;
    const one = readData(await client.emails.attachments.get({ emailId: id, id: first?.id ?? '' }));
    expect(one).toMatchObject({ object: 'attachment', content_type: 'text/plain', content_disposition: 'attachment' });
    const url = one.download_url.replace(/^https?:\/\/[^/]+/, stage.service.url);
    const download = await fetch(url, { headers: { authorization: `Bearer ${stage.account.apiKey}` } });
    expect(await download.text()).toBe('one');
  });

  test('a second request with the same idempotency key returns the first response, and another body is a conflict', async () => {
    const idempotencyKey = randomBytes(8).toString('hex');
    const first = readData(await client.emails.send(email(), { idempotencyKey }));
    expect(readData(await client.emails.send(email(), { idempotencyKey }))).toEqual(first);
    const { data, error } = await client.emails.send(email({ text: 'Other' }), { idempotencyKey });
    expect([data, error?.name, error?.statusCode]).toEqual([null, 'invalid_idempotent_request', 409]);
  });
});

describe('scheduling', () => {
  test('an email is scheduled, rescheduled and cancelled', async () => {
    const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
    const { id } = readData(await client.emails.send(email({ scheduledAt: inAnHour })));
    const before = readData(await client.emails.get(id));
    expect(before).toMatchObject({ last_event: 'scheduled', scheduled_at: inAnHour });
    expect(before.message_id).toMatch(/^<[^@]+@[^@]+>$/);

    const inADay = new Date(Date.now() + 86_400_000).toISOString();
    expect(readData(await client.emails.update({ id, scheduledAt: inADay }))).toMatchObject({ object: 'email', id });
    expect(readData(await client.emails.get(id)).scheduled_at).toBe(inADay);

    expect(readData(await client.emails.cancel(id))).toMatchObject({ object: 'email', id });
    expect(readData(await client.emails.get(id)).last_event).toBe('canceled');
    const { error } = await client.emails.update({ id, scheduledAt: inAnHour });
    expect([error?.name, error?.statusCode]).toEqual(['validation_error', 400]);
  });

  test('phrases are parsed, and a past time is refused', async () => {
    const { id } = readData(await client.emails.send(email({ scheduledAt: 'in 1 hour' })));
    const at = new Date(readData(await client.emails.get(id)).scheduled_at ?? '').getTime();
    expect(Math.abs(at - Date.now() - 3_600_000)).toBeLessThan(60_000);
    const { error } = await client.emails.send(email({ scheduledAt: '2020-01-01T00:00:00Z' }));
    expect([error?.name, error?.statusCode]).toEqual(['validation_error', 400]);
  });
});

describe('batches', () => {
  test('a bare array is accepted and every email gets an id', async () => {
    const subjects = ['One', 'Two', 'Three'];
    const batch = await client.batch.send(subjects.map((subject) => email({ subject })));
    const ids = readData(batch).data.map((each) => each.id);
    expect(new Set(ids).size).toBe(3);
    for (const [at, id] of ids.entries()) {
      const sent = await stage.awaitStatus(id, 'delivered');
      expect(sent['subject']).toBe(subjects[at]);
    }
  });

  test('one invalid email refuses the whole batch', async () => {
    const total = async () => (await stage.account.call('GET', '/emails')).body.pagination.total;
    const before = await total();
    const { data, error } = await client.batch.send([email(), email({ to: 'nonsense' })]);
    expect([data, error?.name, error?.statusCode]).toEqual([null, 'validation_error', 400]);
    expect(await total()).toBe(before);
  });
});

describe('suppressions', () => {
  test('an address that bounced is listed, refused, and removed', async () => {
    stage.sink.respond({
      rcpt: (address) => (address.startsWith('gone@') ? '550 5.1.1 no such user' : undefined),
    });
    const { id } = readData(await client.emails.send(email({ to: 'gone@resend-peer.test' })));
    await stage.awaitStatus(id, 'bounced');
    expect(readData(await client.emails.get(id)).last_event).toBe('bounced');
    const listed = readData(await client.suppressions.list({ origin: 'bounce' }));
    const entry = { email: 'gone@resend-peer.test', origin: 'bounce', source_id: id };
    expect(listed).toMatchObject({ object: 'list', has_more: false, data: [entry] });
    expect(readData(await client.suppressions.get('gone@resend-peer.test'))).toMatchObject({
      object: 'suppression',
      ...entry,
    });
    const { error } = await client.emails.send(email({ to: 'gone@resend-peer.test' }));
    expect([error?.statusCode, error?.message]).toEqual([
      400,
      'Cannot send to blocked recipient(s): gone@resend-peer.test',
    ]);

    stage.sink.respond({});
    const lifted = readData(await client.suppressions.remove('gone@resend-peer.test'));
    expect(lifted).toMatchObject({ object: 'suppression', id: listed.data[0]?.id, deleted: true });
    const again = readData(await client.emails.send(email({ to: 'gone@resend-peer.test' })));
    await stage.awaitStatus(again.id, 'delivered');
  });

  test('several addresses are added and removed', async () => {
    const emails = ['first@resend-peer.test', 'second@resend-peer.test'];
    const added = readData(await client.suppressions.batch.add({ emails }));
    expect(added.data.map(({ object }) => object)).toEqual(['suppression', 'suppression']);
    const removed = readData(await client.suppressions.batch.remove({ ids: added.data.map(({ id }) => id) }));
    expect(removed.data.map(({ id }) => id).sort()).toEqual(added.data.map(({ id }) => id).sort());
    expect((await client.suppressions.get('first@resend-peer.test')).error?.name).toBe('not_found');
  });

  test('an address is added by hand', async () => {
    const { id } = readData(await client.suppressions.add({ email: 'unwanted@resend-peer.test' }));
    const listed = readData(await client.suppressions.list({ origin: 'manual' }));
    expect(listed.data).toMatchObject([{ id, email: 'unwanted@resend-peer.test', origin: 'manual', source_id: null }]);
    const { error } = await client.emails.send(email({ to: 'unwanted@resend-peer.test' }));
    expect(error?.message).toBe('Cannot send to blocked recipient(s): unwanted@resend-peer.test');
  });
});

describe('lists', () => {
  test('pages of emails follow each other by the id of the last', async () => {
    const account = await stage.service.createAccount();
    const other = makeClient(account);
    const ids: string[] = [];
    for (const subject of ['One', 'Two', 'Three']) {
      const from = `hello@${account.domain}`;
      ids.unshift(readData(await other.emails.send({ from, to: 'bob@resend-peer.test', subject, text: 'x' })).id);
    }
    const first = readData(await other.emails.list({ limit: 2 }));
    expect([first.object, first.has_more, first.data.map((each) => each.id)]).toEqual(['list', true, ids.slice(0, 2)]);
    expect(first.data[0]).toMatchObject({
      subject: 'Three',
      to: ['bob@resend-peer.test'],
      last_event: expect.stringMatching(/^(queued|delivered)$/),
      message_id: expect.stringMatching(/^</),
      scheduled_at: null,
    });
    const next = readData(await other.emails.list({ limit: 2, after: ids[1] ?? '' }));
    expect([next.has_more, next.data.map((each) => each.id)]).toEqual([false, ids.slice(2)]);
    const back = readData(await other.emails.list({ limit: 2, before: ids[2] ?? '' }));
    expect(back.data.map((each) => each.id)).toEqual(ids.slice(0, 2));
  });
});

describe('received mail', () => {
  test('is listed, read, and its attachments are found', async () => {
    const attachments = [{ filename: 'plan.txt', content: 'the plan' }];
    const id = await receiveMail(stage, sender, { subject: 'A plan', text: 'Words', html: '<p>Words', attachments });
    const listed = readData(await client.emails.receiving.list({ limit: 5 }));
    expect(listed.data.find((each) => each.id === id)).toMatchObject({
      subject: 'A plan',
      from: 'Ada <ada@resend-peer.test>',
      received_for: [sender],
      attachments: [{ filename: 'plan.txt', content_type: 'text/plain', size: 8 }],
    });
    const mail = readData(await client.emails.receiving.get(id));
    expect(mail).toMatchObject({
      object: 'email',
      id,
      to: [sender],
      text: expect.stringContaining('Words'),
      raw: { download_url: expect.stringMatching(/^http/), expires_at: expect.any(String) },
    });
    expect(mail.headers?.['subject']).toBe('A plan');
    const files = readData(await client.emails.receiving.attachments.list({ emailId: id }));
    const one = readData(await client.emails.receiving.attachments.get({ emailId: id, id: files.data[0]?.id ?? '' }));
    expect(one).toMatchObject({ object: 'attachment', filename: 'plan.txt', size: 8 });
  });

  test('is forwarded by the client, unchanged and wrapped', async () => {
    const content = randomBytes(5_000);
    const attachments = [{ filename: 'plan.bin', content }];
    const emailId = await receiveMail(stage, sender, { subject: 'To pass on', text: 'Words', attachments });
    const options = { emailId, to: 'forward@resend-peer.test', from: sender };
    const passed = readData(await client.emails.receiving.forward(options));
    const wrapped = readData(
      await client.emails.receiving.forward({ ...options, passthrough: false, text: 'Please see' } as never),
    );
    for (const { id, subject } of [
      { ...passed, subject: 'To pass on' },
      { ...wrapped, subject: 'Fwd: To pass on' },
    ]) {
      await stage.awaitStatus(id, 'delivered');
      expect(readData(await client.emails.get(id)).subject).toBe(subject);
      const files = readData(await client.emails.attachments.list({ emailId: id }));
      expect(files.data).toHaveLength(1);
      const [file] = files.data;
      const bytes = Buffer.from(await (await fetch(file?.download_url ?? '')).arrayBuffer());
      const inside = id === wrapped.id ? (await simpleParser(bytes)).attachments[0]?.content : bytes;
      expect(inside?.equals(content)).toBe(true);
    }
  });

  test('arrives by a webhook that the client verifies', async () => {
    const receiver = await startWebhookReceiver();
    const endpoint = await stage.account.call('POST', '/endpoints', {
      name: 'hook',
      type: 'webhook',
      config: { url: receiver.url },
    });
    const address = `hooked@${stage.account.domain}`;
    const { domainId } = stage.account;
    await stage.account.call('POST', '/email-addresses', { address, domainId, endpointId: endpoint.body.id });
    await receiveMail(stage, address, { subject: 'Signed' });
    const [request] = await receiver.received(1);
    await receiver.stop();
    const field = (name: string) => String(request?.headers[name]);
    const headers = {
      id: field('webhook-id'),
      timestamp: field('webhook-timestamp'),
      signature: field('webhook-signature'),
    };
    const webhook = { payload: request?.body ?? '', headers, webhookSecret: endpoint.body.signingSecret };
    expect(client.webhooks.verify(webhook)).toMatchObject({ event: 'email.received', email: { subject: 'Signed' } });
    expect(() => client.webhooks.verify({ ...webhook, payload: `${webhook.payload} ` })).toThrow('signature');
  });
});

describe('webhooks', () => {
  test('a program that was written for the client gets its events, and reads the email by the ID in them', async () => {
    const receiver = await startWebhookReceiver();
    const events = ['email.received', 'email.delivered', 'email.bounced', 'email.clicked'] as const;
    const made = readData(await client.webhooks.create({ endpoint: receiver.url, events: [...events] }));
    expect(readData(await client.webhooks.get(made.id))).toMatchObject({
      object: 'webhook',
      status: 'enabled',
      endpoint: receiver.url,
      events: ['email.received', 'email.delivered', 'email.bounced'],
      signing_secret: made.signing_secret,
    });

    const attachments = [{ filename: 'plan.txt', content: 'the plan' }];
    const received = await receiveMail(stage, sender, { subject: 'Routed nowhere', text: 'Words', attachments });
    const sent = readData(await client.emails.send(email({ subject: 'On its way' })));
    // Emails of other tests may be delivered meanwhile.
    const isPosted = (id: string) => (posted: readonly { body: string }[]) =>
      posted.some(({ body }) => body.includes(id));
    await receiver.until(isPosted(received));
    const requests = await receiver.until(isPosted(sent.id));
    await receiver.stop();
    const verified = requests.map(({ headers, body }) =>
      client.webhooks.verify({
        payload: body,
        webhookSecret: made.signing_secret,
        headers: {
          id: String(headers['webhook-id']),
          timestamp: String(headers['webhook-timestamp']),
          signature: String(headers['webhook-signature']),
        },
      }),
    );
    const posted = verified.find(({ type }) => type === 'email.received');
    if (posted?.type !== 'email.received') throw new Error(JSON.stringify(verified));
    const { data } = posted;
    expect(data).toMatchObject({
      email_id: received,
      to: [sender],
      cc: [],
      received_for: [sender],
      subject: 'Routed nowhere',
      attachments: [{ filename: 'plan.txt', content_type: 'text/plain', content_disposition: 'attachment' }],
    });
    const read = readData(await client.emails.receiving.get(data.email_id));
    expect([read.message_id, read.text]).toEqual([data.message_id, 'Words']);
    const emailId = data.email_id;
    const [file] = data.attachments;
    expect(readData(await client.emails.receiving.attachments.get({ emailId, id: file?.id ?? '' }))).toMatchObject({
      filename: 'plan.txt',
    });
    expect(verified.find((each) => JSON.stringify(each).includes(sent.id))).toMatchObject({
      type: 'email.delivered',
      created_at: expect.stringMatching(/Z$/),
      data: { email_id: sent.id, from: sender, to: ['bob@resend-peer.test'], subject: 'On its way' },
    });
    const types = {
      'email.received': 'EmailReceivedEvent',
      'email.delivered': 'EmailDeliveredEvent',
    } as Record<string, string>;
    const typed = verified.map((value) => ({
      name: value.type,
      type: `import('resend').${types[value.type]}`,
      value,
    }));
    expect(await findTypeDifferences(typed)).toEqual([]);
    const webhookId = made.id;
    const firstPage = readData(await client.webhooks.events.list({ webhookId, limit: 1 }));
    expect(firstPage).toMatchObject({ object: 'list', has_more: true, data: [{ type: 'email.delivered' }] });
    const rest = readData(await client.webhooks.events.list({ webhookId, after: firstPage.data[0]?.id ?? '' }));
    const event = rest.data.find(({ type }) => type === 'email.received');
    const eventId = event?.id ?? '';
    expect(readData(await client.webhooks.events.get({ webhookId, eventId }))).toMatchObject({
      object: 'webhook_event',
      status: 'success',
      payload: posted,
    });
    expect(readData(await client.webhooks.events.attempts.list({ webhookId, eventId })).data).toMatchObject([
      { http_status_code: 200 },
    ]);
    const again = await client.webhooks.events.replay({ webhookId, eventId });
    expect(again.error).toMatchObject({ statusCode: 400, message: expect.stringContaining('already succeeded') });
    const other = readData(await client.webhooks.create({ endpoint: receiver.url, events: ['email.sent'] }));
    const elsewhere = await client.webhooks.events.get({ webhookId: other.id, eventId });
    expect(elsewhere.error).toMatchObject({ statusCode: 404 });
    const stranger = makeClient(await stage.service.createAccount());
    expect((await stranger.webhooks.events.get({ webhookId, eventId })).error).toMatchObject({ statusCode: 404 });
    expect((await stranger.webhooks.events.list({ webhookId })).error).toMatchObject({ statusCode: 404 });
    readData(await client.webhooks.remove(other.id));
    readData(await client.webhooks.remove(made.id));
    expect((await client.webhooks.get(made.id)).error).toMatchObject({ name: 'not_found', statusCode: 404 });
  });

  test('are those of the account, of type webhook only', async () => {
    const config = { forwardTo: 'me@resend-peer.test' };
    const forwarding = await stage.account.call('POST', '/endpoints', { name: 'Copy', type: 'email', config });
    const listed = readData(await client.webhooks.list());
    expect(listed.data.map(({ id }) => id)).not.toContain(forwarding.body.id);
    const missing = { name: 'not_found', statusCode: 404 };
    expect((await client.webhooks.get(forwarding.body.id)).error).toMatchObject(missing);
    expect((await client.webhooks.update(forwarding.body.id, { status: 'disabled' })).error).toMatchObject(missing);
    expect((await client.webhooks.remove(forwarding.body.id)).error).toMatchObject(missing);
    const mine = readData(
      await client.webhooks.create({ endpoint: 'https://hooks.example.com/', events: ['email.sent'] }),
    );
    const stranger = makeClient(await stage.service.createAccount());
    for (const refused of [
      await stranger.webhooks.get(mine.id),
      await stranger.webhooks.update(mine.id, { status: 'disabled' }),
      await stranger.webhooks.rotateSigningSecret(mine.id),
      await stranger.webhooks.remove(mine.id),
    ])
      expect(refused.error).toMatchObject(missing);
    expect(readData(await client.webhooks.get(mine.id)).status).toBe('enabled');
    readData(await client.webhooks.remove(mine.id));
  });

  test('a kind of event that is misspelled, and kinds that never happen, say so', async () => {
    const endpoint = 'https://hooks.example.com/';
    const misspelled = await client.webhooks.create({ endpoint, events: ['email.sent', 'email.recieved' as never] });
    expect(misspelled.error).toMatchObject({ statusCode: 400, message: expect.stringContaining('events[1]') });
    const never = await client.webhooks.create({ endpoint, events: ['email.opened', 'contact.created'] });
    expect(never.error).toMatchObject({ statusCode: 400, message: expect.stringContaining('ever happens here') });
  });
});

test('the log of requests is read by the names of the client', async () => {
  const listed = readData(await client.logs.list({ limit: 2 }));
  expect(listed.data.length).toBe(2);
  const next = readData(await client.logs.list({ limit: 2, after: listed.data[1]?.id ?? '' }));
  expect(next.data.map(({ id }) => id)).not.toContain(listed.data[1]?.id);
  const { id } = readData(await client.emails.send(email({ subject: 'Logged' })));
  const all = readData(await client.logs.list());
  const log = all.data.find(({ endpoint, method }) => endpoint === '/emails' && method === 'POST');
  expect(log).toMatchObject({ response_status: 200, user_agent: expect.stringContaining('resend-node') });
  expect(readData(await client.logs.get(log?.id ?? ''))).toMatchObject({
    object: 'log',
    request_body: { subject: 'Logged' },
    response_body: { id },
  });
});

describe('domains', () => {
  test('are listed and read under the names of the client', async () => {
    const { domain, domainId } = stage.account;
    const listed = readData(await client.domains.list());
    expect(listed).toMatchObject({
      object: 'list',
      has_more: false,
      data: [{ id: domainId, name: domain, status: 'verified' }],
    });
    expect(readData(await client.domains.get(domainId))).toMatchObject({ object: 'domain', name: domain });
    const made = readData(await client.domains.create({ name: 'not-mine.example' }));
    expect(made).toMatchObject({ name: 'not-mine.example', status: 'pending' });
  });
});

describe('errors', () => {
  test.each([
    ['no such key', () => makeClient({ apiKey: 'wrong' }).emails.list(), 'invalid_api_key', 401],
    ['no recipient', () => client.emails.send(email({ to: [] })), 'validation_error', 400],
    [
      'an attachment by address',
      () => client.emails.send(email({ attachments: [{ path: 'https://x.test/a' }] })),
      'validation_error',
      400,
    ],
    ["another's domain", () => client.emails.send(email({ from: 'a@resend-peer.test' })), 'validation_error', 403],
    ['no such email', () => client.emails.get('em_unknown'), 'not_found', 404],
    ['no such schedule', () => client.emails.cancel('em_unknown'), 'not_found', 404],
  ] as const)('%s has the error name of the client', async (_case, request, name, statusCode) => {
    const { data, error, headers } = await request();
    expect(data).toBeNull();
    expect(error).toMatchObject({ name, statusCode, message: expect.stringMatching(/\w{3}/) });
    expect(headers).toHaveProperty('x-request-id');
  });
});
