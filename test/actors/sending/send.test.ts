import { authenticate } from 'mailauth';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createDnsResolver } from '../../../actors/network/dns-resolver.ts';
import { deriveReturnAddressKey, readReturnAddress } from '../../../core/smtp/return-address.ts';
import { createSender, queueMail } from '../../support/rows/queued-mail.ts';
import type { SinkMessage } from '../../support/servers/sink-mta.ts';
import { listAttempts, readEmail, SECRET_KEY, untilRecipients } from './sending.ts';
import { createStage, type SendingStage } from './stage.ts';

let stage: SendingStage;

beforeAll(async () => {
  stage = await createStage();
});
afterEach(() => stage.clear());
afterAll(() => stage.close());

const isDelivered = ([first]: { status: string }[]) => first?.status === 'delivered';

test('a queued email is sent to the MX of its recipient, and is delivered', async () => {
  const sink = await stage.startSink();
  stage.publish('peer.test', '127.0.0.1');
  await stage.start({ port: sink.port });
  const emailId = await stage.send({ to: ['Ann.Peer@peer.test'] });
  const [message] = await sink.received(1);
  const [recipient] = await untilRecipients(stage.owner, emailId, isDelivered);
  expect(message?.recipients).toEqual(['Ann.Peer@peer.test']);
  expect(message?.connection.helo).toBe('out.postroom.test');
  expect(readReturnAddress(deriveReturnAddressKey(SECRET_KEY), message?.from ?? '')).toBe(recipient?.id);
  expect(message?.from.endsWith('@box.test')).toBe(true);
  expect(recipient).toMatchObject({ attempts: 1, wait_seconds: null, last_code: 250, return_id: recipient?.id });
  expect(await listAttempts(stage.owner, emailId)).toEqual([
    {
      number: 1,
      outcome: 'delivered',
      host: 'mx1.peer.test',
      remote_address: '127.0.0.1',
      is_tls: false,
      code: 250,
      enhanced_status: '2.0.0',
      text: 'taken as 1-1',
    },
  ]);
  expect(await readEmail(stage.owner, emailId)).toMatchObject({
    status: 'delivered',
    sent_at: expect.any(Date),
    events: [{ kind: 'email.delivered', data: { recipient: 'Ann.Peer@peer.test', code: 250 } }],
  });
});

test('subscribers get the outcome after its commit', async () => {
  const sink = await stage.startSink();
  stage.publish('heard.test', '127.0.0.1');
  const actor = await stage.start({ port: sink.port });
  const heard = new Promise<number>((resolve) => {
    actor.context.bus.subscribe('event.appended', ({ workspaceId, lastSeq }) => {
      if (workspaceId === stage.sender.workspaceId) resolve(lastSeq);
    });
  });
  const emailId = await stage.send({ to: ['ann@heard.test'] });
  const lastSeq = await heard;
  const { rows } = await stage.owner.pool.query(
    `select kind, email_id from event where workspace_id = $1 and seq = $2`,
    [stage.sender.workspaceId, lastSeq],
  );
  expect(rows).toEqual([{ kind: 'email.delivered', email_id: emailId }]);
});

test('the sweep finds mail whose wake was lost', async () => {
  const sink = await stage.startSink();
  stage.publish('swept.test', '127.0.0.1');
  const emailId = await queueMail(stage.owner, stage.sender, { to: ['ann@swept.test'] });
  await stage.start({ port: sink.port });
  await untilRecipients(stage.owner, emailId, isDelivered);
  expect(sink.messages).toHaveLength(1);
});

test('return addresses use the MAIL FROM domain once its records were found', async () => {
  const sink = await stage.startSink();
  stage.publish('mail-from.test', '127.0.0.1');
  const sender = await createSender(stage.owner, 'seen.test', null);
  stage.dns.set('mail.seen.test', 'MX', [{ preference: 10, exchange: 'out.postroom.test' }]);
  stage.dns.set('mail.seen.test', 'TXT', ['v=spf1 a:out.postroom.test ~all']);
  await stage.owner.pool.query(`update domain set mail_from_verified_at = now() where name = 'seen.test'`);
  await stage.start({ port: sink.port });
  await stage.send({ to: ['ann@mail-from.test'] }, sender);
  const [message] = await sink.received(1);
  expect(message?.from).toMatch(/^bounce\+.*@mail\.seen\.test$/);
});

