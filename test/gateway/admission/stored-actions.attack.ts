import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startDeliveryActor } from '../../../actors/delivery/actor.ts';
import { startSchedulingActor } from '../../../actors/scheduling/actor.ts';
import { SCOPES, type Scope } from '../../../core/accounts/key-rights.ts';
import { tools } from '../../../gateway/mcp/tools.ts';
import { UNSERVED_ROUTES } from '../../../gateway/rest/unserved-routes.ts';
import { schema } from '../../../schema/graphql/schema.ts';
import { takeMail } from '../../support/rows/gateway-mail.ts';
import { makeHoldings } from '../../support/rows/holdings.ts';
import { insertKey, type TestKey } from '../../support/rows/key-rows.ts';
import { recordRoutes, type ServedRoute } from '../../support/rows/route-table.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { connectInjected } from '../../support/servers/mcp-client.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';
import { requiredArguments } from '../../support/stages/graph-places.ts';
import { withoutWait } from '../../support/stages/isolation-sweep.ts';
import type { Given } from '../../support/stages/rights-operations.ts';
import { type Effect, findEffects, readStored, type StoredRows } from '../../support/stages/stored-effects.ts';
import { actingCases, type StayingCase, stayingCases, stayingRequests } from '../../support/stages/storing-requests.ts';
import { LATER, makeStoringWorld, type StoringWorld } from '../../support/stages/storing-world.ts';
import { bodyExamples, inSweepOrder, isServed } from '../../support/stages/swept-routes.ts';

/*
 * Whatever a key stores that acts later needs the rights to act, and is stored with the rights of the key (docs/decisions/0095): every route,
 * mutation and tool, with every set of scopes. What was stored is read from the tables.
 */

let gateway: TestGateway;
let routes: ServedRoute[];

beforeAll(async () => {
  const recorded = await recordRoutes(() => openTestGateway());
  gateway = recorded.opened;
  await gateway.app.ready();
  routes = recorded.routes;
});
afterAll(() => gateway.close());

/** All subsets of the scopes, but for the empty one. */
const SUBSETS = Array.from({ length: 2 ** SCOPES.length - 1 }, (_, n) =>
  SCOPES.filter((_scope, at) => ((n + 1) & (1 << at)) !== 0),
);

const UNSERVED = new Set(UNSERVED_ROUTES);

/** Names of all requests that a key can make to change something. */
function listRequests(): string[] {
  const rest = routes
    .filter(({ method, url, access }) => access !== null && url.startsWith('/api/e2/') && !/GET|OPTIONS/.test(method))
    .map(({ method, url }) => `${method} ${url.replace('/api/e2', '')}`)
    .filter((name) => !UNSERVED.has(name));
  const mutations = Object.keys(schema.getMutationType()?.getFields() ?? {}).map((name) => `mutation ${name}`);
  const changing = tools.filter(({ annotations }) => !annotations.readOnlyHint).map(({ name }) => `tool ${name}`);
  return [...rest, ...mutations, ...changing];
}

/** Makes a request with the key, and returns the status (REST) and the text of the response. */
async function ask(name: string, { secret }: TestKey, { id = '', other = '', body }: Given): Promise<string> {
  const [kind = '', what = ''] = name.split(' ');
  if (kind === 'mutation') {
    const type = schema.getMutationType()?.getFields()[what]?.args[0]?.type;
    const query = `mutation Ask($input: ${String(type)}) { ${what}(input: $input) { __typename ... on Error { message } } }`;
    return (await gateway.graphql(secret, query, { input: body })).body;
  }
  if (kind === 'tool') {
    const client = await connectInjected(gateway, secret);
    try {
      return JSON.stringify(await client.callTool({ name: what, arguments: { ...body } }));
    } catch (error) {
      return String(error);
    } finally {
      await client.close();
    }
  }
  const response = await gateway.call(secret, kind, what.replace(/:\w+/, id).replace(/:\w+/, other), body);
  return `${response.statusCode} ${response.body}`;
}

