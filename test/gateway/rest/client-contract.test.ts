import { simpleParser } from 'mailparser';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { assignThreads } from '../../../actors/threading/assign-thread.ts';
import { insertMail } from '../../support/rows/mail-rows.ts';
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

function call(method: string, path: string, body?: unknown, key = box.apiKey) {
  return gateway.call(key, method, path, body);
}

const mail = (more: object = {}) => ({
  from: box.address,
  to: 'bob@elsewhere.test',
  subject: 'Hello',
  text: 'Hi',
  ...more,
});

/** The bytes of the first attachment as they are sent. */
async function attachedBytes(emailId: string): Promise<Buffer | undefined> {
  const raw = await call('GET', `/emails/${emailId}/raw`);
  return (await simpleParser(raw.rawPayload)).attachments[0]?.content;
}

describe('the content of an attachment', () => {
  const all = Array.from({ length: 256 }, (_, byte) => byte);
  const forms: [string, unknown, Buffer][] = [
    ['an array of bytes', all, Buffer.from(all)],
    ['a Buffer as JSON', { type: 'Buffer', data: all }, Buffer.from(all)],
    ['base64', Buffer.from(all).toString('base64'), Buffer.from(all)],
    ['an empty array', [], Buffer.alloc(0)],
  ];

  test.each(forms)('is accepted as %s in emails, batches and drafts', async (_, content, bytes) => {
    const attachments = [{ filename: 'a.bin', content, content_type: 'application/octet-stream' }];
    const sent = await call('POST', '/emails', mail({ attachments }));
    expect(sent.statusCode, sent.body).toBe(200);
    expect(await attachedBytes(sent.json().id)).toEqual(bytes);
    const batch = await call('POST', '/emails/batch', [mail({ attachments })]);
    expect(batch.statusCode, batch.body).toBe(202);
    expect(await attachedBytes(batch.json().data[0].id)).toEqual(bytes);
    const draft = await call('POST', '/drafts', mail({ attachments }));
    expect(draft.statusCode, draft.body).toBe(201);
    expect(draft.json().attachments).toMatchObject([{ size: bytes.length }]);
  });

  test('is accepted as an array of bytes in a reply', async () => {
    const [original] = await insertMail(gateway.actor, [
      { workspaceId: box.workspaceId, ownAddress: box.address, to: [box.address] },
    ]);
    const attachments = [{ filename: 'a.bin', content: [104, 105] }];
    const replied = await call('POST', `/emails/${original}/reply`, {
      from: box.address,
      to: 'bob@elsewhere.test',
      text: 'Hi',
      attachments,
    });
    expect(replied.statusCode, replied.body).toBe(200);
    expect((await attachedBytes(replied.json().id))?.toString()).toBe('hi');
  });

  test.each([
    [[1, 256], 'content has 256 at position 1. Bytes are integers from 0 to 255.'],
    [[-1], 'content has -1 at position 0. Bytes are integers from 0 to 255.'],
    [[1.5], 'content has 1.5 at position 0. Bytes are integers from 0 to 255.'],
    [['7'], 'content has "7" at position 0. Bytes are integers from 0 to 255.'],
    [[null], 'content has null at position 0. Bytes are integers from 0 to 255.'],
    [[[1]], 'content has an array at position 0. Bytes are integers from 0 to 255.'],
    [{ type: 'Buffer', data: [256] }, 'content has 256 at position 0. Bytes are integers from 0 to 255.'],
    [{ type: 'Buffer', data: 'aGk=' }, 'content must be base64 text, or an array of bytes'],
    [{ 0: 1 }, 'content must be base64 text, or an array of bytes'],
    [7, 'content must be base64 text, or an array of bytes'],
    [true, 'content must be base64 text, or an array of bytes'],
  ])('is refused by name for %j', async (content, message) => {
    const attachments = [{ filename: 'a.bin', content }];
    const single = await call('POST', '/emails', mail({ attachments }));
    expect([single.statusCode, single.json().details]).toEqual([400, [{ field: 'attachments.0.content', message }]]);
    const batch = await call('POST', '/emails/batch', [mail(), mail({ attachments })]);
    expect(batch.statusCode).toBe(400);
    expect(batch.json().details).toEqual([{ field: 'emails.1.attachments.0.content', message }]);
  });

  test('has the same idempotency as base64 and as an array', async () => {
    const bytes = Buffer.from('the same bytes');
    const post = (content: unknown) =>
      gateway.call(box.apiKey, 'POST', '/emails', mail({ attachments: [{ filename: 'a.bin', content }] }), {
        'idempotency-key': 'one',
      });
    const first = await post([...bytes]);
    const second = await post(bytes.toString('base64'));
    const other = await post([...Buffer.from('other bytes')]);
    expect([first.statusCode, second.statusCode, other.statusCode]).toEqual([200, 200, 409]);
    expect(second.json().id).toBe(first.json().id);
  });

  test('of 10 MiB is accepted as an array, one byte more is refused, and a body above 40 MB is refused', async () => {
    const size = 10 * 1_024 * 1_024;
    // The text counts, too.
    const fitting = Array<number>(size - 2).fill(99);
    const sent = await call('POST', '/emails', mail({ attachments: [{ filename: 'a.bin', content: fitting }] }));
    expect(sent.statusCode, sent.body.slice(0, 300)).toBe(200);
    const larger = Array<number>(size + 1).fill(99);
    const refused = await call('POST', '/emails', mail({ attachments: [{ filename: 'a.bin', content: larger }] }));
    expect(refused.json()).toMatchObject({
      statusCode: 400,
      details: [{ field: 'attachments.0.content', message: 'content must not have more than 10485760 bytes' }],
    });
    const widest = Array<number>(size).fill(255);
    const tooLarge = await call('POST', '/emails', mail({ attachments: [{ filename: 'a.bin', content: widest }] }));
    expect([tooLarge.statusCode, tooLarge.json().name]).toEqual([413, 'validation_error']);
  }, 120_000);
});

