import type { OpenAPIV3_1 } from 'openapi-types';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SCOPES, type Scope } from '../../../core/accounts/key-rights.ts';
import { makeHoldings } from '../../support/rows/holdings.ts';
import { insertKey, type TestKey } from '../../support/rows/key-rows.ts';
import { recordRoutes, type ServedRoute } from '../../support/rows/route-table.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { connectInjected } from '../../support/servers/mcp-client.ts';
import { withoutWait } from '../../support/stages/isolation-sweep.ts';
import { bodyExamples, inSweepOrder, isServed } from '../../support/stages/swept-routes.ts';

/*
 * What the OpenAPI document says of scopes is what the server requires: a key with all other scopes is refused, one with exactly these is not. And a
 * key with every scope but `read` learns nothing of stored mail and configuration, whatever it changes.
 */

let gateway: TestGateway;
let routes: ServedRoute[];
let box: TestMailbox;

beforeAll(async () => {
  const recorded = await recordRoutes(() => openTestGateway({ config: { rateLimitPerSecond: 0 } }));
  gateway = recorded.opened;
  await gateway.app.ready();
  routes = recorded.routes.filter(({ url }) => url.startsWith('/api/e2/')).filter(isServed);
  box = await gateway.mailbox();
});
afterAll(() => gateway.close());

const keys = new Map<string, TestKey>();
async function keyWith(scopes: readonly Scope[]): Promise<string> {
  const name = scopes.join(' ');
  const held = keys.get(name) ?? (await insertKey(gateway.owner, box, { scopes }));
  keys.set(name, held);
  return held.secret;
}

interface Operation {
  method: string;
  path: string;
  /** each a list of scopes that is enough to begin */
  enough: Scope[][];
  example: unknown;
}

function listOperations(): Operation[] {
  const document = gateway.app.swagger() as OpenAPIV3_1.Document;
  const findExamples = bodyExamples(gateway.app);
  return Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    (['get', 'post', 'put', 'patch', 'delete'] as const).flatMap((method) => {
      const operation = item?.[method] as
        | (OpenAPIV3_1.OperationObject & { 'x-required-scopes'?: Scope[][] })
        | undefined;
      const enough = operation?.['x-required-scopes'];
      if (enough === undefined) return [];
      const url = path.replaceAll(/\{(\w+)\}/g, ':$1');
      const route = routes.find((each) => each.url === url && each.method === method.toUpperCase());
      const [example] = route === undefined ? [] : findExamples(route);
      return [{ method: method.toUpperCase(), path: url.replace('/api/e2', ''), enough, example }];
    }),
  );
}

/** All ways to take one scope out of each list, so that none of them is complete. */
function removals(enough: readonly (readonly Scope[])[]): Scope[][] {
  return enough.reduce<Scope[][]>((all, list) => all.flatMap((taken) => list.map((scope) => [...taken, scope])), [[]]);
}

const ask = (secret: string, { method, path }: Operation, body?: unknown) =>
  gateway.call(secret, method, path.replaceAll(/:\w+/g, 'em_none'), withoutWait(path, body));

test('a key with all scopes but one that the document names is refused by every operation', async () => {
  const operations = listOperations().filter(({ enough }) => enough.every((list) => list.length > 0));
  expect(operations.length).toBeGreaterThan(200);
  const differences: string[] = [];
  let tried = 0;
  for (const operation of operations)
    for (const removed of removals(operation.enough)) {
      const rest = SCOPES.filter((scope) => !removed.includes(scope));
      for (const body of operation.method === 'GET' ? [undefined] : [{}, operation.example]) {
        const { statusCode, body: text } = await ask(await keyWith(rest), operation, body);
        tried++;
        const { code, requiredScope } = statusCode === 403 ? JSON.parse(text) : {};
        if (code !== 'insufficient_scope' || !removed.includes(requiredScope))
          differences.push(
            `${operation.method} ${operation.path} without ${removed.join(' ')}: ${statusCode} ${text.slice(0, 200)}`,
          );
      }
    }
  expect(differences).toEqual([]);
  expect(tried).toBeGreaterThan(300);
});

/** What needs a session, or more for some of its requests, as its description says. */
const NEEDS_MORE: Readonly<Record<string, string>> = {
  'PUT /emails/:id': 'the request decides: another time needs send, a mark manage',
  'PATCH /emails/:id': 'the request decides: another time needs send, a mark manage',
  'DELETE /emails/:id': 'the request decides: cancelling needs send, the trash manage',
  'POST /workspaces/:id/tokens': 'a token has no scope that the key lacks',
  'POST /workspaces/:id/api-keys': 'a key has no scope that its maker lacks',
  'POST /api-keys': 'a key has no scope that its maker lacks',
};

test('a key with exactly the scopes that the document names is refused by no operation', async () => {
  const differences: string[] = [];
  for (const operation of listOperations()) {
    const name = `${operation.method} ${operation.path}`;
    if (name in NEEDS_MORE || operation.path === '/auth/revoke-key') continue;
    for (const scopes of operation.enough) {
      const body = operation.method === 'GET' ? undefined : (operation.example ?? {});
      const response = await ask(await keyWith(scopes.length === 0 ? ['approve'] : scopes), operation, body);
      if (response.statusCode === 401 || (response.statusCode === 403 && /insufficient_scope/.test(response.body)))
        differences.push(`${name} with ${scopes.join(' ')}: ${response.body.slice(0, 200)}`);
    }
  }
  expect(differences).toEqual([]);
});

