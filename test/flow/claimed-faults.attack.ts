import { afterAll, beforeAll, expect, test } from 'vitest';
import { killsPerPoint } from '../support/chaos-figures.ts';
import { type ApiSend, awaitSettled, checkSendingLedger } from '../support/stages/sending-ledger.ts';
import { readMessageId, SendingStage } from '../support/stages/sending-stage.ts';

/** Each kill may cost a start of the service on a machine that is busy. */
const LIMIT_MS = 60_000 + killsPerPoint * 5 * 120_000;

/** In the order of one email: whether it is stored when the process dies there, and how often it reaches the recipient's server. */
const POINTS = [
  { point: 'submission.before-statement', isStored: false, copies: 1 },
  { point: 'submission.stored', isStored: true, copies: 1 },
  { point: 'sending.claimed', isStored: true, copies: 1 },
  { point: 'sending.sent', isStored: true, copies: 2 },
  { point: 'sending.recorded', isStored: true, copies: 1 },
];

let stage: SendingStage;

beforeAll(async () => {
  stage = await SendingStage.start('single');
}, 300_000);
afterAll(() => stage?.stop());

/** Sends an email with a key, which names it; null when the response never came. */
async function send(key: string): Promise<ApiSend> {
  const recipients = [`${key}@elsewhere.test`];
  const body = { from: `hello@${stage.account.domain}`, to: recipients, subject: key, text: key };
  const response = await stage.account.call('POST', '/emails', body, { 'idempotency-key': key }).catch(() => null);
  const { id = null, message_id: messageId = null } = response?.body ?? {};
  return { status: response?.status ?? null, id, messageId, recipients };
}

test(
  `a process is killed ${killsPerPoint} times between storing, claiming and sending: each email goes once, or again if unrecorded`,
  async () => {
    const sends: ApiSend[] = [];
    const inHand: string[] = [];
    for (let kill = 0; kill < killsPerPoint; kill++)
      for (const { point, isStored, copies } of POINTS) {
        await stage.service.end('runner', 'SIGTERM');
        await stage.service.start({ FAULT: point });
        const since = stage.service.output.length;
        // Its response tells the gateway PostgreSQL's clock, so that the next email is stored and claimed by one statement.
        const opening = {
          from: `hello@${stage.account.domain}`,
          to: 'later@elsewhere.test',
          subject: 'later',
          text: 'later',
        };
        await stage.account.call('POST', '/emails', { ...opening, scheduled_at: 'in 2 days' });
        const before = stage.sink.messages.length;
        const key = `${point.replaceAll(/\W/g, '-')}-${kill}`;
        const [response] = await Promise.all([
          send(key),
          // Before the part is back, which would die there again.
          stage.service.awaitPartDeath(since).then(() => stage.service.end('runner', 'SIGKILL')),
        ]);
        await stage.service.start();
        const rows = await stage.query<{ message_id: string }>('select message_id from email where subject = $1', [
          key,
        ]);
        expect(rows).toHaveLength(isStored ? 1 : 0);
        if (copies > 1) inHand.push(...rows.map((row) => row.message_id));
        if (response.status !== null) expect(response.messageId).toBe(rows[0]?.message_id);
        // The client repeats the request, as clients with a key do.
        const again = await send(key);
        expect(again.status).toBe(200);
        if (isStored) expect(again.messageId).toBe(rows[0]?.message_id);
        sends.push(again);
        await awaitSettled(await stage.service.databaseUrl(), 120_000);
        const sunk = stage.sink.messages.slice(before).filter((message) => readMessageId(message) === again.messageId);
        expect(sunk, point).toHaveLength(copies);
      }
    const { violations } = await checkSendingLedger({
      databaseUrl: await stage.service.databaseUrl(),
      sends,
      messages: stage.sink.messages,
      inHand,
    });
    expect(violations).toEqual([]);
  },
  LIMIT_MS,
);
