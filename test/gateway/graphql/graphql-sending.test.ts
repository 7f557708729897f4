import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { insertMail, insertThread } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

let gateway: TestGateway;
let box: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway();
});
beforeEach(async () => {
  box = await gateway.mailbox();
});
afterAll(() => gateway.close());

type Input = Record<string, unknown>;

const ERRORS = `__typename ... on Error { message code } ... on ValidationError { fields { path message } }
  ... on Conflict { isRetryable }`;
const SENDING_ERRORS = `${ERRORS} ... on SuppressedRecipient { addresses }`;
const PAYLOADS: Record<string, string> = {
  sendEmail:
    'SendEmailPayload { email { id type status scheduledAt timezone to { name address } tags { name value } } }',
  replyToEmail:
    'ReplyToEmailPayload { email { id subject to { address } cc { address } content { inReplyTo } } originalEmail { id } originalThread { id } }',
  sendEmails:
    'SendEmailsPayload { batch { id status counts { total pending } items { index status email { id } } } emails { id subject } refused { index message } }',
  cancelBatch: 'CancelBatchPayload { batch { id status counts { cancelled } } cancelledCount }',
  updateEmail: 'UpdateEmailPayload { email { id isRead isArchived } }',
  updateEmails: 'UpdateEmailsPayload { emails { id isRead isArchived } }',
  rescheduleEmail: 'RescheduleEmailPayload { email { id status scheduledAt timezone } }',
  cancelEmail: 'CancelEmailPayload { email { id status } isChanged }',
  pauseEmail: 'PauseEmailPayload { email { id status } isChanged }',
  resumeEmail: 'ResumeEmailPayload { email { id status scheduledAt } isChanged }',
};
const SENDING = new Set(['sendEmail', 'replyToEmail', 'sendEmails']);

async function mutate(field: string, input: Input, key = box.apiKey) {
  const type = `${field.slice(0, 1).toUpperCase()}${field.slice(1)}Input`;
  const errors = SENDING.has(field) ? SENDING_ERRORS : ERRORS;
  const query = `mutation($input: ${type}!) { ${field}(input: $input) { ${errors} ... on ${PAYLOADS[field]} } }`;
  const response = (await gateway.graphql(key, query, { input })).json();
  expect(response.errors, JSON.stringify(response.errors)).toBeUndefined();
  return response.data[field];
}

const letter = (given: Input = {}): Input => ({
  from: `Ada <${box.address}>`,
  to: ['Bob <bob@elsewhere.test>'],
  subject: 'Hello',
  text: 'Hello',
  ...given,
});
const call = (method: string, path: string, body?: unknown) => gateway.call(box.apiKey, method, path, body);
const show = async (id: string) => (await call('GET', `/emails/${id}`)).json();
const schedule = async () => (await mutate('sendEmail', letter({ scheduledAt: 'in 2 hours' }))).email.id as string;
const countEmails = async () => (await call('GET', '/emails?time_range=all')).json().pagination.total as number;
/** As REST names the fields at fault. */
const readPath = (field: string) =>
  field.split('.').map((name) => name.replace(/_([a-z])/g, (_m, l: string) => l.toUpperCase()));

