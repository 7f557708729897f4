import { hash, randomUUID } from 'node:crypto';
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { assignThreads } from '../../../actors/threading/assign-thread.ts';
import { inTransaction } from '../../../db/connection/transaction.ts';
import { lockThreads } from '../../../db/queries/threads/thread-claim.ts';
import { insertMail } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';
import { findThreadFaults } from '../../support/stages/thread-stage.ts';

const AWAY = 'ada@away.test';
const PARALLEL = 50;

let gateway: TestGateway;
let other: Awaited<ReturnType<TestGateway['beside']>>;
let box: TestMailbox;

// No threading actor runs: what is in a thread got there in the transaction that stored it, or by an explicit assignThreads.
beforeAll(async () => {
  gateway = await openTestGateway();
  other = await gateway.beside();
  box = await gateway.mailbox({ domain: 'mine.test' });
});
afterAll(async () => {
  expect(await findThreadFaults(gateway.actor, box.workspaceId)).toEqual([]);
  await other.app.close();
  await gateway.close();
});

const email = (subject: string, more: object = {}) => ({
  from: box.address,
  to: AWAY,
  subject,
  text: 'Hello',
  ...more,
});

async function send(subject: string, more: object = {}, call = gateway.call, headers: Record<string, string> = {}) {
  const response = await call(box.apiKey, 'POST', '/emails', email(subject, more), headers);
  expect(response.statusCode, response.body).toBeLessThan(202);
  return response.json().id as string;
}

const list = (address: string) => ({ text: address, addresses: [{ name: null, address }] });

async function receive(subject: string, fields: { messageId?: string; inReplyTo?: string[] } = {}): Promise<string> {
  const addresses = { from: list(AWAY), to: list(box.address), cc: null, bcc: null, replyTo: null };
  const mail = { workspaceId: box.workspaceId, ownAddress: box.address, from: AWAY, addresses, subject, ...fields };
  const [id = ''] = await insertMail(gateway.actor, [mail]);
  const base = subject.replace(/^Re: /, '');
  await gateway.actor.pool.query('update email set base_subject = $2 where id = $1', [id, base]);
  return id;
}

const assign = (...ids: string[]) => assignThreads(testActorContext(gateway.actor), box.workspaceId, ids);

async function readPlace(id: string) {
  const { rows } = await gateway.actor.pool.query<{
    thread_id: string | null;
    thread_position: number | null;
    thread_reason: string | null;
  }>('select thread_id, thread_position, thread_reason from email where id = $1', [id]);
  return rows[0];
}

const topic = (text: string) => `${text} ${randomUUID()}`;

test('an email that refers to nothing has its thread in every read when the request returns', async () => {
  const subject = topic('Visible');
  const id = await send(subject);
  const call = async (path: string) => (await gateway.call(box.apiKey, 'GET', path)).json();
  const shown = await call(`/emails/${id}`);
  expect(shown.thread_id).toMatch(/^th_/);
  const threadId = shown.thread_id;
  const listed = (await call('/emails?limit=100&time_range=all')).data.find((each: { id: string }) => each.id === id);
  expect(listed.thread_id).toBe(threadId);
  const { messages } = await call(`/mail/threads/${threadId}`);
  expect(messages.map((each: { id: string }) => each.id)).toEqual([id]);
  const { body } = await gateway.graphql(
    box.apiKey,
    'query Get($id: ID!) { email(id: $id) { thread { id subject messageCount } } }',
    { id },
  );
  expect(JSON.parse(body).data.email.thread).toEqual({ id: threadId, subject, messageCount: 1 });
});

test('the events of an email and of its thread are appended together, the email first', async () => {
  const id = await send(topic('Events'));
  const { rows } = await gateway.actor.pool.query(
    `select kind, thread_id is not null as is_of_thread, data, xmin::text = min(xmin::text) over () as is_together
     from event where email_id = $1 order by seq`,
    [id],
  );
  expect(rows).toEqual([
    { kind: 'email.sent', is_of_thread: false, data: {}, is_together: true },
    {
      kind: 'email.threaded',
      is_of_thread: true,
      data: { position: 0, reason: 'new', type: 'sent' },
      is_together: true,
    },
  ]);
});

