import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tools } from '../../../gateway/mcp/tools.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { connectInjected, ERAS } from '../../support/servers/mcp-client.ts';

let gateway: TestGateway;
let box: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway();
  box = await gateway.mailbox();
});
afterAll(() => gateway.close());

const post = (headers: Record<string, string>, payload = '{}') =>
  gateway.app.inject({
    method: 'POST',
    url: '/mcp',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    payload,
  });

describe.each(ERAS)('a client of protocol %s', (era) => {
  test('lists the tools, sends an email and finds it', async () => {
    const client = await connectInjected(gateway, box.apiKey, era);
    expect(client.getNegotiatedProtocolVersion()).toBe(era);
    const listed = await client.listTools();
    expect(listed.tools.map(({ name }) => name)).toEqual(tools.map(({ name }) => name));

    const me = await client.callTool({ name: 'who_am_i', arguments: {} });
    expect(me.structuredContent).toMatchObject({
      account: { id: box.userId },
      key: { scopes: null, domain: null },
      addresses: [{ address: box.address, is_active: true }],
    });

    const email = { from: box.address, to: 'ada@example.org', subject: `Hello ${era}`, text: 'It is on its way.' };
    const sent = await client.callTool({ name: 'send_email', arguments: email });
    expect(sent.structuredContent).toMatchObject({ status: 'sent', scheduled_at: null });
    const found = await client.callTool({ name: 'search_emails', arguments: { limit: 1 } });
    expect(found.structuredContent).toMatchObject({
      emails: [
        {
          id: (sent.structuredContent as { id: string }).id,
          untrusted: { to: ['ada@example.org'], subject: `Hello ${era}` },
        },
      ],
    });
    await client.close();
  });
});

describe('a request that is not served', () => {
  test('has no valid key: 401 with a challenge', async () => {
    for (const headers of [{}, { authorization: 'Bearer wrong' }]) {
      const response = await post(headers as Record<string, string>);
      expect(response.statusCode).toBe(401);
      expect(response.headers['www-authenticate']).toBe('Bearer realm="API", charset="UTF-8"');
    }
  });

  test('is by GET or DELETE, which belong to sessions: 405', async () => {
    for (const method of ['GET', 'DELETE'] as const) {
      const headers = { authorization: `Bearer ${box.apiKey}`, accept: 'text/event-stream' };
      const response = await gateway.app.inject({ method, url: '/mcp', headers });
      expect(response.statusCode).toBe(405);
      expect(response.headers['allow']).toBe('POST');
    }
  });

  test('comes from a web page of another origin: 403, and from a page of its own it is served', async () => {
    const authorization = `Bearer ${box.apiKey}`;
    const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
    for (const origin of ['https://evil.test', 'null', 'http://postroom.test.evil.test'])
      expect((await post({ authorization, origin }, ping)).statusCode, origin).toBe(403);
    const host = 'evil.test';
    expect((await post({ authorization, host }, ping)).statusCode).toBe(421);
    for (const origin of ['http://postroom.test', 'http://localhost:3000', 'http://127.0.0.1:3000']) {
      const response = await post({ authorization, origin }, ping);
      expect(response.json(), origin).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
    }
  });

  test('is not one message in JSON: 400 with a protocol error', async () => {
    const authorization = `Bearer ${box.apiKey}`;
    const cases: [payload: string, code: number][] = [
      ['{"jsonrpc"', -32700],
      ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600],
      ['"text"', -32600],
      ['{"jsonrpc":"2.0"}', -32600],
    ];
    for (const [payload, code] of cases) {
      const response = await post({ authorization }, payload);
      expect(response.statusCode, payload).toBe(400);
      expect(response.json().error.code, payload).toBe(code);
    }
  });
});
