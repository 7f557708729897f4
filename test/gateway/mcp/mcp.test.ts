import { readFileSync } from 'node:fs';
import path from 'node:path';
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
      account: { id: box.workspaceId },
      key: {
        scopes: ['read', 'send', 'manage', 'approve', 'workspaces'],
        has_full_access: true,
        domains: null,
        addresses: null,
      },
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

test('the guide lists every tool', () => {
  const guide = readFileSync(path.resolve(import.meta.dirname, '../../../docs/agents.md'), 'utf8');
  const [, section = ''] = /\n## Tools\n([\s\S]*?)\nA reply/.exec(guide) ?? [];
  const named = [...section.matchAll(/`([a-z_]+)`/g)].map(([, name = '']) => name);
  expect(named.filter((name) => name !== 'scheduled_at').toSorted()).toEqual(tools.map(({ name }) => name).toSorted());
});

describe('a draft', () => {
  test('is created, changed at its version, and sent once for a key', async () => {
    const client = await connectInjected(gateway, box.apiKey);
    const call = async (name: string, given: object) => {
      const { structuredContent, content, isError } = await client.callTool({ name, arguments: { ...given } });
      return { data: structuredContent as Record<string, unknown>, text: JSON.stringify(content), isError };
    };
    const metadata = { order: 4711 };
    const fields = { from: box.address, to: 'ada@example.org', subject: 'Draft', text: 'One', metadata };
    const { data: created } = await call('create_draft', fields);
    expect(created).toMatchObject({
      kind: 'new',
      version: 1,
      metadata,
      untrusted: { to: ['ada@example.org'], text: 'One' },
    });
    const draft = { draft_id: created['id'], version: 1 };
    expect((await call('update_draft', { ...draft, text: 'Two' })).data).toMatchObject({ version: 2 });

    const stale = await call('send_draft', draft);
    expect(stale.isError).toBe(true);
    expect(stale.text).toContain('is at version 2 now');
    const { data: list } = await call('list_drafts', {});
    expect(list['drafts']).toMatchObject([{ id: created['id'], version: 2, untrusted: { preview: 'Two' } }]);
    const { data: read } = await call('read_draft', { draft_id: created['id'], offset: 1, max_chars: 1 });
    expect(read).toMatchObject({ next_offset: 2, untrusted: { text: 'w' } });

    const sending = { ...draft, version: 2, idempotency_key: 'draft' };
    const first = await call('send_draft', sending);
    expect(first.data).toMatchObject({ status: 'sent' });
    expect((await call('read_email', { email_id: first.data['id'] })).data).toMatchObject({ metadata });
    expect((await call('send_draft', sending)).data).toEqual(first.data);
    expect((await call('read_draft', { draft_id: created['id'] })).isError).toBe(true);

    const reply = { kind: 'reply', original_email_id: first.data['id'], from: box.address, text: 'Once more' };
    const { data: replying } = await call('create_draft', reply);
    expect(replying).toMatchObject({ kind: 'reply', original_email_id: first.data['id'] });
    expect((await call('delete_draft', { draft_id: replying['id'] })).data).toMatchObject({ deleted: true });
    expect((await call('list_drafts', {})).data).toEqual({ drafts: [], next_cursor: null });
    await client.close();
  });
});

describe('a request is refused when it', () => {
  test('has no valid key: 401 with a challenge', async () => {
    for (const headers of [{}, { authorization: 'Bearer wrong' }]) {
      const response = await post(headers as Record<string, string>);
      expect(response.statusCode).toBe(401);
      expect(response.headers['www-authenticate']).toContain(
        'Bearer resource_metadata="http://postroom.test/.well-known/oauth-protected-resource/mcp", scope="read"',
      );
    }
  });

  test('uses GET or DELETE, which belong to sessions: 405', async () => {
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
