import { createClient } from 'graphql-sse';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { insertThread } from '../../support/rows/mail-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { openTeam, type TeamStage } from '../../support/stages/team-stage.ts';

let gateway: TestGateway;
let team: TeamStage;
let url: string;

beforeAll(async () => {
  gateway = await openTestGateway({ config: { rateLimitPerSecond: 0 } });
  url = `${await gateway.app.listen({ host: '127.0.0.1', port: 0 })}/graphql`;
  team = await openTeam(gateway, 'mine');
});
afterAll(() => gateway.close());

test('a member sees over a subscription what other sessions mark, and nothing of other members', async () => {
  const other = await team.makeMember('viewer');
  const { threadId } = await insertThread(gateway.owner, {
    workspaceId: team.box.workspaceId,
    count: 1,
    lastMessageAt: new Date(Date.now() + 3_600_000),
  });
  const key = await team.insertPersonKey(team.owner);
  const client = createClient({ url, headers: { authorization: `Bearer ${key}` }, retryAttempts: 0 });
  const { promise: isConnected, resolve: connect } = Promise.withResolvers<void>();
  client.iterate({ query: 'subscription { readByMe { isRead } }' }, { connected: () => connect() });
  const results = client.iterate<{ readByMe: { threadIds: string[] | null; isRead: boolean } }>({
    query: 'subscription { readByMe { threadIds isRead } }',
  });
  const next = async () => (await results.next()).value?.data?.readByMe;
  const mark = (by: typeof other, body: Record<string, unknown>) =>
    by.browser.rest('POST', '/mail/threads/read-by-me', {}, body);
  const first = next();
  void isConnected;
  // The subscription is open once it has a change: those before it opened are not told.
  const repeated = setInterval(() => {
    void mark(other, { thread_ids: [threadId], is_read: true });
    void mark(team.owner, { thread_ids: [threadId], is_read: true });
    void mark(team.owner, { thread_ids: [threadId], is_read: false });
  }, 50);
  const told = await first;
  clearInterval(repeated);
  expect(told?.threadIds).toEqual([threadId]);
  await mark(team.owner, { is_read: true });
  let last = told;
  while (last?.threadIds !== null) last = await next();
  expect(last).toEqual({ threadIds: null, isRead: true });
  client.dispose();
});
