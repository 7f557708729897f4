import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { SinkOptions } from '../../support/servers/sink-mta.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { listAttempts, untilRecipients, untilTried } from './sending.ts';
import { createStage, type SendingStage } from './stage.ts';

let stage: SendingStage;
const hosts: WebhookReceiver[] = [];

beforeAll(async () => {
  stage = await createStage();
});
afterEach(async () => {
  await stage.clear();
  await Promise.all(hosts.splice(0).map((host) => host.stop()));
});
afterAll(() => stage.close());

const isDelivered = ([first]: { status: string }[]) => first?.status === 'delivered';

/** Announces a policy and starts its host. */
async function publishPolicy(domain: string, policy: string, contentType = 'text/plain'): Promise<WebhookReceiver> {
  const script = [{ status: 200, headers: { 'content-type': contentType }, body: policy }];
  const host = await startWebhookReceiver({ tlsName: `mta-sts.${domain}`, script });
  hosts.push(host);
  stage.dns.set(`_mta-sts.${domain}`, 'TXT', ['v=STSv1; id=1;']);
  stage.dns.set(`mta-sts.${domain}`, 'A', ['127.0.0.1']);
  return host;
}

const makePolicy = (mode: string, mx: string, maxAge = 86_400) =>
  `version: STSv1\r\nmode: ${mode}\r\nmx: ${mx}\r\nmax_age: ${maxAge}\r\n`;

/** Starts a mail server of the domain, its policy host and an actor that trusts both certificates. */
async function startDomain(domain: string, policy: string, sinkOptions: SinkOptions, isSinkTrusted = true) {
  const sink = await stage.startSink({ name: `mx1.${domain}`, ...sinkOptions });
  stage.publish(domain, '127.0.0.1');
  const host = await publishPolicy(domain, policy);
  const trustedCertificates = [host.certificate ?? '', ...(isSinkTrusted ? [sink.certificate ?? ''] : [])];
  await stage.start({ port: sink.port, policyPort: host.port, trustedCertificates });
  return { sink, host };
}

test('a policy in mode enforce is fetched once, and mail goes over TLS with a valid certificate', async () => {
  const { sink, host } = await startDomain('sts.test', makePolicy('enforce', '*.sts.test'), { startTls: 'offered' });
  const first = await stage.send({ to: ['ann@sts.test'] });
  await untilRecipients(stage.owner, first, isDelivered);
  const second = await stage.send({ to: ['bob@sts.test'] });
  await untilRecipients(stage.owner, second, isDelivered);
  expect(sink.messages.map(({ isTls }) => isTls)).toEqual([true, true]);
  expect(host.requests.map(({ path }) => path)).toEqual(['/.well-known/mta-sts.txt']);
  const { rows } = await stage.owner.pool.query('select domain, policy_id, mode, mx from mta_sts_policy');
  expect(rows).toEqual([{ domain: 'sts.test', policy_id: '1', mode: 'enforce', mx: ['*.sts.test'] }]);
});