describe('sendEmail', () => {
  test('sends, and the REST interface shows the same', async () => {
    const response = await mutate(
      'sendEmail',
      letter({
        cc: ['carl@elsewhere.test'],
        bcc: ['unseen@elsewhere.test'],
        replyTo: ['answers@elsewhere.test'],
        html: '<p>Hello</p>',
        headers: [{ name: 'X-Kind', value: 'one' }],
        attachments: [{ filename: 'a.txt', content: Buffer.from('hello').toString('base64'), contentId: 'x@y' }],
        tags: [{ name: 'kind', value: 'order' }],
      }),
    );
    expect(response).toMatchObject({
      __typename: 'SendEmailPayload',
      email: {
        type: 'SENT',
        status: 'PENDING',
        scheduledAt: null,
        to: [{ name: 'Bob', address: 'bob@elsewhere.test' }],
      },
    });
    const { id } = response.email;
    expect(await show(id)).toMatchObject({
      to: ['bob@elsewhere.test'],
      cc: ['carl@elsewhere.test'],
      bcc: ['unseen@elsewhere.test'],
      reply_to: ['answers@elsewhere.test'],
      html: '<p>Hello</p>',
      headers: { 'x-kind': 'one' },
      attachments: [{ filename: 'a.txt', contentType: 'text/plain', size: 5, contentId: '<x@y>' }],
      tags: [{ name: 'kind', value: 'order' }],
    });
    expect((await call('GET', `/attachments/${id}/a.txt`)).body).toBe('hello');
  });

  test('schedules when it is given a time', async () => {
    const response = await mutate('sendEmail', letter({ scheduledAt: 'tomorrow at 9am', timezone: 'Asia/Tokyo' }));
    expect(response.email).toMatchObject({ type: 'SCHEDULED', status: 'SCHEDULED', timezone: 'Asia/Tokyo' });
    expect(await show(response.email.id)).toMatchObject({
      scheduled_at: response.email.scheduledAt,
      status: 'scheduled',
    });
  });

  test.each<[Input, Input?]>([
    [{ from: 'nonsense' }],
    [{ to: ['nonsense'] }],
    [{ to: [] }],
    [{ to: Array.from({ length: 51 }, (_, n) => `a${n}@x.test`) }],
    [{ to: Array.from({ length: 201 }, (_, n) => `a${n}@x.test`) }],
    [{ cc: ['nonsense'] }],
    [{ replyTo: Array(11).fill('a@x.test') }, { reply_to: Array(11).fill('a@x.test') }],
    [{ subject: 'two\r\nlines' }],
    [{ text: null }],
    [{ headers: [{ name: 'From', value: 'x' }] }, { headers: { From: 'x' } }],
    [{ attachments: [{ content: 'aGVsbG8=' }, { content: '!' }] }],
    [{ attachments: Array(21).fill({ content: '' }) }],
    [{ attachments: [{ content: 'A'.repeat(14_400_000) }] }],
    [{ tags: [{ name: '', value: '' }] }],
    [{ scheduledAt: 'at the end of days' }, { scheduled_at: 'at the end of days' }],
    [
      { scheduledAt: 'in 2 hours', timezone: 'Mars/Olympus' },
      { scheduled_at: 'in 2 hours', timezone: 'Mars/Olympus' },
    ],
  ])('is refused with the error of the REST interface %#', async (given, inRest = given) => {
    const rest = (await call('POST', '/emails', { ...letter(), ...inRest })).json();
    expect(rest.statusCode).toBe(400);
    const response = await mutate('sendEmail', letter(given));
    expect(response).toMatchObject({
      __typename: 'ValidationError',
      message: rest.message,
      fields: rest.details.map(({ field, message }: { field: string; message: string }) => ({
        path: readPath(field),
        message,
      })),
    });
    expect(await countEmails()).toBe(0);
  });

  test('takes a header once, and no header with a name of Object.prototype', async () => {
    const twice = [
      { name: 'X-A', value: '1' },
      { name: 'X-A', value: '2' },
    ];
    expect(await mutate('sendEmail', letter({ headers: twice }))).toMatchObject({
      __typename: 'ValidationError',
      message: 'Header is given twice: X-A',
      fields: [{ path: ['headers'] }],
    });
    expect(await mutate('sendEmail', letter({ headers: [{ name: '__proto__', value: 'x' }] }))).toMatchObject({
      __typename: 'ValidationError',
      message: 'Header cannot be set: __proto__',
    });
  });

  test('is forbidden from domains of other users', async () => {
    const other = await gateway.mailbox();
    const response = await mutate('sendEmail', letter({ from: other.address }));
    expect(response).toMatchObject({
      __typename: 'Forbidden',
      message: expect.stringContaining("You don't have permission to send from domain"),
    });
  });

  test('is refused to suppressed recipients, and names them; so are replies and batches', async () => {
    await gateway.actor.pool.query(
      `insert into suppression (workspace_id, id, address, reason, created_at) values ($1, 'sup_' || $1, 'bob@elsewhere.test', 'bounce', now())`,
      [box.workspaceId],
    );
    const refused = {
      __typename: 'SuppressedRecipient',
      code: 'RECIPIENT_SUPPRESSED',
      addresses: ['Bob@elsewhere.test'],
    };
    const to = ['ann@elsewhere.test', 'Bob@elsewhere.test'];
    expect(await mutate('sendEmail', letter({ to }))).toMatchObject(refused);
    expect(await mutate('sendEmails', { emails: [letter({ to })] })).toMatchObject(refused);
    const [id] = await insertMail(gateway.actor, [{ workspaceId: box.workspaceId, ownAddress: box.address }]);
    expect(await mutate('replyToEmail', { id, from: box.address, to, text: 'x' })).toMatchObject(refused);
    expect(
      await mutate('sendEmails', {
        emails: [letter({ to }), letter({ to: ['eve@x.test'] })],
        validation: 'PERMISSIVE',
      }),
    ).toMatchObject({
      __typename: 'SendEmailsPayload',
      refused: [{ index: 0 }],
      emails: [{ subject: 'Hello' }],
    });
  });

  test('is limited by the hour', async () => {
    const limited = await openTestGateway({ config: { sendLimitPerHour: 1 } });
    try {
      const { apiKey, address } = await limited.mailbox();
      const query = `mutation($input: SendEmailInput!) { sendEmail(input: $input) { __typename ... on RateLimited { message retryAfterSeconds } } }`;
      const input = letter({ from: address });
      const responses = [];
      for (let n = 0; n < 2; n++)
        responses.push((await limited.graphql(apiKey, query, { input })).json().data.sendEmail);
      expect(responses).toEqual([
        { __typename: 'SendEmailPayload' },
        {
          __typename: 'RateLimited',
          message: expect.stringContaining('Hourly sending limit reached'),
          retryAfterSeconds: expect.any(Number),
        },
      ]);
    } finally {
      await limited.close();
    }
  });
});