/** Makes the request and returns what it stored that acts later, with the text of its response. */
async function observe(
  world: StoringWorld,
  name: string,
  key: TestKey,
  given: Given,
): Promise<{ effects: Effect[]; shown: string }> {
  const before = await readStored(gateway.owner, world.box.workspaceId);
  const shown = await ask(name, key, given);
  return { effects: findEffects(before, await readStored(gateway.owner, world.box.workspaceId)), shown };
}

/** Returns what of the effects goes beyond the scopes of the key, or was not stored with them. */
function findExcess(effects: readonly Effect[], { id }: TestKey, scopes: readonly Scope[]): string[] {
  return effects.flatMap(({ what, needs, grant }) => {
    const missing = needs.filter((scope) => !scopes.includes(scope));
    const isGranted =
      grant === undefined ||
      (grant.setBy === id && grant.scopes !== null && grant.scopes.every((scope) => scopes.includes(scope)));
    return [
      ...missing.map((scope) => `${what} needs ${scope}`),
      ...(isGranted ? [] : [`${what} has the rights ${JSON.stringify(grant)}`]),
    ];
  });
}

test('every changing request has cases for the objects that act later, or a reason why there are none', () => {
  expect([...Object.keys(actingCases), ...Object.keys(stayingRequests)].toSorted()).toEqual(listRequests().toSorted());
});

test('a route without objects that act later stores none, whatever its request names', async () => {
  const { mailbox, ids } = await makeHoldings({ actor: gateway.actor, mailbox: gateway.mailbox, call: gateway.call });
  const key = await insertKey(gateway.owner, mailbox, { scopes: SCOPES });
  const domain = mailbox.address.split('@')[1] ?? '';
  const all = [...ids].flatMap(([prefix, held]) => held.slice(0, prefix === 'em' ? Infinity : 2));
  const events = await gateway.call(key.secret, 'GET', '/events?limit=1');
  const [{ cursor } = { cursor: '' }] = (events.json() as { data: { cursor: string }[] }).data;
  const fill = (value: unknown, name: string): object => {
    const given = new Map<string, number>();
    return JSON.parse(JSON.stringify(value), (_, each: unknown) => {
      if (typeof each !== 'string') return each;
      if (each === '…') return cursor;
      if (/^[\w+.-]+@inbox\.test$/.test(each)) return mailbox.address;
      if (each === 'example.com' && name !== 'POST /domains') return domain;
      const prefix = /^([a-z]{2,4})_[0-9a-f]{32}$/.exec(each)?.[1] ?? '';
      const held = ids.get(prefix) ?? [];
      const at = given.get(prefix) ?? 0;
      given.set(prefix, at + 1);
      return held[at % Math.max(1, held.length)] ?? each.replaceAll('@example.com', `@${domain}`);
    });
  };
  const findExamples = bodyExamples(gateway.app);
  const found: string[] = [];
  const tried: string[] = [];
  for (const route of inSweepOrder(routes)) {
    const name = `${route.method} ${route.url.replace('/api/e2', '')}`;
    if (!(name in stayingRequests) || !isServed(route)) continue;
    for (const id of route.params.length > 0 ? all : [''])
      for (const body of [undefined, ...findExamples(route).map((example) => fill(example, name))]) {
        const before = await readStored(gateway.owner, mailbox.workspaceId);
        const given = { id, ...(body && { body: withoutWait(route.url, body) as object }) };
        const shown = await ask(name, key, given);
        if (shown.startsWith('2')) tried.push(name);
        const effects = findEffects(before, await readStored(gateway.owner, mailbox.workspaceId));
        found.push(...effects.map(({ what }) => `${name} ${id}: ${what}`));
      }
  }
  expect(found).toEqual([]);
  const untried = Object.keys(stayingRequests).filter((name) => name.includes('/') && !tried.includes(name));
  // A case of another route may have been tried here, too.
  expect(untried.filter((name) => !(name in stayingCases) && !(name in UNTRIED))).toEqual([]);
});

