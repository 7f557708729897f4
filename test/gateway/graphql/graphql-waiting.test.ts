import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Wake } from '../../../schema/messages.ts';
import { insertScheduled } from '../../support/rows/outgoing-rows.ts';
import { insertReceivedMail } from '../../support/rows/received-mail.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { insertSentMail } from '../../support/rows/sent-mail.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

let gateway: TestGateway;
let box: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway();
  box = await gateway.mailbox();
});
afterAll(() => gateway.close());

const PAGE = `query Page($for: WaitReason!, $first: Int, $after: String, $last: Int, $before: String) {
  waitingEmails(for: $for, first: $first, after: $after, last: $last, before: $before) {
    edges { node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  }
}`;
const RETRY = `mutation Retry($id: ID!) {
  retrySending(input: { id: $id }) {
    __typename
    ... on RetrySendingPayload { email { id } recipients { id address nextAttemptAt } }
    ... on Error { message code }
  }
}`;

async function page(variables: Record<string, unknown>, key = box.apiKey) {
  const { waitingEmails } = (await gateway.graphql(key, PAGE, variables)).json().data;
  const ids: string[] = waitingEmails.edges.map((edge: { node: { id: string } }) => edge.node.id);
  return { ids, pageInfo: waitingEmails.pageInfo };
}

test('scheduled and paused mail is listed by send time, forwards and backwards', async () => {
  const [late = '', soon = '', paused = '', gone = '', same = ''] = await insertScheduled(gateway.actor, [
    { workspaceId: box.workspaceId, inSeconds: 9_000 },
    { workspaceId: box.workspaceId, inSeconds: 600 },
    { workspaceId: box.workspaceId, inSeconds: 3_000, status: 'paused' },
    { workspaceId: box.workspaceId, inSeconds: 700, status: 'cancelled' },
    { workspaceId: box.workspaceId, inSeconds: 12_000 },
  ]);
  const order = [soon, paused, late, same];
  expect((await page({ for: 'SCHEDULED' })).ids).toEqual(order);
  expect(order).not.toContain(gone);
  const first = await page({ for: 'SCHEDULED', first: 2 });
  expect(first.ids).toEqual(order.slice(0, 2));
  expect(first.pageInfo.hasNextPage).toBe(true);
  const second = await page({ for: 'SCHEDULED', first: 2, after: first.pageInfo.endCursor });
  expect(second.ids).toEqual(order.slice(2));
  expect(second.pageInfo.hasNextPage).toBe(false);
  expect((await page({ for: 'SCHEDULED', last: 2 })).ids).toEqual(order.slice(2));
  expect((await page({ for: 'SCHEDULED', last: 1, before: second.pageInfo.startCursor })).ids).toEqual([paused]);
  const other = await gateway.mailbox();
  expect((await page({ for: 'SCHEDULED' }, other.apiKey)).ids).toEqual([]);
});

test('mail held by guard rules is listed separately, newest first', async () => {
  const mails = await insertReceivedMail(gateway.actor, box, { count: 4 });
  const [older = '', newer = '', review = '', released = ''] = mails.map(({ emailId }) => emailId);
  await gateway.actor.pool.query(
    `update route set decided_at = now(), outcome = case when email_id = $2 then 'review' else 'blocked' end,
       released_at = case when email_id = $3 then now() end where workspace_id = $1`,
    [box.workspaceId, review, released],
  );
  expect((await page({ for: 'BLOCKED' })).ids).toEqual([newer, older]);
  expect((await page({ for: 'REVIEW' })).ids).toEqual([review]);
  const first = await page({ for: 'BLOCKED', first: 1 });
  expect((await page({ for: 'BLOCKED', after: first.pageInfo.endCursor })).ids).toEqual([older]);
  // What was deleted waits for no one, nor is it counted.
  await gateway.actor.pool.query('update email set trashed_at = now() where workspace_id = $1 and id = $2', [
    box.workspaceId,
    newer,
  ]);
  expect((await page({ for: 'BLOCKED' })).ids).toEqual([older]);
  const counted = (await gateway.graphql(box.apiKey, '{ overview { waiting { blocked review } } }')).json();
  expect(counted.data.overview.waiting).toEqual({ blocked: 1, review: 1 });
});

test('deferred mail is retried at once on request, and no other mail', async () => {
  const put = await insertSentMail(gateway.actor, box, {
    recipients: [
      { address: 'slow@elsewhere.test', status: 'pending', attempts: 2 },
      { address: 'joe@elsewhere.test' },
      { address: 'held@elsewhere.test', status: 'pending', attempts: 1 },
    ],
  });
  const [slow = '', , held = ''] = put.recipientIds;
  const fresh = await insertSentMail(gateway.actor, box, {
    recipients: [{ address: 'a@b.test', status: 'pending', attempts: 0 }],
  });
  await gateway.actor.pool.query(
    `update recipient set next_attempt_at = now() + interval '5 hours',
       claimed_by = case when id = $3 then 'somebody' end, claimed_until = case when id = $3 then now() + interval '1 minute' end
     where workspace_id = $1 and id = any($2)`,
    [box.workspaceId, [slow, held], held],
  );
  expect((await page({ for: 'DEFERRED' })).ids).toEqual([put.emailId]);
  const woken: Wake<'sending.send.wake'>[] = [];
  gateway.bus.onWake('sending.send.wake', (message) => void woken.push(message));

  const { retrySending } = (await gateway.graphql(box.apiKey, RETRY, { id: put.emailId })).json().data;
  expect(retrySending.recipients.map(({ id }: { id: string }) => id)).toEqual([slow]);
  expect(Date.parse(retrySending.recipients[0].nextAttemptAt)).toBeLessThanOrEqual(Date.now() + 60_000);
  await expect.poll(() => woken).toEqual([{ workspaceId: box.workspaceId, emailIds: [put.emailId] }]);

  const other = await gateway.mailbox();
  const refused = async (key: string, id: string) =>
    (await gateway.graphql(key, RETRY, { id })).json().data.retrySending.__typename;
  expect(await refused(box.apiKey, fresh.emailId)).toBe('Conflict');
  expect(await refused(other.apiKey, put.emailId)).toBe('NotFound');
});