describe('the raw message of received mail', () => {
  test('is a link without a key that expires and reaches no other email', async () => {
    const raw = Buffer.from('Subject: raw\r\n\r\nbytes');
    const [id, other] = await insertMail(gateway.actor, [
      { workspaceId: box.workspaceId, raw },
      { workspaceId: box.workspaceId, raw },
    ]);
    const received = await call('GET', `/emails/receiving/${id}`);
    expect(received.json().raw).toEqual({ download_url: expect.any(String), expires_at: expect.any(String) });
    const url = new URL(received.json().raw.download_url);
    const get = (path: string) => gateway.app.inject({ method: 'GET', url: path });
    const downloaded = await get(url.pathname + url.search);
    expect([downloaded.statusCode, downloaded.rawPayload]).toEqual([200, raw]);
    expect(Date.parse(received.json().raw.expires_at)).toBe(Number(url.searchParams.get('expires')) * 1_000);
    expect((await get(url.pathname.replace(String(id), String(other)) + url.search)).statusCode).toBe(401);
    expect((await get(`/api/e2/attachments/${id}/parts/0${url.search}`)).statusCode).toBe(401);
    url.searchParams.set('expires', String(Number(url.searchParams.get('expires')) + 1));
    expect((await get(url.pathname + url.search)).statusCode).toBe(401);
    const stranger = await gateway.mailbox();
    expect((await call('GET', `/emails/receiving/${id}`, undefined, stranger.apiKey)).statusCode).toBe(404);
  });

  test('is null when its bytes are gone', async () => {
    const [id] = await insertMail(gateway.actor, [{ workspaceId: box.workspaceId }]);
    await gateway.actor.pool.query('update email set raw_id = null where id = $1', [id]);
    expect((await call('GET', `/emails/receiving/${id}`)).json().raw).toBeNull();
  });
});

