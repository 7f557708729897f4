import { gunzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Actor } from '../../../actors/actor.ts';
import { startSchedulingActor } from '../../../actors/scheduling/actor.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';
import { waitFor } from '../../support/wait-for.ts';
import { untilRecipients, untilTried } from './sending.ts';
import { createStage, type SendingStage } from './stage.ts';

let stage: SendingStage;
const hosts: WebhookReceiver[] = [];
const schedulers: Actor[] = [];

beforeAll(async () => {
  stage = await createStage();
});
afterEach(async () => {
  await Promise.all(schedulers.splice(0).map((actor) => actor.stop()));
  await stage.clear();
  await Promise.all(hosts.splice(0).map((host) => host.stop()));
});
afterAll(() => stage.close());

/** A day, and the longest delay of a report. */
const UNTIL_DUE_SECONDS = 86_400 + 5 * 3_600;

async function startHost(options: Parameters<typeof startWebhookReceiver>[0]): Promise<WebhookReceiver> {
  const host = await startWebhookReceiver(options);
  hosts.push(host);
  return host;
}

async function startScheduler(trustedCertificates: string[]): Promise<void> {
  const actor = await startSchedulingActor(testActorContext(stage.database), {
    dnsServers: [stage.dns.address],
    mailHostname: 'out.postroom.test',
    tlsReports: {
      allowedPrivateNetworks: ['127.0.0.0/8'],
      refusedPorts: [],
      trustedCertificates,
      systemMailFrom: `postroom@${stage.sender.domain}`,
    },
  });
  schedulers.push(actor);
}

test('a failed and a successful session are reported once over https and once by mail, with two schedulers', async () => {
  const broken = await stage.startSink({ name: 'mx1.told.test', startTls: 'absent' });
  const sink = await stage.startSink({
    name: 'mx2.told.test',
    startTls: 'offered',
    host: '127.0.0.2',
    port: broken.port,
  });
  stage.publish('told.test', '127.0.0.1', '127.0.0.2');
  const policy = 'version: STSv1\nmode: enforce\nmx: *.told.test\nmax_age: 86400\n';
  const policyHost = await startHost({
    tlsName: 'mta-sts.told.test',
    script: [{ status: 200, headers: { 'content-type': 'text/plain' }, body: policy }],
  });
  stage.dns.set('_mta-sts.told.test', 'TXT', ['v=STSv1; id=1;']);
  stage.dns.set('mta-sts.told.test', 'A', ['127.0.0.1']);
  const receiver = await startHost({ tlsName: 'reports.told.test' });
  stage.dns.set('reports.told.test', 'A', ['127.0.0.1']);
  const uri = `https://reports.told.test:${receiver.port}/tls`;
  stage.dns.set('_smtp._tls.told.test', 'TXT', [`v=TLSRPTv1; rua=${uri},mailto:tls@inbox.test`]);
  stage.publish('inbox.test', '127.0.0.2');
  const options = {
    port: broken.port,
    policyPort: policyHost.port,
    trustedCertificates: [policyHost.certificate ?? '', sink.certificate ?? ''],
    countsTlsSessions: true,
  };
  const sending = await stage.start(options);
  const emailId = await stage.send({ to: ['ann@told.test'] });
  await untilRecipients(stage.owner, emailId, ([first]) => first?.status === 'delivered');
  // Stopping stores the counts.
  await sending.stop();
  await stage.moveClock(UNTIL_DUE_SECONDS);
  const certificates = [receiver.certificate ?? ''];
  await Promise.all([startScheduler(certificates), startScheduler(certificates)]);
  await waitFor(async () => expect(await leftReports()).toBe(0));
  await stage.start(options);
  await sink.until(({ messages }) => messages.length >= 2);

  expect(receiver.requests).toHaveLength(1);
  const [request] = receiver.requests;
  expect(request).toMatchObject({ method: 'POST', path: '/tls' });
  expect(request?.headers['content-type']).toBe('application/tlsrpt+gzip');
  const { rows } = await stage.owner.pool.query(`select subject from email where own_address like 'postroom@%'`);
  expect(rows).toHaveLength(1);
  const mail = sink.messages.at(-1)?.bytes.toString('latin1') ?? '';
  expect(mail).toMatch(/^DKIM-Signature: /);
  expect(mail).toContain('\r\nTLS-Report-Domain: told.test\r\n');
  expect(mail).toContain('\r\nTLS-Report-Submitter: out.postroom.test\r\n');
  expect(mail).toMatch(/\r\nContent-Type: multipart\/report; report-type=tlsrpt;/);
  const encoded = /application\/tlsrpt\+gzip[^]*?\r\n\r\n([A-Za-z0-9+/=\r\n]+)/.exec(mail)?.[1] ?? '';
  const report: unknown = JSON.parse(gunzipSync(Buffer.from(encoded, 'base64')).toString());
  expect(report).toMatchObject({
    'organization-name': 'out.postroom.test',
    policies: [
      {
        policy: { 'policy-type': 'sts', 'policy-domain': 'told.test', 'mx-host': ['*.told.test'] },
        summary: { 'total-successful-session-count': 1, 'total-failure-session-count': 1 },
        'failure-details': [
          {
            'result-type': 'starttls-not-supported',
            'receiving-mx-hostname': 'mx1.told.test',
            'receiving-ip': '127.0.0.1',
            'failed-session-count': 1,
          },
        ],
      },
    ],
  });
});

