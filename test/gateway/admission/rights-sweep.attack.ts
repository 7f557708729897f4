import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SCOPES } from '../../../core/accounts/key-rights.ts';
import { hasRoleRight, RIGHTS, type Right } from '../../../core/accounts/rights.ts';
import { ROLES } from '../../../core/accounts/roles.ts';
import { type ChangedRows, recordChanges } from '../../support/rows/changed-rows.ts';
import { makeHoldings } from '../../support/rows/holdings.ts';
import { recordRoutes, type ServedRoute } from '../../support/rows/route-table.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { mayUse, openCredentials, type SweptCredential } from '../../support/stages/rights-credentials.ts';
import {
  expectAccess,
  type Given,
  isNear,
  listFields,
  listRoutes,
  listTools,
  type SweptOperation,
  type Verdict,
} from '../../support/stages/rights-operations.ts';
import { makeStoringWorld, type StoringWorld } from '../../support/stages/storing-world.ts';
import { isServed } from '../../support/stages/swept-routes.ts';
import { openTeam, type TeamStage } from '../../support/stages/team-stage.ts';
import { listValidRequests, type ValidRequests } from '../../support/stages/valid-requests.ts';

/*
 * Every route, field and tool × every role × every kind of credential, in one workspace. What is expected follows from what an operation declares
 * and from the table of rights; nothing is listed here but what no declaration says, each with its reason.
 */

/** Routes of the interface that take no credential. */
const OPEN = /^(?:OPTIONS \/api\/e2\*|POST \/api\/e2\/agent\/sign-up|GET \/api\/e2\/(?:openapi\.json|docs(?:\/.*)?))$/;

/** What only a person does, in a session: keys and programs are refused with a reason of its own. */
const OF_PERSONS = new Set([
  'POST /members/:id/transfer',
  'POST /members/leave',
  'PUT /members/picture',
  'POST /scim/token',
  'DELETE /scim/token/:id',
  'POST /mail/threads/:id/presence',
  'mutation transferOwnership',
  'mutation leaveWorkspace',
  'mutation setPicture',
  'mutation createScimToken',
  'mutation revokeScimToken',
  'mutation setThreadPresence',
]);
/** What only a key does: a browser token ends with the key that makes it. */
const OF_KEYS = new Set(['POST /workspaces/:id/tokens', 'mutation createBrowserToken']);
/** What gives rights to another, or changes a key: one with the declared scope alone has none that it could give, and no other within its own. */
const GIVES_RIGHTS = new Set([
  'POST /api-keys',
  'PATCH /api-keys/:id',
  'mutation createApiKey',
  'mutation updateApiKey',
  'PATCH /members/:id',
  'POST /invitations',
  'POST /workspaces/:id/tokens',
  'POST /workspaces/:id/api-keys',
  'mutation updateMember',
  'mutation createInvitation',
  'mutation createBrowserToken',
  'mutation createCustomerApiKey',
]);
/** Whose allowed requests are not made here: they end what the sweep asks with, or wait for an actor. */
const NOT_DONE = new Set([
  'POST /members/leave',
  'mutation leaveWorkspace',
  'mutation eraseAccount',
  'mutation importEmails',
  'mutation simulateInbound',
  'mutation testEndpoint',
  'mutation verifyDomain',
  'mutation verifyDomains',
]);

let gateway: TestGateway;
let routes: ServedRoute[];
let team: TeamStage;
let world: StoringWorld;
let valid: ValidRequests;
let credentials: SweptCredential[];
let changes: ChangedRows;
let operations: SweptOperation[];

beforeAll(async () => {
  const secretKey = randomBytes(32);
  const recorded = await recordRoutes(() => openTestGateway({ config: { rateLimitPerSecond: 0, secretKey } }));
  gateway = recorded.opened;
  await gateway.app.ready();
  routes = recorded.routes;
  team = await openTeam(gateway, 'rights', { endpointUrl: 'https://hooks.example.com/', dkim: { secretKey } });
  const mine = await makeHoldings({ actor: gateway.actor, call: gateway.call, mailbox: async () => team.box });
  world = await makeStoringWorld(gateway, team.box);
  credentials = await openCredentials(gateway, team);
  const swept = routes.filter(({ method, url }) => url.startsWith('/api/e2') && !OPEN.test(`${method} ${url}`));
  operations = [...listRoutes(swept.filter(isServed)), ...listFields(), ...listTools()];
  valid = listValidRequests(gateway.app, { mine, world, routes });
  // A sweep takes longer than a sign-in counts as fresh, on a machine with other work.
  await gateway.owner.pool.query(`update auth_session set confirmed_at = now() + interval '1 day'`);
  changes = await recordChanges(gateway.owner);
});
afterAll(() => gateway.close());

