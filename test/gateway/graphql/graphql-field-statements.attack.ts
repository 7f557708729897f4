import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  getNamedType,
  isInterfaceType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
  isUnionType,
} from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { schema } from '../../../schema/graphql/schema.ts';
import { type FilledLists, fillLists } from '../../support/rows/filled-lists.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { countStatements } from '../../support/statements.ts';

/** Rows of a short and of a long page. */
const FEW = 3;
const MANY = 15;
/** Statements that a long page may take beyond those of a short one. */
const MAX_MORE = 3;
const FILL_TIMEOUT_MS = 180_000;

let gateway: TestGateway;
let lists: FilledLists;

beforeAll(async () => {
  gateway = await openTestGateway();
  lists = await fillLists(gateway, MANY);
}, FILL_TIMEOUT_MS);
afterAll(() => gateway.close());

/** Where pages of a type come from: returns a query of a page with this selection on its connection. */
type Source = (first: number, selection: string) => string;

const root =
  (field: string, args = ''): Source =>
  (first, selection) =>
    `{ page: ${field}(first: ${first}${args}) ${selection} }`;

const sources: Readonly<Record<string, Source[]>> = {
  ApiKey: [root('apiKeys')],
  ApiRequest: [root('apiRequests')],
  AuditEntry: [root('auditEntries')],
  CustomerWorkspace: [root('customerWorkspaces')],
  Delivery: [
    (first, selection) => `{ email(id: "${lists.emailId}") { page: deliveries(first: ${first}) ${selection} } }`,
    (first, selection) => `{ endpoint(id: "${lists.endpointId}") { page: deliveries(first: ${first}) ${selection} } }`,
  ],
  DmarcReport: [
    (first, selection) => `{ domain(id: "${lists.domainId}") { page: dmarcReports(first: ${first}) ${selection} } }`,
  ],
  DoorRefusal: [root('refusals')],
  Domain: [root('domains', ', filter: { status: VERIFIED }')],
  Draft: [root('drafts')],
  Email: [
    root('emails', ', filter: { type: RECEIVED }'),
    root('emails', ', filter: { type: SENT }'),
    root('waitingEmails', ', for: SCHEDULED'),
  ],
  EmailAddress: [root('emailAddresses')],
  EmailEndpoint: [root('endpoints', ', filter: { type: EMAIL }')],
  EmailGroupEndpoint: [root('endpoints', ', filter: { type: EMAIL_GROUP }')],
  Event: [root('events'), (first, selection) => `{ page: events(last: ${first}) ${selection} }`],
  GuardRule: [root('guardRules')],
  ReplyAddress: [root('replyAddresses')],
  Suppression: [root('suppressions')],
  Thread: [root('threads'), root('inbox')],
  WebhookEndpoint: [root('endpoints', ', filter: { type: WEBHOOK }')],
};

/** Values of required arguments. */
const ARGUMENTS: Readonly<Record<string, string>> = { since: '"2020-01-01T00:00:00Z"' };

const nodeTypes = [
  ...new Set(
    Object.values(schema.getTypeMap())
      .filter((type) => isObjectType(type) && type.name.endsWith('Connection'))
      .flatMap((type) => {
        const node = getNamedType((type as GraphQLObjectType).getFields()['nodes']?.type);
        return isInterfaceType(node) ? schema.getPossibleTypes(node).map(({ name }) => name) : [node?.name ?? ''];
      }),
  ),
].toSorted();

test('every type of a list is covered', () => expect(Object.keys(sources).toSorted()).toEqual(nodeTypes));

type AnyField = GraphQLField<unknown, unknown>;

function listFields(type: GraphQLNamedType | undefined): AnyField[] {
  return isObjectType(type) || isInterfaceType(type) ? Object.values(type.getFields()) : [];
}

function readCall({ name, args }: AnyField): string {
  const required = args.filter(isRequiredArgument).map((each) => `${each.name}: ${ARGUMENTS[each.name] ?? 'unknown'}`);
  const page = args.some((each) => each.name === 'first') ? ['first: 1'] : [];
  const given = [...required, ...page].join(', ');
  return given === '' ? name : `${name}(${given})`;
}

const isConnection = ({ name }: GraphQLNamedType) => name.endsWith('Connection');

/** Returns a selection of all leaves of a type. */
function makeLeaves(type: GraphQLNamedType): string {
  if (isConnection(type)) return `{ totalCount: __typename nodes ${makeLeaves(readNode(type))} }`;
  const members = isUnionType(type)
    ? schema.getPossibleTypes(type).map((each) => `... on ${each.name} ${makeLeaves(each)}`)
    : [];
  const leaves = listFields(type).filter((field) => isLeafType(getNamedType(field.type)));
  return `{ __typename ${members.join(' ')} ${leaves.map(readCall).join(' ')} }`;
}

