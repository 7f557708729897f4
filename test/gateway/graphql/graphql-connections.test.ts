import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

let gateway: TestGateway;
let box: TestMailbox;
let port: number;
/** of pino */
const INFO = 30;
/** counts that were begun */
let counts = 0;

beforeAll(async () => {
  gateway = await openTestGateway();
  box = await gateway.mailbox();
  await gateway.app.listen({ host: '127.0.0.1', port: 0 });
  port = (gateway.app.server.address() as AddressInfo).port;
  // Counting takes long.
  await gateway.owner.pool.query(`
    create or replace function count_inbox(p_query search_query) returns bigint language plpgsql stable security definer as $$
      begin
        perform pg_sleep(0.2);
        return 1;
      end $$`);
  const watched = new WeakSet<object>();
  gateway.database.pool.on('acquire', (client) => {
    if (watched.has(client)) return;
    watched.add(client);
    const query = client.query.bind(client) as (...args: unknown[]) => unknown;
    Object.assign(client, {
      query(...args: unknown[]) {
        if (JSON.stringify(args[0]).includes('count_inbox')) counts++;
        return query(...args);
      },
    });
  });
});
afterAll(() => gateway.close());

test('a request whose client has disconnected is read no further', async () => {
  const fields = Array.from({ length: 25 }, (_, n) => `c${n}: inbox(search: "label:w${n}", first: 1) { totalCount }`);
  const call = request({
    host: '127.0.0.1',
    port,
    method: 'POST',
    path: '/graphql',
    headers: { authorization: `Bearer ${box.apiKey}`, 'content-type': 'application/json' },
  });
  call.on('error', () => undefined);
  call.end(JSON.stringify({ query: `{ ${fields.join(' ')} }` }));
  await expect.poll(() => counts).toBeGreaterThan(0);
  call.destroy();
  const { pool } = gateway.database;
  await expect.poll(() => pool.totalCount - pool.idleCount).toBe(0);
  expect(counts).toBeLessThan(20);
  // Whoever leaves has caused no failure.
  await delay(200);
  expect(gateway.logged.filter(({ level }) => Number(level) > INFO)).toEqual([]);
});

describe('arguments of connections', () => {
  let gateway: TestGateway;
  let box: TestMailbox;

  beforeAll(async () => {
    gateway = await openTestGateway();
    box = await gateway.mailbox();
  });
  afterAll(() => gateway.close());

  const ask = async (query: string) => (await gateway.graphql(box.apiKey, query)).json();

  test.each(['after', 'before'])(
    'an invalid cursor is rejected with the name of its argument: %s',
    async (argument) => {
      const { errors } = await ask(`{ domains(${argument}: "zzz") { edges { cursor } } }`);
      expect(errors[0].extensions).toMatchObject({
        code: 'validation_error',
        details: [{ field: argument, message: 'Invalid cursor' }],
      });
    },
  );
});
