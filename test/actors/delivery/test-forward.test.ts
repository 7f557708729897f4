import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { makeIdentifier } from '../../../core/identifiers.ts';
import { parseMessage } from '../../../core/parse-message.ts';
import { createMailbox } from '../../support/routing-rows.ts';
import { createStage, type SendingStage } from '../sending/stage.ts';
import { startDelivering, type TestDelivery } from './delivering.ts';

let stage: SendingStage;
let actor: TestDelivery | undefined;

beforeAll(async () => {
  stage = await createStage();
});
afterEach(async () => {
  await actor?.stop();
  actor = undefined;
  await stage.clear();
});
afterAll(() => stage.close());

async function endpoint(userId: string, type: 'email' | 'email_group', config: object): Promise<string> {
  const id = makeIdentifier('endpoint', new Date(), randomBytes(10));
  await stage.database.pool.query(
    `insert into endpoint (user_id, id, name, type, config) values ($1, $2, 'forward', $3, $4)`,
    [userId, id, type, JSON.stringify(config)],
  );
  return id;
}

async function ask(userId: string, endpointId: string) {
  actor ??= await startDelivering(stage.database, stage.owner);
  return await actor.bus.ask('delivery.endpoint.test', { userId, endpointId, webhookFormat: null, overrideUrl: null });
}

test.each([
  ['email', { forwardTo: 'me@there.test' }, ['me@there.test']],
  ['email', { forwardTo: 'me@there.test', preserveHeaders: true }, ['me@there.test']],
  ['email_group', { emails: ['a@there.test', 'b@there.test'] }, ['a@there.test', 'b@there.test']],
] as const)('a sample of %s %j really comes, from the own domain', async (type, config, addresses) => {
  const sink = await stage.startSink();
  stage.publish('there.test', sink.host);
  const { userId } = stage.sender;
  const reply = await ask(userId, await endpoint(userId, type, config));
  expect(reply).toMatchObject({
    verdict: 'tested',
    success: true,
    message: expect.stringMatching(new RegExp(`^A sample is on its way to ${addresses.join(', ')} \\(email em_`)),
    statusCode: null,
    payload: null,
    webhookFormat: null,
  });
  await stage.start({ port: sink.port });
  const [message] = await sink.received(1);
  expect(message?.recipients.toSorted()).toEqual(addresses);
  const parsed = await parseMessage(message?.octets ?? Buffer.alloc(0));
  expect(parsed.addresses.from?.addresses[0]?.address).toBe('hello@box.test');
  expect(parsed).toMatchObject({ subject: 'Sample message ✉', attachments: [{ filename: 'sample.csv' }] });
  expect(parsed.headers.map(([name]) => name)).toContain('dkim-signature');
  expect(parsed.htmlBody).toContain('Grüße!');
});

test('nothing is sent from a domain that is not verified, nor without any address', async () => {
  const pending = await createMailbox(stage.database, {
    domain: 'pending.test',
    address: 'hello@pending.test',
    domainStatus: 'pending',
  });
  for (const userId of [pending.userId, makeIdentifier('user', new Date(), randomBytes(10))]) {
    const id = await endpoint(userId, 'email', { forwardTo: 'me@there.test' });
    const reply = await ask(userId, id);
    expect(reply).toMatchObject({
      verdict: 'tested',
      success: false,
      message: expect.stringMatching(/^Nothing was sent/),
    });
  }
  const { rows } = await stage.database.pool.query('select 1 from email where user_id = $1', [pending.userId]);
  expect(rows).toHaveLength(0);
});

test('an address that mail came back from is left alone', async () => {
  const { userId } = stage.sender;
  await stage.database.pool.query(
    `insert into suppression (user_id, id, address, reason, created_at) values ($1, 'sup_1', 'gone@there.test', 'bounce', now())`,
    [userId],
  );
  const reply = await ask(
    userId,
    await endpoint(userId, 'email_group', { emails: ['a@there.test', 'Gone@there.test'] }),
  );
  expect(reply).toMatchObject({ success: false, message: expect.stringContaining('gone@there.test') });
});

test('a configuration that is none is told', async () => {
  const { userId } = stage.sender;
  expect(await ask(userId, await endpoint(userId, 'email', {}))).toMatchObject({
    success: false,
    message: 'Endpoint configuration cannot be used',
  });
});
