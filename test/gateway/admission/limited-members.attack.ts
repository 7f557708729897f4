import { afterAll, beforeAll, expect, test } from 'vitest';
import { hasRoleRight } from '../../../core/accounts/rights.ts';
import { createAccount } from '../../../db/queries/accounts/account.ts';
import type { RouteAccess } from '../../../gateway/admission/access.ts';
import { isQuick } from '../../support/chaos-figures.ts';
import { insertKey } from '../../support/rows/key-rows.ts';
import { recordRoutes, type ServedRoute } from '../../support/rows/route-table.ts';
import { keepToKey, makeTwoDomains, type TwoDomains } from '../../support/rows/two-domains.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { type BrowserSession, openBrowser } from '../../support/stages/browser-session.ts';
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
  if (!('userId' in made)) throw new Error(made.outcome);
  const workspaceId = two.mine.mailbox.userId;
  await gateway.owner.pool.query(
    `insert into workspace_member (workspace_id, person_id, role, domain_ids, addresses) values ($1, $2, 'agent', $3, '{}')`,
    [workspaceId, made.userId, [two.domain.id]],
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
/** Guard rules decide on the mail of the whole workspace: limited members see none of them. Snippets are texts of the whole workspace, for all who answer mail. */
const isOfWorkspace = (complaint: string) => / \/api\/e2\/(?:guard|snippets)[/:]/.test(complaint);

test('an operation that cannot be limited, or that agents lack the right for, is refused to a limited agent and changes nothing', async () => {
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
  const examplesOf = bodyExamples(gateway.app);
  const options: SweepOptions = {
    mine: two.mine,
    theirs: two.theirs,
    call,
    changedTables: two.changedTables,
    unanswered: {
      'PATCH /api/e2/saved-views/:id': 'limited members have views of their own; see rest/saved-views.test.ts',
      'DELETE /api/e2/saved-views/:id': 'limited members have views of their own; see rest/saved-views.test.ts',
      'DELETE /api/e2/oauth/grants/:id': 'grants belong to the whole workspace; see gateway/oauth/oauth-grants.test.ts',
      'PATCH /api/e2/drafts/:id attachments.0.id': 'the version of the example is past; see rest/drafts.test.ts',
    },
    written: new Set(),
    examplesOf: (route) => (isChange(route) ? [{ scheduled_at: later }, { is_read: true }] : examplesOf(route)),
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