test('every route declares a right, and there are as many operations as are served', () => {
  const undeclared = routes.filter(({ method, url, access }) => {
    return url.startsWith('/api/e2') && !OPEN.test(`${method} ${url}`) && access === null;
  });
  expect(undeclared.map(({ method, url }) => `${method} ${url}`)).toEqual([]);
  expect(operations.length).toBeGreaterThan(300);
  expect(credentials.length).toBeGreaterThan(60);
});

/** Returns whether an operation is for persons, or for keys, and the credential is not of them. */
function isOfOthers({ name }: SweptOperation, { kind }: SweptCredential): boolean {
  return (OF_PERSONS.has(name) && kind !== 'session') || (OF_KEYS.has(name) && kind === 'session');
}

/** Returns the verdicts that are right. */
function rightVerdicts(operation: SweptOperation, credential: SweptCredential): readonly Verdict['is'][] {
  switch (expectAccess(operation, credential)) {
    case 'unknown':
      return ['unknown credential'];
    case 'elsewhere':
      return ['forbidden'];
    case 'refused':
      return ['refused'];
    case 'depends':
      return ['done', 'failed', 'refused'];
    case 'allowed':
      return isOfOthers(operation, credential) ? ['forbidden', 'failed'] : ['done', 'failed'];
  }
}

test('every operation refuses and lets pass what it declares, and changes nothing when it refuses', {
  timeout: 900_000,
}, async () => {
  const faults: string[] = [];
  let asked = 0;
  const askAll = async (operation: SweptOperation, all: readonly SweptCredential[], given: Given) => {
    await Promise.all(
      all.map(async (credential) => {
        asked++;
        const verdict = await operation.ask(credential, given);
        const right = rightVerdicts(operation, credential);
        if (!right.includes(verdict.is))
          faults.push(
            `${operation.name} with a ${credential.name}: ${verdict.is} instead of ${right.join(' or ')}: ${verdict.text.slice(0, 250)}`,
          );
      }),
    );
  };
  for (const operation of operations) {
    const given = valid.unknown(operation);
    const near = credentials.filter((each) => isNear(operation, each));
    const allowed = near.filter((each) => ['allowed', 'depends'].includes(expectAccess(operation, each)));
    await askAll(
      operation,
      near.filter((each) => !allowed.includes(each)),
      given,
    );
    const changed = await changes.take();
    if (changed.length > 0) faults.push(`${operation.name} was refused, and changed ${changed.join()}`);
    // An allowed subscription has no end.
    if (NOT_DONE.has(operation.name) || operation.name.startsWith('subscription')) continue;
    await askAll(operation, allowed, given);
    const after = await changes.take();
    if (operation.isReading && after.length > 0) faults.push(`${operation.name} reads, and changed ${after.join()}`);
    await changes.restore(after);
  }
  expect(faults).toEqual([]);
  expect(asked).toBeGreaterThan(10_000);
});

/** Returns the scopes of what an operation declares; of one whose request decides, those of the first right. */
function declaredRights({ access: { rights } }: SweptOperation): readonly Right[] {
  return 'oneOf' in rights ? rights.oneOf.slice(0, 1) : rights;
}

/** Returns those who have just enough for an operation, and those who have all but one thing. */
function atTheLimit(operation: SweptOperation): { enough: SweptCredential[]; short: SweptCredential[] } {
  const rights = declaredRights(operation);
  const scopes = SCOPES.filter((scope) => rights.some((right) => RIGHTS[right].scope === scope));
  const isWhole = ({ reach }: SweptCredential) => reach === null;
  const of = (kind: SweptCredential['kind']) => credentials.filter((each) => each.kind === kind && isWhole(each));
  const allowed = (each: SweptCredential) => expectAccess(operation, each) === 'allowed';
  const least = ROLES.findLast((role) => rights.every((right) => hasRoleRight(role, right)));
  const below = ROLES[ROLES.indexOf(least ?? 'owner') + 1];
  const isFull = ({ scopes: held }: SweptCredential) => held === null;
  const named = (name: string) => credentials.filter((each) => each.name === name);
  const exact = GIVES_RIGHTS.has(operation.name) ? [] : named(`key with ${scopes.join()} of owner`);
  const enough = [
    ...named(`session of ${least}`),
    ...of('key').filter((each) => isFull(each) && each.role === least && !each.isApprover),
    ...exact,
    ...of('client').filter(allowed).slice(-1),
    ...of('page').filter(allowed).slice(0, 1),
  ].filter((each) => allowed(each) && !isOfOthers(operation, each));
  const short = [
    ...(below === undefined ? [] : named(`session of ${below}`)),
    ...scopes.flatMap((scope) => named(`key without ${scope} of owner`)),
  ].filter((each) => expectAccess(operation, each) === 'refused');
  return { enough, short };
}