function readNode(connection: GraphQLNamedType): GraphQLNamedType {
  const nodes = listFields(connection).find(({ name }) => name === 'nodes');
  if (nodes === undefined) throw new Error(`${connection.name} has no nodes`);
  return getNamedType(nodes.type);
}

/** Returns selections of a field: with its leaves, and with each of the objects in it. */
function listSelections(field: AnyField): [name: string, selection: string][] {
  const type = getNamedType(field.type);
  const call = readCall(field);
  if (isLeafType(type)) return [[field.name, call]];
  const isPage = isConnection(type);
  const inner = listFields(isPage ? readNode(type) : type).filter(({ type: of }) => !isLeafType(getNamedType(of)));
  return [
    [field.name, `${call} ${makeLeaves(type)}`],
    ...inner.map((each): [string, string] => {
      const selection = `{ ${readCall(each)} ${makeLeaves(getNamedType(each.type))} }`;
      return [`${field.name}.${each.name}`, `${call} ${isPage ? `{ nodes ${selection} }` : selection}`];
    }),
  ];
}

/** Returns the rows of a page and the statements that it takes. */
async function read(source: Source, first: number, selection: string) {
  const { response, statements } = await countStatements(() =>
    gateway.graphql(lists.apiKey, source(first, `{ nodes ${selection} }`)),
  );
  const { data, errors } = response.json();
  expect(errors, selection).toBeUndefined();
  const [holder] = Object.values(data) as { nodes?: unknown[]; page?: { nodes: unknown[] } }[];
  const nodes = holder?.nodes ?? holder?.page?.nodes ?? [];
  expect(nodes).toHaveLength(first);
  return { nodes, statements };
}

const places = nodeTypes.flatMap((name) =>
  listFields(schema.getType(name)).map((field) => [`${name}.${field.name}`, name, field] as const),
);

describe(`a page of ${MANY} rows takes at most ${MAX_MORE} statements more than a page of ${FEW}`, () => {
  test.each(places)('%s', async (_place, typeName, field) => {
    await gateway.graphql(lists.apiKey, '{ __typename }');
    const more: [string, few: number, many: number][] = [];
    for (const [name, selection] of listSelections(field))
      for (const source of sources[typeName] ?? []) {
        const inFragment = `{ ... on ${typeName} { ${selection} } }`;
        const few = await read(source, FEW, inFragment);
        const many = await read(source, MANY, inFragment);
        if (many.statements > few.statements + MAX_MORE) more.push([name, few.statements, many.statements]);
      }
    expect(more).toEqual([]);
  });
});

/** Lists without pages, besides `nodes`: returns a query of so many of them with this selection on each. */
const plainLists: Readonly<Record<string, (count: number, selection: string) => string>> = {
  Sender: (count, selection) => `{ page: senders(first: ${count}) ${selection} }`,
};
const isNode = (typeName: string) =>
  (schema.getType(typeName) as GraphQLObjectType).getInterfaces().some(({ name }) => name === 'Node');
const plainPlaces = [
  ...listFields(schema.getType('Sender')).map((field) => [`Sender.${field.name}`, 'Sender', field] as const),
  ...places.filter(([, typeName, field]) => isNode(typeName) && !isLeafType(getNamedType(field.type))),
];

describe(`a list of ${MANY} objects by ID, and one without pages, takes at most ${MAX_MORE} statements more than one of ${FEW}`, () => {
  test.each(plainPlaces)('%s', async (_place, typeName, field) => {
    const ids = [];
    for (const source of plainLists[typeName] === undefined ? (sources[typeName] ?? []) : [])
      for (const node of (await read(source, MANY, `{ ... on ${typeName} { node: id } }`)).nodes)
        ids.push((node as { node?: string }).node ?? []);
    const listed = [...new Set(ids.flat())].slice(0, MANY);
    const source =
      plainLists[typeName] ??
      ((count: number, selection: string) =>
        `{ page: nodes(ids: ${JSON.stringify(listed.slice(0, count))}) { ... on ${typeName} ${selection} } }`);
    const [[, selection] = ['', '']] = listSelections(field);
    const count = async (size: number) => {
      const { response, statements } = await countStatements(() =>
        gateway.graphql(lists.apiKey, source(size, `{ ${selection} }`)),
      );
      const { data, errors } = response.json();
      expect(errors, selection).toBeUndefined();
      expect((data.page as unknown[]).filter((each) => each !== null)).toHaveLength(size);
      return statements;
    };
    const few = await count(FEW);
    expect((await count(MANY)) - few).toBeLessThanOrEqual(MAX_MORE);
  });
});