test('the threading actor has nothing to do for it', async () => {
  const id = await send(topic('Done'));
  expect(await assign(id)).toBe(0);
});

test('a reply to it joins its thread, by Message-ID or by subject', async () => {
  const subject = topic('Question');
  const id = await send(subject);
  const { rows } = await gateway.actor.pool.query('select message_id from email where id = $1', [id]);
  const [byId, bySubject] = [
    await receive('Other words', { inReplyTo: [rows[0].message_id] }),
    await receive(`Re: ${subject}`),
  ];
  await assign(byId, bySubject);
  const place = await readPlace(id);
  expect(await readPlace(byId)).toMatchObject({ thread_id: place?.thread_id, thread_reason: 'header' });
  expect(await readPlace(bySubject)).toMatchObject({ thread_id: place?.thread_id, thread_reason: 'subject' });
});

test('an email whose subject a stored reply has joins the thread of that reply', async () => {
  const subject = topic('Early reply');
  const reply = await receive(`Re: ${subject}`);
  await assign(reply);
  const id = await send(subject);
  expect(await readPlace(id)).toEqual({
    thread_id: (await readPlace(reply))?.thread_id,
    thread_position: 1,
    thread_reason: 'subject',
  });
});

test('an email that is marked as a reply by its subject alone joins the original', async () => {
  const subject = topic('Bare');
  const received = await receive(subject);
  await assign(received);
  const id = await send(`Re: ${subject}`);
  expect(await readPlace(id)).toMatchObject({
    thread_id: (await readPlace(received))?.thread_id,
    thread_reason: 'subject',
  });
});

/** Waits until one transaction waits for a lock of that kind. */
async function expectWaiting(kind: string): Promise<void> {
  await expect
    .poll(async () => {
      const { rows } = await gateway.owner.pool.query(
        `select count(*)::integer as n from pg_locks l join pg_stat_activity a using (pid)
         where not granted and a.datname = current_database() and ${kind}`,
      );
      return rows[0].n;
    })
    .toBe(1);
}

/** Stores the thread of a received email, as a transaction that threads it does. */
async function storeThread(client: pg.ClientBase, emailId: string): Promise<void> {
  await client.query(
    `insert into thread (workspace_id, id, root_message_id, normalized_subject, participant_emails, participant_names, search_text,
       message_count, received_count, unread_count, archived_count, latest_email_id, last_message_at, created_at)
     select workspace_id, 'th_' || id, message_id, base_subject, array[$2, own_address], '{}',
       lower(base_subject || e'\\n' || $2 || e'\\n' || own_address), 1, 1, 1, 0, id, thread_at, thread_at
     from email where id = $1`,
    [emailId, AWAY],
  );
  await client.query(`update email set thread_id = 'th_' || id, thread_position = 0 where id = $1`, [emailId]);
}

test('emails wait for a transaction that joins mail, and then see what it stored', async () => {
  const subject = topic('Race');
  const reply = await receive(`Re: ${subject}`);
  let sending = Promise.resolve('');
  await inTransaction(gateway.actor, async (client) => {
    await lockThreads(client, box.workspaceId);
    sending = send(subject);
    await expectWaiting(`locktype = 'advisory' and mode = 'ShareLock'`);
    await storeThread(client, reply);
    await client.query(
      `insert into thread_subject (workspace_id, base_subject_sha256, participant, is_reply, date, email_id, thread_id)
       select workspace_id, sha256(convert_to(lower(base_subject), 'UTF8')), $2, true, created_at, id, thread_id from email where id = $1`,
      [reply, AWAY],
    );
  });
  expect(await readPlace(await sending)).toMatchObject({ thread_id: `th_${reply}`, thread_position: 1 });
});

