import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { beginInTurns } from '../../../gateway/admission/request-turns.ts';

/** Requests of one account that arrive before that of the other. */
const BURST = 100;
/** Of these, how many may begin first. */
const MAX_BEFORE = 10;

test('a request begins after few of the 100 that another account made before it', async () => {
  const app = Fastify();
  const begun: string[] = [];
  app.decorateRequest('userId', '');
  app.addHook('onRequest', async (request) => {
    request.userId = String(request.headers['x-user']);
  });
  beginInTurns(app);
  app.get('/', async ({ userId }) => {
    begun.push(userId);
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