test('bodies with a payload query are built with few statements, and equal those of single deliveries', async () => {
  await gateway.actor.pool.query(
    `update endpoint set payload_query = '{ kind email { id subject from { address } thread { subject } } }' where id = $1`,
    [lists.endpointId],
  );
  const source: Source = (first, selection) =>
    `{ endpoint(id: "${lists.endpointId}") { page: deliveries(first: ${first}) ${selection} } }`;
  await read(source, 1, '{ id payload { text } }');
  const few = await read(source, FEW, '{ id payload { text } }');
  const many = await read(source, MANY, '{ id payload { text } }');
  expect(many.statements - few.statements).toBeLessThanOrEqual(MAX_MORE);
  const bodies = many.nodes as { id: string; payload: { text: string } }[];
  // An email of the rows has two deliveries.
  expect(new Set(bodies.map(({ payload }) => payload.text)).size).toBeGreaterThanOrEqual(MANY - 1);
  for (const { id, payload } of bodies.slice(0, FEW)) {
    const alone = await gateway.graphql(lists.apiKey, `{ delivery(id: "${id}") { payload { text } } }`);
    expect(alone.json().data.delivery.payload.text).toBe(payload.text);
  }
});

/** Events about different rows of each kind, as SQL that selects `kind`, `email_id`, `thread_id`, `delivery_id`, `endpoint_id` and `data`. */
const eventsAbout: Readonly<Record<string, string>> = {
  'received emails': `select 'email.read', id, null, null, null, '{}' from email where workspace_id = $1 and type = 'received'`,
  'sent emails': `select 'email.delivered', id, null, null, null, '{"recipient": "bob@elsewhere.test"}' from email
    where workspace_id = $1 and type = 'sent'`,
  threads: `select 'thread.read', null, id, null, null, '{}' from thread where workspace_id = $1`,
  deliveries: `select 'delivery.failed', null, null, id, endpoint_id, '{}' from delivery where workspace_id = $1 and event_seq is null`,
  endpoints: `select 'endpoint.disabled', null, null, null, id, '{}' from endpoint where workspace_id = $1`,
  domains: `select 'domain.verified', null, null, null, null, jsonb_build_object('domainId', id) from domain where workspace_id = $1`,
  'DMARC reports': `select 'dmarc.report_received', null, null, null, null,
    jsonb_build_object('domainId', domain_id, 'dmarcReportId', id) from dmarc_report where workspace_id = $1`,
};

/** Posts an event about each row to a webhook of its own, and returns the ID of that webhook. */
async function postEvents(name: string, rows: string): Promise<string> {
  const { pool } = gateway.actor;
  const created = await gateway.call(lists.apiKey, 'POST', '/endpoints', {
    name,
    type: 'webhook',
    config: { url: `https://hooks.example.com/${encodeURIComponent(name)}` },
    events: ['*'],
  });
  const { id } = created.json() as { id: string };
  const owner = await pool.query<{ workspace_id: string }>('select workspace_id from endpoint where id = $1', [id]);
  await pool.query(
    `with about as (select row_number() over () as place, a.* from (${rows} limit ${MANY}) a (kind, email_id, thread_id, delivery_id, endpoint_id, data)),
       last as (select append_events($1, (select jsonb_agg(jsonb_build_object('id', 'ev_' || md5($2 || place), 'kind', kind, 'emailId', email_id,
         'threadId', thread_id, 'deliveryId', delivery_id, 'endpointId', endpoint_id, 'data', data::jsonb) order by place) from about)) as seq)
     insert into delivery (workspace_id, id, email_id, endpoint_id, delivery_type, cause, event_seq, event_kind, attempts_allowed, attempts, status, created_at,
       last_attempt_at)
     select $1, 'dlv_' || md5($2 || place), email_id, $2, 'webhook', 'event', last.seq - (select count(*) from about) + place, kind, 4, 1, 'failed', now(), now()
     from about, last`,
    [owner.rows[0]?.workspace_id, id],
  );
  return id;
}

test.each(Object.keys(eventsAbout))(
  'bodies of events about %s are built with few statements, and are those of single deliveries',
  async (name) => {
    const endpointId = await postEvents(name, eventsAbout[name] ?? '');
    const source: Source = (first, selection) =>
      `{ endpoint(id: "${endpointId}") { page: deliveries(first: ${first}) ${selection} } }`;
    await read(source, 1, '{ id payload { text } }');
    const few = await read(source, FEW, '{ id payload { text } }');
    const many = await read(source, MANY, '{ id payload { text } }');
    expect(many.statements - few.statements).toBeLessThanOrEqual(MAX_MORE);
    const bodies = many.nodes as { id: string; payload: { text: string } }[];
    expect(new Set(bodies.map(({ payload }) => JSON.stringify(JSON.parse(payload.text).data))).size).toBe(MANY);
    for (const { id, payload } of bodies.slice(0, FEW)) {
      const alone = await gateway.graphql(lists.apiKey, `{ delivery(id: "${id}") { payload { text } } }`);
      expect(alone.json().data.delivery.payload.text).toBe(payload.text);
    }
  },
);