type Make = (by: SweptCredential) => Promise<Given>;

const ACTOR = 'waits for an actor, which are away here; see stored-actions.attack.ts';
const OWN_GRANT = 'finds the own grant only, unless it has the right `keys`; see oauth/oauth-grants.test.ts';

const ROUTE = 'its route is tried, and has the same declaration';
const PREVIEW = 'the cursor of its example is of no event here; see graphql/graphql-payloads.test.ts';
const LIST = 'no email here offers it; see rest/list-unsubscribe.test.ts';
const EVENT = 'no email here has an invitation; see admission/event-replies.attack.ts';

/** Operations that nothing here can do, each with the reason. */
const UNTRIED: Readonly<Record<string, string>> = {
  'POST /members/leave': 'the owner cannot leave; see accounts/members.test.ts',
  'mutation leaveWorkspace': 'the owner cannot leave; see accounts/members.test.ts',
  'mutation eraseAccount': 'the account ends; see accounts/resources.test.ts',
  'DELETE /oauth/grants/:id': OWN_GRANT,
  'mutation revokeOauthGrant': OWN_GRANT,
  'POST /emails/import': ACTOR,
  'POST /emails/explain-route': ACTOR,
  'POST /emails/simulate': ACTOR,
  'POST /domains/:id/verify': ACTOR,
  'POST /domains/:id/auth': ACTOR,
  'PATCH /domains/:id/auth': ACTOR,
  'POST /endpoints/:id/test': ACTOR,
  'mutation importEmails': ACTOR,
  'mutation simulateInbound': ACTOR,
  'mutation testEndpoint': ACTOR,
  'mutation verifyDomain': ACTOR,
  'mutation verifyDomains': ACTOR,
  'mutation deleteThreadsForever': ACTOR,
  'mutation revokeScimToken': ROUTE,
  'mutation remindOfEmail': ROUTE,
  'mutation undoThreadChange': ROUTE,
  'tool read_attachment': ROUTE,
  'tool mark_spam': ROUTE,
  'tool mark_not_spam': ROUTE,
  'POST /endpoints/preview-payload': PREVIEW,
  'query previewPayload': PREVIEW,
  'GET /emails/:id/quarantine': 'no email here has a virus; see actors/screening/scanner-away.test.ts',
  'POST /emails/:id/unsubscribe': LIST,
  'mutation unsubscribeFromList': LIST,
  'tool unsubscribe_from_list': LIST,
  'POST /emails/:id/event-reply': EVENT,
  'mutation replyToEvent': EVENT,
  'tool reply_to_event': EVENT,
};

test('what an operation declares is enough for it, and nothing less', { timeout: 900_000 }, async () => {
  const faults: string[] = [];
  const full = credentials.filter(({ name }) => ['session of owner', 'full key of owner'].includes(name));
  for (const operation of operations) {
    if (operation.name.startsWith('subscription') || operation.name in UNTRIED) continue;
    const run = async (make: Make, credential: SweptCredential) => {
      const given = await make(credential);
      const made = await changes.take();
      const verdict = await operation.ask(credential, given);
      const changed = await changes.take();
      await changes.restore([...new Set([...made, ...changed])]);
      return { verdict, changed };
    };
    let found: Make | null = null;
    const tried: string[] = [];
    for (const make of valid.tries(operation)) {
      for (const credential of full) {
        if (expectAccess(operation, credential) !== 'allowed') continue;
        const { verdict } = await run(make, credential);
        if (verdict.is !== 'done') {
          tried.push(verdict.text);
          continue;
        }
        found = make;
        break;
      }
      if (found !== null) break;
    }
    if (found === null) {
      faults.push(`${operation.name}: nothing was done: ${tried.at(0)?.slice(0, 200)}`);
      continue;
    }
    const { enough, short } = atTheLimit(operation);
    for (const credential of enough) {
      const { verdict, changed } = await run(found, credential);
      if (verdict.is !== 'done')
        faults.push(`${operation.name} with a ${credential.name}: ${verdict.is}: ${verdict.text.slice(0, 250)}`);
      if (operation.isReading && changed.length > 0)
        faults.push(`${operation.name} reads, and changed ${changed.join()}`);
    }
    for (const credential of short) {
      const { verdict, changed } = await run(found, credential);
      if (verdict.is !== 'refused' || changed.length > 0)
        faults.push(
          `${operation.name} with a ${credential.name}: ${verdict.is}, changed ${changed.join()}: ${verdict.text.slice(0, 250)}`,
        );
    }
  }
  expect(faults).toEqual([]);
});

