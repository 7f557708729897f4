import {
  type GraphQLOutputType,
  getNamedType,
  isInterfaceType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
  isUnionType,
} from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hasRoleRight, RIGHTS } from '../../../core/accounts/rights.ts';
import { createAccount } from '../../../db/queries/accounts/account.ts';
import { readAccess } from '../../../schema/graphql/access.ts';
import { schema } from '../../../schema/graphql/schema.ts';
import { insertKey } from '../../support/rows/key-rows.ts';
import { makeTwoDomains, type TwoDomains } from '../../support/rows/two-domains.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { type BrowserSession, openBrowser } from '../../support/stages/browser-session.ts';
import { type GraphPlace, graphPlaces, requiredArguments, withValue } from '../../support/stages/graph-places.ts';
import { TEAM_PASSWORD } from '../../support/stages/team-stage.ts';

const UNKNOWN = '00000000000070008000000000000000';
/** Waits for seconds; key-streams.test.ts shows what it answers. */
const SLOW = 'waitForEmail';

let gateway: TestGateway;
let two: TwoDomains;
let key: string;
/** of an agent who is limited to the domain of the key */
let browser: BrowserSession;

beforeAll(async () => {
  gateway = await openTestGateway({ config: { rateLimitPerSecond: 0 } });
  two = await makeTwoDomains(gateway);
  key = (await insertKey(gateway.owner, two.mine.mailbox, { scopes: ['read', 'send'], domain: two.domain })).secret;
  browser = await signInLimited();
  await two.changedTables();
});
afterAll(() => gateway.close());

async function signInLimited(): Promise<BrowserSession> {
  const email = 'limited@agents.test';
  const made = await createAccount(gateway.owner, { email, password: TEAM_PASSWORD, apiKey: null, mailbox: null });
  if (!('workspaceId' in made)) throw new Error(made.outcome);
  const { workspaceId } = two.mine.mailbox;
  await gateway.owner.pool.query(
    `insert into workspace_member (workspace_id, person_id, role, domain_ids, addresses) values ($1, $2, 'agent', $3, '{}')`,
    [workspaceId, made.workspaceId, [two.domain.id]],
  );
  const session = openBrowser(gateway.app);
  expect((await session.auth('POST', '/sign-in/email', { email, password: TEAM_PASSWORD })).statusCode).toBe(200);
  expect((await session.auth('POST', '/switch-workspace', { workspaceId })).statusCode).toBe(200);
  return session;
}

/** Who is limited to the domain: each asks through an own credential. */
const CALLERS = {
  key: (query: string, variables: Record<string, unknown>) => gateway.graphql(key, query, variables),
  member: (query: string, variables: Record<string, unknown>) => browser.graphql(query, {}, variables),
};
type Caller = keyof typeof CALLERS;

const roots = (['query', 'mutation'] as const).flatMap((operation) => {
  const type = schema.getRootType(operation as never);
  // Snippets are texts of the whole workspace, for all who reply to mail.
  const fields = Object.values(type?.getFields() ?? {}).filter(({ name }) => name !== 'snippets');
  return fields.map((field) => {
    const need = readAccess(field);
    const scope = need === null ? undefined : RIGHTS[need.right].scope;
    const isRead = need?.isOfDomain === true && field.name !== SLOW;
    const isOfKeys = isRead && scope !== 'manage';
    const isOfMembers = isRead && hasRoleRight('agent', need.right);
    return { name: `${operation} ${field.name}`, operation, field, isOfKeys, isOfMembers, scope };
  });
});

/** Everything of a type that a key of one domain is shown, some levels deep. */
function makeSelection(output: GraphQLOutputType, depth: number): string {
  const type = getNamedType(output);
  if (isLeafType(type)) return '';
  if (type.name === 'Node') return `{ __typename id ... on Email { ${readFields('Email', 2)} } }`;
  if (isUnionType(type))
    return `{ __typename ... on Error { message code } ${type
      .getTypes()
      .map(({ name }) => `... on ${name} { ${readFields(name, depth)} }`)
      .join(' ')} }`;
  return `{ __typename ${readFields(type.name, depth)} }`;
}

