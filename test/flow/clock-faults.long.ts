import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { faketimeEnvironment } from '../support/servers/faketime.ts';
import { type ServiceResponse, until } from '../support/servers/service.ts';
import { SmtpClient } from '../support/servers/smtp-client.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/servers/webhook-receiver.ts';
import { readField, SendingStage } from '../support/stages/sending-stage.ts';

const HOUR = 3_600;
/** How far a clock may be from where it was set: far less than an hour, far more than a slow machine needs. */
const TOLERANCE_SECONDS = 600;

const PROCESSES = ['gateway', 'smtp', 'receiving', 'threading', 'delivery', 'sending', 'scheduling'];
const faketime = faketimeEnvironment();

describe.skipIf(faketime === null)('the clock of every process jumps while that of PostgreSQL is right', () => {
  let stage: SendingStage;
  let receiver: WebhookReceiver;
  let folder: string;
  let address: string;
  let count = 0;

  beforeAll(async () => {
    receiver = await startWebhookReceiver();
    folder = await mkdtemp(path.join(tmpdir(), 'postroom-clock-'));
    await setClock(0);
    const environment = { ...faketime, FAKETIME_TIMESTAMP_FILE: path.join(folder, 'clock') };
    stage = await SendingStage.start('split', environment, { hasMetrics: true });
    const { account } = stage;
    const endpoint = await account.call('POST', '/endpoints', {
      name: 'hook',
      type: 'webhook',
      config: { url: receiver.url },
    });
    address = `box@${account.domain}`;
    await account.call('POST', '/email-addresses', {
      address,
      domainId: account.domainId,
      endpointId: endpoint.body.id,
    });
  }, 300_000);
  afterAll(async () => {
    await stage?.stop();
    await receiver?.stop();
    await rm(folder, { recursive: true, force: true });
  }, 60_000);

  async function setClock(seconds: number): Promise<void> {
    const draft = path.join(folder, 'clock.draft');
    await writeFile(draft, `${seconds >= 0 ? '+' : ''}${seconds}\n`);
    await rename(draft, path.join(folder, 'clock'));
  }

  /** Sets the clock of all processes that far from the true one, and resolves when each of them shows it. */
  async function jump(seconds: number): Promise<void> {
    await setClock(seconds);
    for (const name of PROCESSES)
      await until(
        `the clock of ${name} is ${seconds} s off`,
        () => stage.service.output.slice(-2000),
        async () => {
          const response = await fetch(`${stage.service.metricsUrl(name)}/health`);
          const shown = Date.parse(response.headers.get('date') ?? '');
          return Math.abs(shown - Date.now() - seconds * 1_000) < TOLERANCE_SECONDS * 1_000;
        },
      );
  }

  async function post(subject: string, scheduledAt?: string): Promise<ServiceResponse['body']> {
    const response = await stage.account.call('POST', '/emails', {
      from: `hello@${stage.account.domain}`,
      to: 'bob@elsewhere.test',
      subject,
      text: 'Hello',
      ...(scheduledAt === undefined ? {} : { scheduled_at: scheduledAt }),
    });
    expect(response.status, JSON.stringify(response.body)).toBeLessThan(300);
    return response.body;
  }

  function offered(messageId: string): number {
    return stage.sink.offered.filter(({ bytes }) => readField(bytes, 'Message-ID') === messageId).length;
  }

  function message(): string {
    return `Message-ID: <clock${++count}@elsewhere.test>\r\nFrom: bob@elsewhere.test\r\nSubject: Clock ${count}\r\n\r\nBody\r\n.\r\n`;
  }

  /** Resolves when the webhook of message number `n` was requested that many times. */
  function webhook(n: number, times: number): Promise<unknown> {
    return receiver.until(
      (requests) =>
        requests.filter(({ headers }) => String(headers['x-message-id']).includes(`clock${n}@`)).length >= times,
      60_000,
    );
  }

  test.each([
    ['an hour ahead', HOUR],
    ['an hour behind', -HOUR],
  ])(
    '%s: nothing is sent early, nothing stops, and running work continues',
    async (_, seconds) => {
      const later = await post('Later', await stage.instantIn(0.7 * HOUR));
      const session = await SmtpClient.greet(stage.service.smtpPort);
      await session.begin([address]);
      await jump(seconds);

      // In: a transaction that began before the jump, and a webhook whose first attempt fails.
      receiver.respond((_request, earlier) => (earlier === 0 ? 500 : 200));
      session.send(message());
      expect((await session.reply()).code).toBe(250);
      session.destroy();
      await webhook(count, 1);
      await stage.passSeconds(10);
      await webhook(count, 2);

      // Out: an email at once, and a scheduled one when PostgreSQL's clock says so.
      const now = await post('Now');
      await stage.awaitMessage(now.message_id, 60_000);
      await stage.awaitStatus(now.id, 'delivered');
      const soon = await post('Soon', await stage.instantIn(61));
      await stage.passSeconds(61);
      await stage.awaitMessage(soon.message_id, 60_000);

      // Relative times count from PostgreSQL's clock.
      const phrase = await post('In words', 'in 2 hours');
      const expected = Date.parse(await stage.instantIn(2 * HOUR));
      expect(Math.abs(Date.parse(phrase.scheduled_at) - expected)).toBeLessThan(TOLERANCE_SECONDS * 1_000);

      // What is due later was looked at with the one that went, and is still there.
      expect(offered(later.message_id)).toBe(0);
      expect((await stage.account.call('GET', `/emails/${later.id}`)).body.status).toBe('scheduled');
      await stage.passSeconds(0.7 * HOUR);
      await stage.awaitMessage(later.message_id, 60_000);
      await stage.awaitStatus(later.id, 'delivered');
      expect([offered(later.message_id), offered(soon.message_id), offered(now.message_id)]).toEqual([1, 1, 1]);
      await jump(0);
    },
    240_000,
  );
});