test(`${PARALLEL} emails at once through two gateways, while replies to them arrive, end in the threads of their subjects`, async () => {
  const subjects = Array.from({ length: PARALLEL }, (_, n) => topic(`Burst ${n}`));
  const replies = await Promise.all(subjects.map((subject) => receive(`Re: ${subject}`)));
  const [ids] = await Promise.all([
    Promise.all(subjects.map((subject, n) => send(subject, {}, n % 2 === 0 ? gateway.call : other.call))),
    ...Array.from({ length: 10 }, (_, n) => assign(...replies.filter((_reply, at) => at % 10 === n))),
  ]);
  const places = await Promise.all(ids.map(readPlace));
  const placesOfReplies = await Promise.all(replies.map(readPlace));
  expect(places.map((place) => place?.thread_id)).toEqual(placesOfReplies.map((place) => place?.thread_id));
  expect(new Set(places.map((place) => place?.thread_id)).size).toBe(PARALLEL);
});

test('each email of a batch starts a thread of its own, also when all have one subject', async () => {
  const emails = Array.from({ length: 20 }, () => email('The same news'));
  const response = await gateway.call(box.apiKey, 'POST', '/emails/batch', emails);
  const ids: string[] = response.json().data.map(({ id }: { id: string }) => id);
  const places = await Promise.all(ids.map(readPlace));
  expect(new Set(places.map((place) => place?.thread_id)).size).toBe(20);
  expect(places.every((place) => place?.thread_position === 0)).toBe(true);
});

test('a request that is repeated with its Idempotency-Key starts one thread', async () => {
  const subject = topic('Once');
  const request = () => send(subject, {}, gateway.call, { 'idempotency-key': subject });
  const ids = await Promise.all(Array.from({ length: 5 }, request));
  expect(new Set(ids).size).toBe(1);
  const { rows } = await gateway.actor.pool.query('select id from thread where normalized_subject = $1', [subject]);
  expect(rows).toHaveLength(1);
});

/** Submits a message as a client does over SMTP, with a Message-ID of its own, and returns the id of the email. */
async function submit(messageId: string, subject: string, recipient = AWAY): Promise<string> {
  const lines = [`From: ${box.address}`, `To: ${recipient}`, `Subject: ${subject}`, `Message-ID: ${messageId}`];
  const bytes = Buffer.from([...lines, '', 'Hello', ''].join('\r\n'));
  const request = { keySha256: hash('sha256', box.apiKey, 'hex'), reversePath: box.address, recipients: [recipient] };
  const { verdict } = await gateway.bus.ask('gateway.message.submit', request, { bytes });
  expect(verdict).toBe('accepted');
  const { rows } = await gateway.actor.pool.query(
    'select id from email where message_id = $1 and to_addresses = array[$2]',
    [messageId, recipient],
  );
  return rows[0].id;
}

test('a submitted message whose Message-ID others refer to joins them', async () => {
  const messageId = `<${randomUUID()}@client.test>`;
  const reply = await receive('Re: Late', { inReplyTo: [messageId] });
  await assign(reply);
  const id = await submit(messageId, 'Late');
  expect(await readPlace(id)).toMatchObject({ thread_id: (await readPlace(reply))?.thread_id });
});

test('a submitted message joins mail with its Message-ID that another transaction is about to commit', async () => {
  const messageId = `<${randomUUID()}@client.test>`;
  const first = await receive(topic('Copy'), { messageId });
  let submitting = Promise.resolve('');
  await inTransaction(gateway.actor, async (client) => {
    await storeThread(client, first);
    await client.query(
      'insert into thread_message_id (workspace_id, message_id, thread_id) select workspace_id, message_id, thread_id from email where id = $1',
      [first],
    );
    submitting = submit(messageId, topic('Copy'));
    await expectWaiting(`locktype = 'transactionid'`);
  });
  expect(await readPlace(await submitting)).toMatchObject({ thread_id: `th_${first}`, thread_position: 1 });
});

test('a scheduled email has no thread before it is released', async () => {
  expect(await readPlace(await send(topic('Later'), { scheduled_at: 'in 2 hours' }))).toMatchObject({
    thread_id: null,
  });
});

test('an email is sent although another transaction holds the threads of its user for long, and is threaded later', async () => {
  const id = await inTransaction(gateway.actor, async (client) => {
    await lockThreads(client, box.workspaceId);
    return send(topic('Busy'));
  });
  expect(await readPlace(id)).toMatchObject({ thread_id: null });
  expect(await assign(id)).toBe(1);
});