describe('an idempotency key', () => {
  test('returns the same response again and sends once, and is refused for another request', async () => {
    const idempotencyKey = randomUUID();
    const first = await mutate('sendEmail', letter({ idempotencyKey }));
    const again = await mutate('sendEmail', letter({ idempotencyKey }));
    expect(again).toEqual(first);
    expect(await countEmails()).toBe(1);
    const conflict = {
      __typename: 'Conflict',
      message: 'Idempotency key already used with different request body',
      isRetryable: false,
    };
    expect(await mutate('sendEmail', letter({ idempotencyKey, subject: 'Another' }))).toMatchObject(conflict);
    expect(await mutate('sendEmails', { emails: [letter()], idempotencyKey })).toMatchObject(conflict);
    expect(
      await mutate('replyToEmail', { id: first.email.id, from: box.address, text: 'x', idempotencyKey }),
    ).toMatchObject(conflict);
    expect(await countEmails()).toBe(1);
  });

  test.each(['', 'x'.repeat(257)])('of a wrong length is refused', async (idempotencyKey) => {
    expect(await mutate('sendEmail', letter({ idempotencyKey }))).toMatchObject({
      __typename: 'ValidationError',
      message: 'Idempotency-Key must have 1 to 256 characters',
      fields: [{ path: ['idempotencyKey'] }],
    });
  });

  test('serves batches and replies', async () => {
    const [id] = await insertMail(gateway.actor, [{ workspaceId: box.workspaceId, ownAddress: box.address }]);
    const batch = { emails: [letter(), letter({ to: ['eve@x.test'] })], idempotencyKey: randomUUID() };
    expect(await mutate('sendEmails', batch)).toEqual(await mutate('sendEmails', batch));
    const reply = { id, from: box.address, to: ['ann@x.test'], text: 'Yes', idempotencyKey: randomUUID() };
    const replied = await mutate('replyToEmail', reply);
    expect(replied.__typename).toBe('ReplyToEmailPayload');
    expect(await mutate('replyToEmail', reply)).toEqual(replied);
    expect(await countEmails()).toBe(4);
  });
});