/** Arguments of the staying tools, where ID is replaced by each ID of the account. */
const ID = 'ID';
const toolArguments: Readonly<Record<string, object>> = {
  cancel_email: { email_id: ID },
  create_draft: { kind: 'new', subject: 'x', text: 'x' },
  // The mutation made its second version.
  update_draft: { draft_id: ID, version: 2, text: 'y' },
  delete_draft: { draft_id: ID },
  reject_email: { email_id: ID },
  label_threads: { thread_ids: [ID], add_labels: ['x'] },
  archive_threads: { thread_ids: [ID] },
  mark_threads_read: { thread_ids: [ID] },
  trash_threads: { thread_ids: [ID] },
  mark_spam: { email_id: ID },
  mark_not_spam: { email_id: ID },
  claim_thread: { thread_id: ID, holder: 'x' },
  release_thread: { thread_id: ID, claim_token: 'clm_00000000' },
  suppress_address: { address: 'swept@example.org' },
  remove_suppression: { id_or_address: 'swept@example.org' },
  create_reply_address: { domain: 'DOMAIN', metadata: { a: 'b' } },
  revoke_reply_address: { reply_address_id: ID },
};

/** Values of required fields of mutations, by name or type; ID is replaced by each ID of the account. */
const inputValues: Readonly<Record<string, unknown>> = {
  ID,
  Int: 1,
  Boolean: true,
  DateTime: LATER,
  domain: 'DOMAIN',
  address: 'ADDRESS',
  idOrAddress: 'ADDRESS',
  to: 'ADDRESS',
  from: 'ann@elsewhere.test',
  raw: 'From: ada@elsewhere.test\r\n\r\nHello\r\n',
  labels: ['x'],
  String: 'x',
};

/** Fields of mutations whose required fields alone would change nothing. */
const moreValues: Readonly<Record<string, object>> = {
  createDomain: { domain: 'new.swept.test' },
  updateApiKey: { name: 'y' },
  updateEmail: { isRead: true },
  updateEmails: { isRead: true },
  updateThreads: { isRead: true },
};

/** Mutations that are not tried here, each with the reason. */
const UNTRIED: Readonly<Record<string, string>> = {
  'POST /agent/confirm': 'needs the code of a mail; see rest/agent-sign-up.test.ts',
  'POST /scim/token': 'needs a session; see scim/scim-members.test.ts',
  'DELETE /scim/token/:id': 'needs a session; see scim/scim-members.test.ts',
  'mutation createScimToken': 'needs a session; see scim/scim-members.test.ts',
  'mutation revokeScimToken': 'needs a session; see scim/scim-members.test.ts',
  'POST /members/:id/transfer': 'needs a session; see accounts/members.test.ts',
  'POST /members/leave': 'needs a session; see accounts/members.test.ts',
  'PUT /members/picture': 'needs a session; see accounts/pictures.test.ts',
  'POST /mail/threads/:id/presence': 'needs a session; see graphql/thread-presence.test.ts',
  'POST /mail/threads/read-by-me': 'needs a person; see rest/thread-read-state.test.ts',
  'PATCH /mail/notes/:id': 'only its author changes it; see rest/thread-notes.test.ts',
  'POST /invitations/:id/resend': 'once per minute; see accounts/members.test.ts',
  'mutation transferOwnership': 'needs a session; see accounts/members.test.ts',
  'mutation leaveWorkspace': 'needs a session; see accounts/members.test.ts',
  'mutation setPicture': 'needs a session; see accounts/pictures.test.ts',
  'mutation setThreadPresence': 'needs a session; see graphql/thread-presence.test.ts',
  'mutation setReadByMe': 'needs a person; see rest/thread-read-state.test.ts',
  'mutation updateThreadNote': 'only its author changes it; see rest/thread-notes.test.ts',
  'mutation createInvitation': 'needs an address that is not invited yet; see accounts/members.test.ts',
  'mutation resendInvitation': 'once per minute; see accounts/members.test.ts',
  'POST /emails/:id/event-reply': 'no email here has an invitation; see dashboard/invitations.browser.ts',
  'mutation updateSnippet': 'needs one of its own; see rest/saved-views.test.ts',
  'mutation updateMember': 'of the two members here one is the owner; see accounts/members.test.ts',
  'mutation updateCustomerWorkspace': 'see accounts/customers.test.ts',
  'mutation createBrowserToken': 'see accounts/browser-tokens.test.ts',
  'mutation eraseAccount': 'the account ends',
  'mutation importEmails': 'waits for the receiving actor; its route is tried',
  'mutation simulateInbound': 'waits for the receiving actor; its route is tried',
  'mutation verifyDomain': 'waits for the scheduling actor; its route is tried',
  'mutation verifyDomains': 'waits for the scheduling actor; its route is tried',
  'POST /emails/:id/unsubscribe': 'no email here offers it; see rest/list-unsubscribe.test.ts',
  'mutation unsubscribeFromList': 'no email here offers it; see rest/list-unsubscribe.test.ts',
  'tool unsubscribe_from_list': 'no email here offers it; see rest/list-unsubscribe.test.ts',
  'mutation testEndpoint': 'waits for the delivery actor; its route is tried',
};

