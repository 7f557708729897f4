import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { insertKey } from '../../support/rows/key-rows.ts';
import { insertThread } from '../../support/rows/mail-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { openTeam, type TeamPerson, type TeamStage } from '../../support/stages/team-stage.ts';

/*
 * Whatever waits or streams ends within seconds when who asked loses what it is for. The loss reaches the
 * gateway as a row only, without a broadcast, as from another machine.
 */

/** What is open is looked at every few seconds; it would stay open for 30 s, or for ever. */
const ENDS_WITHIN_MS = 15_000;
const ORIGIN = 'https://app.example.com';

let gateway: TestGateway;
let team: TeamStage;
let url: string;
let threadId: string;
let opened: ClientRequest[] = [];

beforeAll(async () => {
  gateway = await openTestGateway({ config: { rateLimitPerSecond: 0, trustedDomains: ['*.pages.test'] } });
  url = await gateway.app.listen({ host: '127.0.0.1', port: 0 });
  team = await openTeam(gateway, 'open');
});
beforeEach(async () => {
  const { workspaceId, address: ownAddress } = team.box;
  threadId = (await insertThread(gateway.owner, { workspaceId, ownAddress, count: 1, lastMessageAt: new Date() }))
    .threadId;
});
afterEach(() => {
  for (const each of opened) each.destroy();
  opened = [];
});
afterAll(() => gateway.close());

