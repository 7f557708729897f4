import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { releaseDue } from '../../../actors/scheduling/release-due.ts';
import { assignThreads } from '../../../actors/threading/assign-thread.ts';
import { insertMail } from '../../support/rows/mail-rows.ts';
import { moveClock, wrongTotals } from '../../support/rows/outgoing-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { MESSAGE_COLUMNS, readStoredMessage } from '../../support/rows/stored-message.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';

let gateway: TestGateway;
let box: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway();
});
beforeEach(async () => {
  box = await gateway.mailbox();
});
afterAll(() => gateway.close());

const hour = 3_600_000;
const inHours = (hours: number) => new Date(Math.floor(Date.now() / 1_000) * 1_000 + hours * hour).toISOString();

function call(method: string, path: string, body?: unknown) {
  return gateway.call(box.apiKey, method, path, body);
}

async function schedule(given: Record<string, unknown> = {}): Promise<string> {
  const response = await call('POST', '/emails', {
    from: `Ada <${box.address}>`,
    to: 'bob@elsewhere.test',
    subject: 'Later',
    text: 'Date: not this one',
    scheduled_at: inHours(24),
    ...given,
  });
  expect(response.statusCode, response.body).toBe(201);
  return response.json().id;
}

/** Lets the time of an email pass. */
async function passTime(id: string): Promise<void> {
  await gateway.actor.pool.query(
    `update email set scheduled_at = postroom_now() - interval '1 minute' where workspace_id = $1 and id = $2`,
    [box.workspaceId, id],
  );
}

async function readRow(id: string) {
  const { rows } = await gateway.actor.pool.query(
    `select e.type, e.status, e.scheduled_at, e.timezone, e.date, ${MESSAGE_COLUMNS}, c.headers, c.attachments,
       (select count(*) from recipient p where p.workspace_id = $1 and p.email_id = $2 and p.next_attempt_at is not null) as due
     from email e join raw_message m on m.id = e.raw_id join email_content c on (c.workspace_id, c.email_id) = (e.workspace_id, e.id)
     where e.workspace_id = $1 and e.id = $2`,
    [box.workspaceId, id],
  );
  return { ...rows[0], bytes: readStoredMessage(rows[0]) };
}

async function listEvents(id: string): Promise<string[]> {
  const { rows } = await gateway.actor.pool.query<{ kind: string }>(
    'select kind from event where workspace_id = $1 and email_id = $2 order by seq',
    [box.workspaceId, id],
  );
  return rows.map((row) => row.kind);
}

async function received(): Promise<string> {
  const [id] = await insertMail(gateway.actor, [{ workspaceId: box.workspaceId, ownAddress: box.address }]);
  return id ?? '';
}

async function sent(): Promise<string> {
  const response = await call('POST', '/emails', {
    from: box.address,
    to: 'bob@elsewhere.test',
    subject: 'Now',
    text: 'x',
  });
  return response.json().id;
}