test('a mutation or tool without objects that act later stores none, whatever it names', async () => {
  const { mailbox, ids } = await makeHoldings({ actor: gateway.actor, mailbox: gateway.mailbox, call: gateway.call });
  const domain = mailbox.address.split('@')[1] ?? '';
  // A key cannot change one with more rights than its own.
  const { id: smallKeyId } = await insertKey(gateway.owner, mailbox, { scopes: ['read'] });
  const all = [...ids].flatMap(([prefix, held]) => held.slice(0, prefix === 'em' ? 4 : 1)).concat(smallKeyId);
  const names: Readonly<Record<string, string>> = { DOMAIN: domain, ADDRESS: mailbox.address };
  const fill = (value: object, id: string): object =>
    JSON.parse(JSON.stringify(value), (_, each: unknown) =>
      typeof each === 'string' ? (names[each] ?? (each === ID ? id : each)) : each,
    ) as object;
  const fields = schema.getMutationType()?.getFields() ?? {};
  const found: string[] = [];
  const tried = new Set<string>();
  // What removes comes last.
  const operations = Object.entries(stayingRequests)
    .filter(([name]) => /^(?:mutation|tool) /.test(name) && !(name in UNTRIED))
    .toSorted(([, a], [, b]) => Number(a.startsWith('removes')) - Number(b.startsWith('removes')));
  for (const [name] of operations) {
    const what = name.split(' ')[1] ?? '';
    const field = fields[what];
    const given =
      field === undefined || name.startsWith('tool')
        ? toolArguments[what]
        : {
            ...(requiredArguments(field, (argument, type) => inputValues[argument] ?? inputValues[type])[
              'input'
            ] as object),
            ...moreValues[what],
          };
    for (const id of JSON.stringify(given)?.includes(`"${ID}"`) ? all : ['']) {
      const key = await insertKey(gateway.owner, mailbox, { scopes: SCOPES });
      const before = await readStored(gateway.owner, mailbox.workspaceId);
      const shown = await ask(name, key, { body: fill({ ...given }, id) });
      if (!/"errors":|"message":|"isError":true|^\w*Error/.test(shown)) tried.add(name);
      const effects = findEffects(before, await readStored(gateway.owner, mailbox.workspaceId));
      found.push(...effects.map((effect) => `${name} ${id}: ${effect.what}`));
      await gateway.owner.pool.query('delete from api_key where id = $1', [key.id]);
    }
  }
  expect(found).toEqual([]);
  // The others may be refused for other things of the account.
  const storing = operations.filter(([, reason]) => !/^(?:changes|removes|shows|adds) /.test(reason));
  expect(storing.map(([name]) => name).filter((name) => !tried.has(name))).toEqual([]);
});

/** Starts what a case needs beside the gateway, on its bus, and returns what stops it. */
async function startActors(actors: StayingCase['actors']): Promise<() => Promise<void>> {
  const context = { ...testActorContext(gateway.actor), bus: gateway.bus };
  // A closed port: every lookup fails at once.
  const dnsServers = ['127.0.0.1:1'];
  switch (actors) {
    case 'none':
      return async () => undefined;
    case 'receiving': {
      const mail = await takeMail(gateway);
      return () => mail.stop();
    }
    case 'scheduling': {
      const actor = await startSchedulingActor(context, { dnsServers, mailHostname: 'mx.test' });
      return () => actor.stop();
    }
    case 'delivery': {
      const actor = await startDeliveryActor(context, {
        publicUrl: 'http://postroom.test',
        allowedPrivateNetworks: [],
        refusedPorts: [],
        secretKey: randomBytes(32),
        dnsServers,
      });
      return () => actor.stop();
    }
  }
}

