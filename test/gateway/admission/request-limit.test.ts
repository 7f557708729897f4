import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../../db/connection/database.ts';
import { createSharedRequestLimiter, type RequestLimiter } from '../../../gateway/admission/request-limit.ts';
import { createTestDatabase, type TestDatabase } from '../../support/cluster/database.ts';
import { inOneWindow } from '../../support/one-window.ts';
import { countStatements } from '../../support/statements.ts';

const LIMIT = 100;
/** The instants are noted a moment after the requests were counted, so the windows looked at are that much shorter than a second. */
const WINDOW_MS = 980;

let test_: TestDatabase;
let database: Database;

beforeAll(async () => {
  test_ = await createTestDatabase();
  database = test_.open('postroom_gateway');
});
afterAll(() => test_.drop());

const limiter = (limit = LIMIT): RequestLimiter =>
  createSharedRequestLimiter({
    database,
    limit,
    clock: () => performance.now(),
    random: (bytes) => randomBytes(bytes),
  });
let users = 0;
const newWorkspace = () => `usr_${users++}`;

/** Between which instants a request was let through. */
interface Pass {
  askedAt: number;
  respondedAt: number;
}

/** Asks once; null: refused. */
async function attempt(gateway: RequestLimiter, workspaceId: string): Promise<Pass | null> {
  const askedAt = performance.now();
  const { isExceeded } = await gateway.take(workspaceId);
  return isExceeded ? null : { askedAt, respondedAt: performance.now() };
}
const passed = (attempts: readonly (Pass | null)[]) => attempts.filter((pass) => pass !== null);

/** The most that were let through within any window, for certain: a machine that is slow to tell moves no request into another one. */
function mostInWindow(attempts: readonly (Pass | null)[]): number {
  const passes = passed(attempts);
  const inWindowFrom = (from: number) =>
    passes.filter(({ askedAt, respondedAt }) => askedAt >= from && respondedAt < from + WINDOW_MS).length;
  return Math.max(0, ...passes.map(({ askedAt }) => inWindowFrom(askedAt)));
}

/** Asks over and over for a while, so many at once on each gateway. */
async function hammer(gateways: readonly RequestLimiter[], workspaceId: string, milliseconds: number, atOnce: number) {
  const until = performance.now() + milliseconds;
  const client = async (gateway: RequestLimiter) => {
    const instants: (Pass | null)[] = [];
    while (performance.now() < until) {
      instants.push(await attempt(gateway, workspaceId));
      if (instants.at(-1) === null) await pause(2);
    }
    return instants;
  };
  const clients = gateways.flatMap((gateway) => Array.from({ length: atOnce }, () => client(gateway)));
  return (await Promise.all(clients)).flat();
}

describe('requests over two gateways', () => {
  test('are limited in a burst of twice the limit', async () => {
    const gateways = [limiter(), limiter()];
    const workspaceId = newWorkspace();
    const instants = await Promise.all(
      Array.from({ length: 2 * LIMIT }, (_, n) => attempt(gateways[n % 2] ?? limiter(), workspaceId)),
    );
    expect(mostInWindow(instants)).toBeLessThanOrEqual(LIMIT);
    // Each gateway may hold a part of its last lease.
    expect(passed(instants).length).toBeGreaterThanOrEqual(LIMIT - 2 * 10);
  });

  test('exceed the limit in no second, and use nearly all of it, however long the storm', async () => {
    const instants = await hammer([limiter(), limiter()], newWorkspace(), 4_500, 4);
    expect(mostInWindow(instants)).toBeLessThanOrEqual(LIMIT);
    // In 4.5 s there are five windows' worth, less what the turns of leases cost.
    expect(passed(instants).length).toBeGreaterThan(0.8 * 4.5 * LIMIT);
    expect(instants.length).toBeGreaterThan(passed(instants).length * 1.5);
  });

  test('exceed the limit in no second when they come in bursts', async () => {
    const gateways = [limiter(), limiter(), limiter()];
    const workspaceId = newWorkspace();
    const instants: (Pass | null)[] = [];
    for (const [index, count] of [30, 80, 7, 120, 1, 60, 15, 90, 3, 110].entries()) {
      const gateway = gateways[index % 3] ?? limiter();
      instants.push(...(await Promise.all(Array.from({ length: count }, () => attempt(gateway, workspaceId)))));
      await pause(130 + 97 * (index % 4));
    }
    expect(mostInWindow(instants)).toBeLessThanOrEqual(LIMIT);
    expect(passed(instants).length).toBeGreaterThan(LIMIT * 2);
  });

  // The first gateway has seven requests left of a lease of ten when it falls silent.
  test.each([
    ['before its lease ends, which counts for a second more', 900, 7, 150],
    ['when its lease no longer counts, and is not taken any more', 2_050, 0, 0],
  ])("use the rest of a gateway's lease %s", async (_name, silenceMs, used, pauseMs) => {
    const [first, second] = [limiter(), limiter()];
    const workspaceId = newWorkspace();
    const instants: (Pass | null)[] = [];
    const send = async (gateway: RequestLimiter, count: number) => {
      for (let n = 0; n < count; n++) instants.push(await attempt(gateway, workspaceId));
    };
    await send(first, 18);
    await pause(silenceMs);
    await send(first, used);
    await pause(pauseMs);
    await send(second, LIMIT);
    await send(first, 7);
    expect(mostInWindow(instants)).toBeLessThanOrEqual(LIMIT);
  });

  test('keep to a small limit, too', async () => {
    const instants = await hammer([limiter(3), limiter(3)], newWorkspace(), 2_500, 2);
    expect(mostInWindow(instants)).toBeLessThanOrEqual(3);
    expect(passed(instants).length).toBeGreaterThanOrEqual(6);
  });

  test('do not use up the limit of other users', async () => {
    const [one, other] = [limiter(), limiter()];
    const last = await inOneWindow(async () => {
      const [greedy, modest] = [newWorkspace(), newWorkspace()];
      await Promise.all(Array.from({ length: 150 }, () => attempt(one, greedy)));
      return [await attempt(other, greedy), await attempt(other, modest)];
    });
    expect(last).toEqual([null, expect.anything()]);
  });
});