describe('rescheduling', () => {
  test.each(['PATCH', 'PUT'])(
    '%s changes the time of a scheduled email, and the date in its raw message',
    async (method) => {
      const id = await schedule({
        attachments: [{ filename: 'a.txt', content: Buffer.from('hello').toString('base64') }],
      });
      const before = await readRow(id);
      const at = inHours(48);
      const response = await call(method, `/emails/${id}`, { scheduled_at: at });
      expect(response.statusCode, response.body).toBe(200);
      expect(response.json()).toMatchObject({
        object: 'email',
        id,
        status: 'scheduled',
        scheduled_at: at,
        timezone: 'UTC',
      });

      const after = await readRow(id);
      expect(after).toMatchObject({ status: 'scheduled', scheduled_at: new Date(at), date: new Date(at), due: 0 });
      const field = new Date(at).toUTCString().replace('GMT', '+0000');
      const text: string = after.bytes.toString('latin1');
      expect(text).toContain(`\r\nDate: ${field}\r\n`);
      const dateLines = (bytes: Buffer) => bytes.toString('latin1').match(/^Date: .*$/gm);
      expect(dateLines(after.bytes)).toEqual([`Date: ${field}`, 'Date: not this one']);
      // Nothing else moved.
      const without = (bytes: Buffer) => bytes.toString('latin1').replace(/^Date: .*$/m, '');
      expect(without(after.bytes)).toBe(without(before.bytes));
      expect(after.bytes).toHaveLength(after.size_bytes);
      expect(after.sha256).toEqual(createHash('sha256').update(after.bytes).digest());
      expect(after.headers.filter(([name]: [string]) => name === 'date')).toEqual([['date', field]]);
      expect(after.headers).toHaveLength(before.headers.length);
      expect(await listEvents(id)).toEqual(['email.scheduled', 'email.rescheduled']);

      const shown = (await call('GET', `/emails/${id}`)).json();
      expect(shown).toMatchObject({ status: 'scheduled', last_event: 'scheduled', scheduled_at: at });
      const file = await call('GET', `/attachments/${id}/a.txt`);
      expect(file.body).toBe('hello');
    },
  );

  test('a phrase is read in the given zone, else in that of the email', async () => {
    const id = await schedule({ scheduled_at: 'tomorrow at 9am', timezone: 'Asia/Tokyo' });
    const other = await call('PATCH', `/emails/${id}`, { scheduled_at: 'tomorrow at 10am' });
    expect(other.json()).toMatchObject({ timezone: 'Asia/Tokyo', scheduled_at: expect.stringContaining('T01:00:00') });
    const third = await call('PATCH', `/emails/${id}`, { scheduledAt: 'tomorrow at 10am', timezone: 'UTC' });
    expect(third.json()).toMatchObject({ timezone: 'UTC', scheduled_at: expect.stringContaining('T10:00:00') });
  });

  test.each([
    [{ scheduled_at: inHours(-1) }, 'scheduled_at', 'Scheduled time must be at least 1 minute(s) in the future'],
    [{ scheduled_at: inHours(24 * 400) }, 'scheduled_at', 'Scheduled time cannot be more than 1 year in the future'],
    [{ scheduled_at: 'at the end of days' }, 'scheduled_at', 'Unable to parse date'],
    [{ scheduled_at: '' }, 'scheduled_at', 'Unable to parse date'],
    [{ scheduled_at: inHours(1), timezone: 'Mars/Olympus' }, 'timezone', 'Unknown time zone'],
    [{ scheduled_at: inHours(1), is_read: true }, 'scheduled_at', 'cannot be changed together'],
  ])('%o is refused with the error of sending', async (body, field, message) => {
    const id = await schedule();
    const before = await readRow(id);
    const response = await call('PATCH', `/emails/${id}`, body);
    expect(response.statusCode).toBe(400);
    expect(response.json().message).toContain(message);
    expect(response.json().details[0].field).toBe(field);
    expect(await readRow(id)).toEqual(before);
  });

  test('mail that was sent, received or cancelled is refused, and so is an empty change', async () => {
    const cancelled = await schedule();
    await call('DELETE', `/emails/${cancelled}`);
    const body = { scheduled_at: inHours(48) };
    for (const [id, message] of [
      [await sent(), 'Cannot reschedule a sent email.'],
      [await received(), 'Cannot reschedule a received email.'],
      [cancelled, 'Cannot reschedule a cancelled email.'],
    ]) {
      const response = await call('PATCH', `/emails/${id}`, body);
      expect([response.statusCode, response.json().message]).toEqual([400, message]);
    }
    expect((await call('PATCH', '/emails/em_unknown', body)).statusCode).toBe(404);
    const empty = await call('PATCH', `/emails/${cancelled}`, {});
    expect(empty.json().message).toBe('At least one field must be provided: is_read, is_archived');
    const flag = await call('PATCH', `/emails/${cancelled}`, { is_read: true });
    expect([flag.statusCode, flag.json().message]).toEqual([400, 'Only received emails can be updated']);
  });

  test('the raw message of another user cannot get another date, whatever id is given', async () => {
    const id = await schedule();
    const before = await readRow(id);
    const client = await gateway.database.pool.connect();
    await client.query(`begin; select set_config('postroom.workspace_id', 'usr_other', true)`);
    const dated = await client.query(`select replace_scheduled($1, $2, 'other', sha256('other')) as value`, [
      box.workspaceId,
      id,
    ]);
    await client.query('commit');
    client.release();
    expect(dated.rows).toEqual([{ value: false }]);
    expect(await readRow(id)).toEqual(before);
  });
});

