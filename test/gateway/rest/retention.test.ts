import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { removeOldMail } from '../../../actors/scheduling/retention.ts';
import { encodeEventCursor } from '../../../core/events/event-cursor.ts';
import { DAY_MS } from '../../../core/shared/durations.ts';
import { KEEP_FOREVER } from '../../../core/upkeep/retention.ts';
import { insertMail } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';
import { appendEvents } from '../../support/stages/event-feed.ts';
import { mutate } from '../../support/stages/graph-results.ts';

let gateway: TestGateway;
let box: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway({ config: { retention: { ...KEEP_FOREVER, metadataDays: 4_000 } } });
});
afterAll(() => gateway.close());
beforeEach(async () => {
  box = await gateway.mailbox();
});

const shown = 'rawDays bodyDays metadataDays isDefault';
const readRetention = async () =>
  (await gateway.graphql(box.apiKey, `{ viewer { retention { ${shown} } } }`)).json().data.viewer.retention;
const update = (input: object) =>
  mutate(gateway, box.apiKey, 'updateRetention', { acceptErasing: 100_000, ...input }, `retention { ${shown} }`);
const sweep = () =>
  removeOldMail(testActorContext(gateway.actor), { retention: KEEP_FOREVER }, { isStopping: () => false });

test('an account shows and changes how long its mail is kept, and another one does not see it', async () => {
  expect(await readRetention()).toEqual({ ...KEEP_FOREVER, metadataDays: 4_000, isDefault: true });
  const chosen = { rawDays: 30, bodyDays: 90, metadataDays: null, isDefault: false };
  expect(await update({ rawDays: 30, bodyDays: 90 })).toMatchObject({ retention: chosen });
  expect(await readRetention()).toEqual(chosen);
  box = await gateway.mailbox();
  expect((await readRetention()).isDefault).toBe(true);
});

test.each([
  [{ rawDays: 0 }, /whole numbers/],
  [{ rawDays: 40_000 }, /whole numbers/],
  [{ rawDays: 10, bodyDays: 9 }, /longer than bodies/],
  [{ bodyDays: 10, metadataDays: 9 }, /longer than metadata/],
  [{ rawDays: 10, metadataDays: 9 }, /longer than metadata/],
])('%j is refused', async (input, reason) => {
  const response = await update(input);
  expect(JSON.stringify(response)).toMatch(reason);
  expect(JSON.stringify(response)).toMatch(/ValidationError/);
});

test('shorter periods that erase mail now need the number of emails, and nothing else does', async () => {
  const old = {
    workspaceId: box.workspaceId,
    createdAt: new Date(Date.now() - 9 * DAY_MS),
    threadId: 'th_any',
    text: 'a body',
  };
  await insertMail(gateway.actor, [old, { ...old, raw: Buffer.from('Subject: x\r\n\r\n') }]);
  const none = { acceptErasing: null };
  expect(await update({ ...none, rawDays: 10, bodyDays: 10 })).toMatchObject({ retention: { rawDays: 10 } });
  for (const acceptErasing of [null, 1])
    expect(await update({ acceptErasing, rawDays: 8, bodyDays: 8 })).toMatchObject({
      code: 'WOULD_ERASE',
      message: expect.stringContaining('Pass 2 as acceptErasing'),
    });
  expect(await readRetention()).toMatchObject({ rawDays: 10, bodyDays: 10 });
  expect(await update({ acceptErasing: 2, rawDays: 8, bodyDays: 8 })).toMatchObject({ retention: { bodyDays: 8 } });
  // Longer ones erase nothing that the present ones keep.
  expect(await update({ ...none, rawDays: 8, bodyDays: 20 })).toMatchObject({ retention: { bodyDays: 20 } });
});

test('if the raw message is deleted, it and its attachments return 410, and the rest is shown', async () => {
  const attachment = {
    index: 0,
    filename: 'a.txt',
    contentType: 'text/plain',
    size: 1,
    contentId: null,
    contentDisposition: 'attachment' as const,
    start: 13,
    length: 4,
    transferEncoding: 'base64' as const,
  };
  const [id = ''] = await insertMail(gateway.actor, [
    {
      workspaceId: box.workspaceId,
      createdAt: new Date(Date.now() - 9 * DAY_MS),
      threadId: 'th_any',
      text: 'a body',
      attachments: [attachment],
      raw: Buffer.from('Subject: x\r\n\r\nYQ=='),
    },
  ]);
  await gateway.actor.pool.query(
    `insert into route (workspace_id, email_id, created_at, threaded_at, outcome) values ($1, $2, now(), now(), 'stored')`,
    [box.workspaceId, id],
  );
  const get = async (path: string) => {
    const response = await gateway.call(box.apiKey, 'GET', path);
    return { status: response.statusCode, error: response.statusCode === 200 ? null : response.json().error };
  };
  expect((await get(`/emails/${id}/raw`)).status).toBe(200);
  await update({ rawDays: 8 });
  await sweep();
  const gone = { status: 404, error: 'Email content not available' };
  expect(await get(`/emails/${id}/raw`)).toEqual(gone);
  expect(await get(`/attachments/${id}/a.txt`)).toEqual(gone);
  const email = (await gateway.call(box.apiKey, 'GET', `/emails/${id}`)).json();
  expect(email).toMatchObject({ id, text: 'a body' });
  await update({ rawDays: 8, bodyDays: 8 });
  await gateway.owner.pool.query(`update retention_sweep set due_at = now()`);
  await sweep();
  expect((await gateway.call(box.apiKey, 'GET', `/emails/${id}`)).json()).toMatchObject({ id, text: null, html: null });
});

test('a cursor before removed events is 410, and the feed continues from its beginning', async () => {
  await appendEvents(gateway.owner, box.workspaceId, {
    labels: Array.from({ length: 9 }, (_, n) => `e${n}`),
    bus: gateway.bus,
  });
  await gateway.owner.pool.query(
    `update event set at = now() - interval '9 days' where workspace_id = $1 and seq <= 5`,
    [box.workspaceId],
  );
  await update({ metadataDays: 8 });
  await sweep();
  const page = async (query: string) => {
    const response = await gateway.call(box.apiKey, 'GET', `/events${query}`);
    return { status: response.statusCode, body: response.json() };
  };
  const after = (seq: number) => `?after=${encodeEventCursor(box.workspaceId, seq)}`;
  for (const seq of [0, 3, 4]) {
    const { status, body } = await page(after(seq));
    expect([status, body.error]).toEqual([410, 'Cursor too old']);
  }
  const listLabels = ({ body }: { body: { data: { data: { label: string } }[] } }) =>
    body.data.map(({ data }) => data.label);
  expect(listLabels(await page(after(5)))).toEqual(['e5', 'e6', 'e7', 'e8']);
  expect(listLabels(await page('?limit=2'))).toEqual(['e5', 'e6']);
  const { data } = (
    await gateway.graphql(box.apiKey, '{ events(first: 9) { totalCount edges { node { data } } } }')
  ).json();
  expect([data.events.totalCount, data.events.edges.length]).toEqual([4, 4]);
});