describe('replyToEmail', () => {
  test('replies to an email, or the latest of a thread, to its sender or to all', async () => {
    const { threadId, emailIds } = await insertThread(gateway.actor, {
      workspaceId: box.workspaceId,
      count: 2,
      lastMessageAt: new Date(),
      subject: 'A question',
      ownAddress: box.address,
    });
    const list = (addresses: string[]) => ({
      text: addresses.join(', '),
      addresses: addresses.map((address) => ({ name: null, address })),
    });
    await gateway.actor.pool.query(`update email_content set addresses = $2 where workspace_id = $1`, [
      box.workspaceId,
      JSON.stringify({
        from: list(['ada@elsewhere.test']),
        to: list([box.address]),
        cc: list(['carl@elsewhere.test']),
        bcc: null,
        replyTo: null,
      }),
    ]);
    const toSender = await mutate('replyToEmail', { id: emailIds[0], from: box.address, text: 'Yes' });
    expect(toSender).toMatchObject({
      __typename: 'ReplyToEmailPayload',
      email: {
        subject: 'Re: A question',
        to: [{ address: 'ada@elsewhere.test' }],
        cc: [],
        content: { inReplyTo: [`<${emailIds[0]}@elsewhere.test>`] },
      },
      originalEmail: { id: emailIds[0] },
      originalThread: { id: threadId },
    });
    const toAll = await mutate('replyToEmail', {
      id: threadId,
      from: box.address,
      text: 'Yes',
      audience: 'ALL',
      fromName: 'Support',
    });
    expect(toAll).toMatchObject({
      email: { to: [{ address: 'ada@elsewhere.test' }], cc: [{ address: 'carl@elsewhere.test' }] },
      originalEmail: { id: emailIds[1] },
    });
    expect((await show(toAll.email.id)).from).toBe(`Support <${box.address}>`);
  });

  test('finds no unknown ids and no ids of others, and replies to no unsent mail', async () => {
    const other = await gateway.mailbox();
    const [foreign] = await insertMail(gateway.actor, [{ workspaceId: other.workspaceId }]);
    const [none, theirs] = await Promise.all(
      ['em_none', foreign].map((id) => mutate('replyToEmail', { id, from: box.address, text: 'x' })),
    );
    expect(none).toMatchObject({ __typename: 'NotFound', message: 'Email or thread not found' });
    expect(theirs).toEqual(none);
    expect(await mutate('replyToEmail', { id: await schedule(), from: box.address, text: 'x' })).toMatchObject({
      __typename: 'ValidationError',
      fields: [{ path: ['id'], message: 'Cannot reply to an email that has not been sent' }],
    });
  });
});

describe('sendEmails', () => {
  test('sends a batch, which the REST interface shows', async () => {
    const response = await mutate('sendEmails', {
      emails: [letter({ subject: 'One' }), letter({ subject: 'Two', scheduledAt: 'in 2 hours' })],
    });
    expect(response).toMatchObject({
      batch: { status: 'QUEUED', counts: { total: 2, pending: 2 } },
      emails: [{ subject: 'One' }, { subject: 'Two' }],
      refused: [],
    });
    const rest = (await call('GET', `/emails/batch/${response.batch.id}`)).json();
    expect(rest.items.map(({ id }: { id: string }) => id)).toEqual(response.emails.map(({ id }: { id: string }) => id));
    const cancelled = await mutate('cancelBatch', { id: response.batch.id });
    expect(cancelled).toMatchObject({ batch: { counts: { cancelled: 1 } }, cancelledCount: 1 });
    expect(await mutate('cancelBatch', { id: response.batch.id })).toMatchObject({ cancelledCount: 0 });
    expect(await show(response.emails[1].id)).toMatchObject({ status: 'cancelled' });
  });

  test('rejects a whole batch for one invalid email, or says which', async () => {
    const emails = [letter(), letter({ to: ['nonsense'] })];
    expect(await mutate('sendEmails', { emails })).toMatchObject({
      __typename: 'ValidationError',
      fields: [{ path: ['emails', '1', 'to'] }],
    });
    expect(await countEmails()).toBe(0);
    expect(await mutate('sendEmails', { emails, validation: 'PERMISSIVE' })).toMatchObject({
      emails: [{ subject: 'Hello' }],
      refused: [{ index: 1, message: expect.stringContaining('emails[1].to') }],
    });
  });

  test.each([0, 101])('of %i is refused with the error of the REST interface', async (count) => {
    const emails = Array.from({ length: count }, () => letter());
    const rest = (await call('POST', '/emails/batch', { emails })).json();
    expect(await mutate('sendEmails', { emails })).toMatchObject({
      __typename: 'ValidationError',
      message: rest.message,
      fields: [{ path: ['emails'], message: rest.details[0].message }],
    });
  });

  test('refuses to cancel a sent batch; an unknown one is not found', async () => {
    const { batch } = await mutate('sendEmails', { emails: [letter()] });
    expect(await mutate('cancelBatch', { id: batch.id })).toMatchObject({ __typename: 'Conflict', isRetryable: false });
    const other = await gateway.mailbox();
    expect(await mutate('cancelBatch', { id: batch.id }, other.apiKey)).toMatchObject({
      __typename: 'NotFound',
      message: 'Batch not found',
    });
  });
});