type Headers = Record<string, string>;
const sql = (text: string, ...values: unknown[]) => gateway.owner.pool.query(text, values);
const bearer = (secret: string): Headers => ({ authorization: `Bearer ${secret}` });
const asPage = ({ browser }: TeamPerson): Headers => ({
  host: 'postroom.test',
  origin: 'http://postroom.test',
  'sec-fetch-site': 'same-origin',
  cookie: [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
});

interface Open {
  /** the first bytes of a stream, or nothing: it waits */
  status: Promise<number>;
  /** resolves with all that came */
  ended: Promise<string>;
}

function open(path: string, headers: Headers, body?: object): Open {
  const status = Promise.withResolvers<number>();
  const ended = Promise.withResolvers<string>();
  const method = body === undefined ? 'GET' : 'POST';
  const given = { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
  const made = request(`${url}${path}`, { method, headers: given }, (response: IncomingMessage) => {
    status.resolve(response.statusCode ?? 0);
    let text = '';
    response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    response.once('close', () => ended.resolve(text));
  });
  made.on('error', () => ended.resolve('broken'));
  opened.push(made);
  made.end(body === undefined ? undefined : JSON.stringify(body));
  return { status: status.promise, ended: ended.promise };
}

const stream = { accept: 'text/event-stream' };
const subscribe = (query: string) => (headers: Headers) => open('/graphql', { ...headers, ...stream }, { query });
/** What stays open. */
const KINDS: Record<string, (headers: Headers) => Open> = {
  'a stream of events': (headers) => open('/api/e2/events', { ...headers, ...stream }),
  'a page of events that waits': (headers) => open('/api/e2/events?after=latest&wait=30', headers),
  'a wait for mail': (headers) => open('/api/e2/emails/wait', headers, { timeout: 30 }),
  'a wait for mail in GraphQL': (headers) =>
    open('/graphql', headers, { query: '{ waitForEmail(timeout: 30) { id } }' }),
  'a subscription': (headers) => subscribe('subscription { events { kind email { id } } }')(headers),
  'the presence in a thread': (headers) =>
    subscribe(`subscription { threadPresence(threadId: "${threadId}") { name } }`)(headers),
};
const OF_PERSONS: typeof KINDS = {
  ...KINDS,
  'what a person has read': subscribe('subscription { readByMe { isRead } }'),
};

/** Opens all, loses the right, and returns what did not end. */
async function findOpen(kinds: typeof KINDS, headers: Headers, lose: () => Promise<unknown>): Promise<string[]> {
  const all = Object.entries(kinds).map(([name, begin]) => ({ name, ...begin(headers) }));
  await expect.poll(() => gateway.app.events.size()).toBeGreaterThanOrEqual(5);
  await lose();
  const settled = await Promise.all(
    all.map(async ({ name, ended }) => {
      const late = new Promise<null>((resolve) => setTimeout(resolve, ENDS_WITHIN_MS, null).unref());
      return { name, text: await Promise.race([ended, late]) };
    }),
  );
  return settled.flatMap(({ name, text }) => (text === null ? [`${name} is open`] : []));
}

describe('what a key holds open ends when the key', () => {
  test.each([
    ['is revoked', 'revoked_at = now()'],
    ['expires', `expires_at = now() + interval '100 milliseconds'`],
    ['may only send', `scopes = '{send}'`],
    ['is limited to another address', `scopes = '{read}', reach = '{"domains":[],"addresses":["other@open.test"]}'`],
  ])('%s', async (_how, change) => {
    const { id, secret } = await insertKey(gateway.owner, team.box, { scopes: ['read', 'send', 'manage'] });
    const lose = () => sql(`update api_key set ${change} where id = $1`, id);
    expect(await findOpen(KINDS, bearer(secret), lose)).toEqual([]);
  });
});

describe('what a member holds open ends when the member', () => {
  test.each([
    ['is removed', `delete from workspace_member where person_id = $1 and role <> 'owner'`],
    [
      'is limited to another address',
      `update workspace_member set domain_ids = '{}', addresses = '{other@open.test}' where person_id = $1 and role <> 'owner'`,
    ],
    ['gets another role', `update workspace_member set role = 'viewer' where person_id = $1 and role <> 'owner'`],
    ['is signed out by someone else', 'delete from auth_session where person_id = $1'],
  ])('%s', async (_how, change) => {
    const agent = await team.makeMember('agent');
    expect(await findOpen(OF_PERSONS, asPage(agent), () => sql(change, agent.personId))).toEqual([]);
  });
});

describe('what a key of a member holds open ends when the member', () => {
  test.each([
    ['is removed', `delete from workspace_member where person_id = $1 and role <> 'owner'`],
    ['gets another role', `update workspace_member set role = 'viewer' where person_id = $1 and role <> 'owner'`],
  ])('%s', async (_how, change) => {
    const developer = await team.makeMember('developer');
    const secret = await team.insertPersonKey(developer);
    expect(await findOpen(KINDS, bearer(secret), () => sql(change, developer.personId))).toEqual([]);
  });
});

describe('what a customer holds open ends when', () => {
  const { 'the presence in a thread': _, ...kinds } = KINDS;
  test.each([
    ['its workspace is suspended', (id: string) => sql('update workspace set suspended_at = now() where id = $1', id)],
    ['its workspace is closed', (id: string) => sql('select close_workspace($1, $2)', id, '1 second')],
  ])('%s, by a key and by a browser token', async (_how, lose) => {
    const parent = await insertKey(gateway.owner, team.box, { scopes: null });
    const { id } = (await gateway.call(parent.secret, 'POST', '/workspaces', { client_id: `c${Date.now()}` })).json();
    const made = await gateway.call(parent.secret, 'POST', `/workspaces/${id}/api-keys`, {
      name: 'k',
      scopes: ['read'],
    });
    const token = await gateway.call(parent.secret, 'POST', `/workspaces/${id}/tokens`, {
      rights: ['read'],
      origins: [ORIGIN],
    });
    expect([made.statusCode, token.statusCode], token.body).toEqual([200, 200]);
    const both = {
      ...kinds,
      ...Object.fromEntries(
        Object.entries(kinds).map(([name, begin]) => [
          `${name}, by a token`,
          () => begin({ ...bearer(token.json().token), origin: ORIGIN }),
        ]),
      ),
    };
    expect(await findOpen(both, bearer(made.json().token), () => lose(id))).toEqual([]);
  });
});