/** Fields of the viewer that need a scope which a key of one domain cannot have. */
const OF_MANAGERS = ['erasurePreview'];

function readFields(typeName: string, depth: number): string {
  const type = schema.getType(typeName);
  if (!isObjectType(type) && !isInterfaceType(type)) return '';
  return Object.values(type.getFields())
    .filter((field) => !field.args.some(isRequiredArgument) && !OF_MANAGERS.includes(field.name))
    .flatMap((field) => {
      const inner = getNamedType(field.type);
      if (isLeafType(inner)) return [field.name];
      if (depth <= 1 || isUnionType(inner)) return [];
      const page = field.args.some((argument) => argument.name === 'first') ? '(first: 3)' : '';
      return [`${field.name}${page} ${makeSelection(field.type, depth - 1)}`];
    })
    .join(' ');
}

const own = (prefix: string, at = 0) => two.mine.ids.get(prefix)?.[at] ?? `${prefix}_${UNKNOWN}`;

function readValue(name: string, typeName: string): unknown {
  const byName: Record<string, unknown> = {
    from: two.mine.mailbox.address,
    to: ['bob@elsewhere.test'],
    subject: 'x',
    text: 'x',
    scheduledAt: new Date(Date.now() + 7 * 86_400_000).toISOString(),
    name: two.domain.name,
    id: own('em'),
    ids: [own('em')],
    threadId: own('th'),
    content: 'eA==',
    value: 'x',
  };
  if (Object.hasOwn(byName, name)) return byName[name];
  if (typeName === 'ID') return own('em');
  return { String: 'x', Int: 1, Boolean: true, DateTime: new Date().toISOString() }[typeName];
}

/** What the arguments that are required are not enough for. */
async function readArguments(field: (typeof roots)[number]['field']): Promise<Record<string, unknown>> {
  const base = requiredArguments(field, readValue);
  if (field.name === 'explainRoute') return { ...base, emailId: own('em') };
  if (field.name === 'backtestGuardRule')
    return { input: { ...(base['input'] as object), action: { action: 'BLOCK' }, limit: 20 } };
  if (field.name !== 'previewPayload') return base;
  const { data } = (await gateway.call(key, 'GET', '/events?limit=1')).json();
  return { cursor: data[0].cursor, query: '{ kind email { subject ownAddress } }' };
}

async function ask(
  by: Caller,
  operation: string,
  field: (typeof roots)[number]['field'],
  args: Record<string, unknown>,
): Promise<string> {
  const given = field.args.filter(({ name }) => Object.hasOwn(args, name));
  const variables = given.map(({ name, type }) => `$${name}: ${String(type)}`).join(', ');
  const passed = given.map(({ name }) => `${name}: $${name}`).join(', ');
  const query = `${operation}${variables === '' ? '' : `(${variables})`} { ${field.name}${passed === '' ? '' : `(${passed})`} ${makeSelection(field.type, 2)} }`;
  const response = await CALLERS[by](query, args);
  expect(response.statusCode, `${query}: ${response.body}`).toBe(200);
  return `${response.statusCode} ${response.body}`;
}

const neutral = (response: string, value: string) =>
  response
    .replaceAll(JSON.stringify(value).slice(1, -1), 'GIVEN')
    .replaceAll(value.split('@')[1] ?? 'GIVEN', 'GIVEN')
    .replaceAll(/"requestId":"\w+"/g, '"requestId":"*"')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/\b([a-z]{2,4})_[0-9a-f]{32}\b|<[0-9a-f]{32}@/g, 'ID');

const secrets = () => [...two.theirs.ids.values()].flat().concat(two.theirs.names);

