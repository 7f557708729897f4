import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

let gateway: TestGateway;
let box: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway();
  box = await gateway.mailbox({ endpointUrl: 'https://hooks.example.com/' });
});
afterAll(() => gateway.close());

const pull = async (path: string) => {
  const { statusCode, body } = await gateway.call(box.apiKey, 'GET', path);
  return { status: statusCode, body: JSON.parse(body) };
};

test('a pull begins at a cursor, and its secret stays the same', async () => {
  const latest = await pull('/events/webhook-requests?after=latest');
  expect(latest).toMatchObject({ status: 200, body: { object: 'list', data: [], has_more: false } });
  expect(latest.body.signing_secret).toMatch(/^whsec_/);
  const { next_cursor: cursor, signing_secret: secret } = latest.body;
  const again = await pull(`/events/webhook-requests?after=${cursor}&events=*`);
  expect(again.body).toMatchObject({ next_cursor: cursor, signing_secret: secret });
});

test('a pull that is not valid says what is allowed', async () => {
  const { status, body } = await pull('/events/webhook-requests?events=email.recieved');
  expect(status).toBe(400);
  expect(JSON.stringify(body)).toContain('is not a kind of event. Allowed are: *, ');
  expect(await pull('/events/webhook-requests?after=nonsense')).toMatchObject({ status: 400 });
  expect(await pull(`/endpoints/ep_${'0'.repeat(32)}/webhook-requests`)).toMatchObject({ status: 404 });
  expect(await pull(`/endpoints/${box.endpointId}/webhook-requests`)).toMatchObject({ status: 200 });
});
