import { createHash } from 'node:crypto';
import { buildSchema } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SCOPES, type Scope } from '../../../core/accounts/key-rights.ts';
import { listNeeded, RIGHTS } from '../../../core/accounts/rights.ts';
import { describeAccess, readAccess } from '../../../schema/graphql/access.ts';
import { schema } from '../../../schema/graphql/schema.ts';
import { insertKey } from '../../support/rows/key-rows.ts';
import { insertMail } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { operationText, requiredArguments } from '../../support/stages/graph-places.ts';

const roots = (['query', 'mutation', 'subscription'] as const).flatMap((operation) => {
  const type = schema.getRootType(operation as never);
  return Object.values(type?.getFields() ?? {}).map((field) => ({
    name: `${type?.name}.${field.name}`,
    operation,
    type: type?.name ?? '',
    field,
  }));
});

let gateway: TestGateway;
let box: TestMailbox;
const keys = new Map<string, { id: string; secret: string }>();
const readKey = (...scopes: Scope[]) => keys.get(scopes.join(' ')) ?? { id: '', secret: '' };

beforeAll(async () => {
  gateway = await openTestGateway();
  box = await gateway.mailbox();
  for (const scopes of [
    ['read'],
    ['send'],
    ['manage'],
    ['approve'],
    ['workspaces'],
    ['send', 'manage'],
    ['read', 'send'],
  ] as Scope[][])
    keys.set(scopes.join(' '), await insertKey(gateway.owner, box, { scopes }));
});
afterAll(() => gateway.close());

const ask = async (key: string, query: string, variables?: Record<string, unknown>) => {
  const response = await gateway.graphql(key, query, variables);
  return { ...response.json(), status: response.statusCode } as {
    status: number;
    data?: Record<string, never>;
    errors?: { message: string; extensions: Record<string, unknown> }[];
  };
};
/** The scope that is missing; null: it was let pass. */
const missing = async (key: string, query: string, variables?: Record<string, unknown>) => {
  const { status, data, errors } = await ask(key, query, variables);
  const { code, requiredScope } = errors?.[0]?.extensions ?? {};
  if (code !== 'FORBIDDEN') return null;
  expect([status, data]).toEqual([403, undefined]);
  return requiredScope;
};

/** Returns the arguments as they stand in a document. */
function argumentText(args: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(args).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return given.length === 0 ? '' : `(${given.join(', ')})`;
}

test('every field of a root type declares its access', () => {
  expect(roots.length).toBeGreaterThan(90);
  expect(roots.filter(({ field }) => readAccess(field) === null).map(({ name }) => name)).toEqual([]);
});

test('a schema with a root field that declares no access is refused', () => {
  const forgotten = buildSchema('type Query { forgotten: String }');
  expect(() => describeAccess(forgotten)).toThrow('The field Query.forgotten declares no access');
});

test.each(roots)('$name refuses keys without its scope before anything is done', async (root) => {
  const { operation, field } = root;
  const access = readAccess(field);
  const [needed, also] = access === null ? [] : listNeeded(access).map((right) => RIGHTS[right].scope);
  const values: Record<string, unknown> = { String: 'x', ID: 'em_none', Int: 1, Boolean: true, JSON: {} };
  const args = requiredArguments(field, (_name, typeName) => values[typeName] ?? 'x');
  const query =
    operation === 'subscription'
      ? `subscription { ${field.name}${argumentText(args)} { __typename } }`
      : operationText(schema, operation, field, Object.keys(args));
  for (const scope of SCOPES.filter((each) => each !== needed)) {
    const { status, data, errors } = await ask(readKey(scope).secret, query, args);
    expect({ status, data, errors }).toEqual({
      status: 403,
      data: undefined,
      errors: [
        {
          message: `The field ${field.name} needs the scope ${needed}. This API key has ${scope} only.`,
          extensions: {
            code: 'FORBIDDEN',
            statusCode: 403,
            reason: 'insufficient_scope',
            requiredScope: needed,
            scopes: [scope],
          },
        },
      ],
    });
  }
  if (needed !== undefined && also !== undefined) {
    const { errors } = await ask(readKey(needed).secret, query, args);
    expect(errors?.[0]?.extensions['requiredScope']).toBe(also);
  }
});

