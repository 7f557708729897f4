import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { insertKey, type TestKey } from '../../support/rows/key-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { openScimStage } from '../../support/stages/scim-stage.ts';
import { openTeam, type TeamPerson, type TeamStage } from '../../support/stages/team-stage.ts';

/*
 * A request is admitted by its head. Who sends the body later, when the right is lost, gets nothing done (docs/decisions/0252): otherwise a member who
 * is about to be removed invites a second address, or sets up a webhook for all later mail.
 */

let gateway: TestGateway;
let team: TeamStage;
let url: string;
let admin: TeamPerson;
let key: TestKey;
let count = 0;

beforeAll(async () => {
  gateway = await openTestGateway({ config: { rateLimitPerSecond: 0 } });
  url = await gateway.app.listen({ host: '127.0.0.1', port: 0 });
  team = await openTeam(gateway, 'late');
});
beforeEach(async () => {
  count += 1;
});
afterAll(() => gateway.close());

const sql = (text: string, ...values: unknown[]) => gateway.owner.pool.query(text, values);
const asOwner = async (method: string, path: string, body?: unknown) => {
  const response = await gateway.call(team.box.apiKey, method, path, body);
  expect(response.statusCode, response.body).toBeLessThan(300);
};
const config = { url: 'https://thief.test/' };

/** What may be done, as a path and a body, and the table that shows whether it was. */
const DOORS: Record<string, () => { path: string; body: object; table: string }> = {
  'an endpoint': () => ({
    path: '/api/e2/endpoints',
    body: { name: `late${count}`, type: 'webhook', config },
    table: 'endpoint',
  }),
  'an invitation': () => ({
    path: '/api/e2/invitations',
    body: { email: `second${count}@elsewhere.test`, role: 'admin' },
    table: 'workspace_invitation',
  }),
  'an API key': () => ({
    path: '/api/e2/api-keys',
    body: { name: `late${count}`, scopes: ['read'] },
    table: 'api_key',
  }),
  'a guard rule': () => ({
    path: '/api/e2/guard',
    body: {
      name: `late${count}`,
      type: 'explicit',
      config: { subject: { operator: 'OR', values: ['x'] } },
      action: { action: 'block' },
    },
    table: 'guard_rule',
  }),
  'a domain': () => ({ path: '/api/e2/domains', body: { domain: `late${count}.test` }, table: 'domain' }),
  'an endpoint, by GraphQL': () => ({
    path: '/graphql',
    body: {
      query: 'mutation($i: CreateWebhookEndpointInput!) { createWebhookEndpoint(input: $i) { __typename } }',
      variables: { i: { name: `late${count}`, url: config.url } },
    },
    table: 'endpoint',
  }),
  'a draft, by MCP': () => ({
    path: '/mcp',
    body: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'create_draft', arguments: { kind: 'new', subject: 'x', text: 'x' } },
    },
    table: 'draft',
  }),
};

/** Sends the head of a request, which is admitted, and returns what sends the body. */
async function begin(
  { path, body }: { path: string; body: object },
  headers: Record<string, string>,
): Promise<() => Promise<{ status: number; text: string }>> {
  const text = JSON.stringify(body);
  const sent = request(`${url}${path}`, {
    method: 'POST',
    headers: {
      ...headers,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      expect: '100-continue',
    },
  });
  const responded = once(sent, 'response') as Promise<[IncomingMessage]>;
  responded.catch(() => undefined);
  sent.flushHeaders();
  // The gateway has the head: what it knows of the credential was read just before.
  await once(sent, 'continue');
  sent.write(text.slice(0, 1));
  return async () => {
    sent.end(text.slice(1));
    const [response] = await responded;
    let read = '';
    for await (const chunk of response) read += chunk;
    return { status: response.statusCode ?? 0, text: read };
  };
}

async function expectNothing(
  door: { path: string; body: object; table: string },
  headers: Record<string, string>,
  lose: () => Promise<unknown>,
): Promise<void> {
  // So that the credential is known when the head arrives.
  await (await fetch(`${url}/api/e2/emails?limit=1`, { headers })).text();
  const rows = async () =>
    (await sql(`select id from ${door.table} where workspace_id = $1 order by id`, team.box.workspaceId)).rows;
  const finish = await begin(door, headers);
  await lose();
  const before = await rows();
  const { status, text } = await finish();
  expect([await rows(), text]).toEqual([before, expect.stringMatching(/forbidden|unauthorized|ended or changed/i)]);
  expect([401, 403]).toContain(status);
}

// The MCP server takes no sessions of browsers.
describe.each(Object.entries(DOORS).filter(([door]) => !door.endsWith('MCP')))('%s is not made', (_door, open) => {
  test.each<[string, () => Promise<unknown>]>([
    ['is removed', () => asOwner('DELETE', `/members/${admin.personId}`)],
    ['becomes a viewer', () => asOwner('PATCH', `/members/${admin.personId}`, { role: 'viewer' })],
    ['ends all sessions', () => admin.browser.auth('POST', '/revoke-sessions', {})],
  ])('for a member who %s', async (_how, lose) => {
    admin = await team.makeMember('admin');
    const cookie = [...admin.browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const page = { host: 'postroom.test', origin: 'http://postroom.test', 'sec-fetch-site': 'same-origin', cookie };
    await expectNothing(open(), page, lose);
  });
});

describe.each(Object.entries(DOORS))('%s is not made', (_door, open) => {
  test.each<[string, () => Promise<unknown>]>([
    ['is revoked', () => asOwner('DELETE', `/api-keys/${key.id}`)],
    ['has no scope left but approve', () => asOwner('PATCH', `/api-keys/${key.id}`, { scopes: ['approve'] })],
  ])('for a key that %s', async (_how, lose) => {
    key = await insertKey(gateway.owner, team.box, { scopes: null });
    await expectNothing(open(), { authorization: `Bearer ${key.secret}` }, lose);
  });

  test('unless the rights stay', async () => {
    key = await insertKey(gateway.owner, team.box, { scopes: null });
    const finish = await begin(open(), { authorization: `Bearer ${key.secret}` });
    const { status, text } = await finish();
    expect(status, text).toBeLessThan(300);
    expect(text).not.toMatch(/"errors"|"isError":true/);
  });
});

test('a directory whose token was revoked makes no user', async () => {
  const scim = await openScimStage(gateway, team.box.workspaceId);
  const schemas = ['urn:ietf:params:scim:schemas:core:2.0:User'];
  const body = { schemas, userName: `late${count}@late.test`, active: true };
  await expectNothing(
    { path: '/scim/v2/Users', body, table: 'scim_user' },
    { authorization: `Bearer ${scim.token}` },
    () => sql('delete from scim_token where workspace_id = $1', team.box.workspaceId),
  );
});
