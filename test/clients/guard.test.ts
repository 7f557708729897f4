import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import Inbound, { NotFoundError } from 'inboundemail';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { insertMail } from '../support/rows/mail-rows.ts';
import type { TestMailbox } from '../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../support/servers/gateway.ts';

let gateway: TestGateway;
let mailbox: TestMailbox;
let url: string;

beforeAll(async () => {
  gateway = await openTestGateway();
  mailbox = await gateway.mailbox();
  url = await gateway.app.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(() => gateway.close());

test('the published client, which has no methods for guard rules, manages them by its own requests', async () => {
  const client = new Inbound({ apiKey: mailbox.apiKey, baseURL: url });
  interface Rule {
    id: string;
    name: string;
    config: string;
    isActive: boolean;
  }
  const config = { subject: { operator: 'OR', values: ['casino'] } };
  const made = await client.post<{ success: boolean; data: Rule }>('/api/e2/guard', {
    body: { name: 'Casinos', type: 'explicit', config, action: { action: 'block' } },
  });
  expect(made).toMatchObject({ success: true, data: { name: 'Casinos', config: JSON.stringify(config) } });
  const path = `/api/e2/guard/${made.data.id}`;
  expect(await client.get<Rule>(path)).toMatchObject({ id: made.data.id, isActive: true });
  expect(await client.patch<Rule>(path, { body: { isActive: false } })).toMatchObject({ isActive: false });
  expect(await client.put<Rule>(path, { body: { name: 'Games' } })).toMatchObject({ name: 'Games', isActive: false });
  const list = await client.get<{ data: Rule[] }>('/api/e2/guard', { query: { isActive: false } });
  expect(list.data.map(({ name }) => name)).toEqual(['Games']);
  expect(await client.delete(path)).toEqual({ success: true });
  await expect(client.get(path)).rejects.toBeInstanceOf(NotFoundError);
});

test('curl tests a rule against stored mail', async () => {
  await insertMail(gateway.actor, [
    { workspaceId: mailbox.workspaceId, ownAddress: mailbox.address, subject: 'Free casino' },
  ]);
  const body = '{"config": {"hasWords": {"operator": "OR", "values": ["casino", "free spins"]}}, "action": "block"}';
  const headers = [`Authorization: Bearer ${mailbox.apiKey}`, 'Content-Type: application/json'];
  const { stdout } = await promisify(execFile)('curl', [
    '-s',
    `${url}/api/e2/guard/backtest`,
    ...headers.flatMap((header) => ['-H', header]),
    '-d',
    body,
  ]);
  expect(JSON.parse(stdout)).toMatchObject({ scanned: 1, matched: 1, examples: [{ wouldBe: { outcome: 'blocked' } }] });
});