const SEND = `sendEmail(input: { from: "hello@BOX", to: ["bob@elsewhere.test"], subject: "x", text: "x" })`;
const sending = () => SEND.replace('BOX', box.address.split('@')[1] ?? '');
const sent = async () =>
  (
    await gateway.actor.pool.query(`select count(*) from email where workspace_id = $1 and type <> 'received'`, [
      box.workspaceId,
    ])
  ).rows[0].count;

describe('a key that may send but not read', () => {
  test('is shown ids, states and errors', async () => {
    const { secret } = readKey('send');
    const before = await sent();
    const shown = await ask(
      secret,
      `mutation { ${sending()} { __typename ... on SendEmailPayload { email { __typename id status } }
        ... on Error { message code } ... on ValidationError { fields { path message } } ... on Conflict { isRetryable details } } }`,
    );
    expect(shown).toMatchObject({
      status: 200,
      data: {
        sendEmail: {
          __typename: 'SendEmailPayload',
          email: { __typename: 'Email', id: expect.any(String), status: 'PENDING' },
        },
      },
    });
    expect(await sent()).toBe(before + 1);
    const batch = await ask(
      secret,
      `mutation { sendEmails(input: { emails: [{ from: "hello@${box.address.split('@')[1]}", to: ["a@b.test"], subject: "x", text: "x" }] }) {
        ... on SendEmailsPayload { batch { id } emails { id } refused { index message } } ... on Error { message } } }`,
    );
    expect(batch.data?.['sendEmails']).toMatchObject({ batch: { id: expect.any(String) }, refused: [] });
  });

  const deep = [
    ['a field', '{ ... on SendEmailPayload { email { id subject } } }'],
    ['an alias of an id’s name', '{ ... on SendEmailPayload { email { id: subject } } }'],
    ['an alias of a state’s name', '{ ... on SendEmailPayload { email { status: preview } } }'],
    ['what hangs on it', '{ ... on SendEmailPayload { email { id thread { id } } } }'],
    ['a fragment', '{ ...F } fragment F on SendEmailPayload { email { ...G } } fragment G on Email { id subject }'],
    [
      'a fragment of the interface',
      '{ ... on SendEmailPayload { email { ... on Node { ... on Email { subject } } } } }',
    ],
    [
      'an inline fragment without a type',
      '{ ... { ... on SendEmailPayload { email { ... @include(if: true) { subject } } } } }',
    ],
    ['what @include leaves out', '{ ... on SendEmailPayload { email { id subject @include(if: false) } } }'],
    ['a fragment that @skip leaves out', '{ ... on SendEmailPayload @skip(if: true) { email { subject } } }'],
    ['one name for two', '{ ... on SendEmailPayload { email { id } email { content { text } } } }'],
  ];
  test.each(deep)('is refused %s, and sends nothing', async (_name, selection) => {
    const before = await sent();
    const [head = '', tail = ''] = selection.split(' fragment F');
    const query = `mutation { ${sending()} ${head} }${tail === '' ? '' : ` fragment F${tail}`}`;
    expect(await missing(readKey('send').secret, query)).toBe('read');
    expect(await sent()).toBe(before);
    expect((await ask(box.apiKey, query)).errors).toBeUndefined();
  });

  test('cannot forward, which would show the mail to any address', async () => {
    const before = await sent();
    const [id = ''] = await insertMail(gateway.actor, [{ workspaceId: box.workspaceId, ownAddress: box.address }]);
    const query = `mutation { forwardEmail(input: { id: "${id}", from: "${box.address}", to: ["a@b.test"] }) {
      __typename ... on Error { code } } }`;
    expect(await missing(readKey('send').secret, query)).toBe('read');
    expect(await missing(readKey('send', 'manage').secret, query)).toBe('read');
    expect(await sent()).toBe(before);
    const done = await ask(readKey('read', 'send').secret, query);
    expect(done.data).toEqual({ forwardEmail: { __typename: 'ForwardEmailPayload' } });
  });

  test('is refused a whole document of which it may do half', async () => {
    const before = await sent();
    const id = box.addressId;
    const other = `updateEmailAddress(input: { id: "${id}", isActive: false }) { __typename }`;
    expect(await missing(readKey('send').secret, `mutation { ${sending()} { __typename } ${other} }`)).toBe('manage');
    expect(
      await missing(
        readKey('send').secret,
        `mutation { ...A } fragment A on Mutation { ${sending()} { __typename } x: ${other} }`,
      ),
    ).toBe('manage');
    expect(
      await missing(
        readKey('send').secret,
        `mutation { ${sending()} { __typename } ${other.replace(' {  ', ' @skip(if: true) { ')} }`,
      ),
    ).toBe('manage');
    expect(await sent()).toBe(before);
  });

  test('needs only the scope of the operation that is executed', async () => {
    const query = `query A { viewer { id } } mutation B { ${sending()} { __typename } }`;
    const named = (operationName: string, key: string) =>
      gateway.call(key, 'POST', '/graphql', { query, operationName }).then(({ statusCode }) => statusCode);
    expect([await named('B', readKey('send').secret), await named('A', readKey('send').secret)]).toEqual([200, 403]);
    expect([await named('B', readKey('read').secret), await named('A', readKey('read').secret)]).toEqual([403, 200]);
  });
});