test('sessions with a domain that wants no reports are forgotten', async () => {
  const sink = await stage.startSink({ startTls: 'broken' });
  stage.publish('silent.test', '127.0.0.1');
  const sending = await stage.start({ port: sink.port, countsTlsSessions: true });
  await untilTried(stage.owner, await stage.send({ to: ['ann@silent.test'] }));
  await sending.stop();
  const { rows } = await stage.owner.pool.query(
    `select domain, failure from tls_session_count where domain = 'silent.test'`,
  );
  expect(rows).toMatchObject([{ domain: 'silent.test', failure: { 'result-type': 'validation-failure' } }]);
  await stage.moveClock(UNTIL_DUE_SECONDS);
  await startScheduler([]);
  await waitFor(async () => expect(await leftReports()).toBe(0));
});

test('with a policy in mode testing, mail is delivered and the certificate of no known authority is counted', async () => {
  const sink = await stage.startSink({ name: 'mx1.trying.test', startTls: 'offered' });
  stage.publish('trying.test', '127.0.0.1');
  const policy = 'version: STSv1\nmode: testing\nmx: mx1.trying.test\nmax_age: 86400\n';
  const script = [{ status: 200, headers: { 'content-type': 'text/plain' }, body: policy }];
  const policyHost = await startHost({ tlsName: 'mta-sts.trying.test', script });
  stage.dns.set('_mta-sts.trying.test', 'TXT', ['v=STSv1; id=1;']);
  stage.dns.set('mta-sts.trying.test', 'A', ['127.0.0.1']);
  const sending = await stage.start({
    port: sink.port,
    policyPort: policyHost.port,
    trustedCertificates: [policyHost.certificate ?? ''],
    countsTlsSessions: true,
  });
  const emailId = await stage.send({ to: ['ann@trying.test'] });
  await untilRecipients(stage.owner, emailId, ([first]) => first?.status === 'delivered');
  await sending.stop();
  const { rows } = await stage.owner.pool.query(
    `select failure, sessions::integer from tls_session_count where domain = 'trying.test'`,
  );
  expect(rows).toMatchObject([{ failure: { 'result-type': 'certificate-not-trusted' }, sessions: 1 }]);
});

async function leftReports(): Promise<number> {
  const { rows } = await stage.owner.pool.query<{ count: number }>(
    `select (select count(*) from tls_report)::integer + (select count(*) from tls_session_count)::integer as count`,
  );
  return rows[0]?.count ?? 0;
}
