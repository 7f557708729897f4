import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SCOPES, type Scope } from '../../../core/accounts/key-rights.ts';
import { hasRoleRight, RIGHTS, type Right } from '../../../core/accounts/rights.ts';
import { ROLES } from '../../../core/accounts/roles.ts';
import { tools } from '../../../gateway/mcp/tools.ts';
import { type ChangedRows, recordChanges } from '../../support/rows/changed-rows.ts';
import { makeHoldings } from '../../support/rows/holdings.ts';
import { insertKey } from '../../support/rows/key-rows.ts';
import { recordRoutes, type ServedRoute } from '../../support/rows/route-table.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { connectInjected } from '../../support/servers/mcp-client.ts';
import { mayUse, openCredentials, type SweptCredential } from '../../support/stages/rights-credentials.ts';
import {
  expectAccess,
  type Given,
  isNear,
  listFields,
  listRoutes,
  listTools,
  type SweptOperation,
  type Verdict,
} from '../../support/stages/rights-operations.ts';
import { makeStoringWorld, type StoringWorld } from '../../support/stages/storing-world.ts';
import { isServed } from '../../support/stages/swept-routes.ts';
import { openTeam, type TeamStage } from '../../support/stages/team-stage.ts';
import { listValidRequests, type ValidRequests } from '../../support/stages/valid-requests.ts';

/*
 * Every route, field and tool × every role × every kind of credential, in one workspace. What is expected follows from what an operation declares
 * and from the table of rights; nothing is listed here but what no declaration says, each with its reason.
 */

/** Routes of the interface that take no credential. */
const OPEN = /^(?:OPTIONS \/api\/e2\*|POST \/api\/e2\/agent\/sign-up|GET \/api\/e2\/(?:openapi\.json|docs(?:\/.*)?))$/;

/** What only a person does, in a session: keys and programs are refused with a reason of its own. */
const OF_PERSONS = new Set<string>([]);
/** What only a key does. */
const OF_KEYS = new Set<string>([]);
/** They would end what the sweep asks with. */
const ENDS_ACCESS = new Set(['POST /members/leave', 'mutation leaveWorkspace', 'mutation eraseAccount']);

let gateway: TestGateway;
let routes: ServedRoute[];
let team: TeamStage;
let world: StoringWorld;
let valid: ValidRequests;
let credentials: SweptCredential[];
let changes: ChangedRows;
let operations: SweptOperation[];

beforeAll(async () => {
  const secretKey = randomBytes(32);
  const recorded = await recordRoutes(() => openTestGateway({ config: { rateLimitPerSecond: 0, secretKey } }));
  gateway = recorded.opened;
  await gateway.app.ready();
  routes = recorded.routes;
  team = await openTeam(gateway, 'rights', { endpointUrl: 'https://hooks.example.com/', dkim: { secretKey } });
  const mine = await makeHoldings({ actor: gateway.actor, call: gateway.call, mailbox: async () => team.box });
  world = await makeStoringWorld(gateway, team.box);
  credentials = await openCredentials(gateway, team);
  const swept = routes.filter(({ method, url }) => url.startsWith('/api/e2') && !OPEN.test(`${method} ${url}`));
  operations = [...listRoutes(swept.filter(isServed)), ...listFields(), ...listTools()];
  valid = listValidRequests(gateway.app, { mine, world, routes });
  changes = await recordChanges(gateway.owner);
});
afterAll(() => gateway.close());

test('every route declares a right, and there are as many operations as are served', () => {
  const undeclared = routes.filter(({ method, url, access }) => {
    return url.startsWith('/api/e2') && !OPEN.test(`${method} ${url}`) && access === null;
  });
  expect(undeclared.map(({ method, url }) => `${method} ${url}`)).toEqual([]);
  expect(operations.length).toBeGreaterThan(300);
  expect(credentials.length).toBeGreaterThan(60);
});

/** Returns the verdicts that are right. */
function rightVerdicts(operation: SweptOperation, credential: SweptCredential): readonly Verdict['is'][] {
  const { kind } = credential;
  const isOther = (OF_PERSONS.has(operation.name) && kind !== 'session') || (OF_KEYS.has(operation.name) && kind !== 'key');
  switch (expectAccess(operation, credential)) {
    case 'unknown':
      return ['unknown credential'];
    case 'refused':
      return ['refused'];
    case 'depends':
      return ['done', 'failed', 'refused'];
    case 'allowed':
      return isOther ? ['forbidden'] : ['done', 'failed'];
  }
}

test('every operation refuses and lets pass what it declares, and changes nothing when it refuses', {
  timeout: 300_000,
}, async () => {
  const faults: string[] = [];
  let asked = 0;
  const askAll = async (operation: SweptOperation, all: readonly SweptCredential[], given: Given) => {
    await Promise.all(
      all.map(async (credential) => {
        asked++;
        const verdict = await operation.ask(credential, given);
        const right = rightVerdicts(operation, credential);
        if (!right.includes(verdict.is))
          faults.push(`${operation.name} with a ${credential.name}: ${verdict.is} instead of ${right.join(' or ')}: ${verdict.text.slice(0, 250)}`);
      }),
    );
  };
  const begun = performance.now();
  for (const [at, operation] of operations.entries()) {
    if (at % 10 === 0) (await import('node:fs')).appendFileSync('/srv/scratch/b/progress.txt', `${at} ${asked} ${operation.name} ${Math.round(performance.now() - begun)} ${Math.round(process.cpuUsage().user/1000)}\n${faults.length} ${faults.splice(0).map((f) => f.slice(0, 220)).filter((f, n, all) => all.findIndex((x) => x.slice(0, 22) === f.slice(0, 22)) === n).join('\n')}\n`);
    const given = valid.unknown(operation);
    const near = credentials.filter((each) => isNear(operation, each));
    const allowed = near.filter((each) => ['allowed', 'depends'].includes(expectAccess(operation, each)));
    await askAll(
      operation,
      near.filter((each) => !allowed.includes(each)),
      given,
    );
    const changed = await changes.take();
    if (changed.length > 0) faults.push(`${operation.name} was refused, and changed ${changed.join()}`);
    // An allowed subscription has no end.
    if (ENDS_ACCESS.has(operation.name) || operation.name.startsWith('subscription')) continue;
    await askAll(operation, allowed, given);
    const after = await changes.take();
    if (operation.isReading && after.length > 0) faults.push(`${operation.name} reads, and changed ${after.join()}`);
    await changes.restore(after);
  }
  expect(faults).toEqual([]);
  expect(asked).toBeGreaterThan(10_000);
});

