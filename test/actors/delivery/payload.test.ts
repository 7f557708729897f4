import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { parseMessage } from '../../../core/mime/parse-message.ts';
import { insertReceivedMail } from '../../support/rows/received-mail.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { SECRET_KEY, startDelivering, type TestDelivery, untilDeliveries } from './delivering.ts';

let gateway: TestGateway;
let receiver: WebhookReceiver;
let actor: TestDelivery | undefined;
const PUBLIC_URL = 'https://mail.example.test';

beforeAll(async () => {
  gateway = await openTestGateway({ config: { secretKey: SECRET_KEY, publicUrl: PUBLIC_URL } });
});
afterEach(async () => {
  await actor?.stop();
  actor = undefined;
  await receiver.stop();
});
afterAll(() => gateway.close());

const SMALL = Buffer.from('number,amount\r\n1,19.90\r\n');
const LARGE = randomBytes(60_000);

/** A mail with a small and a large file, in the mailbox, waiting for its route. */
async function receive(mailbox: TestMailbox): Promise<{ emailId: string; bytes: Buffer }> {
  const part = (name: string, content: Buffer) =>
    [
      '--b',
      `Content-Type: application/octet-stream; name=${name}`,
      'Content-Transfer-Encoding: base64',
      '',
      ...(content.toString('base64').match(/.{1,76}/g) ?? []),
    ].join('\r\n');
  const head =
    'From: Ann <ann@sender.test>\r\nSubject: Files\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n';
  const text = '--b\r\nContent-Type: text/plain\r\n\r\n@everyone, *look*\r\n';
  const bytes = Buffer.from(`${head}\r\n${text}${part('film.bin', LARGE)}\r\n${part('bill.csv', SMALL)}\r\n--b--\r\n`);
  const message = await parseMessage(bytes);
  const [mail] = await insertReceivedMail(gateway.actor, mailbox, { subject: 'Files' });
  await gateway.actor.pool.query(
    `update raw_message set packed = $2, sha256 = sha256($2), size_bytes = length($2) where id = $1`,
    [mail?.rawId, bytes],
  );
  await gateway.actor.pool.query(
    `update email_content set text_body = $2, cleaned_text = null, attachments = $3 where email_id = $1`,
    [mail?.emailId, message.textBody, JSON.stringify(message.attachments)],
  );
  return { emailId: mail?.emailId ?? '', bytes };
}

const mailboxFor = (endpointConfig: Record<string, unknown>) =>
  gateway.mailbox({ endpointUrl: `${receiver.url}/hook`, endpointConfig });

async function delivered(mailbox: TestMailbox): Promise<string> {
  actor = await startDelivering(gateway.actor, gateway.owner, {
    publicUrl: PUBLIC_URL,
    ...gateway.payloads,
  });
  const [request] = await receiver.received(1);
  await untilDeliveries(gateway.actor, mailbox.endpointId, ([first]) => first?.status === 'success');
  return request?.body ?? '';
}

/** What a link of a payload leads to, without a key. */
async function follow(url: string): Promise<Buffer> {
  expect(url.startsWith(`${PUBLIC_URL}/api/e2/`)).toBe(true);
  const response = await gateway.call(null, 'GET', url.slice(`${PUBLIC_URL}/api/e2`.length));
  expect(response.statusCode).toBe(200);
  return response.rawPayload;
}

interface WireFile {
  filename: string;
  size: number;
  content: string | null;
  downloadUrl: string;
}

test.each([
  ['nested', {}],
  ['flat', { payload: 'flat' }],
])('a %s payload has the bytes of the attachments, and links that return the same', async (form, config) => {
  receiver = await startWebhookReceiver();
  const mailbox = await mailboxFor(config);
  const { bytes } = await receive(mailbox);
  const body = JSON.parse(await delivered(mailbox));
  const mail = form === 'nested' ? body.email.parsedData : body;
  const files = mail.attachments as WireFile[];
  expect(files.map(({ filename }) => filename)).toEqual(['film.bin', 'bill.csv']);
  for (const [at, content] of [LARGE, SMALL].entries()) {
    expect(Buffer.from(files[at]?.content ?? '', 'base64').equals(content)).toBe(true);
    expect((await follow(files[at]?.downloadUrl ?? '')).equals(content)).toBe(true);
  }
  expect((await follow(mail.rawUrl)).equals(bytes)).toBe(true);
  if (form === 'nested') expect(mail.raw).toBe(bytes.toString('utf8'));
});

