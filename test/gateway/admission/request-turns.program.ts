import { fork } from 'node:child_process';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { beginInTurns } from '../../../gateway/admission/request-turns.ts';

/** Requests of one account that arrive before that of the other. */
const BURST = 100;
/** Of these, how many may begin first. */
const MAX_BEFORE = 10;
/** Requests of clients that connect again at once, of which so many may begin between a new connection and its response. */
const MAX_REPEATED = 40;
/** Steps of a request, and the processor time of each in milliseconds. */
const STEPS = 3;
const STEP_MS = 1;

test('a request begins after few of the 100 that another account made before it', async () => {
  const app = Fastify();
  const begun: string[] = [];
  app.decorateRequest('workspaceId', '');
  app.addHook('onRequest', async (request) => {
    request.workspaceId = String(request.headers['x-user']);
  });
  beginInTurns(app);
  app.get('/', async ({ workspaceId }) => {
    begun.push(workspaceId);
    return {};
  });
  await app.ready();
  const users = [...Array.from({ length: BURST }, () => 'attacker'), 'other'];
  const responses = await Promise.all(users.map((user) => app.inject({ url: '/', headers: { 'x-user': user } })));
  await app.close();
  expect(responses.every(({ statusCode }) => statusCode === 200)).toBe(true);
  expect(begun).toHaveLength(BURST + 1);
  expect(begun.indexOf('other')).toBeLessThanOrEqual(MAX_BEFORE);
});

test('a new connection is accepted after few of the 100 requests that a client repeats on new connections', async () => {
  const app = Fastify();
  let attackers = 0;
  app.decorateRequest('workspaceId', '');
  app.addHook('onRequest', async (request) => {
    request.workspaceId = String(request.headers['x-user']);
  });
  beginInTurns(app);
  app.get('/', async ({ workspaceId }) => {
    if (workspaceId === 'attacker') attackers++;
    // Steps of a request, as its queries are.
    for (let step = 0; step < STEPS; step++) {
      burn(STEP_MS);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return {};
  });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  const attack = fork(new URL('../../support/clients/reconnecting-client.ts', import.meta.url), [url, String(BURST)]);
  await expect.poll(() => attackers, { timeout: 30_000 }).toBeGreaterThan(BURST);
  const before: number[] = [];
  for (let probe = 0; probe < 10; probe++) {
    const seen = attackers;
    await request(url, 'other');
    before.push(attackers - seen);
  }
  attack.kill();
  await app.close();
  expect(before.toSorted((a, b) => a - b)[5]).toBeLessThan(MAX_REPEATED);
}, 60_000);

/** Uses the processor for that many milliseconds. */
function burn(milliseconds: number): void {
  const until = performance.now() + milliseconds;
  while (performance.now() < until);
}

/** Sends a request on a connection of its own, and resolves with its status when it has ended. */
async function request(url: string, user: string): Promise<number> {
  const sent = get(url, { agent: false, headers: { 'x-user': user } });
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  await once(response, 'end');
  return response.statusCode ?? 0;
}