describe('scheduled mail', () => {
  test('is rescheduled, paused, resumed and cancelled, as the REST interface shows', async () => {
    const id = await schedule();
    const later = await mutate('rescheduleEmail', { id, scheduledAt: 'in 3 days', timezone: 'Europe/Berlin' });
    expect(later.email).toMatchObject({ id, status: 'SCHEDULED', timezone: 'Europe/Berlin' });
    expect(await show(id)).toMatchObject({ scheduled_at: later.email.scheduledAt });
    expect(await mutate('pauseEmail', { id })).toMatchObject({ email: { status: 'PAUSED' }, isChanged: true });
    expect(await mutate('pauseEmail', { id })).toMatchObject({ isChanged: false });
    expect(await show(id)).toMatchObject({ status: 'paused' });
    const resumed = await mutate('resumeEmail', { id, scheduledAt: 'in 4 hours' });
    expect(resumed).toMatchObject({ email: { status: 'SCHEDULED' }, isChanged: true });
    expect(await show(id)).toMatchObject({ status: 'scheduled', scheduled_at: resumed.email.scheduledAt });
    expect(await mutate('cancelEmail', { id })).toMatchObject({ email: { id, status: 'CANCELLED' }, isChanged: true });
    expect(await mutate('cancelEmail', { id })).toMatchObject({ isChanged: false });
    expect(await show(id)).toMatchObject({ status: 'cancelled' });
    for (const field of ['rescheduleEmail', 'pauseEmail', 'resumeEmail'])
      expect(await mutate(field, { id, ...(field === 'pauseEmail' ? {} : { scheduledAt: 'in 1 day' }) })).toMatchObject(
        {
          __typename: 'Conflict',
          message: expect.stringContaining('a cancelled email.'),
        },
      );
  });

  test('does not include sent or received mail', async () => {
    const { email } = await mutate('sendEmail', letter());
    const [received] = await insertMail(gateway.actor, [{ workspaceId: box.workspaceId }]);
    const rest = (await call('DELETE', `/emails/${email.id}`)).json();
    expect(rest.statusCode).toBe(400);
    expect(await mutate('cancelEmail', { id: email.id })).toMatchObject({
      __typename: 'Conflict',
      message: rest.message,
      isRetryable: false,
    });
    for (const field of ['cancelEmail', 'pauseEmail', 'resumeEmail'])
      expect((await mutate(field, { id: received })).__typename).toBe('Conflict');
  });

  test('takes no time that sending would refuse, and no emails of others', async () => {
    const id = await schedule();
    for (const field of ['rescheduleEmail', 'resumeEmail'])
      expect(await mutate(field, { id, scheduledAt: 'yesterday' })).toMatchObject({
        __typename: 'ValidationError',
        fields: [{ path: ['scheduledAt'] }],
      });
    const other = await gateway.mailbox();
    for (const field of ['cancelEmail', 'pauseEmail', 'resumeEmail', 'rescheduleEmail']) {
      const more = field === 'rescheduleEmail' ? { scheduledAt: 'in 1 day' } : {};
      const theirs = await mutate(field, { id, ...more }, other.apiKey);
      expect(theirs).toMatchObject({ __typename: 'NotFound', message: 'Email not found' });
      expect(await mutate(field, { id: 'em_none', ...more }, other.apiKey)).toEqual(theirs);
    }
  });

  test('shows the result of each of several mutations of one request', async () => {
    const id = await schedule();
    const response = (
      await gateway.graphql(
        box.apiKey,
        `mutation($id: ID!) { a: pauseEmail(input: {id: $id}) { ... on PauseEmailPayload { email { status } } }
          b: resumeEmail(input: {id: $id}) { ... on ResumeEmailPayload { email { status } } }
          c: cancelEmail(input: {id: $id}) { ... on CancelEmailPayload { email { status } } } }`,
        { id },
      )
    ).json();
    expect(response.data).toEqual({
      a: { email: { status: 'PAUSED' } },
      b: { email: { status: 'SCHEDULED' } },
      c: { email: { status: 'CANCELLED' } },
    });
  });
});

