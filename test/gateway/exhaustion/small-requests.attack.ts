import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { type ExhaustionStage, openExhaustionStage } from '../../support/stages/exhaustion-stage.ts';

/*
 * Requests of 200 bytes for which much is loaded: lists of logged requests whose bodies are as large as they can be, and mail that takes an
 * original with it.
 */

const AT_ONCE = 50;
/** The most memory that a gateway may ever have under these attacks. Bytes. */
const MAX_MEMORY = 600 * 1_024 * 1_024;
const MB = 1_000_000;
/** Near the largest text that can be sent. Characters. */
const ORIGINAL_LENGTH = 9_900_000;
/** Each of them is escaped by six bytes in JSON. */
const LARGEST_BODY = '\u{1}'.repeat(8_192);

let stage: ExhaustionStage;

beforeAll(async () => {
  stage = await openExhaustionStage(`${'x'.repeat(98)}\r\n`.repeat(ORIGINAL_LENGTH / 100), { messages: 1 });
  await stage.owner.pool.query(
    `insert into api_request (workspace_id, id, created_at, key_id, interface, method, path, status, duration_ms, client_address, request_headers,
       response_headers, request_bytes, request_body, response_bytes, response_body, omits_bodies)
     select $1, 'req_' || n, now() - n * interval '1 second', 'key', 'rest', 'POST', '/api/e2/emails', 200, 1, '127.0.0.1', '{}', '{}', 8192, $2, 8192,
       $2, false from generate_series(1, 200) n`,
    [stage.attacker.workspaceId, LARGEST_BODY],
  );
});
afterAll(() => stage?.close());

async function expectBounded(): Promise<void> {
  const peak = await stage.peakMemory();
  expect(peak, `${Math.round(peak / MB)} MB`).toBeLessThan(MAX_MEMORY);
}

/** Sends them at once, and returns how many responses had each status. The other account works meanwhile. */
async function countStatuses(send: () => Promise<Response>): Promise<Record<number, number>> {
  await stage.forgetPeak();
  const counts: Record<number, number> = {};
  const all = Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      const response = await send();
      await response.arrayBuffer();
      counts[response.status] = (counts[response.status] ?? 0) + 1;
    }),
  );
  expect((await stage.get(stage.other, '/emails')).status).toBe(200);
  await all;
  return counts;
}

test('50 lists of logs load no bodies: all are served', async () => {
  expect(await countStatuses(() => stage.get(stage.attacker, '/logs?limit=100'))).toEqual({ 200: AT_ONCE });
  await expectBounded();
});

test('50 lists of requests with the largest bodies are served or refused with 503, within 600 MiB', async () => {
  const { 200: served = 0, 503: refused = 0 } = await countStatuses(() =>
    stage.get(stage.attacker, '/requests?limit=100'),
  );
  expect([served > 0, served + refused]).toEqual([true, AT_ONCE]);
  await expectBounded();
});

test.each([
  ['replies that include the largest original', 'reply', { text: 'x', include_original: true }],
  ['forwards of it', 'forward', {}],
])('50 %s are sent or refused with 503, within 600 MiB, and small replies do not wait', async (_what, action, body) => {
  const send = ({ address, apiKey }: TestMailbox, path: string, content: object) =>
    fetch(`${stage.gateway.url}/api/e2/emails/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ from: address, to: ['ada@elsewhere.test'], ...content }),
    });
  const { attacker, other, largeId, otherLargeId } = stage;
  const counting = countStatuses(() => send(attacker, `${largeId}/${action}`, body));
  const small = await Promise.all([
    send(attacker, `${largeId}/reply`, { text: 'small' }),
    send(other, `${otherLargeId}/reply`, { text: 'small' }),
  ]);
  expect(small.map(({ status }) => status)).toEqual([200, 200]);
  const { 200: sent = 0, 503: refused = 0, ...others } = await counting;
  // On a busy machine, none is composed in time.
  expect([others, sent + refused]).toEqual([{}, AT_ONCE]);
  await expectBounded();
});
