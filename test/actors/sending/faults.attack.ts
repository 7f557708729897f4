import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createSender, queueMail } from '../../support/rows/queued-mail.ts';
import type { SinkOptions, SinkReply, SinkScript } from '../../support/servers/sink-mta.ts';
import { listAttempts, readEmail, untilRecipients, untilTried } from './sending.ts';
import { createStage, type SendingStage } from './stage.ts';

let stage: SendingStage;
let domains = 0;

beforeAll(async () => {
  stage = await createStage();
});
afterEach(() => stage.clear());
afterAll(() => stage.close());

/** Milliseconds, so that servers which hang are given up at once. */
const SHORT = { connectMs: 60_000, openingMs: 60_000, greetingMs: 400, envelopeMs: 400, messageMs: 400 };

/** Sends one email to a new domain whose server does as told, and answers what came of its recipient. */
async function sendTo(options: SinkOptions, limits = {}) {
  const sink = await stage.startSink(options);
  const domain = `faulty${domains++}.test`;
  stage.publish(domain, '127.0.0.1');
  await stage.start({ port: sink.port, limits });
  const emailId = await stage.send({ to: [`ann@${domain}`] });
  const [recipient] = await untilTried(stage.owner, emailId);
  return { sink, emailId, recipient, address: `ann@${domain}` };
}

async function suppressions(): Promise<string[]> {
  const { rows } = await stage.owner.pool.query<{ address: string }>(
    `select address from suppression order by address`,
  );
  return rows.map(({ address }) => address);
}

const DEFERRED = { status: 'pending', attempts: 1 };
const BOUNCED = { status: 'bounced', attempts: 1, wait_seconds: null };

const temporary: [where: string, script: SinkScript][] = [
  ['banner', { banner: () => '421 4.3.2 not now' }],
  ['EHLO', { ehlo: () => '421 4.3.2 not now' }],
  ['MAIL', { mail: () => '451 4.3.2 not now' }],
  ['RCPT', { rcpt: () => '450 4.2.1 not now' }],
  ['DATA', { data: () => '451 4.3.2 not now' }],
  ['the final dot', { message: () => '452 4.3.1 not now' }],
];
test.each(temporary)('a 4xx at %s is retried in five minutes', async (_, script) => {
  const { emailId, recipient } = await sendTo({ script });
  expect(recipient).toMatchObject({ ...DEFERRED, last_text: 'not now' });
  expect(recipient?.last_code).toBeGreaterThanOrEqual(421);
  expect(recipient?.wait_seconds).toBeGreaterThan(290);
  expect(recipient?.wait_seconds).toBeLessThanOrEqual(330);
  const email = await readEmail(stage.owner, emailId);
  expect(email.status).toBe('pending');
  expect(email.events.map(({ kind }) => kind)).toEqual(['email.delayed']);
  expect(await suppressions()).toEqual([]);
});

const permanent: [where: string, script: SinkScript][] = [
  ['MAIL', { mail: () => '550 5.1.1 never' }],
  ['RCPT', { rcpt: () => '550 5.1.1 never' }],
  ['DATA', { data: () => '550 5.1.1 never' }],
  ['the final dot', { message: () => '550 5.1.1 never' }],
];
test.each(permanent)('a 5xx at %s bounces at once', async (_, script) => {
  const { emailId, recipient, address } = await sendTo({ script });
  expect(recipient).toMatchObject({ ...BOUNCED, last_code: 550, last_status: '5.1.1', last_text: 'never' });
  const email = await readEmail(stage.owner, emailId);
  expect(email).toMatchObject({ status: 'bounced', failure_reason: 'never', sent_at: null });
  expect(email.events).toEqual([
    {
      kind: 'email.bounced',
      data: { recipient: address, code: 550, status: '5.1.1', text: 'never', reason: 'user_unknown' },
    },
  ]);
  expect(await suppressions()).toEqual([address]);
  expect((await listAttempts(stage.owner, emailId)).map(({ outcome, code }) => [outcome, code])).toEqual([
    ['bounced', 550],
  ]);
});

test('a 5xx before the message is our own fault, and is retried', async () => {
  const { recipient } = await sendTo({ script: { banner: () => '554 5.7.1 we do not like you' } });
  expect(recipient).toMatchObject({ ...DEFERRED, last_code: 554, last_text: 'we do not like you' });
  expect(await suppressions()).toEqual([]);
});

test('a host that accepts no mail at all bounces', async () => {
  const { recipient } = await sendTo({ script: { banner: () => '521 5.3.2 no mail here' } });
  expect(recipient).toMatchObject({ ...BOUNCED, last_code: 521 });
});

test('a refusal of the content bounces and does not suppress the address', async () => {
  const { recipient } = await sendTo({ script: { message: () => '554 5.7.1 looks like spam' } });
  expect(recipient).toMatchObject({ ...BOUNCED, last_code: 554 });
  expect(await suppressions()).toEqual([]);
});

test('a reply of several lines is stored as one', async () => {
  const reply: SinkReply = '550-5.1.1 no such\r\n550-5.1.1 mailbox\r\n550 5.1.1 here';
  const { recipient } = await sendTo({ script: { rcpt: () => reply } });
  expect(recipient).toMatchObject({ last_code: 550, last_status: '5.1.1', last_text: 'no such mailbox here' });
});

