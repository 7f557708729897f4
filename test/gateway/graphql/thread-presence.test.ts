import { createClient } from 'graphql-sse';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { insertKey } from '../../support/rows/key-rows.ts';
import { insertThread } from '../../support/rows/mail-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import type { BrowserSession } from '../../support/stages/browser-session.ts';
import { openTeam, type TeamPerson, type TeamStage } from '../../support/stages/team-stage.ts';

let gateway: TestGateway;
let team: TeamStage;
let viewer: TeamPerson;
let url: string;
let threadId: string;
/** with full rights */
let key: string;

beforeAll(async () => {
  gateway = await openTestGateway({ config: { rateLimitPerSecond: 0 } });
  url = `${await gateway.app.listen({ host: '127.0.0.1', port: 0 })}/graphql`;
  team = await openTeam(gateway, 'present');
  viewer = await team.makeMember('viewer');
  key = await team.insertPersonKey(team.owner);
  threadId = (
    await insertThread(gateway.owner, { workspaceId: team.box.workspaceId, count: 1, lastMessageAt: new Date() })
  ).threadId;
});
afterAll(() => gateway.close());

const say = (browser: BrowserSession, state: string, id = threadId) =>
  browser.rest('POST', `/mail/threads/${id}/presence`, {}, { state });
const SUBSCRIPTION = 'subscription($id: ID!) { threadPresence(threadId: $id) { name state isYou } }';

/** Subscribes with an API key. */
function follow(key: string) {
  const client = createClient({ url, headers: { authorization: `Bearer ${key}` }, retryAttempts: 0 });
  const results = client.iterate<{ threadPresence: { name: string; state: string; isYou: boolean }[] }>({
    query: SUBSCRIPTION,
    variables: { id: threadId },
  });
  return {
    next: async () => {
      const { value } = await results.next();
      return value?.data?.threadPresence ?? value?.errors?.map(({ message }: { message: string }) => message);
    },
    end: () => client.dispose(),
  };
}

test('members see over a subscription who reads and replies', async () => {
  const followed = follow(key);
  expect(await followed.next()).toEqual([]);
  const shown = await say(viewer.browser, 'reading');
  expect(shown.json()).toEqual({
    thread_id: threadId,
    present: [{ person_id: viewer.personId, name: viewer.email.split('@')[0], state: 'reading', is_you: true }],
  });
  expect(await followed.next()).toMatchObject([{ state: 'READING', isYou: false }]);
  await say(viewer.browser, 'replying');
  expect(await followed.next()).toMatchObject([{ state: 'REPLYING' }]);
  await say(viewer.browser, 'gone');
  expect(await followed.next()).toEqual([]);
  followed.end();
});

test('API keys, strangers and limited members without the thread are not present, and see no one', async () => {
  const byKey = await gateway.call(key, 'POST', `/mail/threads/${threadId}/presence`, { state: 'reading' });
  expect(byKey.statusCode).toBe(403);
  const stranger = await team.makePerson();
  const limited = await team.makeMember('agent', { domains: ['present.test'] });
  const outside = (
    await insertThread(gateway.owner, {
      workspaceId: team.box.workspaceId,
      count: 1,
      lastMessageAt: new Date(),
      ownAddress: 'a@other.test',
    })
  ).threadId;
  expect((await say(stranger.browser, 'reading')).statusCode).toBe(404);
  expect((await say(limited.browser, 'reading', outside)).statusCode).toBe(404);
  expect((await say(viewer.browser, 'asleep')).statusCode).toBe(400);
  const { secret } = await insertKey(gateway.owner, team.box, { scopes: ['read', 'send'] });
  const refused = await gateway.app.inject({
    method: 'POST',
    url: '/graphql',
    headers: { authorization: `Bearer ${secret}`, accept: 'text/event-stream' },
    payload: { query: SUBSCRIPTION, variables: { id: threadId } },
  });
  expect(refused.body).toContain('manage');
});