test('the signature verifies with the record that users are asked to publish', async () => {
  const sink = await stage.startSink();
  stage.publish('signed.test', '127.0.0.1');
  publishKey(stage.sender.dkimRecord);
  await stage.start({ port: sink.port });
  await stage.send({
    to: ['ann@signed.test'],
    subject: 'Grüße, and a subject that is long enough to be folded over several lines of the header section',
    text: 'Lines  with   spaces \n.\n..dots\n\ttabs\t\n\n\n',
  });
  const [message] = await sink.received(1);
  expect(await listSignatures(message)).toEqual([['pass', 'box.test', 'sel1']]);
  const header = message?.bytes.toString('latin1').split('\r\n\r\n')[0] ?? '';
  expect(header).toMatch(/^DKIM-Signature: v=1; a=rsa-sha256; c=relaxed\/relaxed;/);
  expect(header.split('\r\n').every((line) => line.length <= 100)).toBe(true);
});

test('mail of a subdomain without a key is signed with the key of the domain above it', async () => {
  const sink = await stage.startSink();
  stage.publish('parent-signed.test', '127.0.0.1');
  publishKey(stage.sender.dkimRecord);
  const { workspaceId } = stage.sender;
  const below = await createSender(stage.owner, 'news.below.test', null);
  await stage.owner.pool.query(
    `with d as (insert into domain (workspace_id, id, name, status) values ($1, 'dom_parent', 'below.test', 'verified') returning id)
     insert into dkim_key (workspace_id, domain_id, selector, private_key_ciphertext, public_key)
     select $1, d.id, 'top', k.private_key_ciphertext, k.public_key from d, dkim_key k where k.workspace_id = $2`,
    [below.workspaceId, workspaceId],
  );
  stage.dns.set('top._domainkey.below.test', 'TXT', [stage.sender.dkimRecord?.value]);
  await stage.start({ port: sink.port });
  await stage.send({ to: ['ann@parent-signed.test'] }, below);
  const [message] = await sink.received(1);
  expect(await listSignatures(message)).toEqual([['pass', 'below.test', 'top']]);
});

test('mail of a domain without any key is sent unsigned', async () => {
  const sink = await stage.startSink();
  stage.publish('unsigned.test', '127.0.0.1');
  const sender = await createSender(stage.owner, 'keyless.test', null);
  await stage.start({ port: sink.port });
  await stage.send({ to: ['ann@unsigned.test'] }, sender);
  const [message] = await sink.received(1);
  expect(message?.bytes.toString()).not.toContain('DKIM-Signature');
});

test('a message of 12 megabytes arrives byte for byte, signed', async () => {
  const sink = await stage.startSink();
  stage.publish('large.test', '127.0.0.1');
  publishKey(stage.sender.dkimRecord);
  await stage.start({ port: sink.port });
  const line = `${'0123456789abcdef'.repeat(4)} \r\n.${'x'.repeat(70)}\r\n`;
  const header = 'From: hello@box.test\r\nTo: ann@large.test\r\nSubject: large\r\nMIME-Version: 1.0\r\n\r\n';
  const bytes = Buffer.from(header + line.repeat(Math.ceil(12_000_000 / line.length)));
  await stage.send({ to: ['ann@large.test'], bytes });
  const [message] = await sink.received(1);
  const received = message?.bytes ?? Buffer.alloc(0);
  expect(received.subarray(-bytes.length).equals(bytes)).toBe(true);
  expect(await listSignatures(message)).toEqual([['pass', 'box.test', 'sel1']]);
});

function publishKey(record: { name: string; value: string } | null): void {
  if (record !== null) stage.dns.set(record.name, 'TXT', [record.value]);
}

/** The verdicts of another implementation, by the DNS server's records. */
async function listSignatures(message: SinkMessage | undefined) {
  const { dkim } = await authenticate(message?.bytes ?? '', {
    sender: message?.from ?? '',
    ip: '127.0.0.1',
    helo: 'out.postroom.test',
    mta: 'sink.test',
    resolver: createDnsResolver({ servers: [stage.dns.address] }).within(60_000),
    disableBimi: true,
  });
  return dkim.results.map(({ status, signingDomain, selector }) => [status.result, signingDomain, selector]);
}
