import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { runWithinGuardBudget } from '../../../operations/routing/guard-budget.ts';
import { addRule } from '../../actors/delivery/guarding.ts';
import { insertReceivedMail } from '../../support/rows/received-mail.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

let gateway: TestGateway;
let box: TestMailbox;
let rule: string;
let emailId: string;

beforeAll(async () => {
  gateway = await openTestGateway();
});
beforeEach(async () => {
  box = await gateway.mailbox({ endpointUrl: 'https://hooks.example.test/' });
  rule = await addRule(gateway.actor, box, { action: 'block', hasWords: 'casino' });
  emailId = (await insertReceivedMail(gateway.actor, box))[0]?.emailId ?? '';
  await gateway.actor.pool.query(
    `insert into route (workspace_id, email_id, created_at, threaded_at, decided_at, outcome)
     select workspace_id, id, created_at, now(), now(), 'stored' from email where id = $1
     on conflict (workspace_id, email_id) do update set decided_at = now(), outcome = 'stored'`,
    [emailId],
  );
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(() => gateway.close());

/** As after an evaluation that took so long. */
function owe(workspaceId: string, milliseconds: number): void {
  const now = performance.now.bind(performance);
  let worked = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + worked);
  try {
    runWithinGuardBudget(workspaceId, () => void (worked = milliseconds));
  } finally {
    clock.mockRestore();
  }
}

/** As if five seconds passed with each look at the clock, so during an evaluation, too. */
async function judgeSlowly(judge: () => ReturnType<typeof call>): ReturnType<typeof call> {
  const now = performance.now.bind(performance);
  let passed = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + (passed += 5_000));
  try {
    return await judge();
  } finally {
    clock.mockImplementation(() => now() + passed);
  }
}

const call = (method: string, path: string, body?: unknown) => gateway.call(box.apiKey, method, path, body);
const waysToJudge: [string, () => ReturnType<typeof call>][] = [
  ['a check', () => call('POST', `/guard/${rule}/check`, { emailId })],
  ['a look at the route now', () => call('GET', `/emails/${emailId}/route?now=true`)],
  ['a retry', () => call('POST', `/emails/${emailId}/retry`)],
];

test.each(waysToJudge)(
  '%s is refused for a while to a user whose guard rules have run for seconds',
  async (_, judge) => {
    const first = await judgeSlowly(judge);
    expect(first.statusCode, first.body).toBe(200);
    const response = await judge();
    expect([response.statusCode, response.json().message]).toEqual([
      429,
      'Your guard rules have taken too long lately. Try again later.',
    ]);
    expect(Number(response.headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(response.headers['retry-after'])).toBeLessThan(60);
  },
);

test('a user who is refused a check is refused all evaluations of guard rules, and nothing else; other users are not refused', async () => {
  // Longer than a busy machine takes for the rest of this test.
  owe(box.workspaceId, 100_000);
  for (const [, judge] of waysToJudge) expect((await judge()).statusCode).toBe(429);
  expect((await call('GET', `/emails/${emailId}/route`)).statusCode).toBe(200);
  const named = await call('POST', `/emails/${emailId}/retry`, { endpoint_id: box.endpointId });
  expect(named.statusCode, named.body).toBe(200);
  const neighbor = await gateway.mailbox();
  const theirRule = await addRule(gateway.actor, neighbor, { action: 'block', hasWords: 'casino' });
  const [theirs] = await insertReceivedMail(gateway.actor, neighbor);
  const body = { emailId: theirs?.emailId };
  expect((await gateway.call(neighbor.apiKey, 'POST', `/guard/${theirRule}/check`, body)).statusCode).toBe(200);
});
