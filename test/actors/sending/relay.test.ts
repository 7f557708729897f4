import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { relayRoute } from '../../../actors/sending/resolve-destination.ts';
import { assignThreads } from '../../../actors/threading/assign-thread.ts';
import { insertMail } from '../../support/rows/mail-rows.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';
import { listAttempts, untilRecipients, untilTried } from './sending.ts';
import { createStage, type SendingStage } from './stage.ts';

let stage: SendingStage;

beforeAll(async () => {
  stage = await createStage();
});
afterEach(() => stage.clear());
afterAll(() => stage.close());

const areDelivered = (recipients: { status: string }[]) => recipients.every(({ status }) => status === 'delivered');

test('a relay gets mail for every domain, without a lookup', async () => {
  const relay = await stage.startSink();
  await stage.start({ relayUrl: `smtp://127.0.0.1:${relay.port}`, allowedPrivateNetworks: [] });
  const emailId = await stage.send({ to: ['ann@anywhere.test', 'ben@elsewhere.test'] });
  await untilRecipients(stage.owner, emailId, areDelivered);
  expect(relay.messages.flatMap(({ recipients }) => recipients).toSorted()).toEqual([
    'ann@anywhere.test',
    'ben@elsewhere.test',
  ]);
  expect(stage.dns.queries.filter((query) => query.endsWith(' anywhere.test'))).toEqual([]);
});

test('credentials in the URL are decoded and used', async () => {
  const relay = await stage.startSink({ auth: { user: 'ann@relay', pass: 'p@ss:word/ä' }, startTls: 'offered' });
  const credentials = `${encodeURIComponent('ann@relay')}:${encodeURIComponent('p@ss:word/ä')}`;
  await stage.start({ relayUrl: `smtp://${credentials}@127.0.0.1:${relay.port}` });
  const emailId = await stage.send({ to: ['ann@anywhere.test'] });
  await untilRecipients(stage.owner, emailId, areDelivered);
  expect(relay.messages[0]).toMatchObject({ user: 'ann@relay', isTls: true });
});

test('smtps uses TLS from the first byte', async () => {
  const relay = await stage.startSink({ auth: { user: 'ann', pass: 'word' }, isTlsFromStart: true });
  await stage.start({ relayUrl: `smtps://ann:word@127.0.0.1:${relay.port}` });
  const emailId = await stage.send({ to: ['ann@anywhere.test'] });
  await untilRecipients(stage.owner, emailId, areDelivered);
  expect(relay.messages[0]).toMatchObject({ user: 'ann', isTls: true });
  expect(await listAttempts(stage.owner, emailId)).toMatchObject([{ is_tls: true, host: null, remote_address: null }]);
});

test('a relay that refuses the credentials gets no mail, and the mail waits', async () => {
  const relay = await stage.startSink({ auth: { user: 'ann', pass: 'word' } });
  await stage.start({ relayUrl: `smtp://ann:wrong@127.0.0.1:${relay.port}` });
  const emailId = await stage.send({ to: ['ann@anywhere.test'] });
  const [recipient] = await untilTried(stage.owner, emailId);
  expect(recipient).toMatchObject({ status: 'pending', last_code: 535, last_status: '5.7.8' });
  expect(relay.transactions).toEqual([]);
});

test('a relay on this machine may be used without TLS, any other only over TLS with a valid certificate', () => {
  const asked = (url: string) => {
    const { tls, isCertificateVerified, credentials, port, hosts } = relayRoute(url);
    return [hosts[0]?.name, port, tls, isCertificateVerified, credentials?.user ?? null];
  };
  expect(asked('smtp://ann:word@127.0.0.1:2526')).toEqual(['127.0.0.1', 2526, 'opportunistic', false, 'ann']);
  expect(asked('smtp://ann:word@[::1]:2526')).toEqual(['::1', 2526, 'opportunistic', false, 'ann']);
  expect(asked('smtp://ann:word@localhost')).toEqual(['localhost', 25, 'opportunistic', false, 'ann']);
  expect(asked('smtp://ann:word@relay.example.com:587')).toEqual(['relay.example.com', 587, 'required', true, 'ann']);
  expect(asked('smtps://ann:word@relay.example.com')).toEqual(['relay.example.com', 465, 'immediate', true, 'ann']);
  expect(asked('smtp://relay.example.com')).toEqual(['relay.example.com', 25, 'opportunistic', false, null]);
});

test('a reply to the Message-ID that a relay assigned joins the thread of the sent email', async () => {
  const token = '0102018f00000001-aaaa-bbbb-000000';
  const relay = await stage.startSink({ script: { message: () => `250 Ok ${token}` } });
  await stage.start({ relayUrl: `smtp://127.0.0.1:${relay.port}` });
  const emailId = await stage.send({ to: ['cust@anywhere.test'] });
  await untilRecipients(stage.owner, emailId, areDelivered);
  const { workspaceId } = stage.sender;
  await assignThreads(testActorContext(stage.owner), workspaceId, [emailId]);

  const relayed = `<${token}@eu-test-1.amazonses.com>`;
  const receive = async (references: string[], owner = workspaceId) => {
    const [id = ''] = await insertMail(stage.owner, [
      { workspaceId: owner, inReplyTo: references.slice(0, 1), references },
    ]);
    await assignThreads(testActorContext(stage.owner), owner, [id]);
    const { rows } = await stage.owner.pool.query('select thread_id from email where id = any ($1) order by type', [
      [id, emailId],
    ]);
    return new Set(rows.map((row) => row.thread_id)).size;
  };
  expect(await receive([relayed])).toBe(1);
  // Again, now that a message of the thread refers to it; and only in References.
  expect(await receive(['<parent@anywhere.test>', relayed])).toBe(1);
  // Another id of the relay, and the id in mail to another account.
  expect(await receive(['<0102018f00000002-aaaa-bbbb-000000@eu-test-1.amazonses.com>'])).toBe(2);
  expect(await receive([relayed], 'usr_other')).toBe(2);
});

test('a server that is not a relay assigns no ids', async () => {
  const sink = await stage.startSink({ script: { message: () => '250 Ok 0102018f00000003-aaaa-bbbb-000000' } });
  stage.publish('direct.test', '127.0.0.1');
  await stage.start({ port: sink.port });
  const emailId = await stage.send({ to: ['ann@direct.test'] });
  await untilRecipients(stage.owner, emailId, areDelivered);
  const { rows } = await stage.owner.pool.query('select from relayed_message_id where email_id = $1', [emailId]);
  expect(rows).toEqual([]);
});
