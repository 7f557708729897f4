import { afterAll, beforeAll, expect, test } from 'vitest';
import { isQuick } from '../../support/chaos-figures.ts';
import { insertKey } from '../../support/rows/key-rows.ts';
import { recordRoutes, type ServedRoute } from '../../support/rows/route-table.ts';
import { keepToKey, type TwoDomains } from '../../support/rows/two-domains.ts';
import { makeTwoInboxes } from '../../support/rows/two-inboxes.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { type SweepOptions, sweepRoute } from '../../support/stages/isolation-sweep.ts';
import { isOfLimitedKeys } from '../../support/stages/needed-scopes.ts';
import { bodyExamples, isServed } from '../../support/stages/swept-routes.ts';

// A key of one address beside another address of the same domain: key-domains.attack.ts has what is the same for a key of one domain.
let gateway: TestGateway;
let routes: ServedRoute[];
let two: TwoDomains;
let key: string;

beforeAll(async () => {
  const recorded = await recordRoutes(() => openTestGateway());
  gateway = recorded.opened;
  await gateway.app.ready();
  routes = recorded.routes.filter((route) => isOfLimitedKeys(route.access) && isServed(route) && !isGraph(route));
  two = await makeTwoInboxes(gateway);
  const { mailbox } = two.mine;
  const made = await insertKey(gateway.owner, mailbox, { scopes: ['read', 'send'], addresses: [mailbox.address] });
  key = made.secret;
  await gateway.owner.pool.query('update domain set catch_all_endpoint_id = null where workspace_id = $1', [
    mailbox.workspaceId,
  ]);
  await keepToKey(gateway.owner, two, made.id);
});
afterAll(() => gateway.close());

const LATER = new Date(Date.now() + 86_400_000).toISOString();
const isGraph = ({ url }: ServedRoute) => url === '/graphql';
const isChange = ({ method, url }: ServedRoute) => /^P(?:ATCH|UT)$/.test(method) && url === '/api/e2/emails/:id';
/** An example body that sends from the address of the key. */
const fromOwn = (body: unknown) =>
  typeof body === 'object' && body !== null && 'from' in body ? { ...body, from: two.mine.mailbox.address } : body;
const call = (method: string, path: string, body?: unknown) =>
  gateway.call(key, method, path.replace(/^\/api\/e2/, ''), body);

/** Routes of what belongs to a domain or the account, of which a key of addresses has nothing. */
const isOfWhole = (complaint: string) =>
  / \/api\/e2\/(?:guard|snippets|domains|dmarc-reports|reply-addresses)[/:]/.test(complaint);

test('every list shows what belongs to the address, and counts it exactly', async () => {
  const { mine, theirs, domain } = two;
  const shown: Record<string, unknown> = {};
  for (const { url } of routes.filter((route) => route.method === 'GET' && route.params.length === 0)) {
    const response = await call('GET', `${url}?limit=${/\/(contacts|senders)$/.test(url) ? 50 : 100}`);
    expect(response.statusCode, `${url} ${response.body}`).toBe(200);
    const body = response.json();
    shown[url] = body.pagination?.total ?? body.meta?.totalCount ?? body.data?.length;
    for (const name of theirs.names) expect(response.body, url).not.toContain(name);
  }
  const count = async (text: string) =>
    Number(
      (await gateway.owner.pool.query(`select count(*) from ${text}`, [mine.mailbox.workspaceId, mine.mailbox.address]))
        .rows[0].count,
    );
  const emails = await count('email where workspace_id = $1 and own_address = $2');
  expect(emails).toBeGreaterThan(5);
  expect(shown).toMatchObject({
    '/api/e2/emails': emails,
    '/api/e2/domains': 0,
    '/api/e2/email-addresses': 1,
    '/api/e2/reply-addresses': 0,
    '/api/e2/drafts': 1,
    '/api/e2/endpoints': 1,
    '/api/e2/suppressions': 1,
    '/api/e2/requests': 1,
    '/api/e2/api-keys': 1,
    '/api/e2/guard': 0,
    '/api/e2/events': await count(
      `event v where v.workspace_id = $1 and exists (select from email e where e.workspace_id = $1 and e.id = v.email_id and e.own_address = $2)
         and v.data->>'domainId' is null`,
    ),
  });
  // By name, which its mail shows, the domain is a filter like any other: of what the key can access.
  const ofDomain = await call('GET', `/api/e2/emails?domain=${domain.name}&time_range=all`);
  expect([ofDomain.statusCode, ofDomain.json().pagination.total]).toEqual([200, emails]);
  const ofOther = await call('GET', `/api/e2/emails?address=${theirs.mailbox.address}`);
  expect([ofOther.statusCode, ofOther.json().data]).toEqual([200, []]);
});

test('the overview counts the mail of the address alone', async () => {
  const { mailbox } = two.mine;
  const { rows } = await gateway.owner.pool.query<{ scheduled: string; others: string }>(
    `select count(*) filter (where own_address = $2) as scheduled, count(*) filter (where own_address <> $2) as others
     from email where workspace_id = $1 and type = 'scheduled' and status = 'scheduled'`,
    [mailbox.workspaceId, mailbox.address],
  );
  const [counted] = rows;
  expect(Number(counted?.others)).toBeGreaterThan(0);
  const shown = await call('GET', '/api/e2/overview');
  expect(shown.json().waiting, shown.body).toMatchObject({ scheduled: Number(counted?.scheduled) });
});

test('every other route treats objects of the other address like unknown ones, and changes nothing of it', {
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
    // An address shows the ID and name of its domain, and nothing else of it.
    written: new Set([two.domain.id]),
    listExamples: (route) => (isChange(route) ? [{ scheduled_at: LATER }] : listExamples(route).map(fromOwn)),
    breadth: isQuick ? 'some' : 'all',
  };
  const order = ({ method, url }: ServedRoute) => `${method === 'DELETE' ? 2 : method === 'GET' ? 0 : 1}${url}`;
  const complaints: string[] = [];
  for (const route of routes.toSorted((a, b) => (order(a) < order(b) ? -1 : 1)))
    complaints.push(...(await sweepRoute(route, options)));
  expect(complaints.filter((complaint) => !isOfWhole(complaint))).toEqual([]);
});
