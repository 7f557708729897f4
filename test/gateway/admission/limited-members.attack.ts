import { afterAll, beforeAll, expect, test } from 'vitest';
import { hasRoleRight } from '../../../core/accounts/rights.ts';
import { createAccount } from '../../../db/queries/accounts/account.ts';
import type { RouteAccess } from '../../../gateway/admission/access.ts';
import { readAccess } from '../../../schema/graphql/access.ts';
import { schema } from '../../../schema/graphql/schema.ts';
import { isQuick } from '../../support/chaos-figures.ts';
import { insertKey } from '../../support/rows/key-rows.ts';
import { recordRoutes, type ServedRoute } from '../../support/rows/route-table.ts';
import { keepToKey, makeTwoDomains, type TwoDomains } from '../../support/rows/two-domains.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { type BrowserSession, openBrowser } from '../../support/stages/browser-session.ts';
import { operationText, requiredArguments } from '../../support/stages/graph-places.ts';
import { type SweepOptions, sweepRoute } from '../../support/stages/isolation-sweep.ts';
import { bodyExamples, isServed } from '../../support/stages/swept-routes.ts';
import { TEAM_PASSWORD } from '../../support/stages/team-stage.ts';

let gateway: TestGateway;
let routes: ServedRoute[];
let two: TwoDomains;
/** of an agent who sees one of two domains */
let browser: BrowserSession;

beforeAll(async () => {
  const recorded = await recordRoutes(() => openTestGateway({ config: { rateLimitPerSecond: 0 } }));
  gateway = recorded.opened;
  await gateway.app.ready();
  routes = recorded.routes.filter((route) => route.access !== null && isServed(route));
  two = await makeTwoDomains(gateway);
  const key = await insertKey(gateway.owner, two.mine.mailbox, { scopes: ['read', 'send'], domain: two.domain });
  await keepToKey(gateway.owner, two, key.id);
  browser = await signInLimited();
  // What the agent holds now is no one else's.
  await two.changedTables();
});
afterAll(() => gateway.close());

async function signInLimited(): Promise<BrowserSession> {
  const email = 'limited@agents.test';
  const made = await createAccount(gateway.owner, { email, password: TEAM_PASSWORD, apiKey: null, mailbox: null });
  if (!('workspaceId' in made)) throw new Error(made.outcome);
  const workspaceId = two.mine.mailbox.workspaceId;
  await gateway.owner.pool.query(
    `insert into workspace_member (workspace_id, person_id, role, domain_ids, addresses) values ($1, $2, 'agent', $3, '{}')`,
    [workspaceId, made.workspaceId, [two.domain.id]],
  );
  const session = openBrowser(gateway.app);
  expect((await session.auth('POST', '/sign-in/email', { email, password: TEAM_PASSWORD })).statusCode).toBe(200);
  expect((await session.auth('POST', '/switch-workspace', { workspaceId })).statusCode).toBe(200);
  return session;
}

const call = (method: string, path: string, body?: unknown) =>
  browser.rest(method as 'GET', path.replace(/^\/api\/e2/, ''), {}, body);

/** Whether a limited agent can use what has this access. */
function isOfLimitedAgents({ rights, isOfDomain }: RouteAccess): boolean {
  const needed = 'oneOf' in rights ? rights.oneOf : rights;
  return isOfDomain && ('oneOf' in rights ? needed.some(isOfAgents) : needed.every(isOfAgents));
}
const isOfAgents = (right: Parameters<typeof hasRoleRight>[1]) => hasRoleRight('agent', right);

const isGraph = ({ url }: ServedRoute) => url === '/graphql';
/** Guard rules decide on the mail of the whole workspace: limited members see none of them. Snippets are texts of the whole workspace, for all who reply to mail. */
const isOfWorkspace = (complaint: string) => / \/api\/e2\/(?:guard|snippets)[/:]/.test(complaint);

test('an operation that cannot be limited, or that agents have no right to, is refused to a limited agent', async () => {
  const refused = routes.filter(
    (route) => route.access !== null && !isOfLimitedAgents(route.access) && !isGraph(route),
  );
  expect(refused.length).toBeGreaterThan(60);
  const own = two.mine.ids.get('em')?.[0] ?? '';
  const differences: string[] = [];
  for (const { method, url } of refused) {
    const response = await call(method, url.replaceAll(/:\w+/g, own), method === 'GET' ? undefined : {});
    if (response.statusCode !== 403) differences.push(`${method} ${url}: ${response.statusCode} ${response.body}`);
  }
  expect(differences).toEqual([]);
  expect(await two.changedTables()).toEqual([]);
});