test('few requests on many gateways lease little: none is refused', async () => {
  const gateways = Array.from({ length: 12 }, () => limiter());
  const workspaceId = newWorkspace();
  const instants = [];
  for (let round = 0; round < 5; round++) {
    for (const gateway of gateways) instants.push(await attempt(gateway, workspaceId));
    await pause(200);
  }
  expect(passed(instants)).toHaveLength(60);
});

test('a gateway that starts again finds the earlier count', async () => {
  const workspaceId = newWorkspace();
  const first = limiter();
  const before = await Promise.all(Array.from({ length: 60 }, () => attempt(first, workspaceId)));
  expect(passed(before)).toHaveLength(60);
  const again = limiter();
  const after = await Promise.all(Array.from({ length: 60 }, () => attempt(again, workspaceId)));
  expect(mostInWindow([...before, ...after])).toBeLessThanOrEqual(LIMIT);
  // What its last lease still held is lost until that ends.
  expect(passed(after).length).toBeGreaterThanOrEqual(30);
});
describe('the header fields of the request limit', () => {
  test('count down, and say how long to wait until there is room', async () => {
    const gateway = limiter(20);
    const { states, refused } = await inOneWindow(async () => {
      const workspaceId = newWorkspace();
      const states = [];
      for (let n = 0; n < 20; n++) states.push(await gateway.take(workspaceId));
      return { states, refused: await gateway.take(workspaceId) };
    }, 500);
    expect(states.map(({ remaining }) => remaining)).toEqual(Array.from({ length: 20 }, (_, n) => 19 - n));
    for (const state of states) expect(state).toMatchObject({ limit: 20, isExceeded: false });
    expect(refused).toMatchObject({ limit: 20, remaining: 0, isExceeded: true });
    expect(refused.resetMs).toBeGreaterThan(500);
    expect(refused.resetMs).toBeLessThanOrEqual(1_000);
    await pause(refused.resetMs);
    expect(await gateway.take(`usr_${users - 1}`)).toMatchObject({ isExceeded: false });
  });
});

describe('a lease of requests', () => {
  test('takes one statement for many requests, least of all for rejected ones', async () => {
    const gateway = limiter();
    const workspaceId = newWorkspace();
    const { statements } = await countStatements(async () => {
      for (let n = 0; n < LIMIT; n++) expect(await attempt(gateway, workspaceId)).not.toBeNull();
    });
    // 13 where the machine is quick: leases of 1, 2, 4 and 8, then of ten
    expect(statements).toBeLessThanOrEqual(20);
    const refusing = await countStatements(async () => {
      for (let n = 0; n < 50; n++) expect(await attempt(gateway, workspaceId)).toBeNull();
    });
    expect(refusing.statements).toBe(1);
  });

  test('is shared by concurrent requests', async () => {
    const gateway = limiter();
    const workspaceId = newWorkspace();
    const { statements } = await countStatements(() =>
      Promise.all(Array.from({ length: 200 }, () => attempt(gateway, workspaceId))),
    );
    expect(statements).toBeLessThanOrEqual(12);
  });
});

test('the table of windows is unlogged, and keeps one row per user', async () => {
  const actor = test_.open('postroom_actor');
  const { rows } = await actor.pool.query<{ count: number; persistence: string }>(
    `select (select count(*) from request_window where workspace_id = 'usr_0') as count, relpersistence as persistence
     from pg_class where relname = 'request_window'`,
  );
  expect(rows).toEqual([{ count: 1, persistence: 'u' }]);
});
