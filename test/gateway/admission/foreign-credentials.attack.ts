import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listNeeded, RIGHTS } from '../../../core/accounts/rights.ts';
import { makeSignInLink } from '../../../db/queries/accounts/sign-in-link.ts';
import { readAccess } from '../../../schema/graphql/access.ts';
import { schema } from '../../../schema/graphql/schema.ts';
import { type Holdings, makeHoldings, readDigests, workspaceTables } from '../../support/rows/holdings.ts';
import { insertKey } from '../../support/rows/key-rows.ts';
import { recordRoutes, type ServedRoute } from '../../support/rows/route-table.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { type BrowserSession, openBrowser } from '../../support/stages/browser-session.ts';
import { graphPlaces } from '../../support/stages/graph-places.ts';
import { sweepField, sweptFields } from '../../support/stages/graph-sweep.ts';
import { sweepRoute, withoutWait } from '../../support/stages/isolation-sweep.ts';
import { neededScopes } from '../../support/stages/needed-scopes.ts';
import { ISSUER, openOauthStage } from '../../support/stages/oauth-stage.ts';
import { bodyExamples, inSweepOrder, routesOfUsers } from '../../support/stages/swept-routes.ts';

// The sweeps of isolation-sweep.attack.ts and graph-isolation.attack.ts use API keys. Here are the other credentials: a session of the owner, a browser
// token for the workspace of a customer, and a client that the owner allowed everything.
const ORIGIN = 'https://app.example.com';

let gateway: TestGateway;
let routes: ServedRoute[];
let tables: string[];

beforeAll(async () => {
  const recorded = await recordRoutes(() => openTestGateway({ config: { rateLimitPerSecond: 0 } }));
  gateway = recorded.opened;
  await gateway.app.ready();
  routes = routesOfUsers(recorded.routes);
  tables = await workspaceTables(gateway.actor);
});
afterAll(() => gateway.close());

interface Credential {
  rest: (method: string, path: string, body?: unknown) => ReturnType<TestGateway['call']>;
  graphql: (query: string, variables: Record<string, unknown>) => ReturnType<TestGateway['call']>;
}

async function signIn({ mailbox }: Holdings): Promise<BrowserSession> {
  await gateway.owner.pool.query('delete from auth_rate_limit');
  const browser = openBrowser(gateway.app);
  const token = await makeSignInLink(gateway.owner, `${mailbox.workspaceId}@account.test`);
  const response = await browser.auth('POST', '/sign-in/link', { token });
  expect(response.statusCode, response.body).toBe(200);
  return browser;
}

function bearer(token: string, origin?: string): Credential {
  const send = (method: string, url: string, body?: unknown) =>
    gateway.app.inject({
      method: method as 'GET',
      url,
      headers: { authorization: `Bearer ${token}`, ...(origin === undefined ? {} : { origin }) },
      ...(body === undefined ? {} : { payload: body as object }),
    });
  return { rest: send, graphql: (query, variables) => send('POST', '/graphql', { query, variables }) };
}

