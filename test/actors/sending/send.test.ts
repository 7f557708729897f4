import { authenticate } from 'mailauth';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createDnsResolver } from '../../../actors/dns-resolver.ts';
import { type SendingActorOptions } from '../../../actors/sending/actor.ts';
import { deriveReturnAddressKey, readReturnAddress } from '../../../core/return-address.ts';
import type { Database } from '../../../db/database.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { type DnsServer, startDnsServer } from '../../support/dns.ts';
import { createSender, queueMail, type TestSender } from '../../support/queued-mail.ts';
import { type SinkMta, type SinkOptions, startSinkMta } from '../../support/sink-mta.ts';
import {
  attemptsOf,
  emailOf,
  recipientsOf,
  SECRET_KEY,
  startSending,
  type TestSending,
  untilRecipients,
} from './sending.ts';

let database: TestDatabase;
let actorDatabase: Database;
let owner: Database;
let dns: DnsServer;
let sender: TestSender;
const sinks: SinkMta[] = [];
let sending: TestSending | null = null;

beforeAll(async () => {
  database = await createTestDatabase();
  actorDatabase = database.open('postroom_actor');
  owner = database.open(null);
  dns = await startDnsServer();
  sender = await createSender(owner, 'box.test', SECRET_KEY);
  if (sender.dkimRecord !== null) dns.set(sender.dkimRecord.name, 'TXT', [sender.dkimRecord.value]);
});
afterEach(async () => {
  await sending?.stop();
  sending = null;
  await Promise.all(sinks.splice(0).map((sink) => sink.stop()));
});
afterAll(async () => {
  await dns.stop();
  await database.drop();
});

async function startSink(options: SinkOptions = {}): Promise<SinkMta> {
  const sink = await startSinkMta(options);
  sinks.push(sink);
  return sink;
}

async function start(options: Partial<SendingActorOptions>): Promise<TestSending> {
  sending = await startSending(actorDatabase, { dnsServers: [dns.address], ...options });
  return sending;
}

/** Publishes a mail server of that domain at an address. */
function publish(domain: string, address = '127.0.0.1', preference = 10): void {
  const host = `mx${preference}.${domain}`;
  dns.set(domain, 'MX', [{ preference, exchange: host }]);
  dns.set(host, address.includes(':') ? 'AAAA' : 'A', [address]);
}

test('a queued email goes to the MX of its recipient, and is delivered', async () => {
  const sink = await startSink();
  publish('peer.test');
  const actor = await start({ port: sink.port });
  const emailId = await queueMail(owner, sender, { to: ['Ann.Peer@peer.test'] });
  actor.wake(sender.userId, emailId);
  const [message] = await sink.received(1);
  const [recipient] = await untilRecipients(owner, emailId, ([only]) => only?.status === 'delivered');
  expect(message?.recipients).toEqual(['Ann.Peer@peer.test']);
  expect(message?.connection.helo).toBe('out.postroom.test');
  expect(readReturnAddress(deriveReturnAddressKey(SECRET_KEY), message?.from ?? '')).toBe(recipient?.id);
  expect(message?.from.endsWith('@box.test')).toBe(true);
  expect(recipient).toMatchObject({ attempts: 1, wait_seconds: null, last_code: 250, return_id: recipient?.id });
  expect(await attemptsOf(owner, emailId)).toEqual([
    {
      number: 1,
      outcome: 'delivered',
      host: 'mx10.peer.test',
      remote_address: '127.0.0.1',
      is_tls: false,
      code: 250,
      enhanced_status: '2.0.0',
      text: 'taken as 1-1',
    },
  ]);
  expect(await emailOf(owner, emailId)).toMatchObject({
    status: 'delivered',
    sent_at: expect.any(Date),
    events: [{ kind: 'email.delivered', data: { recipient: 'Ann.Peer@peer.test', code: 250 } }],
  });
});

test('the sweep finds what no wake told of', async () => {
  const sink = await startSink();
  publish('swept.test');
  const emailId = await queueMail(owner, sender, { to: ['ann@swept.test'] });
  await start({ port: sink.port });
  await untilRecipients(owner, emailId, ([only]) => only?.status === 'delivered');
  expect(sink.messages).toHaveLength(1);
});

test('the signature is good by the record that users are told to publish', async () => {
  const sink = await startSink();
  publish('signed.test');
  const actor = await start({ port: sink.port });
  const emailId = await queueMail(owner, sender, {
    to: ['ann@signed.test'],
    subject: 'Grüße, and a subject that is long enough to be folded over several lines of the header section',
    text: 'Lines  with   spaces \n.\n..dots\n\ttabs\t\n\n\n',
  });
  actor.wake(sender.userId, emailId);
  const [message] = await sink.received(1);
  const { dkim, dmarc } = await authenticate(message?.octets ?? '', {
    sender: message?.from ?? '',
    ip: '127.0.0.1',
    helo: 'out.postroom.test',
    mta: 'sink.test',
    resolver: createDnsResolver({ servers: [dns.address] }).within(3_000),
    disableBimi: true,
  });
  expect(dkim.results.map(({ status, signingDomain, selector }) => [status.result, signingDomain, selector])).toEqual([
    ['pass', 'box.test', 'sel1'],
  ]);
  expect(dmarc).not.toBe(false);
  const header = message?.octets.toString('latin1').split('\r\n\r\n')[0] ?? '';
  expect(header).toMatch(/^DKIM-Signature: v=1; a=rsa-sha256; c=relaxed\/relaxed;/);
  expect(header.split('\r\n').every((line) => line.length <= 78)).toBe(true);
  expect((await recipientsOf(owner, emailId))[0]?.last_code).toBeDefined();
});