describe('PATCH /domains/{id}', () => {
  test.each(['PATCH', 'PUT'])('%s with fields of the resend client only succeeds with warnings', async (method) => {
    const { domainId } = box;
    const changed = await call(method, `/domains/${domainId}`, {
      open_tracking: true,
      click_tracking: false,
      tls: 'enforced',
      capabilities: { sending: 'enabled' },
      tracking_subdomain: 'links',
    });
    expect(changed.statusCode, changed.body).toBe(200);
    expect(changed.json()).toMatchObject({ object: 'domain', id: domainId });
    const fields = changed.json().warnings.map(({ field }: { field: string }) => field);
    expect(fields.toSorted()).toEqual(['capabilities', 'click_tracking', 'open_tracking', 'tls', 'tracking_subdomain']);
    expect(changed.json().warnings[0].message).toMatch(/^It has no effect\. /);
  });

  test('applies its own fields beside those, and refuses a body without any', async () => {
    const { domainId } = box;
    const changed = await call('PATCH', `/domains/${domainId}`, { isCatchAllEnabled: false, tls: 'opportunistic' });
    expect([changed.statusCode, changed.json().warnings.length]).toEqual([200, 1]);
    expect((await call('PATCH', `/domains/${domainId}`, {})).statusCode).toBe(400);
    expect((await call('PATCH', `/domains/${domainId}`, { unknown: 1 })).statusCode).toBe(400);
    const stranger = await gateway.mailbox();
    const foreign = await call('PATCH', `/domains/${domainId}`, { open_tracking: true }, stranger.apiKey);
    expect(foreign.statusCode).toBe(404);
  });
});

describe('DELETE /emails/{id}', () => {
  test('refuses received mail, which POST /emails/{id}/trash moves to the trash', async () => {
    const [id] = await insertMail(gateway.actor, [{ workspaceId: box.workspaceId }]);
    await threadAll();
    const refused = await call('DELETE', `/emails/${id}`);
    expect(refused.statusCode).toBe(400);
    expect(refused.json().message).toMatch(/^Cannot delete a received email\. Use PATCH /);
    expect((await call('GET', `/emails/${id}`)).json().trashed_at).toBeNull();
    for (let times = 0; times < 2; times++) {
      const trashed = await call('POST', `/emails/${id}/trash`);
      expect(trashed.json()).toMatchObject({ success: true, object: 'email', id, thread_id: expect.any(String) });
    }
    expect((await call('GET', `/emails/${id}`)).json().trashed_at).not.toBeNull();
    const stranger = await gateway.mailbox();
    expect((await call('POST', `/emails/${id}/trash`, undefined, stranger.apiKey)).statusCode).toBe(404);
  });

  test('POST /emails/{id}/trash needs the scope manage', async () => {
    const [id] = await insertMail(gateway.actor, [{ workspaceId: box.workspaceId }]);
    const made = await call('POST', '/api-keys', { name: 'sender', scopes: ['send', 'read'] });
    expect((await call('POST', `/emails/${id}/trash`, undefined, made.json().token)).statusCode).toBe(403);
  });
});

describe('POST /auth/revoke-key', () => {
  test.each([[['read']], [['send']], [null]])('revokes the presented key, of scopes %j', async (scopes) => {
    const made = await call('POST', '/api-keys', { name: 'leaving', ...(scopes === null ? {} : { scopes }) });
    const { token } = made.json();
    const revoked = await call('POST', '/auth/revoke-key', undefined, token);
    expect([revoked.statusCode, revoked.json()]).toEqual([200, { success: true }]);
    expect((await call('GET', '/emails', undefined, token)).statusCode).toBe(401);
    expect((await call('POST', '/auth/revoke-key', undefined, token)).statusCode).toBe(401);
    expect((await call('GET', '/emails')).statusCode).toBe(200);
  });

  test('revokes a key of one domain', async () => {
    const made = await call('POST', '/api-keys', { name: 'domain', scopes: ['read'], domains: [readDomain(box)] });
    expect(made.statusCode, made.body).toBe(201);
    const revoked = await call('POST', '/auth/revoke-key', undefined, made.json().token);
    expect(revoked.json()).toEqual({ success: true });
    expect((await call('GET', '/emails', undefined, made.json().token)).statusCode).toBe(401);
  });
});