test('a connection that drops in DATA is retried', async () => {
  const { sink, recipient, emailId } = await sendTo({ script: { body: () => 'drop' } });
  expect(recipient).toMatchObject({ ...DEFERRED, last_code: null, last_status: '4.4.2' });
  expect(recipient?.last_text).toContain('The server closed the connection');
  sink.respond({});
  await stage.moveClock(400);
  await untilRecipients(stage.owner, emailId, ([only]) => only?.status === 'delivered');
  expect(sink.messages).toHaveLength(1);
});

test('a connection that drops after the final dot is retried, and may double the message', async () => {
  const { sink, recipient, emailId } = await sendTo({ script: { message: () => 'drop' } });
  expect(recipient).toMatchObject({ ...DEFERRED, last_code: null, last_status: '4.4.2' });
  expect(recipient?.last_text).toBe(
    'The server closed the connection, after the message was sent: it may have been taken',
  );
  sink.respond({});
  await stage.moveClock(400);
  await untilRecipients(stage.owner, emailId, ([only]) => only?.status === 'delivered');
  const ids = sink.messages.map(({ bytes }) => /^Message-ID: (.*)\r$/im.exec(bytes.toString())?.[1]);
  expect(ids).toHaveLength(2);
  expect(ids[0]).toBe(ids[1]);
});

const hanging: [where: string, script: SinkScript][] = [
  ['the banner', { banner: () => 'hang' }],
  ['EHLO', { ehlo: () => 'hang' }],
  ['MAIL', { mail: () => 'hang' }],
  ['RCPT', { rcpt: () => 'hang' }],
  ['DATA', { data: () => 'hang' }],
  ['the message', { body: () => 'hang' }],
  ['the final dot', { message: () => 'hang' }],
];
test.each(hanging)('a server that hangs at %s is left at the time limit', async (_, script) => {
  const { sink, recipient } = await sendTo({ script }, SHORT);
  expect(recipient).toMatchObject({ ...DEFERRED, last_code: null, last_status: '4.4.2' });
  expect(recipient?.last_text).toContain('The server did not respond in time');
  await sink.until(() => sink.openConnections() === 0);
});

test('a server that responds slowly and steadily is left at the time limit, too', async () => {
  const drip: SinkScript = { rcpt: () => ({ reply: '250 2.1.5 well', afterMs: 300 }), data: () => 'hang' };
  const { recipient } = await sendTo({ script: drip }, SHORT);
  expect(recipient).toMatchObject({ ...DEFERRED, last_status: '4.4.2' });
});

test('a server that is no SMTP server is retried', async () => {
  const { recipient } = await sendTo({ script: { banner: () => '200 OK' as SinkReply } });
  expect(recipient).toMatchObject(DEFERRED);
});

test('a refused connection is retried', async () => {
  const sink = await stage.startSink();
  await sink.stop();
  stage.publish('closed.test', '127.0.0.1');
  await stage.start({ port: sink.port });
  const emailId = await stage.send({ to: ['ann@closed.test'] });
  const [recipient] = await untilTried(stage.owner, emailId);
  expect(recipient).toMatchObject({ ...DEFERRED, last_status: '4.4.1', last_text: 'Connection refused' });
  expect(await listAttempts(stage.owner, emailId)).toMatchObject([
    { outcome: 'deferred', host: 'mx1.closed.test', remote_address: '127.0.0.1', code: null },
  ]);
});

test('a message that is larger than the server accepts bounces before it is sent', async () => {
  const { sink, recipient } = await sendTo({ extensions: ['PIPELINING', 'SIZE 100'] });
  expect(recipient).toMatchObject({ ...BOUNCED, last_status: '5.3.4' });
  expect(sink.transactions).toHaveLength(0);
  expect(await suppressions()).toEqual([]);
});

test('a server without any extension gets its mail', async () => {
  const { sink, recipient } = await sendTo({
    extensions: [],
    script: { ehlo: (connection) => (connection.transcript.at(-1)?.includes('EHLO') ? '502 5.5.1 what?' : undefined) },
  });
  expect(recipient).toMatchObject({ status: 'delivered' });
  expect(sink.transactions[0]?.parameters).toEqual([]);
});

test('our own fault is retried and delays no other', async () => {
  const sink = await stage.startSink();
  stage.publish('well.test', '127.0.0.1');
  const keyless = await createSender(stage.owner, 'lost-key.test', randomBytes(32));
  const unsignable = await queueMail(stage.owner, keyless, { to: ['ann@well.test'] });
  const spoiled = await queueMail(stage.owner, stage.sender, { to: ['ann@well.test'] });
  await stage.owner.pool.query(
    `update raw_message set packed = 'spoiled' where id = (select raw_id from email where id = $1)`,
    [spoiled],
  );
  await stage.start({ port: sink.port });
  const well = await stage.send({ to: ['ann@well.test'] });
  await untilRecipients(stage.owner, well, ([only]) => only?.status === 'delivered');
  const texts = await Promise.all(
    [unsignable, spoiled].map(async (emailId) => {
      const [recipient] = await untilTried(stage.owner, emailId);
      expect(recipient).toMatchObject({ ...DEFERRED, last_status: '4.3.0' });
      return recipient?.last_text;
    }),
  );
  expect(texts).toEqual(['The message could not be signed', 'The stored message is gone or damaged']);
});
