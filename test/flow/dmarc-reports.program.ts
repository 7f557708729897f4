import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AttachedFile, dmarcXml, mailWith, reportFiles } from '../support/mail/dmarc-reports.ts';
import { type TestAccount, until } from '../support/servers/service.ts';
import { type SharedService, sharedService } from '../support/servers/shared-service.ts';
import { sendOne } from '../support/servers/smtp-load.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/servers/webhook-receiver.ts';

let service: SharedService;
let receiver: WebhookReceiver;
let account: TestAccount & { domain: string; domainId: string };

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  service = await sharedService('single');
  account = await service.createAccount();
  const endpoint = await account.call('POST', '/endpoints', {
    name: 'all',
    type: 'webhook',
    config: { url: receiver.url },
  });
  const caught = await account.call('PATCH', `/domains/${account.domainId}`, {
    isCatchAllEnabled: true,
    catchAllEndpointId: endpoint.body.id,
  });
  expect([endpoint.status, caught.status]).toEqual([201, 200]);
}, 300_000);
afterAll(() => receiver?.stop());

async function send(bytes: Buffer, localPart: string): Promise<void> {
  const result = await sendOne({
    port: service.smtpPort,
    reversePath: 'dmarc@receiver.test',
    recipients: [`${localPart}@${account.domain}`],
    bytes: bytes,
  });
  expect(result.code).toBe(250);
}

test('reports that arrive by SMTP are read, summed up, kept as mail and not routed by the catch-all', async () => {
  const files: AttachedFile[] = ['zip', 'gzip', 'xml'].map((form, at) => {
    const records = [{ count: 9 }, { sourceIp: '192.0.2.9', count: 1, dkim: 'fail', spf: 'fail' } as const];
    const end = new Date(Date.now() - at * 4 * 86_400_000);
    return reportFiles(dmarcXml({ domain: account.domain, end, records }))[form as 'zip' | 'gzip' | 'xml'];
  });
  for (const [at, file] of files.entries()) await send(mailWith(file), ['dmarc', 'reports', 'anybody'][at] ?? '');
  await send(mailWith(reportFiles(dmarcXml({ domain: 'elsewhere.test' })).zip), 'postmaster');
  const path = `/domains/${account.domainId}`;
  await until(
    'three reports',
    () => service.output.slice(-3_000),
    async () => (await account.call('GET', `${path}/dmarc-reports`)).body.pagination?.total === 3,
  );
  const { data } = (await account.call('GET', `${path}/dmarc-reports`)).body;
  for (const { id, emailId } of data) {
    expect((await account.call('GET', `${path}/dmarc-reports/${id}`)).body.records).toHaveLength(2);
    expect((await account.call('GET', `/emails/${emailId}`)).body.attachments).toHaveLength(1);
  }
  const summary = (await account.call('GET', `${path}/dmarc`)).body;
  expect(summary).toMatchObject({ reportCount: 3, messages: 30, aligned: 27, alignedPercent: 90 });
  expect(summary.advice).toContain('3 messages failed, 3 of them from 192.0.2.9');
  // The one that is on another's domain is mail like any other.
  const [request, ...others] = await receiver.received(1);
  expect([request?.body.includes(`postmaster@${account.domain}`), others]).toEqual([true, []]);
});