test('parts that the budget leaves out are named, and their links return them', async () => {
  receiver = await startWebhookReceiver();
  const mailbox = await mailboxFor({ maxPayloadOctets: 20_000 });
  const { bytes } = await receive(mailbox);
  const text = await delivered(mailbox);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(20_000);
  const { email } = JSON.parse(text);
  expect(email.truncated).toEqual(['attachments', 'raw']);
  const files = email.parsedData.attachments as WireFile[];
  expect(files.map(({ content }) => content)).toEqual([null, null]);
  expect((await follow(files[0]?.downloadUrl ?? '')).equals(LARGE)).toBe(true);
  expect((await follow(email.parsedData.rawUrl)).equals(bytes)).toBe(true);
});

test('a retry sends the same bytes, under the same links', async () => {
  receiver = await startWebhookReceiver({ script: [500, 200] });
  const mailbox = await mailboxFor({ maxPayloadOctets: 100_000 });
  await receive(mailbox);
  actor = await startDelivering(gateway.actor, gateway.owner, { publicUrl: PUBLIC_URL });
  await receiver.received(1);
  await untilDeliveries(gateway.actor, mailbox.endpointId, ([first]) => first?.attempts === 1);
  await actor.moveClock(3_600);
  const [first, second] = await receiver.received(2);
  expect(JSON.parse(first?.body ?? '').email.truncated).toEqual(['attachments']);
  expect(second?.body).toBe(first?.body);
});

test.each(['chat_a', 'chat_b'])(
  '%s is posted in production, with all its signatures, and 204 is a success',
  async (format) => {
    receiver = await startWebhookReceiver({ script: [204] });
    const mailbox = await mailboxFor({});
    await gateway.actor.pool.query('update endpoint set webhook_format = $2 where id = $1', [
      mailbox.endpointId,
      format,
    ]);
    const { bytes } = await receive(mailbox);
    const text = await delivered(mailbox);
    const body = JSON.parse(text);
    const link = /https:\/\/mail\.example\.test[^)|>\s]+/.exec(
      format === 'chat_a' ? JSON.stringify(body.embeds[0].fields.at(-1)) : JSON.stringify(body.blocks.at(-1)),
    )?.[0];
    expect((await follow(JSON.parse(`"${link?.replace(/[")].*$/, '')}"`))).equals(bytes)).toBe(true);
    expect(text).toContain('bill.csv');
    if (format === 'chat_a') expect(body.embeds[0].description).toBe('\\@everyone, \\*look\\*');
    const [request] = receiver.requests;
    expect(request?.headers).toMatchObject({
      'x-webhook-event': 'email.received',
      'x-webhook-signature': expect.stringMatching(/^sha256=[0-9a-f]{64}$/),
      'webhook-id': expect.stringMatching(/^dlv_/),
    });
  },
);

test('a payload query returns the payload in the general form, with links to texts beyond the budget', async () => {
  receiver = await startWebhookReceiver();
  const mailbox = await mailboxFor({ maxPayloadOctets: 10_000 });
  await gateway.owner.pool.query('update endpoint set payload_query = $2 where id = $1', [
    mailbox.endpointId,
    '{ kind email { id subject text rawUrl attachments { filename downloadUrl } } }',
  ]);
  const { emailId, bytes } = await receive(mailbox);
  const long = 'Everything, everywhere. '.repeat(1_000);
  await gateway.owner.pool.query(
    'with c as (update email_content set text_body = $2 where email_id = $1) update email set has_attachments = true where id = $1',
    [emailId, long],
  );
  const body = JSON.parse(await delivered(mailbox));
  expect(body).toMatchObject({
    id: expect.stringMatching(/^evt_/),
    type: 'email.received',
    event: 'email.received',
    data: { kind: 'EMAIL_RECEIVED', email: { id: emailId, subject: 'Files' } },
    truncated: ['email.text'],
    endpoint: { id: mailbox.endpointId, type: 'webhook' },
  });
  expect(Object.keys(body)).toEqual(['id', 'type', 'event', 'timestamp', 'cursor', 'data', 'truncated', 'endpoint']);
  const { text, rawUrl, attachments } = body.data.email;
  expect((await follow(text)).equals(bytes)).toBe(true);
  expect((await follow(rawUrl)).equals(bytes)).toBe(true);
  expect((await follow(attachments[1].downloadUrl)).equals(SMALL)).toBe(true);
});

test('a payload query that no longer fits the schema gives the default payload', async () => {
  receiver = await startWebhookReceiver();
  const mailbox = await mailboxFor({});
  await gateway.owner.pool.query('update endpoint set payload_query = $2 where id = $1', [
    mailbox.endpointId,
    '{ kind email { fieldOfYesterday } }',
  ]);
  const { emailId } = await receive(mailbox);
  expect(JSON.parse(await delivered(mailbox))).toMatchObject({ event: 'email.received', email: { id: emailId } });
});