describe('POST /emails/batch/{id}/retry', () => {
  async function settle(emailId: string, status: string): Promise<void> {
    await gateway.actor.pool.query(
      `update recipient set status = $2, settled_at = now(), next_attempt_at = null, last_text = 'no' where email_id = $1`,
      [emailId, status],
    );
    await gateway.actor.pool.query('select refresh_sent_emails(array[$1], array[$2])', [box.workspaceId, emailId]);
  }

  test('sends failed emails again and leaves out delivered ones and suppressed recipients', async () => {
    const made = await call('POST', '/emails/batch', [
      mail({ to: 'failed@elsewhere.test' }),
      mail({ to: 'delivered@elsewhere.test' }),
      mail({ to: 'suppressed@elsewhere.test' }),
    ]);
    const { id, data } = made.json();
    const [failed, delivered, suppressed] = data.map((each: { id: string }) => each.id);
    await settle(failed, 'failed');
    await settle(delivered, 'delivered');
    await settle(suppressed, 'bounced');
    await call('POST', '/suppressions', { address: 'suppressed@elsewhere.test' });
    const stranger = await gateway.mailbox();
    expect((await call('POST', `/emails/batch/${id}/retry`, undefined, stranger.apiKey)).statusCode).toBe(404);
    const retried = await call('POST', `/emails/batch/${id}/retry`);
    expect(retried.statusCode, retried.body).toBe(200);
    expect(retried.json()).toMatchObject({ success: true, message: '1 email(s) are sent again' });
    expect(retried.json().items.map((item: { status: string }) => item.status)).toEqual(['pending', 'sent', 'failed']);
    const due = await gateway.actor.pool.query(
      `select email_id from recipient where workspace_id = $1 and status = 'pending' and next_attempt_at <= now()`,
      [box.workspaceId],
    );
    expect(due.rows).toEqual([{ email_id: failed }]);
    expect((await call('POST', `/emails/batch/${id}/retry`)).json().message).toBe('No email can be sent again');
  });
});

describe('routes that are not served', () => {
  test.each([
    ['POST', '/guard/generate', /POST \/guard/],
    ['POST', '/attachments/uploads', /attachments/],
    ['GET', '/mailboxes', /SMTP/],
    ['POST', '/broadcasts/x/send', /batch/],
    ['GET', '/templates', /POST \/emails/],
  ])('%s %s responds 501 and names what to use instead', async (method, path, instead) => {
    const response = await call(method, path, method === 'POST' ? {} : undefined);
    expect(response.json()).toMatchObject({
      error: 'Not Implemented',
      name: 'not_implemented',
      statusCode: 501,
      message: expect.stringMatching(instead),
    });
    expect(response.statusCode).toBe(501);
    expect((await gateway.call(null, method, path)).statusCode).toBe(401);
  });

  test('an unknown path responds 404 with a deprecation notice', async () => {
    const response = await call('GET', '/nothing/here');
    expect(response.statusCode).toBe(404);
    expect(response.json().deprecation_notice).toMatch(/api\/e2/);
  });
});

test('repeats the name that a request gives the format of a webhook', async () => {
  for (const [given, read] of [
    ['inbound', 'native'],
    ['discord', 'chat_a'],
    ['slack', 'chat_b'],
    ['chat_a', 'chat_a'],
    ['native', 'native'],
  ]) {
    const config = { url: 'https://hooks.example/x' };
    const made = await call('POST', '/endpoints', { name: 'hook', type: 'webhook', config, webhookFormat: given });
    expect(made.json().webhookFormat, made.body).toBe(given);
    const { id } = made.json();
    expect((await call('PATCH', `/endpoints/${id}`, { webhookFormat: given })).json().webhookFormat).toBe(given);
    expect((await call('PUT', `/endpoints/${id}`, { name: 'hook 2' })).json().webhookFormat).toBe(read);
    expect((await call('GET', `/endpoints/${id}`)).json().webhookFormat).toBe(read);
  }
});

