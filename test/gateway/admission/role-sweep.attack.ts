import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasRoleRight, RIGHTS, type Right } from '../../../core/accounts/rights.ts';
import { ROLES, type Role } from '../../../core/accounts/roles.ts';
import { tools } from '../../../gateway/mcp/tools.ts';
import { readAccess } from '../../../schema/graphql/access.ts';
import { schema } from '../../../schema/graphql/schema.ts';
import { recordRoutes, type ServedRoute } from '../../support/rows/route-table.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { connectInjected } from '../../support/servers/mcp-client.ts';
import { operationText, requiredArguments } from '../../support/stages/graph-places.ts';
import { withoutWait } from '../../support/stages/isolation-sweep.ts';
import { isServed } from '../../support/stages/swept-routes.ts';
import { openTeam, type Staff, staffTeam, type TeamStage } from '../../support/stages/team-stage.ts';

/** Routes of the interface that take no credential. */
const OPEN = /^(?:OPTIONS \/api\/e2\*|POST \/api\/e2\/agent\/sign-up|GET \/api\/e2\/(?:openapi\.json|docs(?:\/.*)?))$/;

let gateway: TestGateway;
let routes: ServedRoute[];
let team: TeamStage;
let staff: Staff;
/** an API key of each role, with full rights */
const keys = new Map<Role, string>();

beforeAll(async () => {
  const recorded = await recordRoutes(() => openTestGateway({ config: { rateLimitPerSecond: 0 } }));
  gateway = recorded.opened;
  await gateway.app.ready();
  routes = recorded.routes
    .filter(({ method, url }) => url.startsWith('/api/e2') && !OPEN.test(`${method} ${url}`))
    .filter(isServed);
  team = await openTeam(gateway, 'sweep');
  staff = await staffTeam(team);
  for (const role of ROLES) keys.set(role, await team.insertKeyOf(staff[role]));
});
afterAll(() => gateway.close());

/** Returns the first right that a role lacks; null: it may. With several of which one is enough, the first if it has none. */
function missingOf(role: Role, { rights }: NonNullable<ServedRoute['access']>): Right | null {
  if (!('oneOf' in rights)) return rights.find((right) => !hasRoleRight(role, right)) ?? null;
  return rights.oneOf.some((right) => hasRoleRight(role, right)) ? null : (rights.oneOf[0] ?? null);
}

type Asked = { statusCode: number; json: () => { code?: string; requiredRight?: string; message?: string } };

/** Returns the right whose absence was the reason of a refusal; null for other responses. */
function refusedFor({ statusCode, json }: Asked): string | null {
  if (statusCode !== 403) return null;
  const { code, requiredRight } = json();
  return code === 'insufficient_role' ? (requiredRight ?? 'unknown') : null;
}

describe('every operation of REST', () => {
  test('declares a right', () => {
    expect(routes.length).toBeGreaterThan(120);
    expect(routes.filter(({ access }) => access === null).map(({ method, url }) => `${method} ${url}`)).toEqual([]);
  });

  test.each(ROLES)('lets a session and a key of the role %s do what the table of rights says', async (role) => {
    const differences: string[] = [];
    let asked = 0;
    for (const { method, url, access } of routes) {
      if (access === null) continue;
      const path = url.replace('/api/e2', '').replaceAll(/:\w+/g, 'em_none');
      const body = method === 'GET' ? undefined : withoutWait(url, {});
      const session = await staff[role].browser.rest(method as 'GET', path, {}, body);
      const key = await gateway.call(keys.get(role) ?? '', method, path, body);
      for (const [by, response] of Object.entries({ session, key })) {
        asked++;
        const expected = missingOf(role, access);
        const found = refusedFor(response);
        // What the request asks for decides on the others.
        const isOpen = 'oneOf' in access.rights && expected === null;
        if (found !== expected && !isOpen) differences.push(`${by} ${method} ${url}: ${found} instead of ${expected}`);
        if (response.statusCode === 401) differences.push(`${by} ${method} ${url}: 401`);
      }
    }
    expect(differences).toEqual([]);
    expect(asked).toBeGreaterThan(240);
  });
});

const roots = (['query', 'mutation', 'subscription'] as const).flatMap((operation) =>
  Object.values(schema.getRootType(operation as never)?.getFields() ?? {}).map((field) => ({ operation, field })),
);

describe('every field of GraphQL', () => {
  test.each(ROLES)('lets a session of the role %s do what the table of rights says', async (role) => {
    const differences: string[] = [];
    for (const { operation, field } of roots) {
      const access = readAccess(field);
      if (access === null) throw new Error(`${field.name} declares no access`);
      const expected = hasRoleRight(role, access.right) ? null : access.right;
      // An allowed subscription has no end.
      if (operation === 'subscription' && expected === null) continue;
      const values: Record<string, unknown> = { String: 'x', ID: 'em_none', Int: 1, Boolean: true, JSON: {} };
      const args = requiredArguments(field, (_name, typeName) => values[typeName] ?? 'x');
      const query =
        operation === 'subscription'
          ? `subscription { ${field.name} { __typename } }`
          : operationText(schema, operation, field, Object.keys(args));
      const response = await staff[role].browser.graphql(query, {}, args);
      const { code, reason, requiredRight } = response.json().errors?.[0]?.extensions ?? {};
      const found = code === 'FORBIDDEN' && reason === 'insufficient_role' ? requiredRight : null;
      if (found !== expected) differences.push(`${operation} ${field.name}: ${found} instead of ${expected}`);
    }
    expect(differences).toEqual([]);
    expect(roots.length).toBeGreaterThan(110);
  });
});

describe('every tool of MCP', () => {
  test.each(ROLES)('is listed for a key of the role %s as the table of rights says', async (role) => {
    const client = await connectInjected(gateway, keys.get(role) ?? '');
    const listed = (await client.listTools()).tools.map(({ name }) => name).toSorted();
    await client.close();
    const expected = tools.filter(({ access }) => missingOf(role, access) === null).map(({ name }) => name);
    expect(listed).toEqual(expected.toSorted());
  });
});

test('an approver of any role may approve, and nothing else beyond the role', async () => {
  const { browser } = await team.makeMember('viewer', { is_approver: true });
  const approve = await browser.rest('POST', '/emails/em_none/approve', {}, {});
  expect(refusedFor(approve)).toBeNull();
  expect(refusedFor(await browser.rest('POST', '/domains', {}, {}))).toBe('domains');
});

test('every right has a role, and the owner has all', () => {
  for (const right of Object.keys(RIGHTS) as Right[]) expect(hasRoleRight('owner', right)).toBe(true);
});
