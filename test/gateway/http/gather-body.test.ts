import { PassThrough } from 'node:stream';
import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { gatherBody } from '../../../gateway/http/gather-body.ts';

const uploads = { windowMs: 60_000, leastBytes: 1 };

/** Returns what a body in such chunks becomes. */
async function gather(chunks: readonly (string | Buffer)[], most = 10_000_000) {
  const app = Fastify();
  const gathered = new Promise<Awaited<ReturnType<typeof gatherBody>>>((resolve, reject) => {
    app.get('/', async (_request, reply) => {
      const payload = new PassThrough();
      const result = gatherBody(payload, { most, count: () => undefined, uploads, reply });
      result.then(resolve, reject);
      for (const chunk of chunks) payload.write(chunk);
      payload.end();
      await result.catch(() => undefined);
      return {};
    });
  });
  gathered.catch(() => undefined);
  await app.inject('/');
  await app.close();
  return gathered;
}

test('chunks of a single byte become few pieces', async () => {
  const text = Array.from({ length: 100_000 }, (_, at) => String(at % 10));
  const { pieces, bytes } = await gather(text);
  expect(bytes).toBe(100_000);
  expect(Buffer.concat(pieces).toString()).toBe(text.join(''));
  expect(pieces.length).toBeLessThan(10);
});

test('chunks longer than a piece are split, and keep their bytes', async () => {
  const chunks = [3, 1_000_000, 0, 262_144, 5_000].map((length, at) => Buffer.alloc(length, at + 1));
  const { pieces, bytes } = await gather(chunks);
  expect(Buffer.concat(pieces).equals(Buffer.concat(chunks))).toBe(true);
  expect(bytes).toBe(1_267_147);
});

test('a body above the limit is rejected with 413', async () => {
  await expect(gather(['xx', 'xx'], 3)).rejects.toMatchObject({ statusCode: 413 });
  expect((await gather(['xx', 'x'], 3)).bytes).toBe(3);
});

test('an empty body has no pieces', async () => {
  expect(await gather([])).toEqual({ pieces: [], bytes: 0 });
});