test('a key that may only manage sees the secrets that it creates, and nothing else', async () => {
  const { secret } = readKey('manage');
  const query = (of: string) =>
    `mutation { createApiKey(input: { name: "x", scopes: [MANAGE] }) { ... on CreateApiKeyPayload { ${of} } } }`;
  expect((await ask(secret, query('secret apiKey { id status }'))).data?.['createApiKey']).toMatchObject({
    secret: expect.any(String),
  });
  expect(await missing(secret, query('secret apiKey { name }'))).toBe('read');
  const address = (of: string) =>
    `mutation { updateEmailAddress(input: { id: "${box.addressId}", isActive: true }) { ... on UpdateEmailAddressPayload { emailAddress { ${of} } } } }`;
  expect(await missing(secret, address('id domain { emails: name }'))).toBe('read');
  expect(await missing(secret, address('id'))).toBeNull();
});

test('GET and published operations need the same scopes', async () => {
  const { secret } = readKey('send');
  const get = (query: string) =>
    gateway.call(secret, 'GET', `/graphql?query=${encodeURIComponent(query)}`).then(({ statusCode }) => statusCode);
  expect(await get('{ viewer { id } }')).toBe(403);
  expect(await get('{ __typename }')).toBe(200);
  const { readSampleOperations } = await import('../../../gateway/graphql/sample-operations.ts');
  const samples = readSampleOperations();
  expect(samples.length).toBeGreaterThan(0);
  for (const { sha256, text } of samples) {
    expect(sha256).toBe(createHash('sha256').update(text).digest('hex'));
    if (!/^\s*(?:#.*\n)*\s*query/.test(text)) continue;
    const response = await gateway.call(secret, 'POST', '/graphql', {
      variables: {},
      extensions: { persistedQuery: { version: 1, sha256Hash: sha256 } },
    });
    expect([400, 403], text).toContain(response.statusCode);
    expect(response.json().data).toBeUndefined();
  }
});

test('any key may read the schema', async () => {
  for (const scope of SCOPES) {
    const response = await ask(
      readKey(scope).secret,
      '{ __schema { queryType { name } } __type(name: "Email") { name } }',
    );
    expect(response.data).toEqual({ __schema: { queryType: { name: 'Query' } }, __type: { name: 'Email' } });
  }
  expect(await missing(readKey('send').secret, '{ __schema { queryType { name } } viewer { id } }')).toBe('read');
});
