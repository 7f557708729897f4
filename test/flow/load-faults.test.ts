import { afterAll, beforeAll, expect, test } from 'vitest';
import { isFullLength, noteFigure } from '../support/chaos-figures.ts';
import { until } from '../support/servers/service.ts';
import { SmtpClient } from '../support/servers/smtp-client.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/servers/webhook-receiver.ts';
import { messageIdOf, SendingStage } from '../support/stages/sending-stage.ts';

const COUNT = isFullLength ? 10_000 : 200;
/** POST /emails/batch takes so many. */
const BATCH = 100;
const LIMIT_MS = 120_000 + COUNT * 100;

let stage: SendingStage;
let receiver: WebhookReceiver;
let address: string;

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  stage = await SendingStage.start('single');
  const { account } = stage;
  const endpoint = await account.call('POST', '/endpoints', {
    name: 'hook',
    type: 'webhook',
    config: { url: receiver.url },
  });
  address = `box@${account.domain}`;
  await account.call('POST', '/email-addresses', { address, domainId: account.domainId, endpointId: endpoint.body.id });
}, 300_000);
afterAll(async () => {
  await stage?.stop();
  await receiver?.stop();
}, 60_000);

test(
  `${COUNT} emails that fall due in one second all go once, and mail and requests are served meanwhile`,
  async () => {
    const idleMs = await requestTimes(async (times) => times.length >= 100);
    const messageIds = await scheduleAll(await stage.instantIn(2 * 3_600));
    // The other server takes nothing until mail and requests have been served beside all that waits for it.
    const { promise: isOpen, resolve: openSink } = Promise.withResolvers<undefined>();
    stage.sink.answer({ data: () => isOpen });
    await stage.passSeconds(2 * 3_600);
    await until(
      'all are released',
      () => stage.service.output.slice(-2000),
      async () => (await countOf(`select from email where status = 'scheduled'`)) === 0,
      LIMIT_MS,
    );
    const client = await SmtpClient.greet(stage.service.smtpPort);
    const reply = await client.deliver('Subject: Beside them\r\nFrom: a@elsewhere.test\r\n\r\nx\r\n.\r\n', [address]);
    expect(reply.code, reply.text).toBe(250);
    client.destroy();
    await receiver.received(1, LIMIT_MS);
    expect((await stage.account.call('GET', '/emails?limit=10')).status).toBe(200);
    expect(stage.sink.messages).toHaveLength(0);

    openSink(undefined);
    const startedAt = performance.now();
    const busyMs = await requestTimes(async () => stage.sink.messages.length >= COUNT);
    const seconds = (performance.now() - startedAt) / 1_000;
    await until(
      'all are delivered',
      () => stage.service.output.slice(-2000),
      async () => (await countOf(`select from recipient where status = 'delivered'`)) === COUNT,
      LIMIT_MS,
    );
    expect(stage.sink.messages).toHaveLength(COUNT);
    expect(new Set(stage.sink.messages.map(messageIdOf))).toEqual(new Set(messageIds));
    await noteFigure(
      'G4',
      `${COUNT} emails sent in ${seconds.toFixed(0)} s (${(COUNT / seconds).toFixed(0)} per second); GET /emails p95 ${p95(idleMs)} ms idle, ${p95(busyMs)} ms meanwhile`,
    );
  },
  2 * LIMIT_MS,
);

/** Schedules all emails for that instant; returns their Message-IDs. */
async function scheduleAll(scheduledAt: string): Promise<string[]> {
  for (let first = 0; first < COUNT; first += BATCH) {
    const answer = await stage.account.call(
      'POST',
      '/emails/batch',
      Array.from({ length: BATCH }, (_, n) => ({
        from: `hello@${stage.account.domain}`,
        to: `r${first + n}@elsewhere.test`,
        subject: `Due ${first + n}`,
        text: 'Due',
        scheduled_at: scheduledAt,
      })),
    );
    expect(answer.status, JSON.stringify(answer.body).slice(0, 500)).toBeLessThan(300);
  }
  const rows = await stage.query<{ message_id: string }>(`select message_id from email where status = 'scheduled'`);
  expect(rows).toHaveLength(COUNT);
  return rows.map((row) => row.message_id);
}

/** Lists emails again and again until the condition holds; returns how long each request took, in milliseconds. */
async function requestTimes(isDone: (times: readonly number[]) => Promise<boolean>): Promise<number[]> {
  const times: number[] = [];
  while (!(await isDone(times))) {
    const startedAt = performance.now();
    const { status } = await stage.account.call('GET', '/emails?limit=10');
    times.push(performance.now() - startedAt);
    expect(status).toBe(200);
  }
  return times;
}

async function countOf(select: string): Promise<number> {
  const [row] = await stage.query<{ count: number }>(`select count(*)::int as count from (${select}) each`);
  return row?.count ?? 0;
}

function p95(times: readonly number[]): string {
  return (times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? 0).toFixed(0);
}
