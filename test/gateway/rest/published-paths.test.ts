import { afterAll, beforeAll, expect, test } from 'vitest';
import { recordPublishedClients } from '../../support/clients/published-clients.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

let gateway: TestGateway;
let box: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway();
  box = await gateway.mailbox();
});
afterAll(() => gateway.close());

/** Calls of the clients of Resend in other languages, and of the newest reference service. */
const otherCalls = ['GET /audiences', 'POST /audiences', 'DELETE /audiences/x', 'POST /mailboxes/x/rotate-password'];

const recorded = (await recordPublishedClients()).flatMap(({ methods }) => methods.flatMap(({ requests }) => requests));
const calls = [...new Set([...recorded, ...otherCalls])].sort();

test('the clients have the calls that this file tests', () => {
  expect(calls.length).toBeGreaterThan(120);
  expect(calls).toEqual(
    expect.arrayContaining([
      'POST /events/send',
      'PATCH /emails/x',
      'GET /mail/threads/x',
      'POST /inboxes/x/drafts/x/send',
    ]),
  );
});

test.each(calls)('%s of a published client is served, or responds 501 with what to use instead', async (call) => {
  const [method = '', url = ''] = call.split(' ');
  const response = await gateway.call(box.apiKey, method, url, method === 'GET' ? undefined : {});
  const { error, message } = response.json();
  if (response.statusCode === 501) expect([error, message]).toEqual(['Not Implemented', expect.stringMatching(/\.$/)]);
  else expect([response.statusCode, error]).not.toEqual([404, 'Not Found']);
  expect([200, 400, 404, 501]).toContain(response.statusCode);
  // The id of no email, so that the path is one of its own.
  if (url === '/emails/metrics') expect(response.statusCode).toBe(501);
});