test('every other route treats objects of the other domain like unknown ones, and changes nothing in it', {
  timeout: 900_000,
}, async () => {
  const later = new Date(Date.now() + 86_400_000).toISOString();
  const isChange = ({ method, url }: ServedRoute) => /^P(?:ATCH|UT)$/.test(method) && url === '/api/e2/emails/:id';
  const listExamples = bodyExamples(gateway.app);
  const options: SweepOptions = {
    mine: two.mine,
    theirs: two.theirs,
    call,
    changedTables: two.changedTables,
    unanswered: {
      'POST /api/e2/emails/wait except_email_ids.0': 'finds nothing in any case; see rest/email-wait.test.ts',
      'PATCH /api/e2/saved-views/:id': 'limited members have views of their own; see rest/saved-views.test.ts',
      'DELETE /api/e2/saved-views/:id': 'limited members have views of their own; see rest/saved-views.test.ts',
      'DELETE /api/e2/oauth/grants/:id': 'grants belong to the whole workspace; see gateway/oauth/oauth-grants.test.ts',
      'PATCH /api/e2/drafts/:id attachments.0.id': 'the version of the example is past; see rest/drafts.test.ts',
    },
    written: new Set(),
    listExamples: (route) => (isChange(route) ? [{ scheduled_at: later }, { is_read: true }] : listExamples(route)),
    breadth: isQuick ? 'few' : 'some',
  };
  const order = ({ method, url }: ServedRoute) => `${method === 'DELETE' ? 2 : method === 'GET' ? 0 : 1}${url}`;
  const swept = routes
    .filter((route) => route.access !== null && isOfLimitedAgents(route.access) && !isGraph(route))
    .toSorted((a, b) => (order(a) < order(b) ? -1 : 1));
  expect(swept.length).toBeGreaterThan(60);
  const complaints: string[] = [];
  for (const route of swept) complaints.push(...(await sweepRoute(route, options)));
  expect(complaints.filter((complaint) => !isOfWorkspace(complaint))).toEqual([]);
});

const roots = (['query', 'mutation'] as const).flatMap((operation) =>
  Object.values(schema.getRootType(operation as never)?.getFields() ?? {}).map((field) => ({ operation, field })),
);

test('a field of GraphQL that cannot be limited, or that agents lack the right for, is refused to a limited agent', async () => {
  const differences: string[] = [];
  let refused = 0;
  for (const { operation, field } of roots) {
    const access = readAccess(field);
    if (access === null || (access.isOfDomain && isOfAgents(access.right))) continue;
    refused++;
    const own = two.mine.ids.get('em')?.[0] ?? '';
    const values: Record<string, unknown> = { String: 'x', ID: own, Int: 1, Boolean: true, JSON: {} };
    const args = requiredArguments(field, (_name, typeName) => values[typeName] ?? 'x');
    const query = operationText(schema, operation, field, Object.keys(args));
    const { errors, data } = (await browser.graphql(query, {}, args)).json();
    if (errors?.[0]?.extensions?.code !== 'FORBIDDEN')
      differences.push(`${operation} ${field.name}: ${JSON.stringify({ errors, data }).slice(0, 300)}`);
  }
  expect(differences).toEqual([]);
  expect(refused).toBeGreaterThan(60);
  expect(await two.changedTables()).toEqual([]);
});

test('a session of another workspace, also of its owner, treats every object here like an unknown one', {
  timeout: 300_000,
}, async () => {
  const email = 'owner@elsewhere.test';
  await createAccount(gateway.owner, { email, password: TEAM_PASSWORD, apiKey: null, mailbox: null });
  await gateway.owner.pool.query('delete from auth_rate_limit');
  const stranger = openBrowser(gateway.app);
  expect((await stranger.auth('POST', '/sign-in/email', { email, password: TEAM_PASSWORD })).statusCode).toBe(200);
  const foreign = [...two.theirs.ids].flatMap(([kind, [id]]) => (id === undefined ? [] : [{ kind, id }]));
  expect(foreign.length).toBeGreaterThan(10);
  const withId = routes.filter(
    (route) => /:\w+/.test(route.url) && route.url.startsWith('/api/e2') && route.access !== null,
  );
  expect(withId.length).toBeGreaterThan(60);
  const ask = async ({ method, url }: ServedRoute, id: string) => {
    const path = url.replace('/api/e2', '').replaceAll(/:\w+/g, id);
    const response = await stranger.rest(method as 'GET', path, {}, method === 'GET' ? undefined : {});
    return `${response.statusCode} ${response.body.replaceAll(id, 'ID')}`;
  };
  const differences: string[] = [];
  for (const route of withId)
    for (const { kind, id } of foreign) {
      const unknown = id.replace(/[0-9a-f]{32}/, '00000000000070008000000000000000');
      const [found, expected] = [await ask(route, id), await ask(route, unknown)];
      const isTaken = found.startsWith('2') && expected.startsWith('2') && route.method !== 'GET';
      if (found !== expected && !isTaken)
        differences.push(
          `${route.method} ${route.url} with ${kind}: ${found.slice(0, 200)} instead of ${expected.slice(0, 200)}`,
        );
    }
  expect(differences).toEqual([]);
  expect(await two.changedTables()).toEqual([]);
});
