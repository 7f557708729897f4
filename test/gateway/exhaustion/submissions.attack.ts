import { hash } from 'node:crypto';
import pino from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectNatsBus } from '../../../actors/bus/nats.ts';
import { type Bus, BusTimeout, type Reply } from '../../../schema/messages.ts';
import { createMailbox, type TestMailbox } from '../../support/rows/routing-rows.ts';
import { type ExhaustionStage, openExhaustionStage } from '../../support/stages/exhaustion-stage.ts';
import { waitFor } from '../../support/wait-for.ts';

/** The most memory that a gateway may ever have under this attack. Bytes. */
const MAX_MEMORY = 600 * 1_024 * 1_024;
const MB = 1_000_000;
const MESSAGE_BYTES = 1.1 * MB;
const SESSIONS = 100;
/** SMTP processes, each of which has 20 MB in flight. */
const PROCESSES = 4;

let stage: ExhaustionStage;
let accounts: TestMailbox[];
let buses: Bus[];

beforeAll(async () => {
  stage = await openExhaustionStage('small', { messages: 1 });
  accounts = [];
  for (let at = 0; at < 2; at++)
    accounts.push(
      await createMailbox(stage.owner, { domain: `sender-${at}.test`, address: `hello@sender-${at}.test` }),
    );
  const log = pino({ level: 'silent' });
  buses = Array.from({ length: PROCESSES }, (_, at) => connectNatsBus({ url: stage.natsUrl, log, name: `smtp-${at}` }));
  await waitFor(() => expect(buses.every((bus) => bus.isConnected())).toBe(true));
});
afterAll(async () => {
  await Promise.all(buses.map((bus) => bus.close()));
  await stage?.close();
});

function submit(bus: Bus, { address, apiKey }: TestMailbox, bytes: Buffer): Promise<Reply<'gateway.message.submit'>> {
  const request = {
    keySha256: hash('sha256', apiKey, 'hex'),
    reversePath: address,
    recipients: ['ada@elsewhere.test'],
  };
  return bus.ask('gateway.message.submit', request, { bytes });
}

function makeMessage({ address }: TestMailbox, bytes: number): Buffer {
  const head = `From: <${address}>\r\nTo: ada@elsewhere.test\r\nSubject: Large\r\n\r\n`;
  const line = `${'x'.repeat(74)}\r\n`;
  return Buffer.from(head + line.repeat(Math.max(1, Math.floor((bytes - head.length) / line.length))));
}

/** Returns the reply of the SMTP server for a question that waits longer than its time limit. */
function readFailure(error: unknown): string {
  if (error instanceof BusTimeout) return '451 4.3.0';
  throw error;
}

const verdict = (reply: Reply<'gateway.message.submit'>) =>
  reply.verdict === 'refused' ? `${reply.code} ${reply.enhancedCode}` : reply.verdict;

test('100 sessions get 451 while PostgreSQL stores nothing, and the gateway stays below 600 MiB', async () => {
  const [first, second] = accounts as [TestMailbox, TestMailbox];
  const outcomes: string[] = [];
  const begin = (at: number, account: TestMailbox, bytes: Buffer) =>
    submit(buses[at % PROCESSES] as Bus, account, bytes)
      .then(verdict, readFailure)
      .then((outcome) => {
        outcomes.push(outcome);
        return outcome;
      });
  const lock = await stage.owner.pool.connect();
  try {
    await lock.query('begin');
    await lock.query('lock table email in access exclusive mode');
    const bytes = makeMessage(first, MESSAGE_BYTES);
    const open = Array.from({ length: SESSIONS }, (_, at) => begin(at, first, bytes));
    // 4.3.0 where a message waited until the time limit of its question.
    await waitFor(() => expect(outcomes.join()).toMatch(/451 4\.3\.[02]/));
    await lock.query('rollback');
    for (const outcome of await Promise.all(open)) expect(outcome).toMatch(/^(accepted|451 4\.3\.[02])$/);
  } finally {
    // Ends the connection and its transaction.
    lock.release(true);
  }
  expect(await begin(0, second, makeMessage(second, MESSAGE_BYTES))).toBe('accepted');
  const peak = await stage.peakMemory();
  expect(peak, `${Math.round(peak / MB)} MB`).toBeLessThan(MAX_MEMORY);
});