const OPENED: Record<string, (mine: Holdings) => Promise<Credential>> = {
  session: async (mine) => {
    const browser = await signIn(mine);
    return {
      rest: (method, path, body) => browser.rest(method as 'GET', path.replace('/api/e2', ''), {}, body),
      graphql: (query, variables) => browser.graphql(query, {}, variables),
    };
  },
  'browser token': async (mine) => {
    const product = await gateway.mailbox();
    await gateway.owner.pool.query('update workspace set parent_id = $1, client_id = $2 where id = $2', [
      product.workspaceId,
      mine.mailbox.workspaceId,
    ]);
    const key = await insertKey(gateway.owner, product, { scopes: null });
    const body = { rights: ['read', 'send'], origins: [ORIGIN] };
    const made = await gateway.call(key.secret, 'POST', `/workspaces/${mine.mailbox.workspaceId}/tokens`, body);
    expect(made.statusCode, made.body).toBeLessThan(300);
    return bearer(made.json().token, ORIGIN);
  },
  client: async (mine) => {
    const connected = await openOauthStage(gateway).connect(
      await signIn(mine),
      { level: 'everything' },
      { resource: ISSUER },
    );
    return bearer(connected.access_token);
  },
};
/** Places in which no ID of one's own makes a difference, each with the reason. */
const UNANSWERED: Readonly<Record<string, string>> = {
  'GET /api/e2/emails/:id/quarantine':
    'the response names the virus, and no email here has one; see actors/screening/scanner-away.test.ts',
  'DELETE /api/e2/oauth/grants/:id': 'a browser token finds none; see gateway/oauth/oauth-grants.test.ts',
};
/** Customer IDs are names that a product chooses, and earlier places of the sweep have chosen the same. */
const isChosen = (complaint: string) => /client_?id/i.test(complaint.slice(0, 80));
/** Browser tokens read no requests, and sessions create no browser tokens, whatever the ID; see accounts/browser-tokens.test.ts. */
const isOfKeys = (complaint: string) =>
  /^POST \S+\/tokens: .*API_KEY_REQUIRED|^GET \S+\/(?:requests|logs)\/:id: an unknown id is answered \[403,.*needs an API key/.test(
    complaint,
  );
/** Scopes of a browser token; the others have all. */
const OF_TOKENS = ['read', 'send'];

describe.each(Object.keys(OPENED))('a %s of another workspace', (kind) => {
  let mine: Holdings;
  let theirs: Holdings;
  let credential: Credential;
  let before: Map<string, string>;
  const written = new Set<string>();

  beforeAll(async () => {
    [mine, theirs] = [await makeHoldings(gateway), await makeHoldings(gateway)];
    credential = await (OPENED[kind] as (typeof OPENED)[string])(mine);
    before = await readDigests(gateway.actor, tables, theirs.mailbox.workspaceId);
  });

  async function changedTables(): Promise<string[]> {
    const now = await readDigests(gateway.actor, tables, theirs.mailbox.workspaceId);
    const changed = tables.filter((table) => now.get(table) !== before.get(table));
    before = now;
    return changed;
  }
  const isOpen = (scopes: readonly string[]) =>
    kind !== 'browser token' || scopes.every((scope) => OF_TOKENS.includes(scope));

  test('finds no object by its ID in a path, a query or a body of REST, and changes none', {
    timeout: 900_000,
  }, async () => {
    const swept = inSweepOrder(routes.filter(({ access }) => access !== null && isOpen(neededScopes(access))));
    expect(swept.length).toBeGreaterThan(kind === 'browser token' ? 40 : 100);
    const listExamples = bodyExamples(gateway.app);
    const complaints: string[] = [];
    for (const route of swept)
      complaints.push(
        ...(await sweepRoute(route, {
          mine,
          theirs,
          call: (method, path, body) => credential.rest(method, path, withoutWait(path, body)),
          changedTables,
          unanswered: UNANSWERED,
          written,
          listExamples,
          breadth: 'few',
        })),
      );
    expect(complaints.filter((complaint) => !isChosen(complaint) && !isOfKeys(complaint))).toEqual([]);
  });

  const fields = sweptFields(graphPlaces(schema)).filter(([name]) => {
    const [operation, field = ''] = name.split(' ');
    const root = operation === 'query' ? schema.getQueryType() : schema.getMutationType();
    const access = readAccess(root?.getFields()[field] as never);
    return access !== null && isOpen(listNeeded(access).map((right) => RIGHTS[right].scope));
  });

  test.each(fields)('finds nothing by an ID in %s, and changes nothing', async (name, places) => {
    const complaints = await sweepField(name, places, {
      schema,
      mine,
      theirs,
      call: credential.graphql,
      unanswered: {},
      breadth: 'few',
    });
    expect(complaints.filter((complaint) => !isChosen(complaint))).toEqual([]);
    expect(await changedTables()).toEqual([]);
  });
});