test.each([
  ['offers no TLS', 'absent', { startTls: 'absent' }, true, 'does not offer STARTTLS'],
  ['refuses STARTTLS', 'refused', { startTls: 'refused' }, true, 'does not offer STARTTLS'],
  ['fails in the handshake', 'broken', { startTls: 'broken' }, true, 'TLS failed'],
  ['has a certificate of no known authority', 'unknown', { startTls: 'offered' }, false, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  [
    'has a certificate for another name',
    'misnamed',
    { startTls: 'offered', name: 'mx.elsewhere.test' },
    true,
    'ERR_TLS_CERT_ALTNAME_INVALID',
  ],
] as const)(
  'under a policy in mode enforce, mail waits when the server %s',
  async (_, label, options, isTrusted, text) => {
    const domain = `${label}-sts.test`;
    const { sink } = await startDomain(domain, makePolicy('enforce', `mx1.${domain}`), options, isTrusted);
    const emailId = await stage.send({ to: [`ann@${domain}`] });
    await untilTried(stage.owner, emailId);
    const [attempt] = await listAttempts(stage.owner, emailId);
    expect(attempt).toMatchObject({ outcome: 'deferred', enhanced_status: '4.7.5', host: `mx1.${domain}` });
    expect(attempt?.text).toContain(text);
    expect(attempt?.text).toContain(`The MTA-STS policy of ${domain} requires TLS with a valid certificate`);
    expect(sink.transactions).toEqual([]);
  },
);

test('mail waits under a policy in mode enforce that lists no mail server', async () => {
  const { sink } = await startDomain('unlisted.test', makePolicy('enforce', '*.other.test'), { startTls: 'offered' });
  const emailId = await stage.send({ to: ['ann@unlisted.test'] });
  await untilTried(stage.owner, emailId);
  expect(await listAttempts(stage.owner, emailId)).toMatchObject([
    {
      outcome: 'deferred',
      enhanced_status: '4.7.5',
      text: 'The MTA-STS policy of unlisted.test does not list its mail servers (mx1.unlisted.test)',
    },
  ]);
  expect(sink.connections).toEqual([]);
});

test.each(['testing', 'none'])('under a policy in mode %s, mail is delivered without TLS', async (mode) => {
  const domain = `${mode}-mode.test`;
  await startDomain(domain, makePolicy(mode, '*.other.test'), { startTls: 'absent' });
  const emailId = await stage.send({ to: [`ann@${domain}`] });
  await untilRecipients(stage.owner, emailId, isDelivered);
  expect(await listAttempts(stage.owner, emailId)).toMatchObject([{ outcome: 'delivered', is_tls: false }]);
});

test('a stored policy applies after a restart, although DNS no longer announces it, until it expires', async () => {
  const { sink } = await startDomain('kept-sts.test', makePolicy('enforce', 'mx1.kept-sts.test', 3_600), {
    startTls: 'offered',
  });
  await untilRecipients(stage.owner, await stage.send({ to: ['ann@kept-sts.test'] }), isDelivered);
  stage.dns.set('_mta-sts.kept-sts.test', 'TXT', []);
  await stage.start({ port: sink.port, trustedCertificates: null });
  const emailId = await stage.send({ to: ['bob@kept-sts.test'] });
  await untilTried(stage.owner, emailId);
  expect(await listAttempts(stage.owner, emailId)).toMatchObject([{ outcome: 'deferred', enhanced_status: '4.7.5' }]);
  await stage.start({ port: sink.port, trustedCertificates: null });
  await stage.moveClock(3_600);
  await untilRecipients(stage.owner, emailId, isDelivered);
});

test.each([
  ['404', [404]],
  ['a redirect', [{ status: 302, headers: { location: 'https://elsewhere.test/' } }]],
  ['HTML', [{ status: 200, headers: { 'content-type': 'text/html' }, body: makePolicy('enforce', 'x.test') }]],
  ['a file of more than 64 KB', [{ status: 200, headers: { 'content-type': 'text/plain' }, body: 'x'.repeat(70_000) }]],
] as const)('a policy host that responds with %s gives no policy', async (_, script) => {
  const domain = `unfetched-${hostCount++}.test`;
  const { host } = await startDomain(domain, makePolicy('enforce', 'x.test'), { startTls: 'absent' });
  host.respond([...script]);
  await untilRecipients(stage.owner, await stage.send({ to: [`ann@${domain}`] }), isDelivered);
  expect(host.requests).toHaveLength(1);
});
let hostCount = 0;

test('a policy host with an invalid certificate, or at a private address, gives no policy', async () => {
  const sink = await stage.startSink();
  stage.publish('untrusted-host.test', '127.0.0.1');
  const host = await publishPolicy('untrusted-host.test', makePolicy('enforce', 'x.test'));
  await stage.start({ port: sink.port, policyPort: host.port });
  await untilRecipients(stage.owner, await stage.send({ to: ['ann@untrusted-host.test'] }), isDelivered);
  stage.publish('private-host.test', '127.0.0.1');
  stage.dns.set('_mta-sts.private-host.test', 'TXT', ['v=STSv1; id=1;']);
  stage.dns.set('mta-sts.private-host.test', 'A', ['10.1.2.3']);
  await untilRecipients(stage.owner, await stage.send({ to: ['ann@private-host.test'] }), isDelivered);
  expect(host.requests).toEqual([]);
});