/** Returns the scopes of what an operation declares; of one whose request decides, those of the first right. */
function declaredRights({ access: { rights } }: SweptOperation): readonly Right[] {
  return 'oneOf' in rights ? rights.oneOf.slice(0, 1) : rights;
}

/** Returns those who have just enough for an operation, and those who have all but one thing. */
function atTheLimit(operation: SweptOperation): { enough: SweptCredential[]; short: SweptCredential[] } {
  const rights = declaredRights(operation);
  const scopes = SCOPES.filter((scope) => rights.some((right) => RIGHTS[right].scope === scope));
  const isWhole = ({ reach }: SweptCredential) => reach === null;
  const of = (kind: SweptCredential['kind']) => credentials.filter((each) => each.kind === kind && isWhole(each));
  const allowed = (each: SweptCredential) => expectAccess(operation, each) === 'allowed';
  const least = ROLES.findLast((role) => rights.every((right) => hasRoleRight(role, right)));
  const below = ROLES[ROLES.indexOf(least ?? 'owner') + 1];
  const isFull = ({ scopes: held }: SweptCredential) => held === null;
  const named = (name: string) => credentials.filter((each) => each.name === name);
  const enough = [
    ...named(`session of ${least}`),
    ...of('key').filter((each) => isFull(each) && each.role === least && !each.isApprover),
    ...named(`key with ${scopes.join()} of owner`),
    ...of('client').filter(allowed).slice(-1),
    ...of('page').filter(allowed).slice(0, 1),
  ].filter(allowed);
  const short = [
    ...(below === undefined ? [] : named(`session of ${below}`)),
    ...scopes.flatMap((scope) => named(`key without ${scope} of owner`)),
  ].filter((each) => expectAccess(operation, each) === 'refused');
  return { enough, short };
}

/** Operations that nothing here can do, each with the reason. */
const UNTRIED: Readonly<Record<string, string>> = {};

test('what an operation declares is enough for it, and nothing less', { timeout: 300_000 }, async () => {
  const faults: string[] = [];
  const untried: string[] = [];
  const touched = new Map<string, string[]>();
  const begun = performance.now();
  const full = credentials.filter(({ name }) => ['session of owner', 'full key of owner'].includes(name));
  for (const [at, operation] of operations.entries()) {
    if (at % 10 === 0) (await import('node:fs')).appendFileSync('/srv/scratch/b/depth.txt', `${at} ${operation.name} ${Math.round(performance.now() - begun)} ${Math.round(process.cpuUsage().user/1000)}\n${faults.splice(0).map((f) => f.slice(0, 260)).join('\n')}\n`);
    if (operation.name.startsWith('subscription')) continue;
    const run = async (make: () => Promise<Given>, credential: SweptCredential) => {
      const given = await make();
      const made = await changes.take();
      const verdict = await operation.ask(credential, given);
      const changed = await changes.take();
      await changes.restore([...new Set([...made, ...changed])]);
      return { verdict, changed };
    };
    let found: (() => Promise<Given>) | null = null;
    const tried: string[] = [];
    for (const make of valid.tries(operation)) {
      for (const credential of full) {
        if (expectAccess(operation, credential) !== 'allowed') continue;
        const { verdict, changed } = await run(make, credential);
        if (verdict.is !== 'done') {
          tried.push(verdict.text);
          continue;
        }
        found = make;
        touched.set(operation.name, changed);
        break;
      }
      if (found !== null) break;
    }
    if (found === null) {
      untried.push(operation.name);
      if (!(operation.name in UNTRIED)) faults.push(`${operation.name}: nothing was done: ${tried.at(0)?.slice(0, 200)}`);
      continue;
    }
    const { enough, short } = atTheLimit(operation);
    for (const credential of enough) {
      const { verdict, changed } = await run(found, credential);
      if (verdict.is !== 'done') faults.push(`${operation.name} with a ${credential.name}: ${verdict.is}: ${verdict.text.slice(0, 250)}`);
      if (operation.isReading && changed.length > 0) faults.push(`${operation.name} reads, and changed ${changed.join()}`);
    }
    for (const credential of short) {
      const { verdict, changed } = await run(found, credential);
      if (verdict.is !== 'refused' || changed.length > 0)
        faults.push(`${operation.name} with a ${credential.name}: ${verdict.is}, changed ${changed.join()}: ${verdict.text.slice(0, 250)}`);
    }
  }
  console.log([...touched].map(([name, tables]) => `${name}: ${tables.join()}`).join('\n'));
  console.log('untried', untried.length, untried);
  expect(faults).toEqual([]);
});
