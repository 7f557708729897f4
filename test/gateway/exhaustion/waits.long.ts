import { afterEach, beforeEach, expect, test } from 'vitest';
import { insertMail } from '../../support/rows/mail-rows.ts';
import { type ExhaustionStage, openExhaustionStage } from '../../support/stages/exhaustion-stage.ts';
import { expectBounded, expectServedOrRefused } from '../../support/stages/expect-bounded.ts';

const MB = 1_000_000;
/** Requests of an account that wait at once, the limit of an account. */
const WAITS = 200;
/** Each attack has a gateway of its own, because a peak of memory is that of all its life. */
let stage: ExhaustionStage;
beforeEach(async () => {
  stage = await openExhaustionStage('small', { messages: 1 });
});
afterEach(() => stage?.close());

/** Stores received mail of the attacker whose route is decided, with the events that say so. */
async function receive(count: number, body: { text: string; html?: string; raw?: Buffer }): Promise<void> {
  const { workspaceId } = stage.attacker;
  const ids: string[] = [];
  for (let at = 0; at < count; at++)
    ids.push(
      ...(await insertMail(stage.owner, [
        {
          workspaceId,
          subject: 'The one',
          threadId: stage.threadId,
          threadPosition: at + 1,
          raw: Buffer.from('x'),
          ...body,
        },
      ])),
    );
  await stage.owner.pool.query(
    `insert into route (workspace_id, email_id, created_at, threaded_at, decided_at, outcome)
     select $1, id, now(), now(), now(), 'stored' from unnest($2::text[]) id`,
    [workspaceId, ids],
  );
  const events = ids.flatMap((emailId, at) =>
    ['email.received', 'email.threaded'].map((kind) => ({
      id: `evt_${kind}_${at}_${emailId}`,
      kind,
      emailId,
      threadId: stage.threadId,
    })),
  );
  await stage.owner.pool.query('select append_events($1, $2::jsonb)', [workspaceId, JSON.stringify(events)]);
}

/** Expects that some of the requests are served and the others refused, and another account served beside them. */
async function expectBoundedRequests(begun: Promise<string>[]): Promise<void> {
  expect((await stage.get(stage.other, '/emails')).status).toBe(200);
  expectServedOrRefused(await Promise.all(begun));
  await expectBounded(stage);
  stage.letGo();
}

const holdAll = (path: string, request: Parameters<ExhaustionStage['hold']>[2] = {}) =>
  Array.from({ length: WAITS }, () => stage.hold(stage.attacker, path, request));

const text = `€${'x'.repeat(14 * MB - 3)}`;

test('200 waits for an email of 14 MB that is there are served or refused below 600 MiB', async () => {
  await receive(1, { text });
  const body = JSON.stringify({
    subject: 'The one',
    since: new Date(Date.now() - 3_600_000).toISOString(),
    timeout: 0,
  });
  await expectBoundedRequests(holdAll('/emails/wait', { method: 'POST', body }));
});

test('200 waits for an email of 14 MB that arrives while they wait are served or refused below 600 MiB', async () => {
  const body = JSON.stringify({ subject: 'The one', timeout: 60 });
  const begun = holdAll('/emails/wait', { method: 'POST', body });
  await expect.poll(async () => (await stage.get(stage.attacker, '/emails')).status).toBe(200);
  await receive(1, { text });
  await expectBoundedRequests(begun);
});

test('200 waits for emails of small text and HTML of 14 MB are served or refused below 600 MiB', async () => {
  await receive(1, { text: 'x', html: '<p><a href="https://a.test/">x</a>'.repeat(400_000) });
  const body = JSON.stringify({
    subject: 'The one',
    since: new Date(Date.now() - 3_600_000).toISOString(),
    timeout: 0,
  });
  await expectBoundedRequests(holdAll('/emails/wait', { method: 'POST', body }));
});

test.each([
  ['10 emails of 14 MB', 10, text, 14 * MB],
  ['40 emails of 900,000 bytes', 40, 'x'.repeat(900_000), 900_000],
  ['100 emails of 200,000 bytes', 100, 'x'.repeat(200_000), 200_000],
] as const)(
  '200 pulls of webhook requests of %s are served or refused below 600 MiB',
  async (_name, count, body, raw) => {
    await receive(count, { text: body, raw: Buffer.alloc(raw, 'x') });
    await expectBoundedRequests(holdAll('/events/webhook-requests?limit=100'));
  },
);

test('200 pulls of webhook requests that wait are served or refused below 600 MiB', async () => {
  const begun = holdAll('/events/webhook-requests?limit=100&after=latest&wait=30');
  await expect.poll(async () => (await stage.get(stage.attacker, '/emails')).status).toBe(200);
  await receive(20, { text: 'x'.repeat(900_000), raw: Buffer.alloc(900_000, 'x') });
  await expectBoundedRequests(begun);
});
