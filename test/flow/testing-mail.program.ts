import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestAccount } from '../support/servers/service.ts';
import { type SharedService, sharedService } from '../support/servers/shared-service.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/servers/webhook-receiver.ts';

const document = readFileSync(path.resolve(import.meta.dirname, '../../docs/testing-mail.md'), 'utf8');
/** The examples of the guide, in its order. */
const examples = [...document.matchAll(/```graphql\n([\s\S]*?)```/g)].map(([, example = '']) => example);

let service: SharedService;
let receiver: WebhookReceiver;
let account: TestAccount & { domain: string; domainId: string };
let address = '';
let endpointId = '';

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  service = await sharedService('single');
  account = await service.createAccount();
  address = `hello@${account.domain}`;
  const endpoint = await account.call('POST', '/endpoints', {
    name: 'mine',
    type: 'webhook',
    config: { url: receiver.url },
  });
  endpointId = endpoint.body.id;
  const made = await account.call('POST', '/email-addresses', { address, domainId: account.domainId, endpointId });
  expect(made.status).toBe(201);
}, 300_000);
afterAll(() => receiver?.stop());

/** An example of the guide, with the account's own address. */
async function run(example: number, variables: Record<string, unknown> = {}) {
  const query = (examples[example] ?? '').replaceAll('hello@inbox.test', address);
  const { body } = await account.graphql(query, variables);
  if (body.errors !== undefined) throw new Error(JSON.stringify(body.errors));
  return body.data;
}

const delivered = async (emailId: string) => {
  const isAboutEmail = (request: { headers: Record<string, unknown> }) => request.headers['x-email-id'] === emailId;
  return (await receiver.until((requests) => requests.some(isAboutEmail), 30_000)).find(isAboutEmail);
};

test('the examples of the guide work in order, through all processes to the webhook', async () => {
  expect(examples).toHaveLength(5);
  const { simulateInbound: first } = await run(0);
  expect(first).toEqual({ emailId: expect.stringMatching(/^em_/), to: address });
  const { simulateInbound: second } = await run(1);
  expect(second).toEqual({ emailId: expect.stringMatching(/^em_/) });
  const [code, raw] = [await delivered(first.emailId), await delivered(second.emailId)];
  expect(code?.headers['x-postroom-test']).toBe('true');
  expect(raw?.headers['x-postroom-test']).toBe('true');
  expect(raw?.body).toContain('As raw as it gets');
  const shown = await account.call('GET', `/emails/${first.emailId}`);
  expect(shown.body).toMatchObject({ is_test: true, subject: expect.stringMatching(/^\d{6} is your code$/) });

  const { explainRoute } = await run(2);
  expect(explainRoute).toMatchObject({ outcome: 'ENDPOINT', endpoint: { id: endpointId }, tried: [] });
  expect(explainRoute.steps.map(({ step }: { step: string }) => step)).toEqual([
    'RECEIVED',
    'PARSED',
    'ROUTED',
    'DELIVERED',
  ]);

  const ids = [first.emailId, second.emailId];
  const { reprocessEmails } = await run(3, { ids });
  expect(reprocessEmails.emails).toEqual(
    ids.map((emailId) => ({ emailId, changes: [], endpoint: { id: endpointId }, error: null })),
  );

  const { forwardEmail } = await run(4, { id: first.emailId });
  expect(forwardEmail.email.subject).toMatch(/^Fwd: \d{6} is your code$/);
  const forwarded = await account.call('GET', `/emails/${forwardEmail.email.id}`);
  expect(forwarded.body).toMatchObject({ type: 'sent', to: ['joe@example.com'], is_test: false });
  expect(forwarded.body.text).toMatch(/^For you\.\n\n-+ Forwarded message/);
});