/** Settings of a provider that nothing asks. */
const PROVIDER = { issuer: 'https://login.example.com', clientId: 'x', clientSecret: 'x' };
/** Routes of persons and directories, which declare no right for keys: what a session needs, beside being one. */
const OF_SESSIONS: Readonly<Record<string, { right: Right; body?: object }>> = {
  'GET /api/auth/single-sign-on': { right: 'ownership' },
  'POST /api/auth/single-sign-on': { right: 'ownership', body: PROVIDER },
  'POST /api/auth/single-sign-on/test': { right: 'ownership', body: PROVIDER },
  'POST /api/auth/single-sign-on/remove': { right: 'ownership', body: {} },
  'POST /api/auth/second-factor/require': { right: 'members', body: { isRequired: false } },
  'GET /api/auth/export': { right: 'export' },
};
/** Routes before a sign-in, of the dashboard and of protocols, which show and change nothing of a workspace. */
const OF_EVERYONE =
  /^(?:\w+ \/api\/auth\/(?:settings|sign-up\/(?:email|invitation)|sign-in\/(?:email|link)|sign-out|get-session|request-password-reset|reset-password|passkey\/(?:generate-authenticate-options|verify-authentication)|provider\/(?:start|callback|sign-out)|invitation|second-factor\/verify)|OPTIONS .*|\w+ \/oauth\/.*|GET \/\.well-known\/.*|GET \/(?:health|ready|metrics)?|\w+ \/api\/v1(?:\/\*)?|\w+ \/unsubscribe\/:token|GET \/graphql\/explorer\/(?::part|payload)|GET \/(?:assets\/.*|[^/]*\.\w+)|\w+ \/\*)$/;

test('routes of persons and directories take no other credential, and those with a right only its roles', async () => {
  const others = routes.filter(
    ({ method, url, access }) => access === null && !url.startsWith('/api/e2') && !OF_EVERYONE.test(`${method} ${url}`),
  );
  const faults: string[] = [];
  for (const { method, url } of others) {
    const name = `${method} ${url}`;
    const ofDirectory = url.startsWith('/scim/v2');
    const { right, body = method === 'GET' ? undefined : {} } = OF_SESSIONS[name] ?? {};
    const path = url.replaceAll(/:\w+|\*/g, 'x');
    for (const credential of credentials) {
      const isSession = credential.kind === 'session';
      // What sessions may do with each of these routes is in their own tests.
      if (isSession && !ofDirectory && (right === undefined || mayUse(credential, right))) continue;
      if (ofDirectory && credential.kind === 'directory') continue;
      const { statusCode, body: text } = await credential.send(method, path, body);
      const isRefused =
        isSession && !ofDirectory
          ? statusCode === 403
          : statusCode === 401 || (!ofDirectory && [400, 403].includes(statusCode));
      if (!isRefused) faults.push(`${name} with a ${credential.name}: ${statusCode} ${text.slice(0, 200)}`);
    }
    const changed = await changes.take();
    if (changed.length > 0) faults.push(`${name} was refused, and changed ${changed.join()}`);
  }
  expect(faults).toEqual([]);
  expect(others.length).toBeGreaterThan(40);
  expect(
    Object.keys(OF_SESSIONS).filter((name) => !others.some(({ method, url }) => `${method} ${url}` === name)),
  ).toEqual([]);
});

test('the tools that are listed are those that a credential may use', async () => {
  const all = listTools();
  for (const credential of credentials) {
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
    const response = await credential.send('POST', '/mcp', message, { accept: 'application/json, text/event-stream' });
    const { result } = response.json() as { result?: { tools: { name: string }[] } };
    const listed = (result?.tools ?? []).map(({ name }) => `tool ${name}`);
    const expected = all.filter((tool) => expectAccess(tool, credential) === 'allowed').map(({ name }) => name);
    expect(listed.toSorted(), credential.name).toEqual(expected.toSorted());
  }
});

test('every right has a role, and the owner has all', () => {
  for (const right of Object.keys(RIGHTS) as Right[]) expect(hasRoleRight('owner', right)).toBe(true);
});