test.each(roots.filter(({ isOfKeys }) => !isOfKeys).filter(({ field }) => field.name !== SLOW))(
  '$name is refused to a key of one domain',
  async ({ operation, field, scope }) => {
    const args = requiredArguments(field, readValue);
    const given = field.args.filter(({ name }) => Object.hasOwn(args, name));
    const variables = given.map(({ name, type }) => `$${name}: ${String(type)}`).join(', ');
    const passed = given.map(({ name }) => `${name}: $${name}`).join(', ');
    const isLeaf = isLeafType(getNamedType(field.type));
    const query = `${operation}${variables === '' ? '' : `(${variables})`} { ${field.name}${passed === '' ? '' : `(${passed})`} ${isLeaf ? '' : '{ __typename }'} }`;
    const response = await gateway.graphql(key, query, args);
    // A key of one domain can have neither scope.
    const isMissing = scope === 'manage' || scope === 'approve' || scope === 'workspaces';
    const reason = isMissing ? 'insufficient_scope' : 'limited_to_domain';
    expect([response.statusCode, response.json()], response.body).toEqual([
      403,
      { errors: [{ message: expect.any(String), extensions: expect.objectContaining({ code: 'FORBIDDEN', reason }) }] },
    ]);
  },
);

const reached = (['key', 'member'] as const).flatMap((by) =>
  roots.filter((root) => (by === 'key' ? root.isOfKeys : root.isOfMembers)).map((root) => ({ ...root, by })),
);

test.each(reached)(
  '$name shows and changes nothing of the account’s other domain for a $by of one domain',
  async ({ operation, field, by }) => {
    const base = await readArguments(field);
    if (operation === 'query') {
      const response = await ask(by, operation, field, base);
      for (const secret of secrets()) expect(response, field.name).not.toContain(secret);
      expect(JSON.parse(response.slice(4)).errors, response).toBeUndefined();
    }
    // Fields of an input that needs others beside them.
    const isPart = ({ path }: GraphPlace) => field.name === 'explainRoute' && path[0] === 'mail';
    const places = graphPlaces(schema).filter(
      (place) => place.operation === operation && place.field === field.name && !isPart(place),
    );
    for (const place of places) await sweep(by, place, field, base);
    expect(await two.changedTables()).toEqual([]);
  },
);

async function sweep(
  by: Caller,
  place: GraphPlace,
  field: (typeof roots)[number]['field'],
  base: Record<string, unknown>,
): Promise<void> {
  const where = `${place.field} ${place.path.join('.')}`;
  const isId = /ids?$/i.test(place.path.at(-1) ?? '');
  const put = async (value: string) => {
    const response = await ask(by, place.operation, field, withValue(base, place, value) as Record<string, unknown>);
    const shown = response.replaceAll(value, 'GIVEN').replaceAll(value.split('@')[1] ?? 'GIVEN', 'GIVEN');
    for (const secret of secrets()) expect(shown, `${where}: ${value}`).not.toContain(secret);
    return neutral(response, value);
  };
  const strangers = new Map<string, string>();
  for (const prefix of ['em', 'ep', 'dom', ...two.theirs.ids.keys()])
    strangers.set(prefix, await put(`${prefix}_${UNKNOWN}`));
  // A foreign ID gets the same response as an unknown ID of the same kind.
  for (const [prefix, held] of two.theirs.ids)
    for (const id of held.slice(0, prefix === 'em' ? 2 : 1))
      expect(await put(id), `${where}: ${id}`).toBe(strangers.get(prefix));
  if (isId) return;
  const nobodys = [...strangers.values(), await put('nobody@of-nobody.test'), await put('of-nobody.test')];
  for (const name of two.theirs.names) expect(nobodys, `${where}: ${name}`).toContain(await put(name));
}

test('other fields of a document show objects of the domain, or null', async () => {
  const ask = async (query: string) => {
    const { errors, data } = (await gateway.graphql(key, query)).json();
    expect(errors, query).toBeUndefined();
    return data;
  };
  expect(await ask(`{ email(id: "${own('em')}") { route { outcome rule { id } } } }`)).toEqual({
    email: { route: { outcome: 'BLOCKED', rule: null } },
  });
  const { explainRoute } = await ask(`{ explainRoute(emailId: "${own('em')}") { now { reason } } }`);
  expect(explainRoute.now.reason).toMatch(/Guard rules are not considered, because this API key is limited/);
  const [foreign = ''] = two.theirs.ids.get('ep') ?? [];
  expect(await ask(`{ node(id: "${foreign}") { ...E } } fragment E on Endpoint { name }`)).toEqual({ node: null });
});