describe('cancelling', () => {
  test.each([
    ['DELETE', ''],
    ['POST', '/cancel'],
  ])('%s /emails/:id%s cancels a scheduled email once, and it is never due', async (method, tail) => {
    const id = await schedule();
    const first = await call(method, `/emails/${id}${tail}`);
    expect(first.statusCode).toBe(200);
    expect(first.json()).toMatchObject({
      success: true,
      message: 'Scheduled email cancelled',
      id,
      object: 'email',
      status: 'cancelled',
    });
    const again = await call(method, `/emails/${id}${tail}`);
    expect([again.statusCode, again.json().message]).toEqual([200, 'Email already cancelled']);
    await passTime(id);
    expect(await releaseDue(testActorContext(gateway.actor), {})).toBe(0);
    expect(await readRow(id)).toMatchObject({ type: 'scheduled', status: 'cancelled', due: 0 });
    expect((await call('GET', `/emails/${id}`)).json()).toMatchObject({
      type: 'scheduled',
      status: 'cancelled',
      last_event: 'canceled',
      thread_id: null,
      thread_position: null,
    });
    expect(await listEvents(id)).toEqual(['email.scheduled', 'email.cancelled']);
    expect(await wrongTotals(gateway.actor, box.workspaceId)).toEqual([]);
  });

  test('cancels a paused email, and refuses to cancel sent or received mail', async () => {
    const paused = await schedule();
    await call('POST', `/emails/${paused}/pause`);
    expect((await call('DELETE', `/emails/${paused}`)).json().message).toBe('Scheduled email cancelled');
    const [left, arrived] = [await sent(), await received()];
    for (const [id, message] of [
      [left, 'Cannot delete a sent email.'],
      [arrived, RECEIVED],
    ]) {
      for (const cancel of [() => call('POST', `/emails/${id}/cancel`), () => call('DELETE', `/emails/${id}`)]) {
        const response = await cancel();
        expect([response.statusCode, response.json().message]).toEqual([400, message]);
      }
    }
    expect((await call('POST', `/emails/${left}/trash`)).json()).toMatchObject({
      message: 'This email is being sent. It can be deleted once it has left.',
      statusCode: 409,
    });
    expect((await call('POST', `/emails/${arrived}/trash`)).json()).toMatchObject({
      statusCode: 409,
      message: 'This email has no thread yet. Try again in a moment.',
    });
    expect((await call('DELETE', '/emails/em_unknown')).json().message).toBe('Email not found');
  });
});

const RECEIVED =
  'Cannot delete a received email. Use PATCH to archive it instead, or POST /emails/{id}/trash to move it to the trash.';

