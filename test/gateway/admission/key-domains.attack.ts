import { afterAll, beforeAll, expect, test } from 'vitest';
import { isQuick } from '../../support/chaos-figures.ts';
import { insertKey } from '../../support/rows/key-rows.ts';
import { recordRoutes, type ServedRoute } from '../../support/rows/route-table.ts';
import { keepToKey, makeTwoDomains, type TwoDomains } from '../../support/rows/two-domains.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { type SweepOptions, sweepRoute } from '../../support/stages/isolation-sweep.ts';
import { isOfLimitedKeys, neededScopes } from '../../support/stages/needed-scopes.ts';
import { bodyExamples, isServed } from '../../support/stages/swept-routes.ts';

let gateway: TestGateway;
let routes: ServedRoute[];
let two: TwoDomains;
let key: string;

beforeAll(async () => {
  const recorded = await recordRoutes(() => openTestGateway());
  gateway = recorded.opened;
  await gateway.app.ready();
  routes = recorded.routes.filter((route) => route.access !== null && isServed(route));
  two = await makeTwoDomains(gateway);
  const made = await insertKey(gateway.owner, two.mine.mailbox, { scopes: ['read', 'send'], domain: two.domain });
  key = made.secret;
  await keepToKey(gateway.owner, two, made.id);
});
afterAll(() => gateway.close());

/** Guard rules decide on the mail of the whole account: a key of one domain is shown none of them. Snippets are texts of the whole workspace, for all who reply to mail. */
const isOfWorkspace = (complaint: string) => / \/api\/e2\/(?:guard|snippets)[/:]/.test(complaint);

const LATER = new Date(Date.now() + 86_400_000).toISOString();
/** Of which the key may change the time alone. */
const isChange = ({ method, url }: ServedRoute) => /^P(?:ATCH|UT)$/.test(method) && url === '/api/e2/emails/:id';
const isGraph = ({ url }: ServedRoute) => url === '/graphql';
const call = (method: string, path: string, body?: unknown) =>
  gateway.call(key, method, path.replace(/^\/api\/e2/, ''), body);

/** What is of people and agents, and of no mail. */
const OF_THE_TEAM = ['/api/e2/workspace', '/api/e2/members', '/api/e2/agent/confirm'];

test('every read is limited to the domain, and none is refused but those of the team', () => {
  const reads = routes.filter(({ access }) => JSON.stringify(access?.rights) === '["read"]');
  expect(reads.length).toBeGreaterThan(50);
  expect(reads.filter(({ access }) => access?.isOfDomain !== true).map(({ url }) => url)).toEqual([...OF_THE_TEAM]);
});

test('a change that is not limited to the domain is refused with the reason', async () => {
  for (const route of routes.filter((each) => each.access?.isOfDomain === false)) {
    const name = `${route.method} ${route.url}`;
    const own = two.mine.ids.get('em')?.[0] ?? '';
    const response = await call(
      route.method,
      route.url.replaceAll(/:\w+/g, own),
      route.method === 'GET' ? undefined : {},
    );
    expect(response.statusCode, name).toBe(403);
    // A key of one domain can have neither scope.
    const missing = (['manage', 'approve', 'workspaces'] as const).find((scope) =>
      neededScopes(route.access).includes(scope),
    );
    expect(response.json(), name).toMatchObject(
      missing !== undefined
        ? { code: 'insufficient_scope', requiredScope: missing }
        : {
            code: 'limited_to_domain',
            domain: two.domain.name,
            message: `${name} cannot be limited to one domain, and this API key is limited to ${two.domain.name}.`,
          },
    );
  }
  expect(await two.changedTables()).toEqual([]);
});

test('every list shows objects of the domain, and counts them exactly', async () => {
  const { domain, mine, theirs } = two;
  const shown: Record<string, unknown> = {};
  for (const { url } of routes.filter(
    (route) =>
      route.method === 'GET' && route.access?.isOfDomain === true && route.params.length === 0 && !isGraph(route),
  )) {
    const response = await call('GET', `${url}?limit=${/\/(contacts|senders)$/.test(url) ? 50 : 100}`);
    expect(response.statusCode, `${url} ${response.body}`).toBe(200);
    const body = response.json();
    shown[url] = body.pagination?.total ?? body.meta?.totalCount ?? body.data?.length;
    for (const name of theirs.names) expect(response.body, url).not.toContain(name);
  }
  const count = async (text: string) =>
    Number(
      (await gateway.owner.pool.query(`select count(*) from ${text}`, [mine.mailbox.workspaceId, domain.name])).rows[0]
        .count,
    );
  const emails = await count('email where workspace_id = $1 and own_domain = $2');
  expect(emails).toBeGreaterThan(5);
  expect(shown['/api/e2/emails']).toBe(emails);
  expect(shown).toMatchObject({
    '/api/e2/domains': 1,
    '/api/e2/email-addresses': 1,
    '/api/e2/reply-addresses': 1,
    '/api/e2/drafts': 1,
    '/api/e2/endpoints': 1,
    '/api/e2/suppressions': 1,
    '/api/e2/requests': 1,
    '/api/e2/api-keys': 1,
    '/api/e2/guard': 0,
    '/api/e2/events': await count(
      `event v where v.workspace_id = $1 and exists (select from email e where e.workspace_id = $1 and e.id = v.email_id and e.own_domain = $2)`,
    ),
  });
  const ofOther = await call('GET', `/api/e2/emails?domain=${theirs.names[1]}`);
  expect([ofOther.statusCode, ofOther.json().data]).toEqual([200, []]);
});

test('every other route treats objects of the account’s other domain like unknown ones, and changes nothing in it', {
  timeout: 900_000,
}, async () => {
  const listExamples = bodyExamples(gateway.app);
  const options: SweepOptions = {
    mine: two.mine,
    theirs: two.theirs,
    call,
    changedTables: two.changedTables,
    unanswered: {
      'POST /api/e2/emails/wait except_email_ids.0': 'finds nothing in any case; see rest/email-wait.test.ts',
      'DELETE /api/e2/oauth/grants/:id': 'grants belong to the whole workspace; see gateway/oauth/oauth-grants.test.ts',
      'POST /api/e2/members/leave workspace_id': 'people leave, and keys do not; see accounts/members.test.ts',
      'PATCH /api/e2/drafts/:id attachments.0.id': 'the version of the example is past; see rest/drafts.test.ts',
    },
    written: new Set(),
    listExamples: (route) => (isChange(route) ? [{ scheduled_at: LATER }] : listExamples(route)),
    breadth: isQuick ? 'some' : 'all',
  };
  const order = ({ method, url }: ServedRoute) => `${method === 'DELETE' ? 2 : method === 'GET' ? 0 : 1}${url}`;
  const swept = routes
    .filter((route) => isOfLimitedKeys(route.access) && !isGraph(route))
    .toSorted((a, b) => (order(a) < order(b) ? -1 : 1));
  expect(swept.length).toBeGreaterThan(35);
  const complaints: string[] = [];
  for (const route of swept) complaints.push(...(await sweepRoute(route, options)));
  expect(complaints.filter((complaint) => !isOfWorkspace(complaint))).toEqual([]);
});
