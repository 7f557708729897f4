import { afterAll, beforeAll, expect, test } from 'vitest';
import { addRule } from '../../actors/delivery/guarding.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import type { TestGateway } from '../../support/servers/gateway.ts';
import type { WebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { type ActingGateway, openActingGateway } from '../../support/stages/acting-gateway.ts';

let stage: ActingGateway;
let gateway: TestGateway;
let box: TestMailbox;
let receiver: WebhookReceiver;

beforeAll(async () => {
  stage = await openActingGateway();
  ({ gateway, box, receiver } = stage);
});
afterAll(() => stage.close());

const ask: ActingGateway['ask'] = (...asked) => stage.ask(...asked);

async function receive(subject: string): Promise<string> {
  const { simulateInbound } = await ask(
    'mutation ($input: SimulateInboundInput!) { simulateInbound(input: $input) { ... on SimulateInboundPayload { emailId } } }',
    { input: { template: 'PLAIN', to: box.address, subject } },
  );
  const { emailId } = simulateInbound;
  await receiver.until((requests) => requests.some(({ headers }) => headers['x-email-id'] === emailId));
  return emailId;
}

const EXPLAIN = `query ($emailId: ID, $mail: ExplainedEmailInput) { explainRoute(emailId: $emailId, mail: $mail) {
  outcome via reason recipient endpoint { id } rule { id } address { id } domain { id } email { id }
  steps { step at delivery { id } } now { outcome rule { id } } tried { name outcome rule { id } }
} }`;

test('a route is shown before the mail arrives, and after', async () => {
  const ruleId = await addRule(gateway.actor, box, { action: 'block', subject: 'casino' });
  gateway.bus.publish('guard.changed', { workspaceId: box.workspaceId });
  const { explainRoute: blocked } = await ask(EXPLAIN, { mail: { to: box.address, subject: 'a casino' } });
  expect(blocked).toMatchObject({
    outcome: 'BLOCKED',
    rule: { id: ruleId },
    email: null,
    address: { id: box.addressId },
    tried: [{ name: 'rule casino', outcome: 'MATCHED', rule: { id: ruleId } }],
  });
  const emailId = await receive('a question');
  const { explainRoute: stored } = await ask(EXPLAIN, { emailId });
  expect(stored).toMatchObject({
    outcome: 'ENDPOINT',
    via: 'ADDRESS',
    email: { id: emailId },
    endpoint: { id: box.endpointId },
    now: { outcome: 'ENDPOINT' },
    tried: [{ outcome: 'NOT_MATCHED' }],
  });
  const { node } = await ask(
    'query ($id: ID!) { node(id: $id) { ... on Email { route { outcome now { outcome } } } } }',
    {
      id: emailId,
    },
  );
  expect(node).toEqual({ route: { outcome: 'ENDPOINT', now: null } });
  const rest = (await gateway.call(box.apiKey, 'GET', `/emails/${emailId}/route`)).json();
  expect(rest.reason).toBe(stored.reason);

  const other = await gateway.mailbox();
  const refusals = await Promise.all(
    [emailId, 'em_unknown'].map(
      async (id) => (await gateway.graphql(other.apiKey, EXPLAIN, { emailId: id })).json().errors[0].message,
    ),
  );
  expect(refusals).toEqual(['Email not found', 'Email not found']);
  const neither = (await gateway.graphql(box.apiKey, EXPLAIN)).json();
  expect(neither.errors[0].message).toBe('Give either emailId or mail');
});

const REPROCESS = `mutation ($input: ReprocessEmailsInput!) { reprocessEmails(input: $input) {
  __typename
  ... on ReprocessEmailsPayload { emails {
    emailId email { subject } changes { step field before after differsAt } endpoint { id } delivery { id } error { code message }
  } }
  ... on Error { message }
} }`;
const reprocess = async (input: Record<string, unknown>, key?: string) =>
  (await ask(REPROCESS, { input }, key)).reprocessEmails;

test('a dry run shows the result of the real run', async () => {
  const emailId = await receive('as it is');
  await gateway.actor.pool.query(`update email set subject = 'as it was' where id = $1`, [emailId]);
  const input = { emailIds: [emailId], steps: ['ROUTE', 'PARSE', 'THREAD'] };
  const changes = [{ step: 'PARSE', field: 'subject', before: 'as it was', after: 'as it is', differsAt: null }];
  const dry = await reprocess({ ...input, isDryRun: true });
  expect(dry.emails).toEqual([
    {
      emailId,
      email: { subject: 'as it was' },
      changes,
      endpoint: { id: box.endpointId },
      delivery: null,
      error: null,
    },
  ]);
  const run = await reprocess({ ...input, isDryRun: false });
  expect(run.emails).toEqual([
    {
      emailId,
      email: { subject: 'as it is' },
      changes,
      endpoint: { id: box.endpointId },
      delivery: { id: expect.any(String) },
      error: null,
    },
  ]);
  expect((await reprocess({ ...input, isDryRun: true })).emails[0].changes).toEqual([]);
});

test('objects of other users are not found, and invalid requests are refused', async () => {
  const emailId = await receive('mine');
  const other = await gateway.mailbox();
  const input = { emailIds: [emailId, 'em_unknown', 'no id!'], steps: ['PARSE', 'THREAD', 'ROUTE'], isDryRun: false };
  const { emails } = await reprocess(input, other.apiKey);
  const error = { code: 'NOT_FOUND', message: 'Email not found' };
  expect(emails.map((email: { error: unknown; email: unknown }) => [email.error, email.email])).toEqual([
    [error, null],
    [error, null],
    [error, null],
  ]);
  for (const step of ['THREAD', 'ROUTE']) {
    const alone = await reprocess({ ...input, steps: [step] }, other.apiKey);
    expect(alone.emails.map((email: { error: unknown }) => email.error)).toEqual([error, error, error]);
  }
  expect(await reprocess({ ...input, emailIds: [] })).toMatchObject({ __typename: 'ValidationError' });
  expect(await reprocess({ ...input, steps: [] })).toMatchObject({ __typename: 'ValidationError' });
});