describe('pausing', () => {
  test('keeps an email when its time passes, and sends it when it is resumed', async () => {
    const id = await schedule();
    const paused = await call('POST', `/emails/${id}/pause`);
    expect(paused.json()).toMatchObject({ success: true, message: 'Scheduled email paused', id, status: 'paused' });
    expect((await call('POST', `/emails/${id}/pause`)).json().message).toBe('Email already paused');
    expect((await call('GET', '/emails?status=paused')).json().pagination.total).toBe(1);
    await passTime(id);
    expect(await releaseDue(testActorContext(gateway.actor), {})).toBe(0);

    const woken = new Promise((resolve) => void gateway.bus.onWake('scheduling.release.wake', resolve));
    const resumed = await call('POST', `/emails/${id}/resume`);
    expect(resumed.json()).toMatchObject({
      success: true,
      message: 'Scheduled email resumed; its time has passed, so it is sent now',
      id,
      status: 'scheduled',
    });
    expect(await woken).toMatchObject({ workspaceId: box.workspaceId });
    const row = await readRow(id);
    expect(Math.abs(row.scheduled_at.getTime() - Date.now())).toBeLessThan(120_000);
    expect(row.bytes.toString()).toContain(`Date: ${row.scheduled_at.toUTCString().replace('GMT', '+0000')}`);
    expect(await releaseDue(testActorContext(gateway.actor), {})).toBe(1);
    expect(await listEvents(id)).toEqual([
      'email.scheduled',
      'email.paused',
      'email.resumed',
      'email.sent',
      'email.threaded',
    ]);
    expect(await wrongTotals(gateway.actor, box.workspaceId)).toEqual([]);
  });

  test('keeps the schedule when the email is resumed in time, or takes a given one', async () => {
    const at = inHours(24);
    const id = await schedule({ scheduled_at: at });
    expect((await call('POST', `/emails/${id}/resume`)).json()).toMatchObject({ message: 'Email is not paused' });
    await call('POST', `/emails/${id}/pause`);
    expect((await call('POST', `/emails/${id}/resume`, {})).json()).toMatchObject({
      message: 'Scheduled email resumed',
      status: 'scheduled',
      scheduled_at: at,
    });
    await call('POST', `/emails/${id}/pause`);
    const other = inHours(36);
    expect((await call('POST', `/emails/${id}/resume`, { scheduled_at: other })).json()).toMatchObject({
      status: 'scheduled',
      scheduled_at: other,
    });
    expect((await readRow(id)).scheduled_at).toEqual(new Date(other));
    const soon = await call('POST', `/emails/${id}/resume`, { scheduled_at: inHours(0) });
    expect(soon.statusCode).toBe(400);
  });

  test('lasts when the email is rescheduled', async () => {
    const id = await schedule();
    await call('POST', `/emails/${id}/pause`);
    const at = inHours(72);
    expect((await call('PATCH', `/emails/${id}`, { scheduled_at: at })).json()).toMatchObject({
      status: 'paused',
      scheduled_at: at,
    });
  });

  test.each(['pause', 'resume'])('is refused for sent, received or cancelled mail: %s', async (verb) => {
    const cancelled = await schedule();
    await call('DELETE', `/emails/${cancelled}`);
    for (const [id, kind] of [
      [await sent(), 'sent'],
      [await received(), 'received'],
      [cancelled, 'cancelled'],
    ]) {
      const response = await call('POST', `/emails/${id}/${verb}`);
      expect([response.statusCode, response.json().message]).toEqual([400, `Cannot ${verb} a ${kind} email.`]);
    }
    expect((await call('POST', `/emails/em_unknown/${verb}`)).statusCode).toBe(404);
  });
});

test('another user’s scheduled email gets the response of an unknown one on every route', async () => {
  const id = await schedule();
  const before = await readRow(id);
  const stranger = await gateway.mailbox();
  const asks: [method: string, tail: string, body?: unknown][] = [
    ['PATCH', '', { scheduled_at: inHours(48) }],
    ['DELETE', ''],
    ['POST', '/cancel'],
    ['POST', '/pause'],
    ['POST', '/resume'],
    ['POST', '/resume', { scheduled_at: inHours(48) }],
  ];
  for (const [method, tail, body] of asks) {
    const responses = await Promise.all(
      [id, 'em_unknown', '%00'].map((asked) => gateway.call(stranger.apiKey, method, `/emails/${asked}${tail}`, body)),
    );
    expect(new Set(responses.map((response) => `${response.statusCode} ${response.body}`)).size).toBe(1);
    expect(responses[0]?.statusCode).toBe(404);
  }
  expect(await readRow(id)).toEqual(before);
});

interface Edge {
  cursor: string;
  node: { id: string };
}

interface ThreadPage {
  data: { thread: { messages: { edges: Edge[] } } };
}

