import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAccount } from '../../../db/queries/accounts/account.ts';
import { tools } from '../../../gateway/mcp/tools.ts';
import { readAccess } from '../../../schema/graphql/access.ts';
import { schema } from '../../../schema/graphql/schema.ts';
import type { Holdings } from '../../support/rows/holdings.ts';
import { insertKey } from '../../support/rows/key-rows.ts';
import { recordRoutes, type ServedRoute } from '../../support/rows/route-table.ts';
import { joinHoldings, keepToKey, makeTwoDomains, type TwoDomains } from '../../support/rows/two-domains.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { connectInjected } from '../../support/servers/mcp-client.ts';
import { type BrowserSession, openBrowser } from '../../support/stages/browser-session.ts';
import { operationText, requiredArguments } from '../../support/stages/graph-places.ts';
import { isServed } from '../../support/stages/swept-routes.ts';
import { TEAM_PASSWORD } from '../../support/stages/team-stage.ts';

/*
 * What a limited key or member may not see changes nothing of what it sees: not a row, a count, a hint, a suggestion, an order or a cursor. Every read
 * is made twice, then a whole domain with everything that there can be is added to the account, and the reads are made again. What differed
 * between the first two is a matter of time; nothing else may differ afterwards.
 */

let gateway: TestGateway;
let two: TwoDomains;
let routes: ServedRoute[];
let browser: BrowserSession;
let keys: { domain: string; address: string };

beforeAll(async () => {
  const recorded = await recordRoutes(() => openTestGateway({ config: { rateLimitPerSecond: 0 } }));
  gateway = recorded.opened;
  await gateway.app.ready();
  routes = recorded.routes.filter(
    ({ method, url, access }) => method === 'GET' && access !== null && url.startsWith('/api/e2/'),
  );
  routes = routes.filter(isServed);
  two = await makeTwoDomains(gateway);
  const { mailbox } = two.mine;
  const domain = await insertKey(gateway.owner, mailbox, { scopes: ['read', 'send'], domain: two.domain });
  await keepToKey(gateway.owner, two, domain.id);
  const address = await insertKey(gateway.owner, mailbox, { scopes: ['read', 'send'], addresses: [mailbox.address] });
  keys = { domain: domain.secret, address: address.secret };
  browser = await signInLimited();
}, 120_000);
afterAll(() => gateway.close());

async function signInLimited(): Promise<BrowserSession> {
  const email = 'limited@unseen.test';
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

/** Parameters that ask for more than a page: words of all mail, times that leave mail out, orders and small pages. */
const QUERIES = [
  '',
  '?limit=1',
  '?limit=1&offset=1',
  '?search=subject',
  '?search=from:ada',
  '?search=zzz-nowhere',
  '?q=a',
  '?time_range=1h',
  '?time_range=all',
  '?time_range=1h&search=message',
  '?status=scheduled',
  '?type=received&order=asc',
  '?folder=trash',
  '?label=x',
  '?address=hello',
];

/** Reads that are of the team, or of texts of the whole workspace, for limited keys, too. */
const OF_WORKSPACE = /\/(?:snippets|requests|oauth|members|workspace)\b/;

type Ask = (method: string, path: string, body?: unknown) => Promise<{ statusCode: number; body: string }>;

/** All that a caller reads: the text of each response by what was asked. */
async function readAll(ask: Ask, secret: string | null, known: ReadonlyMap<string, string> | null) {
  const seen = new Map<string, string>();
  const keep = (name: string, { statusCode, body }: { statusCode: number; body: string }) => {
    // What is not found at first is of other kinds; it stays that, or the sweeps of isolation would show it.
    if (statusCode === 200) seen.set(name, body);
  };
  const get = async (path: string) => {
    if (known === null || known.has(path)) keep(path, await ask('GET', path));
  };
  const ids = [...two.mine.ids.values()].flatMap((held) => held.slice(0, 3));
  for (const { url, params } of routes.filter((route) => !OF_WORKSPACE.test(route.url))) {
    const path = url.replace('/api/e2', '');
    if (params.length === 0) for (const query of QUERIES) await get(`${path}${query}`);
    if (params.length === 1) for (const id of ids) await get(path.replace(/:\w+/, id));
  }
  const fields = Object.values(schema.getQueryType()?.getFields() ?? {}).filter((field) => {
    const access = readAccess(field);
    return (
      access?.isOfDomain === true && !/waitForEmail|snippets|backtest|previewPayload|explainRoute/.test(field.name)
    );
  });
  const own = (prefix: string) => two.mine.ids.get(prefix)?.[0] ?? '';
  for (const field of fields)
    for (const id of [own('em'), own('th'), own('ep')]) {
      const values: Record<string, unknown> = { ID: id, String: 'a', Int: 1, Boolean: true };
      const args = requiredArguments(field, (name, type) => (name === 'idOrAddress' ? 'a' : values[type]));
      const query = operationText(schema, 'query', field, Object.keys(args));
      const name = `${field.name} ${JSON.stringify(args)}`;
      if (known === null || known.has(name)) keep(name, await ask('POST', '/graphql', { query, variables: args }));
    }
  if (secret !== null) await readByTools(secret, keep);
  return seen;
}

/** Tools that read, with searches. */
async function readByTools(
  secret: string,
  keep: (name: string, response: { statusCode: number; body: string }) => void,
) {
  const client = await connectInjected(gateway, secret);
  try {
    for (const tool of tools.filter(({ annotations }) => annotations.readOnlyHint === true)) {
      for (const args of [
        {},
        { search: 'subject' },
        { search: 'a', limit: 1 },
        { thread_id: two.mine.ids.get('th')?.[0] },
        { email_id: two.mine.ids.get('em')?.[0] },
      ]) {
        if (tool.name === 'wait_for_email') continue;
        const result = await client.callTool({ name: tool.name, arguments: args }).catch(() => null);
        if (result === null || result.isError === true) continue;
        // The marker around content of others is new for each result.
        keep(`${tool.name} ${JSON.stringify(args)}`, {
          statusCode: 200,
          body: JSON.stringify(result.structuredContent),
        });
      }
    }
  } finally {
    await client.close();
  }
}

/** The end of the feed has the number of the newest event of the account, which says how many there were (docs/api-keys.md). */
const OF_THE_FEED = /(?:next|latest)_?cursor$/i;
/** When this key was used last: it is stored a while after its use. */
const OF_THE_KEY = /last_?used_?(?:at|from)$/i;

/** The leaves of a JSON document by their paths. */
function leaves(text: string): Map<string, string> {
  const found = new Map<string, string>();
  const visit = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null) {
      found.set(path, JSON.stringify(value));
      return;
    }
    if (Object.keys(value).length === 0) found.set(path, 'empty');
    for (const [key, inner] of Object.entries(value)) visit(inner, `${path}.${key}`);
  };
  try {
    visit(JSON.parse(text), '');
  } catch {
    found.set('', text);
  }
  return found;
}