test.each(Object.entries(stayingCases))(
  '%s is done, and stores nothing that acts later',
  async (name, { actors, given }) => {
    expect(stayingRequests).toHaveProperty([name]);
    const world = await makeStoringWorld(gateway);
    const key = await insertKey(gateway.owner, world.box, { scopes: SCOPES });
    const request = await given(world);
    const stop = await startActors(actors);
    try {
      const { effects, shown } = await observe(world, name, key, request);
      expect(shown).toMatch(/^2\d\d /);
      expect(effects).toEqual([]);
    } finally {
      await stop();
    }
  },
);

describe.each(SUBSETS.map((scopes) => [scopes.join(' '), scopes] as const))('a key with %s', (_, scopes) => {
  let world: StoringWorld;
  let key: TestKey;

  beforeAll(async () => {
    world = await makeStoringWorld(gateway);
    key = await insertKey(gateway.owner, world.box, { scopes });
  });

  test.each(Object.keys(actingCases))('%s stores what its scopes allow, with them', async (name) => {
    for (const acting of actingCases[name] ?? []) {
      const { effects, shown } = await observe(world, name, key, await acting.given(world));
      const label = `${acting.what}: ${shown}`;
      expect(findExcess(effects, key, scopes), label).toEqual([]);
      if (acting.needs.every((scope) => scopes.includes(scope))) expect(effects, label).not.toEqual([]);
      else {
        expect(effects, label).toEqual([]);
        expect(shown, label).toMatch(/needs the scope|insufficient_scope|more rights than its own/);
      }
    }
  });
});

/** Returns what of the effects the key may no longer do, with these scopes left, and is done nevertheless. */
function findLeft(
  after: StoredRows,
  effects: readonly Effect[],
  { id: keyId }: TestKey,
  left: readonly Scope[],
): string[] {
  return effects.flatMap(({ what, needs }) => {
    const row = after.get(what) ?? {};
    const isLacking = needs.some((scope) => !left.includes(scope));
    const exceeds = (scopes: unknown) =>
      Array.isArray(scopes) && scopes.some((scope) => !left.includes(scope as Scope));
    switch (what.split(' ')[0] ?? '') {
      case 'endpoint':
        // One without `send` stays, and sends nothing.
        return (row['is_active'] === true && !left.includes('read')) || exceeds(row['granted_scopes']) ? [what] : [];
      case 'rule':
        return (row['is_active'] === true && isLacking) || exceeds(row['granted_scopes']) ? [what] : [];
      case 'address':
      case 'domain':
        return exceeds(row['granted_scopes']) ? [what] : [];
      case 'email':
        // What it approved is sent for the key that sent it.
        return row['status'] === 'scheduled' && row['set_by_key_id'] === keyId && isLacking ? [what] : [];
      case 'key':
        return row['revoked_at'] === null && (row['scopes'] === null || exceeds(row['scopes'])) ? [what] : [];
      default:
        // What is in a queue already is done.
        return [];
    }
  });
}

describe.each(SCOPES.map((lost) => [lost]))('a key that loses %s', (lost) => {
  test.each(Object.keys(actingCases))('loses it for what %s stored', async (name) => {
    // An account has a limited number of keys.
    const world = await makeStoringWorld(gateway);
    const left = SCOPES.filter((scope) => scope !== lost);
    for (const acting of actingCases[name] ?? []) {
      const key = await insertKey(gateway.owner, world.box, { scopes: SCOPES });
      const { effects, shown } = await observe(world, name, key, await acting.given(world));
      expect(effects, `${acting.what}: ${shown}`).not.toEqual([]);
      const narrowed = await gateway.call(world.box.apiKey, 'PATCH', `/api-keys/${key.id}`, { scopes: left });
      expect(narrowed.statusCode, narrowed.body).toBe(200);
      const after = await readStored(gateway.owner, world.box.workspaceId);
      expect(findLeft(after, effects, key, left), acting.what).toEqual([]);
    }
  });
});
