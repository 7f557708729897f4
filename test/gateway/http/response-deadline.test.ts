import { request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { timeToRespond } from '../../../gateway/http/response-deadline.ts';

const HANDLER_MS = 1_000;
const BYTES = 4_000;
const SMALL_BYTES = 3_000;

let app: FastifyInstance;
let url: string;
let work: (request: FastifyRequest) => Promise<unknown> = async () => 'done';

beforeAll(async () => {
  app = Fastify();
  timeToRespond(app, { handlerMs: HANDLER_MS, uploadMs: 10_000, largeBytes: 100_000, smallBytes: SMALL_BYTES });
  app.setErrorHandler((error: { statusCode?: number }, _request, reply) => reply.code(error.statusCode ?? 500).send());
  app.post('/mail', { bodyLimit: 200_000 }, (each) => work(each));
  app.post('/other', { bodyLimit: 100_000 }, (each) => work(each));
  app.post('/longer', { config: { respondWithinMs: 3 * HANDLER_MS } }, (each) => work(each));
  app.post('/patient', { config: { respondWithinMs: 60_000 } }, (each) => work(each));
  url = await app.listen({ host: '127.0.0.1', port: 0 });
});
afterEach(() => {
  work = async () => 'done';
});
afterAll(() => app.close());

/** The status of a request whose body takes that long to come in, how long it took, and when the last of the body was sent. */
async function post(
  path: string,
  uploadMs = 0,
  bytes = BYTES,
): Promise<{ status: number; ms: number; sentAt: number }> {
  const started = performance.now();
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const headers = { 'content-type': 'application/json', 'content-length': bytes };
  const call = request(`${url}${path}`, { method: 'POST', headers }, (response) => {
    response.resume();
    response.once('end', () => resolve(response.statusCode ?? 0));
  });
  call.once('error', reject);
  const body = JSON.stringify('x'.repeat(bytes - 2));
  call.write(body.slice(0, 1_000));
  // That it takes long is what is tried.
  await pause(uploadMs);
  const sentAt = performance.now();
  call.end(body.slice(1_000));
  return { status: await promise, ms: performance.now() - started, sentAt };
}

describe('a route that takes large bodies', () => {
  test('waits for a body that arrives slowly', async () => {
    expect(await post('/mail', 3 * HANDLER_MS)).toMatchObject({ status: 200 });
  });

  test('responds within its time limit from then on', async () => {
    work = () => new Promise(() => undefined);
    const { status, ms } = await post('/mail', 2 * HANDLER_MS);
    expect(status).toBe(503);
    expect(ms).toBeGreaterThan(3 * HANDLER_MS - 50);
  });

  test('passes its deadline to its work', async () => {
    const limits: { respondBy: number; begunAt: number }[] = [];
    work = async ({ respondBy }) => limits.push({ respondBy, begunAt: performance.now() });
    const { sentAt } = await post('/mail', 2 * HANDLER_MS);
    const [{ respondBy, begunAt } = { respondBy: 0, begunAt: 0 }] = limits;
    expect(respondBy).toBeGreaterThanOrEqual(sentAt + HANDLER_MS);
    expect(respondBy).toBeLessThanOrEqual(begunAt + HANDLER_MS + 2);
  });
});

test.each(['/mail', '/longer'])('a small body that comes slowly to %s ends with 503, too', async (path) => {
  const { status, ms } = await post(path, 4 * HANDLER_MS, SMALL_BYTES);
  expect(status).toBe(503);
  expect(ms).toBeGreaterThan(HANDLER_MS - 50);
});

test('a body that comes slowly to any other route ends with 503', async () => {
  const { status, ms } = await post('/other', 3 * HANDLER_MS);
  expect(status).toBe(503);
  expect(ms).toBeGreaterThan(HANDLER_MS - 50);
});

test('other routes respond within their time limit, the body included', async () => {
  work = () => new Promise(() => undefined);
  expect(await post('/other')).toMatchObject({ status: 503 });
});

describe('a route that waits for events', () => {
  test('has its own time limit', async () => {
    const limits: number[] = [];
    work = async ({ respondBy }) => {
      limits.push(respondBy);
      // That it takes long is what is tried.
      await pause(2 * HANDLER_MS);
      return 'done';
    };
    const begunAt = performance.now();
    expect(await post('/patient')).toMatchObject({ status: 200 });
    expect(limits[0]).toBeGreaterThanOrEqual(begunAt + 60_000);
  });

  test('ends at its time limit', async () => {
    work = () => new Promise(() => undefined);
    const { status, ms } = await post('/longer');
    expect(status).toBe(503);
    expect(ms).toBeGreaterThan(3 * HANDLER_MS - 50);
  });
});