/** What differs between two responses, and did not differ by time alone. */
function differences(before: [string, string], after: string): string[] {
  const [first, second, third] = [...before, after].map(leaves);
  const paths = new Set([...(second ?? []), ...(third ?? [])].map(([path]) => path));
  return [...paths].flatMap((path) => {
    const [one, two, three] = [first, second, third].map((each) => each?.get(path));
    return one === two && two !== three && !OF_THE_FEED.test(path) && !OF_THE_KEY.test(path)
      ? [`${path}: ${two} → ${three}`]
      : [];
  });
}

test('what a limited key or member may not see changes nothing of what it sees', { timeout: 600_000 }, async () => {
  const byKey =
    (secret: string): Ask =>
    (method, path, body) =>
      path === '/graphql'
        ? gateway.graphql(
            secret,
            (body as { query: string }).query,
            (body as { variables: Record<string, unknown> }).variables,
          )
        : gateway.call(secret, method, path, body);
  const byMember: Ask = (method, path, body) =>
    path === '/graphql'
      ? browser.graphql(
          (body as { query: string }).query,
          {},
          (body as { variables: Record<string, unknown> }).variables,
        )
      : browser.rest(method as 'GET', path, {}, body);
  const callers: [string, Ask, string | null][] = [
    ['a key of a domain', byKey(keys.domain), keys.domain],
    ['a key of an address', byKey(keys.address), keys.address],
    ['a member', byMember, null],
  ];
  const before = new Map<string, [Map<string, string>, Map<string, string>]>();
  for (const [name, ask, secret] of callers) {
    const first = await readAll(ask, secret, null);
    expect(first.size, name).toBeGreaterThan(150);
    before.set(name, [first, await readAll(ask, secret, first)]);
  }
  const added = await addUnseen();
  const found: string[] = [];
  for (const [name, ask, secret] of callers) {
    const [first, second] = before.get(name) ?? [new Map(), new Map()];
    const after = await readAll(ask, secret, first);
    for (const [what, text] of after) {
      const changed = differences([first.get(what) ?? '', second.get(what) ?? ''], text);
      if (changed.length > 0) found.push(`${name}: ${what}\n  ${changed.slice(0, 5).join('\n  ')}`);
      for (const word of added.names) if (text.includes(word)) found.push(`${name}: ${what} has ${word}`);
    }
  }
  expect(found).toEqual([]);
});

/** Adds a domain with all that there is, of now and of long ago, with the words and senders of the mail that is there. */
async function addUnseen(): Promise<Holdings> {
  const { pool } = gateway.owner;
  const old = await joinHoldings(gateway, two.mine);
  const emails = old.ids.get('em') ?? [];
  await pool.query(
    `update email set created_at = created_at - interval '90 days', date = date - interval '90 days' where workspace_id = $1 and id = any ($2)`,
    [two.mine.mailbox.workspaceId, emails],
  );
  const added = await joinHoldings(gateway, two.mine);
  return { ...added, names: [...old.names, ...added.names] };
}
