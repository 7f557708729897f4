import { afterAll, beforeAll, expect, test } from 'vitest';
import { insertMail } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { countStatements } from '../../support/statements.ts';

let gateway: TestGateway;
let box: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway();
  box = await gateway.mailbox({ endpointUrl: 'https://hooks.example.com/' });
});
afterAll(() => gateway.close());

const pull = async (path: string) => {
  const { statusCode, body } = await gateway.call(box.apiKey, 'GET', path);
  return { status: statusCode, body: JSON.parse(body) };
};

test('a pull begins at a cursor, and its secret stays the same', async () => {
  const latest = await pull('/events/webhook-requests?after=latest');
  expect(latest).toMatchObject({ status: 200, body: { object: 'list', data: [], has_more: false } });
  expect(latest.body.signing_secret).toMatch(/^whsec_/);
  const { next_cursor: cursor, signing_secret: secret } = latest.body;
  const again = await pull(`/events/webhook-requests?after=${cursor}&events=*`);
  expect(again.body).toMatchObject({ next_cursor: cursor, signing_secret: secret });
});

test('a pull that is not valid says what is allowed', async () => {
  const { status, body } = await pull('/events/webhook-requests?events=email.recieved');
  expect(status).toBe(400);
  expect(JSON.stringify(body)).toContain('is not a kind of event. Allowed are: *, ');
  expect(await pull('/events/webhook-requests?after=nonsense')).toMatchObject({ status: 400 });
  expect(await pull(`/endpoints/ep_${'0'.repeat(32)}/webhook-requests`)).toMatchObject({ status: 404 });
  expect(await pull(`/endpoints/${box.endpointId}/webhook-requests`)).toMatchObject({ status: 200 });
});

/** Stores received mail with its deliveries to the webhook, and the events of it. */
async function receive(count: number): Promise<void> {
  const { workspaceId, endpointId, address } = box;
  const mails = Array.from({ length: count }, () => ({
    workspaceId,
    ownAddress: address,
    text: 'Hello',
    raw: Buffer.from('x'),
  }));
  const ids = await insertMail(gateway.owner, mails);
  await gateway.owner.pool.query(
    `with routed as (
       insert into route (workspace_id, email_id, created_at, threaded_at, decided_at, outcome, via, endpoint_id)
       select $1, id, now(), now(), now(), 'endpoint', 'address', $3 from unnest($2::text[]) id)
     insert into delivery (workspace_id, id, email_id, endpoint_id, delivery_type, attempts_allowed, created_at)
     select $1, 'dlv_' || id, id, $3, 'webhook', 3, now() from unnest($2::text[]) id`,
    [workspaceId, ids, endpointId],
  );
  const kinds = ['email.received', 'email.threaded', 'email.read'];
  const events = ids.flatMap((emailId) => kinds.map((kind) => ({ id: `evt_${kind}_${emailId}`, kind, emailId })));
  await gateway.owner.pool.query('select append_events($1, $2::jsonb)', [workspaceId, JSON.stringify(events)]);
}

test.each([
  ['of a program that listens', (cursor: string) => `/events/webhook-requests?events=*&limit=100&after=${cursor}`],
  ['of a webhook', (cursor: string) => `/endpoints/${box.endpointId}/webhook-requests?limit=100&after=${cursor}`],
])(
  'a pull of 15 emails and 30 events takes at most 3 statements more than one of 3 and 6: %s',
  async (_name, readPath) => {
    const subscribed = ['email.received', 'email.threaded', 'email.read'];
    await gateway.owner.pool.query('update endpoint set events = $2 where id = $1', [box.endpointId, subscribed]);
    const counts: number[] = [];
    for (const count of [3, 15]) {
      const { body: latest } = await pull('/events/webhook-requests?after=latest');
      await receive(count);
      const { response, statements } = await countStatements(() => pull(readPath(latest.next_cursor)));
      const requests = response.body.data as { cursor: string; kind: string; email_id: string }[];
      expect(requests.map(({ kind }) => kind)).toEqual(Array.from({ length: count }, () => subscribed).flat());
      expect(response.body.has_more).toBe(false);
      counts.push(statements);
    }
    expect((counts[1] ?? 0) - (counts[0] ?? 0), counts.join(' → ')).toBeLessThanOrEqual(3);
  },
);
