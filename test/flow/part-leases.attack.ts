import { afterAll, beforeAll, expect, test } from 'vitest';
import { processTree } from '../support/servers/process-tree.ts';
import { until } from '../support/servers/service.ts';
import { SmtpClient } from '../support/servers/smtp-client.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/servers/webhook-receiver.ts';
import { SendingStage } from '../support/stages/sending-stage.ts';

let stage: SendingStage;
let receiver: WebhookReceiver;

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  stage = await SendingStage.start('single');
}, 300_000);
afterAll(async () => {
  await stage?.stop();
  await receiver?.stop();
});

function killPart(name: 'mail' | 'gateway'): void {
  const runner = stage.service.processes.get('runner')?.pid ?? 0;
  const part = processTree(runner).find(({ command }) => command.includes(`parts/${name}.`));
  expect(part).toBeDefined();
  process.kill(part?.pid ?? 0, 'SIGKILL');
}

const about = () => stage.service.output.slice(-2_000);

/** Names of the holders of the claims in that table, whose leases then last for an hour. */
async function holdClaims(table: 'recipient' | 'delivery'): Promise<string[]> {
  const rows = await stage.query<{ claimed_by: string }>(
    `update ${table} set claimed_until = claimed_until + interval '1 hour' where status = 'pending' and claimed_by is not null returning claimed_by`,
  );
  return rows.map(({ claimed_by: claimedBy }) => claimedBy);
}

test('the successor of a killed process takes over its work at once, and not the work of the other process', async () => {
  const { account } = stage;
  const hook = { name: 'hook', type: 'webhook', config: { url: receiver.url, timeout: 120 } };
  const { id: endpointId } = (await account.call('POST', '/endpoints', hook)).body;
  const address = `box@${account.domain}`;
  await account.call('POST', '/email-addresses', { address, domainId: account.domainId, endpointId });

  // Both processes hold a claim: a mail server and a webhook that do not respond.
  stage.sink.respond({ data: () => 'hang' });
  receiver.respond(['hang']);
  const { body: sent } = await account.call('POST', '/emails', {
    from: `hello@${account.domain}`,
    to: 'bob@elsewhere.test',
    subject: 'In hand',
    text: 'Hello',
  });
  await stage.sink.until(({ transactions }) => transactions.some(({ recipients }) => recipients.length === 1));
  const client = await SmtpClient.connect(stage.service.smtpPort);
  await client.reply();
  for (const line of ['EHLO client.test', 'MAIL FROM:<ann@elsewhere.test>', `RCPT TO:<${address}>`, 'DATA'])
    await client.say(line);
  expect((await client.say('Subject: In hand\r\n\r\nHello\r\n.')).code).toBe(250);
  client.destroy();
  await until('the webhook is asked', about, async () => receiver.requests.length === 1);
  const sending = await holdClaims('recipient');
  const delivering = await holdClaims('delivery');
  expect([sending.length, delivering.length]).toEqual([1, 1]);
  expect(sending).not.toEqual(delivering);

  stage.sink.respond({});
  killPart('gateway');
  await stage.awaitStatus(sent.id, 'delivered');
  expect(await stage.query(`select claimed_by from delivery where status = 'pending'`)).toEqual([
    { claimed_by: delivering[0] },
  ]);
  expect(receiver.requests).toHaveLength(1);

  receiver.respond([200]);
  killPart('mail');
  await until('the webhook is asked again', about, async () => receiver.requests.length === 2);
  const [first, second] = receiver.requests;
  expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
});