test('a released email is sorted in its thread by its release, in REST and in GraphQL', async () => {
  const context = testActorContext(gateway.actor);
  const first = await sent();
  const { message_id: root } = (await call('GET', `/emails/${first}`)).json();
  const later = await schedule({ headers: { 'In-Reply-To': root, References: root } });
  const third = await call('POST', '/emails', {
    from: box.address,
    to: 'bob@elsewhere.test',
    subject: 'Now',
    text: 'x',
    headers: { 'In-Reply-To': root, References: root },
  });
  const ids = [first, third.json().id, later];
  await passTime(later);
  await moveClock(gateway.actor, 1);
  await releaseDue(context, {});
  await assignThreads(context, box.workspaceId, ids);
  const { thread_id: threadId } = (await call('GET', `/emails/${later}`)).json();
  const thread = (await call('GET', `/mail/threads/${threadId}`)).json();
  expect(thread.messages.map((message: { id: string }) => message.id)).toEqual(ids);
  expect(thread.messages.map((message: { thread_position: number }) => message.thread_position)).toEqual([0, 1, 2]);

  const paged: string[] = [];
  const query = `query($id: ID!, $after: String) {
    thread(id: $id) { messages(first: 1, after: $after) { edges { cursor node { id } } } }
  }`;
  for (let after: string | null = null; paged.length < 5; ) {
    const response: ThreadPage = (await gateway.graphql(box.apiKey, query, { id: threadId, after })).json();
    const edge: Edge | undefined = response.data.thread.messages.edges[0];
    if (edge === undefined) break;
    paged.push(edge.node.id);
    after = edge.cursor;
  }
  expect(paged).toEqual(ids);
});

test('lists and totals of every type and status are exact through random changes', async () => {
  const context = testActorContext(gateway.actor);
  const ids = await Promise.all(
    Array.from({ length: 24 }, (_, n) => (n % 6 === 0 ? sent() : n % 6 === 1 ? received() : schedule())),
  );
  let seed = 7;
  const pick = (count: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % count;
  };
  const changes = [
    (id: string) => call('DELETE', `/emails/${id}`),
    (id: string) => call('POST', `/emails/${id}/pause`),
    (id: string) => call('POST', `/emails/${id}/pause`),
    (id: string) => call('POST', `/emails/${id}/resume`),
    (id: string) => call('PATCH', `/emails/${id}`, { scheduled_at: inHours(1 + pick(100)) }),
    (id: string) => call('PATCH', `/emails/${id}`, { is_read: pick(2) === 0, is_archived: pick(2) === 0 }),
    async (id: string) => {
      if (pick(3) !== 0) return;
      await passTime(id);
      await releaseDue(context, {});
    },
    () => schedule(),
  ];
  for (let n = 0; n < 120; n++) {
    const response = await changes[pick(changes.length)]?.(ids[pick(ids.length)] ?? '');
    if (typeof response === 'object') expect([200, 400, 409]).toContain(response.statusCode);
  }
  expect(await wrongTotals(gateway.actor, box.workspaceId)).toEqual([]);
  const { rows } = await gateway.actor.pool.query<{
    type: string;
    status: string;
    is_read: boolean;
    is_archived: boolean;
  }>('select type, status, is_read, is_archived from email where workspace_id = $1', [box.workspaceId]);
  expect(new Set(rows.map((row) => row.status)).size).toBe(5);
  const isShown = (row: (typeof rows)[number], type: string, status: string) => {
    if (type !== 'all' && row.type !== type) return false;
    if (status === 'read' || status === 'unread') return row.type === 'received' && row.is_read === (status === 'read');
    if (status === 'archived') return row.type === 'received' && row.is_archived;
    return status === 'all' || row.status === status;
  };
  for (const type of ['all', 'sent', 'received', 'scheduled'])
    for (const status of [
      'all',
      'pending',
      'scheduled',
      'paused',
      'cancelled',
      'delivered',
      'failed',
      'read',
      'unread',
      'archived',
    ])
      for (const more of ['', '&time_range=all', '&time_range=1h', `&address=${box.addressId}`, '&search=elsewhere']) {
        const query = `type=${type}&status=${status}&limit=100${more}`;
        const { data, pagination } = (await call('GET', `/emails?${query}`)).json();
        const expected = rows.filter((row) => isShown(row, type, status)).length;
        expect([pagination.total, data.length], query).toEqual([expected, expected]);
      }
});