test.each(['a.exe', 'A.EXE', 'a.scr ', 'a.bat.', 'invoice.pdf.js', 'a.jar'])(
  'refuses the executable attachment %j in emails, replies, batches and drafts',
  async (filename) => {
    const attachments = [{ filename, content: 'aGk=' }];
    for (const [path, body, field] of [
      ['/emails', mail({ attachments }), 'attachments.0'],
      ['/emails/batch', [mail({ attachments })], 'emails.0.attachments.0'],
      ['/drafts', mail({ attachments }), 'attachments.0'],
    ] as const) {
      const response = await call('POST', path, body);
      expect(response.json(), path).toMatchObject({
        statusCode: 400,
        details: [{ field, message: expect.stringMatching(/ is an executable file\. .*Send a link to it instead\.$/) }],
      });
    }
  },
);

test.each(['a.exe.zip', 'exe', 'a.html', 'a.sh', 'a.docx', 'command'])(
  'accepts the attachment %j, which is not executable',
  async (filename) => {
    const sent = await call('POST', '/emails', mail({ attachments: [{ filename, content: 'aGk=' }] }));
    expect(sent.statusCode, sent.body).toBe(200);
  },
);

test('an unknown scheduled email is named as such at the paths of the older client', async () => {
  const { id } = (await call('POST', '/emails', mail({ scheduled_at: 'in 2 hours' }))).json();
  const other = await gateway.mailbox();
  const [received] = await insertMail(gateway.actor, [{ workspaceId: box.workspaceId }]);
  const unknown = await call('GET', '/emails/schedule/em_unknown');
  expect(unknown.json()).toMatchObject({ error: 'Scheduled email not found', statusCode: 404 });
  for (const [method, path, key] of [
    ['GET', `/emails/schedule/${id}`, other.apiKey],
    ['DELETE', `/emails/schedule/${id}`, other.apiKey],
    ['DELETE', '/emails/schedule/em_unknown', box.apiKey],
    ['GET', `/emails/schedule/${received}`, box.apiKey],
  ] as const)
    expect((await call(method, path, undefined, key)).body, path).toBe(unknown.body);
  expect((await call('GET', `/emails/schedule/${id}`)).json().id).toBe(id);
});

test('a suppression by unsubscribing has an origin that the types of clients know', async () => {
  await gateway.actor.pool.query(
    `insert into suppression (workspace_id, id, address, reason, list, created_at) values ($1, 'sup_' || $2, 'ada@x.test', 'unsubscribe', 'news', now())`,
    [box.workspaceId, box.workspaceId.slice(4)],
  );
  const [listed] = (await call('GET', '/suppressions')).json().data;
  expect(listed).toMatchObject({ reason: 'unsubscribe', list: 'news', origin: 'manual' });
  expect((await call('GET', `/suppressions/${listed.id}`)).json()).toEqual(listed);
});

