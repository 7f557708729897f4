import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { releaseDue } from '../../../actors/scheduling/release-due.ts';
import { type BatchItemStatus, countItems, summarizeBatch } from '../../../operations/sending/batches.ts';
import { moveClock, wrongTotals } from '../../support/rows/outgoing-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
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

const tomorrow = () => new Date(Date.now() + 24 * 3_600_000).toISOString();

function mail(given: Record<string, unknown> = {}) {
  return { from: box.address, to: 'bob@elsewhere.test', subject: 'Hello', text: 'Hi', ...given };
}

function post(body: unknown, headers: Record<string, string> = {}) {
  return gateway.app.inject({
    method: 'POST',
    url: '/api/e2/emails/batch',
    headers: { authorization: `Bearer ${box.apiKey}`, 'content-type': 'application/json', ...headers },
    payload: JSON.stringify(body),
  });
}

function call(method: string, path: string) {
  return gateway.call(box.apiKey, method, path);
}

async function stored(): Promise<{ subject: string; status: string; batch_index: number }[]> {
  const { rows } = await gateway.actor.pool.query(
    'select subject, status, batch_index from email where workspace_id = $1 order by batch_index',
    [box.workspaceId],
  );
  return rows;
}

describe('sending', () => {
  test.each([
    ['an array', (emails: unknown[]) => emails],
    ['{emails}', (emails: unknown[]) => ({ emails })],
  ])('%s is accepted and returns its emails’ ids in order', async (_, readBody) => {
    const file = { filename: 'a.txt', content: Buffer.from('hello').toString('base64') };
    const emails = [
      mail({ subject: 'one' }),
      mail({ subject: 'two', scheduled_at: tomorrow() }),
      mail({ subject: 'three', attachments: [file] }),
    ];
    const response = await post(readBody(emails));
    expect(response.statusCode, response.body).toBe(202);
    const body = response.json();
    expect(body).toEqual({
      object: 'batch',
      id: expect.stringMatching(/^bat_/),
      status: 'queued',
      counts: { total: 3, pending: 3, processing: 0, sent: 0, failed: 0, cancelled: 0, provider_unknown: 0 },
      created_at: expect.any(String),
      updated_at: body.created_at,
      data: [{ id: expect.any(String) }, { id: expect.any(String) }, { id: expect.any(String) }],
    });
    expect(await stored()).toEqual([
      { subject: 'one', status: 'pending', batch_index: 0 },
      { subject: 'two', status: 'scheduled', batch_index: 1 },
      { subject: 'three', status: 'pending', batch_index: 2 },
    ]);
    expect((await call('GET', `/attachments/${body.data[2].id}/a.txt`)).body).toBe('hello');
    expect(await wrongTotals(gateway.actor, box.workspaceId)).toEqual([]);
  });

  test('accepts 1 to 100 emails and rejects 0 and 101', async () => {
    const emails = Array.from({ length: 101 }, (_, n) => mail({ subject: `mail ${n}` }));
    for (const refused of [emails, [], { emails: [] }, {}, 'x', null])
      expect((await post(refused)).statusCode, JSON.stringify(refused)?.slice(0, 20)).toBe(400);
    expect(await stored()).toEqual([]);
    const response = await post(emails.slice(1));
    expect(response.statusCode).toBe(202);
    expect(response.json().data).toHaveLength(100);
    expect((await stored()).map((row) => row.subject)).toEqual(emails.slice(1).map((email) => email.subject));
  });

  test('accepts bodies of more than 40 MB', async () => {
    const content = Buffer.alloc(6_100_000, 7).toString('base64');
    const emails = Array.from({ length: 5 }, () => mail({ attachments: [{ filename: 'a.bin', content }] }));
    const response = await post(emails);
    expect(response.statusCode, response.body.slice(0, 200)).toBe(202);
  });

  test.each([
    ['an address that is none', { to: 'nobody' }, 400, 'emails.1.to', /^emails\[1\]\.to: /],
    ['nothing to say', { text: '' }, 400, 'emails.1.html', /^emails\[1\]\.html: Either html or text/],
    ['a wrong shape', { to: 5 }, 400, 'emails.1.to', /^emails\[1\]\.to: /],
    ['no object', 'x', 400, 'emails.1.', /^emails\[1\]: /],
    ['a missing field', { subject: undefined }, 400, 'emails.1.subject', /^emails\[1\]\.subject: Missing required/],
    ['a wrong attachment', { attachments: [{ filename: 'a', content: '!' }] }, 400, 'emails.1.attachments.0', /./],
    [
      'a file by path',
      { attachments: [{ content: '', path: '/etc/passwd' }] },
      400,
      'emails.1.attachments.0.path',
      /./,
    ],
    [
      'a time that is past',
      { scheduled_at: '2020-01-01' },
      400,
      'emails.1.scheduled_at',
      /^emails\[1\]\.scheduled_at: /,
    ],
    ['a foreign sender', { from: 'x@foreign.test' }, 403, 'emails.1.from', /^emails\[1\]\.from: You don't have/],
  ])('%s refuses the whole batch and is named', async (_, wrong, status, field, message) => {
    const second = typeof wrong === 'string' ? wrong : mail(wrong);
    const response = await post([mail(), second, mail({ scheduled_at: tomorrow() })]);
    expect(response.statusCode, response.body).toBe(status);
    expect(response.json().details).toMatchObject([{ field }]);
    expect(response.json().message).toMatch(message);
    expect(await stored()).toEqual([]);
  });

  test('names every invalid email in the details', async () => {
    const response = await post([mail({ to: 'a' }), mail(), mail({ text: null })]);
    expect(response.json().details.map((detail: { field: string }) => detail.field)).toEqual([
      'emails.0.to',
      'emails.2.html',
    ]);
  });

  test('in permissive mode sends the valid emails, and returns the errors of the others', async () => {
    await gateway.actor.pool.query(
      `insert into suppression (workspace_id, id, address, reason, created_at) values ($1, 'sup_1', 'gone@elsewhere.test', 'bounce', now())`,
      [box.workspaceId],
    );
    const emails = [
      mail({ subject: 'one' }),
      mail({ to: 'nobody' }),
      mail({ subject: 'three', scheduled_at: tomorrow() }),
      mail({ to: 'gone@elsewhere.test' }),
      mail({ from: 'x@foreign.test' }),
      mail({ scheduled_at: 'yesterday' }),
      { to: 5 },
      mail({ subject: 'eight' }),
    ];
    const response = await post(emails, { 'x-batch-validation': 'permissive' });
    expect(response.statusCode, response.body).toBe(202);
    const body = response.json();
    expect(body.data).toHaveLength(3);
    expect(body.counts.total).toBe(3);
    expect(body.errors.map((error: { index: number }) => error.index)).toEqual([1, 3, 4, 5, 6]);
    expect(body.errors[1].message).toBe('emails[3].to: Cannot send to blocked recipient(s): gone@elsewhere.test');
    expect((await stored()).map((row) => [row.subject, row.batch_index])).toEqual([
      ['one', 0],
      ['three', 1],
      ['eight', 2],
    ]);
  });

  test('in permissive mode returns the first error when no email is valid, and no errors when all are', async () => {
    const permissive = { 'x-batch-validation': 'permissive' };
    for (const wrong of [{ to: 'nobody' }, { from: 'x@foreign.test' }, { scheduled_at: 'yesterday' }]) {
      const none = await post([mail(wrong), mail(wrong)], permissive);
      expect([400, 403]).toContain(none.statusCode);
      expect(none.json().message).toMatch(/^emails\[[01]\]/);
    }
    expect(await stored()).toEqual([]);
    expect((await post([mail()], permissive)).json().errors).toEqual([]);
    expect((await post([mail()], { 'x-batch-validation': 'lax' })).statusCode).toBe(400);
  });

  test('returns the first response for the same key and body and sends nothing more, and refuses another body', async () => {
    const headers = { 'idempotency-key': 'k1', 'x-batch-validation': 'permissive' };
    const emails = [mail(), mail({ to: 'nobody' }), mail({ scheduled_at: 'tomorrow at 9am' })];
    const [first, ...others] = await Promise.all(Array.from({ length: 10 }, () => post(emails, headers)));
    expect(first?.statusCode, first?.body).toBe(202);
    for (const other of others) expect(other.body).toBe(first?.body);
    expect(await stored()).toHaveLength(2);
    const other = await post([mail()], headers);
    expect(other.statusCode).toBe(409);
    expect(other.json()).toMatchObject({
      error: 'Conflict',
      details: 'Idempotency key already used with different request body',
    });
    expect((await post(emails, { 'idempotency-key': 'k1' })).statusCode).toBe(400);
    expect(await stored()).toHaveLength(2);
  });

  test('replays a repetition although its time is too near now, and treats another validation mode as another request', async () => {
    const emails = [mail({ scheduled_at: new Date(Date.now() + 90_000).toISOString() })];
    const first = await post(emails, { 'idempotency-key': 'k2' });
    expect(first.statusCode, first.body).toBe(202);
    await moveClock(gateway.actor, 60);
    expect((await post(emails)).statusCode).toBe(400);
    expect((await post(emails, { 'idempotency-key': 'k2' })).body).toBe(first.body);
    const permissive = await post(emails, { 'idempotency-key': 'k2', 'x-batch-validation': 'permissive' });
    expect(permissive.statusCode).toBe(409);
  });
});

describe('reading and cancelling', () => {
  async function batch(emails: unknown[]): Promise<{ id: string; data: { id: string }[] }> {
    return (await post(emails)).json();
  }

  async function settle(emailId: string, status: string, reason: string | null = null): Promise<void> {
    await gateway.actor.pool.query(
      `with r as (update recipient set status = $3, last_text = $4, settled_at = now(), attempts = 1, next_attempt_at = null
         where workspace_id = $1 and email_id = $2)
       select 1`,
      [box.workspaceId, emailId, status, reason],
    );
    await gateway.actor.pool.query('select * from refresh_sent_emails($1, $2)', [[box.workspaceId], [emailId]]);
  }

  test('a batch shows the state of each email', async () => {
    const { id, data } = await batch([mail(), mail(), mail(), mail({ scheduled_at: tomorrow() })]);
    const ids = data.map((email) => email.id);
    const read = async () => (await call('GET', `/emails/batch/${id}`)).json();
    expect(await read()).toMatchObject({
      object: 'batch',
      id,
      status: 'queued',
      counts: { total: 4, pending: 4 },
      data,
    });

    await settle(ids[0] ?? '', 'delivered');
    await settle(ids[1] ?? '', 'bounced', '550 no');
    await gateway.actor.pool.query('update recipient set attempts = 1 where email_id = $1', [ids[2]]);
    const body = await read();
    expect(body).toMatchObject({
      status: 'processing',
      counts: { total: 4, pending: 1, processing: 1, sent: 1, failed: 1, cancelled: 0, provider_unknown: 0 },
    });
    expect(body.items).toMatchObject([
      { id: ids[0], batch_index: 0, status: 'sent', failure_reason: null, sent_at: expect.any(String) },
      { id: ids[1], batch_index: 1, status: 'failed', failure_reason: '550 no', sent_at: null },
      { id: ids[2], batch_index: 2, status: 'processing' },
      {
        id: ids[3],
        batch_index: 3,
        status: 'pending',
        scheduled_at: expect.any(String),
        message_id: expect.any(String),
      },
    ]);
    expect(Date.parse(body.updated_at)).toBeGreaterThan(Date.parse(body.created_at));

    await settle(ids[2] ?? '', 'delivered');
    await call('DELETE', `/emails/${ids[3]}`);
    expect(await read()).toMatchObject({ status: 'partially_failed', counts: { sent: 2, failed: 1, cancelled: 1 } });
  });

  test('cancelling cancels scheduled and paused emails once; sent ones are not affected', async () => {
    const { id, data } = await batch([mail(), ...Array.from({ length: 3 }, () => mail({ scheduled_at: tomorrow() }))]);
    await call('POST', `/emails/${data[1]?.id}/pause`);
    await gateway.actor.pool.query(`update email set scheduled_at = now() where workspace_id = $1 and id = $2`, [
      box.workspaceId,
      data[2]?.id,
    ]);
    expect(await releaseDue(testActorContext(gateway.actor), {})).toBe(1);

    const first = await call('POST', `/emails/batch/${id}/cancel`);
    expect(first.statusCode, first.body).toBe(200);
    expect(first.json()).toMatchObject({
      success: true,
      message: '2 scheduled email(s) cancelled',
      id,
      counts: { total: 4, pending: 2, cancelled: 2 },
    });
    expect((await call('POST', `/emails/batch/${id}/cancel`)).json().message).toBe('Batch already cancelled');
    expect((await stored()).map((row) => row.status)).toEqual(['pending', 'cancelled', 'pending', 'cancelled']);
    const { rows } = await gateway.actor.pool.query(
      `select count(*) from event where workspace_id = $1 and kind = 'email.cancelled'`,
      [box.workspaceId],
    );
    expect(rows).toEqual([{ count: 2 }]);
    expect(await wrongTotals(gateway.actor, box.workspaceId)).toEqual([]);
  });

  test('a batch that was sent completely cannot be cancelled; an unknown one or another user’s is not found', async () => {
    const { id } = await batch([mail()]);
    const left = await call('POST', `/emails/batch/${id}/cancel`);
    expect([left.statusCode, left.json().message]).toEqual([400, 'Every email in this batch has already been sent.']);
    const stranger = await gateway.mailbox();
    for (const [method, tail] of [
      ['GET', ''],
      ['POST', '/cancel'],
    ]) {
      const responses = await Promise.all(
        [id, 'bat_unknown', "';--"].map((asked) =>
          gateway.call(stranger.apiKey, method ?? '', `/emails/batch/${encodeURIComponent(asked)}${tail}`),
        ),
      );
      expect(new Set(responses.map((response) => `${response.statusCode} ${response.json().message}`))).toEqual(
        new Set(['404 Batch not found']),
      );
    }
  });
});

test.each<[BatchItemStatus[], string]>([
  [['pending', 'pending'], 'queued'],
  [['pending', 'processing'], 'processing'],
  [['pending', 'cancelled'], 'processing'],
  [['pending', 'sent'], 'processing'],
  [['sent', 'sent'], 'completed'],
  [['sent', 'cancelled'], 'completed'],
  [['sent', 'failed'], 'partially_failed'],
  [['failed', 'failed'], 'failed'],
  [['failed', 'cancelled'], 'failed'],
  [['cancelled', 'cancelled'], 'cancelled'],
])('a batch of %j is %s', (items, status) => {
  expect(summarizeBatch(countItems(items))).toBe(status);
});