/** Marks what a key without `read` must not learn. Each has words of its own, so that a failure says what was shown. */
async function plantSecrets(workspaceId: string): Promise<string[]> {
  const plant = (text: string) => gateway.owner.pool.query(text, [workspaceId]);
  await plant(`update email set subject = 'PLANTED-SUBJECT', preview = 'PLANTED-PREVIEW', from_text = 'PLANTED-FROM <ada@elsewhere.test>'
    where workspace_id = $1`);
  await plant(`update email_content set text_body = 'PLANTED-TEXT', html_body = '<p>PLANTED-HTML</p>', headers = '[["x-planted","PLANTED-HEADER"]]'
    where workspace_id = $1`);
  await plant(
    `update thread set normalized_subject = 'PLANTED-THREAD', participant_names = '{PLANTED-PARTICIPANT}' where workspace_id = $1`,
  );
  await plant(`update endpoint set config = config || '{"secret":"whsec_PLANTED-SECRET","headers":{"x-planted":"PLANTED-ENDPOINT-HEADER"}}'
    where workspace_id = $1`);
  // A draft has these words.
  return ['PLANTED-', `Secret of ${workspaceId}`];
}

/** What shows more to scopes other than `read`, as the table of rights says. */
const SHOWN_WITHOUT_READ = /^(?:GET|POST|PATCH|DELETE) \/(?:mail\/threads\/:id\/notes|mail\/notes|audit)/;

test('a key with every scope but read is shown no stored mail, draft or secret by any request', {
  timeout: 600_000,
}, async () => {
  const { mailbox, ids } = await makeHoldings(gateway);
  const words = await plantSecrets(mailbox.workspaceId);
  const { secret } = await insertKey(gateway.owner, mailbox, { scopes: SCOPES.filter((scope) => scope !== 'read') });
  const domain = mailbox.address.split('@')[1] ?? '';
  const fill = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value), (_, each: unknown) => {
      if (typeof each !== 'string') return each;
      if (/^[\w+.-]+@inbox\.test$/.test(each)) return mailbox.address;
      const prefix = /^([a-z]{2,4})_[0-9a-f]{32}$/.exec(each)?.[1] ?? '';
      return ids.get(prefix)?.[0] ?? each.replaceAll('@example.com', `@${domain}`);
    });
  const findExamples = bodyExamples(gateway.app);
  // Also one field alone: a change that needs less than the others shows as much.
  const listBodies = (route: ServedRoute): unknown[] => {
    if (route.method === 'GET') return [undefined];
    const examples = findExamples(route).map(fill);
    const fields = examples.flatMap((example) =>
      Object.entries(example ?? {}).map(([name, value]) => ({ [name]: value })),
    );
    return [{}, { name: 'x' }, ...examples, ...fields];
  };
  const all = [...ids].flatMap(([prefix, held]) => held.slice(0, prefix === 'em' ? 8 : 2));
  const found: string[] = [];
  const done = new Set<string>();
  for (const route of inSweepOrder(routes)) {
    const name = `${route.method} ${route.url.replace('/api/e2', '')}`;
    if (route.access === null || SHOWN_WITHOUT_READ.test(name)) continue;
    for (const id of route.params.length > 0 ? all : [''])
      for (const body of listBodies(route)) {
        const path = name.slice(route.method.length + 1).replaceAll(/:\w+/g, id);
        const response = await gateway.call(secret, route.method, path, withoutWait(path, body));
        if (response.statusCode < 300) done.add(name);
        const word = words.find((each) => response.body.includes(each));
        if (word !== undefined) {
          const at = response.body.indexOf(word);
          found.push(`${name} ${id}: ${response.statusCode} …${response.body.slice(Math.max(0, at - 80), at + 40)}…`);
        }
      }
  }
  expect(found).toEqual([]);
  expect(done.size).toBeGreaterThan(60);
});

test('a key without read is offered no tool that shows stored mail', async () => {
  const { mailbox, ids } = await makeHoldings(gateway);
  const words = await plantSecrets(mailbox.workspaceId);
  const key = await insertKey(gateway.owner, mailbox, { scopes: SCOPES.filter((scope) => scope !== 'read') });
  const client = await connectInjected(gateway, key.secret);
  const own = (prefix: string) => ids.get(prefix)?.[0] ?? '';
  const found: string[] = [];
  try {
    const { tools: offered } = await client.listTools();
    for (const { name, inputSchema } of offered.filter((tool) => tool.name !== 'wait_for_email'))
      for (const emailId of ids.get('em') ?? []) {
        const args = {
          email_id: emailId,
          draft_id: own('drf'),
          thread_id: own('th'),
          thread_ids: [own('th')],
          from: mailbox.address,
          to: ['stranger@elsewhere.test'],
          text: 'x',
          subject: 'x',
          search: 'x',
          holder: 'x',
          include_original: true,
        };
        // Only what it takes, so that it is not refused for others.
        const taken = Object.entries(args).filter(([field]) => Object.hasOwn(inputSchema.properties ?? {}, field));
        const result = await client
          .callTool({ name, arguments: Object.fromEntries(taken) })
          .catch((error: unknown) => String(error));
        if (words.some((word) => JSON.stringify(result).includes(word)))
          found.push(`${name} ${emailId}: ${JSON.stringify(result).slice(0, 300)}`);
      }
  } finally {
    await client.close();
  }
  expect(found).toEqual([]);
});