describe('several suppressions', () => {
  const add = (emails: unknown, key?: string) => call('POST', '/suppressions/batch/add', { emails }, key);
  const remove = (body: object, key?: string) => call('POST', '/suppressions/batch/remove', body, key);
  const list = async () => (await call('GET', '/suppressions')).json().data;

  test('are created once per address, and existing ones stay', async () => {
    const { id } = (await call('POST', '/suppressions', { email: 'ada@x.test', detail: 'asked' })).json();
    const added = await add(['ADA@x.test', 'bob@x.test', ' bob@x.test ', 'eve@x.test']);
    expect([added.statusCode, added.json().data.length], added.body).toEqual([200, 3]);
    expect(added.json().data).toContainEqual({ object: 'suppression', id });
    expect((await list()).map((each: { address: string }) => each.address).sort()).toEqual([
      'ada@x.test',
      'bob@x.test',
      'eve@x.test',
    ]);
    expect((await call('GET', `/suppressions/${id}`)).json().detail).toBe('asked');
  });

  test('are not created when one address is invalid', async () => {
    const refused = await add(['ada@x.test', 'nonsense']);
    expect(refused.json()).toMatchObject({ statusCode: 400, details: [{ field: 'emails.1' }] });
    expect(await list()).toEqual([]);
  });

  test('are removed by address or id, and unknown ones are left out', async () => {
    const [one] = (await add(['ada@x.test', 'bob@x.test', 'eve@x.test'])).json().data;
    const byId = await remove({ ids: [one.id, 'sup_unknown', 'x', one.id] });
    expect(byId.json()).toEqual({ data: [{ object: 'suppression', id: one.id, deleted: true }] });
    const byAddress = await remove({ emails: ['BOB@x.test', 'eve@x.test', 'ada@x.test', 'none@x.test'] });
    expect(byAddress.json().data).toHaveLength(2);
    expect(await list()).toEqual([]);
  });

  test('of another account stay', async () => {
    const other = await gateway.mailbox();
    const [one] = (await add(['ada@x.test'])).json().data;
    expect((await remove({ ids: [one.id] }, other.apiKey)).json()).toEqual({ data: [] });
    expect((await remove({ emails: ['ada@x.test'] }, other.apiKey)).json()).toEqual({ data: [] });
    expect(await list()).toHaveLength(1);
  });

  test('are 1 to 100, by emails or by ids', async () => {
    const addresses = Array.from({ length: 101 }, (_, at) => `a${at}@x.test`);
    expect((await add(addresses)).statusCode).toBe(400);
    expect((await add([])).statusCode).toBe(400);
    expect((await add(addresses.slice(1))).json().data).toHaveLength(100);
    for (const body of [{}, { emails: ['a1@x.test'], ids: ['x'] }, { emails: [] }, { ids: [] }])
      expect((await remove(body)).statusCode, JSON.stringify(body)).toBe(400);
    expect((await remove({ emails: addresses.slice(1) })).json().data).toHaveLength(100);
  });

  test('are created by 20 requests at once for the same addresses in different orders', async () => {
    const addresses = Array.from({ length: 10 }, (_, at) => `b${at}@x.test`);
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, at) => add([...addresses.slice(at % 10), ...addresses.slice(0, at % 10)])),
    );
    expect(all.map(({ statusCode }) => statusCode)).toEqual(Array(20).fill(200));
    expect(await list()).toHaveLength(10);
  });
});

test('refuses a domain that an account has with the code of its conflict, and no client retries', async () => {
  const other = await gateway.mailbox();
  const two = await Promise.all([1, 2].map(() => call('POST', '/domains', { domain: `twice-${readDomain(box)}` })));
  expect(new Set(two.map(({ statusCode }) => statusCode))).toEqual(new Set([201, 409]));
  const refused = two.filter(({ statusCode }) => statusCode === 409);
  for (const key of [box.apiKey, other.apiKey])
    refused.push(await call('POST', '/domains', { domain: readDomain(box) }, key));
  for (const response of refused) {
    expect(response.json()).toMatchObject({ statusCode: 409, code: 'DOMAIN_ALREADY_REGISTERED' });
    expect(response.headers['x-should-retry']).toBe('false');
  }
});

const readDomain = ({ address }: TestMailbox) => address.split('@')[1] ?? '';

async function threadAll(): Promise<void> {
  const { rows } = await gateway.actor.pool.query<{ id: string }>(
    'select id from email where workspace_id = $1 and thread_id is null',
    [box.workspaceId],
  );
  await assignThreads(
    testActorContext(gateway.actor),
    box.workspaceId,
    rows.map(({ id }) => id),
  );
}
