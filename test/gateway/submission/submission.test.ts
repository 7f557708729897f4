import { hash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SUBMITTED_BYTES } from '../../../gateway/submission/submission.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

const { perAccount, perProcess } = SUBMITTED_BYTES;
const FULL = '451 4.3.2 Too many messages are in progress, please try again later';

let gateway: TestGateway;
let box: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway();
  box = await gateway.mailbox();
});
afterAll(() => gateway.close());

/** Returns the SMTP reply to a message whose body is that long. */
async function submit({ address, apiKey }: TestMailbox, bodyBytes: number): Promise<string> {
  const bytes = Buffer.from(
    `From: <${address}>\r\nSubject: x\r\n\r\n${`${'x'.repeat(98)}\r\n`.repeat(bodyBytes / 100)}\r\n`,
  );
  const request = {
    keySha256: hash('sha256', apiKey, 'hex'),
    reversePath: address,
    recipients: ['ada@elsewhere.test'],
  };
  const reply = await gateway.bus.ask('gateway.message.submit', request, { bytes });
  return reply.verdict === 'refused' ? `${reply.code} ${reply.enhancedCode} ${reply.text}` : reply.verdict;
}

test('refuses a message with 451 4.3.2 when its account has reached its limit of messages in progress', async () => {
  const { submitted } = gateway.app;
  submitted.take(box.userId, perAccount - 1_000);
  expect(await submit(box, 1_000)).toBe(FULL);
  expect(await submit(box, 500)).toBe('accepted');
  submitted.giveBack(box.userId, perAccount - 1_000);
  expect(await submit(box, 1_000)).toBe('accepted');
  expect(submitted.count()).toBe(0);
});

test('refuses a large message with 451 4.3.2 when the process has no room, and takes small ones from a reserve', async () => {
  const { submitted } = gateway.app;
  const others = ['usr_a', 'usr_b'];
  for (const user of others) submitted.take(user, perProcess / 2);
  expect(await submit(box, 66_000)).toBe(FULL);
  expect(await submit(box, 65_000)).toBe('accepted');
  for (const user of others) submitted.giveBack(user, perProcess / 2);
  expect(await submit(box, 66_000)).toBe('accepted');
  expect(submitted.count()).toBe(0);
});

test('returns the room of a message that is refused', async () => {
  expect(await submit({ ...box, apiKey: 'unknown' }, 1_000)).toMatch(/^550/);
  expect(await submit({ ...box, address: 'a@unknown.test' }, 1_000)).toMatch(/^550/);
  expect(gateway.app.submitted.count()).toBe(0);
});