describe('updateEmails', () => {
  test('marks all emails or none', async () => {
    const ids = await insertMail(gateway.actor, [
      { workspaceId: box.workspaceId },
      { workspaceId: box.workspaceId, isRead: true },
    ]);
    const response = await mutate('updateEmails', { ids: [...ids, ids[0]], isRead: true, isArchived: true });
    expect(response.emails).toEqual(ids.map((id) => ({ id, isRead: true, isArchived: true })));
    expect((await call('GET', '/emails?status=archived')).json().pagination.total).toBe(2);
    const events = await gateway.actor.pool.query<{ kind: string }>(
      'select kind from event where workspace_id = $1 order by seq',
      [box.workspaceId],
    );
    expect(events.rows.map(({ kind }) => kind).toSorted()).toEqual(['email.archived', 'email.archived', 'email.read']);
    const other = await gateway.mailbox();
    const [foreign] = await insertMail(gateway.actor, [{ workspaceId: other.workspaceId }]);
    for (const id of [foreign, 'em_none'])
      expect(await mutate('updateEmails', { ids: [ids[0], id], isRead: false })).toMatchObject({
        __typename: 'NotFound',
        message: 'Email not found',
      });
    expect(await show(ids[0] ?? '')).toMatchObject({ is_read: true });
  });

  test('is refused for none, more than 100, no change, and mail that was not received', async () => {
    const { email } = await mutate('sendEmail', letter());
    const sizes = [[], Array(101).fill('em_x')];
    for (const ids of sizes)
      expect(await mutate('updateEmails', { ids, isRead: true })).toMatchObject({
        __typename: 'ValidationError',
        fields: [{ path: ['ids'], message: 'Give 1 to 100 emails' }],
      });
    expect((await mutate('updateEmails', { ids: ['em_x'] })).__typename).toBe('ValidationError');
    for (const field of ['updateEmail', 'updateEmails'])
      expect(
        await mutate(field, { ...(field === 'updateEmail' ? { id: email.id } : { ids: [email.id] }), isRead: true }),
      ).toMatchObject({
        __typename: 'Conflict',
        message: 'Only received emails can be updated',
      });
  });

  test('keeps the counters of a thread exact', async () => {
    const { threadId, emailIds } = await insertThread(gateway.actor, {
      workspaceId: box.workspaceId,
      count: 3,
      lastMessageAt: new Date(),
    });
    await mutate('updateEmails', { ids: emailIds.slice(0, 2), isRead: true, isArchived: true });
    await mutate('updateEmails', { ids: emailIds, isArchived: true });
    await mutate('updateEmail', { id: emailIds[0], isRead: false });
    const { rows } = await gateway.actor.pool.query(
      'select unread_count, archived_count from thread where workspace_id = $1 and id = $2',
      [box.workspaceId, threadId],
    );
    expect(rows).toEqual([{ unread_count: 2, archived_count: 3 }]);
  });
});

describe('large requests', () => {
  const post = (payload: string, key = box.apiKey) =>
    gateway.app.inject({
      method: 'POST',
      url: '/graphql',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      payload,
    });
  const megabytes = (count: number) => 'A'.repeat(count * 1_000_000);

  test('are accepted when they send files', async () => {
    const attachments = [{ filename: 'a.bin', content: megabytes(12) }];
    expect((await mutate('sendEmail', letter({ attachments }))).__typename).toBe('SendEmailPayload');
  });

  test('are refused for other fields, or when the query is larger than the variables', async () => {
    const variables = { id: megabytes(1) };
    const other = await post(JSON.stringify({ query: 'query($id: ID!) { email(id: $id) { id } }', variables }));
    expect([other.statusCode, other.json().errors[0].message]).toEqual([
      413,
      expect.stringContaining('262144 characters'),
    ]);
    const both = `mutation($input: SendEmailInput!, $id: ID!) { sendEmail(input: $input) { __typename } cancelEmail(input: {id: $id}) { __typename } }`;
    expect((await post(JSON.stringify({ query: both, variables: { input: letter(), ...variables } }))).statusCode).toBe(
      413,
    );
    expect((await post(JSON.stringify({ query: `{ viewer { id } } # ${megabytes(1)}` }))).statusCode).toBe(400);
    const crowd = { query: '{ viewer { id } }', variables: { ids: Array(60_000).fill(1) } };
    expect((await post(JSON.stringify(crowd))).statusCode).toBe(400);
    const deep = `{"query":"{ viewer { id } }","variables":{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`;
    expect((await post(deep)).statusCode).toBe(400);
    expect(
      (await post(JSON.stringify({ query: '{ viewer { id } }', variables: { a: megabytes(41) } }))).statusCode,
    ).toBe(413);
  });

  test('with invalid variables are refused with an error', async () => {
    const query = `mutation($input: UpdateEmailsInput!) { updateEmails(input: $input) { __typename } }`;
    for (const input of [null, 1, [], {}, { ids: null }, { ids: 'x' }, { ids: {} }])
      expect((await post(JSON.stringify({ query, variables: { input } }))).statusCode).toBeLessThan(500);
  });
});
