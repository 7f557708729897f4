import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { parseMessage } from '../../../core/mime/parse-message.ts';
import { makeIdentifier } from '../../../core/shared/identifiers.ts';
import { createMailbox } from '../../support/rows/routing-rows.ts';
import { SECRET_KEY } from '../sending/sending.ts';
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

async function endpoint(workspaceId: string, type: 'email' | 'email_group', config: object): Promise<string> {
  const id = makeIdentifier('endpoint', new Date(), randomBytes(10));
  await stage.database.pool.query(
    `insert into endpoint (workspace_id, id, name, type, config) values ($1, $2, 'forward', $3, $4)`,
    [workspaceId, id, type, JSON.stringify(config)],
  );
  return id;
}

async function ask(workspaceId: string, endpointId: string) {
  actor ??= await startDelivering(stage.database, stage.owner);
  return actor.bus.ask('delivery.endpoint.test', {
    workspaceId,
    endpointId,
    webhookFormat: null,
    overrideUrl: null,
    event: null,
  });
}

test.each([
  ['email', { forwardTo: 'me@there.test' }, ['me@there.test']],
  ['email', { forwardTo: 'me@there.test', preserveHeaders: true }, ['me@there.test']],
  ['email_group', { emails: ['a@there.test', 'b@there.test'] }, ['a@there.test', 'b@there.test']],
] as const)("a sample of %s %j arrives from the user's own domain", async (type, config, addresses) => {
  const sink = await stage.startSink();
  stage.publish('there.test', sink.host);
  const { workspaceId } = stage.sender;
  const reply = await ask(workspaceId, await endpoint(workspaceId, type, config));
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
  const parsed = await parseMessage(message?.bytes ?? Buffer.alloc(0));
  expect(parsed.addresses.from?.addresses[0]?.address).toBe('hello@box.test');
  expect(parsed).toMatchObject({ subject: 'Sample message ✉', attachments: [{ filename: 'sample.csv' }] });
  expect(parsed.headers.map(([name]) => name)).toContain('dkim-signature');
  expect(parsed.htmlBody).toContain('Grüße!');
});

async function user(domainStatus: 'pending' | 'verified' | null): Promise<string> {
  const workspaceId = makeIdentifier('user', new Date(), randomBytes(10));
  if (domainStatus !== null) {
    const name = `${workspaceId.slice(-12)}.test`;
    const mailbox = await createMailbox(stage.owner, {
      workspaceId,
      domain: name,
      address: `hello@${name}`,
      domainStatus,
      dkim: { secretKey: SECRET_KEY },
    });
    await stage.owner.pool.query('delete from email_address_name where address = $1', [mailbox.address]);
    await stage.owner.pool.query('delete from email_address where workspace_id = $1', [workspaceId]);
  }
  return workspaceId;
}

test.each(['email', 'email_group'] as const)(
  'a sample of %s comes from postroom@ a verified domain of a user without addresses',
  async (type) => {
    const sink = await stage.startSink();
    stage.publish('there.test', sink.host);
    const workspaceId = await user('verified');
    const config = type === 'email' ? { forwardTo: 'me@there.test' } : { emails: ['me@there.test', 'b@there.test'] };
    expect(await ask(workspaceId, await endpoint(workspaceId, type, config))).toMatchObject({
      verdict: 'tested',
      success: true,
    });
    await stage.start({ port: sink.port });
    const [message] = await sink.received(1);
    const parsed = await parseMessage(message?.bytes ?? Buffer.alloc(0));
    expect(parsed.addresses.from?.addresses[0]?.address).toBe(`postroom@${workspaceId.slice(-12)}.test`);
    expect(parsed.headers.map(([name]) => name)).toContain('dkim-signature');
    expect(message?.from).toMatch(new RegExp(`@${workspaceId.slice(-12)}\\.test$`));
  },
);

test.each(['pending', null] as const)(
  'a sample comes from SYSTEM_MAIL_FROM when the domain of the user is %s, signed with the key of its owner',
  async (domainStatus) => {
    const sink = await stage.startSink();
    stage.publish('there.test', sink.host);
    const workspaceId = await user(domainStatus);
    actor = await startDelivering(stage.database, stage.owner, { systemMailFrom: `service@${stage.sender.domain}` });
    const id = await endpoint(workspaceId, 'email', { forwardTo: 'me@there.test' });
    expect(await ask(workspaceId, id)).toMatchObject({ verdict: 'tested', success: true });
    await stage.start({ port: sink.port });
    const [message] = await sink.received(1);
    const parsed = await parseMessage(message?.bytes ?? Buffer.alloc(0));
    expect(parsed.addresses.from?.addresses[0]?.address).toBe(`service@${stage.sender.domain}`);
    expect(parsed.headers.map(([name]) => name)).toContain('dkim-signature');
    // A bounce of it would be mail to the owner of that domain.
    expect(message?.from).toBe('');
    const { rows } = await stage.owner.pool.query('select own_address from email where workspace_id = $1', [
      workspaceId,
    ]);
    expect(rows).toEqual([{ own_address: `service@${stage.sender.domain}` }]);
  },
);

test('another user cannot send from the domain of the service', async () => {
  const sink = await stage.startSink();
  stage.publish('there.test', sink.host);
  const workspaceId = await user(null);
  actor = await startDelivering(stage.database, stage.owner, { systemMailFrom: `service@${stage.sender.domain}` });
  const id = await endpoint(workspaceId, 'email', {
    forwardTo: 'me@there.test',
    fromAddress: `boss@${stage.sender.domain}`,
  });
  expect(await ask(workspaceId, id)).toMatchObject({ success: true });
  await stage.start({ port: sink.port });
  const [message] = await sink.received(1);
  const parsed = await parseMessage(message?.bytes ?? Buffer.alloc(0));
  expect(parsed.addresses.from?.addresses[0]?.address).toBe(`service@${stage.sender.domain}`);
});

test('a sample to a suppressed address is not sent', async () => {
  const { workspaceId } = stage.sender;
  await stage.database.pool.query(
    `insert into suppression (workspace_id, id, address, reason, created_at) values ($1, 'sup_1', 'gone@there.test', 'bounce', now())`,
    [workspaceId],
  );
  const reply = await ask(
    workspaceId,
    await endpoint(workspaceId, 'email_group', { emails: ['a@there.test', 'Gone@there.test'] }),
  );
  expect(reply).toMatchObject({ success: false, message: expect.stringContaining('gone@there.test') });
});

test('an invalid configuration is reported', async () => {
  const { workspaceId } = stage.sender;
  expect(await ask(workspaceId, await endpoint(workspaceId, 'email', {}))).toMatchObject({
    success: false,
    message: 'Endpoint configuration cannot be used',
  });
});
