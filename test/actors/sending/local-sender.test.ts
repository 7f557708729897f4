import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createByteStore } from '../../../db/byte-store.ts';
import type { LocalSending } from '../../../operations/sending/local-sender.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { type DnsServer, startDnsServer } from '../../support/servers/dns.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { type SinkMta, startSinkMta } from '../../support/servers/sink-mta.ts';
import { recordStatements } from '../../support/statements.ts';
import { listAttempts, listRecipients, moveClock, startSending, type TestSending, untilRecipients } from './sending.ts';

/** A gateway and a sending actor in one process, as `npm start` has them. */
const localSending: LocalSending = { sender: null };
let gateway: TestGateway;
let box: TestMailbox;
let dns: DnsServer;
let sink: SinkMta;
let actor: TestSending;

beforeAll(async () => {
  gateway = await openTestGateway({ localSending });
  box = await gateway.mailbox();
  dns = await startDnsServer();
  sink = await startSinkMta();
  for (const domain of ['a.test', 'b.test', 'c.test']) {
    dns.set(domain, 'MX', [{ preference: 10, exchange: `mx.${domain}` }]);
    dns.set(`mx.${domain}`, 'A', ['127.0.0.1']);
  }
  // Its response tells the gateway PostgreSQL's clock, without which it stores in several statements.
  await post({ to: 'first@a.test', scheduled_at: 'in 2 days' });
  await start();
});
afterEach(async () => {
  sink.respond({});
});
afterAll(async () => {
  await actor.stop();
  await sink.stop();
  await dns.stop();
  await gateway.close();
});

async function start(): Promise<void> {
  const { actor: database } = gateway;
  const bytes = createByteStore({ database, log: gateway.app.log as never });
  actor = await startSending(database, { dnsServers: [dns.address], port: sink.port, localSending, bytes });
}

async function post(more: object = {}): Promise<string> {
  const body = { from: box.address, to: 'ann@a.test', subject: 'Hi', text: 'Hello', ...more };
  const response = await gateway.call(box.apiKey, 'POST', '/emails', body);
  expect(response.statusCode, response.body).toBeLessThan(300);
  return response.json().id;
}

const delivered = (id: string) =>
  untilRecipients(gateway.owner, id, (recipients) => recipients.every(({ status }) => status === 'delivered'));

/** Lets the sink hold the message until the function that is returned is called. */
function holdMessages(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  sink.respond({ message: () => promise.then(() => undefined) });
  return resolve;
}

test('an email is stored with its thread and claimed by one statement, and sent without reading it back', async () => {
  const release = holdMessages();
  const before = sink.transactions.length;
  const { response: id, texts } = await recordStatements(async () => {
    const emailId = await post();
    await sink.until(({ transactions }) => transactions[before]?.recipients.length === 1);
    return emailId;
  });
  const [stored, ...others] = texts;
  expect(stored).toContain('insert into raw_message');
  expect(others.filter((text) => /raw_message|update recipient|from thread/.test(text))).toEqual([]);
  const [recipient] = await listRecipients(gateway.owner, id);
  expect(recipient).toMatchObject({ status: 'pending', attempts: 0, claimed_by: actor.context.name });
  expect(recipient?.return_id).toBe(recipient?.id);
  expect(recipient?.lease_seconds).toBeGreaterThan(0);
  expect(await listAttempts(gateway.owner, id)).toMatchObject([{ number: 1, outcome: null }]);
  const { rows } = await gateway.owner.pool.query('select thread_id from email where id = $1', [id]);
  expect(rows[0].thread_id).not.toBeNull();
  release();
  expect(await delivered(id)).toMatchObject([{ attempts: 1, claimed_by: null }]);
  expect(await listAttempts(gateway.owner, id)).toMatchObject([{ number: 1, outcome: 'delivered' }]);
});

test('recipients of one domain share a transaction with the return address of the first, and other domains have their own', async () => {
  const before = sink.messages.length;
  const id = await post({ to: ['ann@a.test', 'ben@a.test'], cc: ['cis@b.test'], bcc: ['dan@a.test'] });
  const recipients = await delivered(id);
  const messages = sink.messages.slice(before);
  expect(
    messages.map((message) => message.recipients.toSorted()).toSorted((a, b) => (a.length < b.length ? 1 : -1)),
  ).toEqual([['ann@a.test', 'ben@a.test', 'dan@a.test'], ['cis@b.test']]);
  const returnIds = (domain: string) => [
    ...new Set(recipients.filter(({ address }) => address.endsWith(domain)).map((recipient) => recipient.return_id)),
  ];
  const smallest = (domain: string) =>
    recipients
      .filter(({ address }) => address.endsWith(domain))
      .map((recipient) => recipient.id)
      .toSorted()[0];
  for (const domain of ['a.test', 'b.test']) expect(returnIds(domain)).toEqual([smallest(domain)]);
  expect(new Set(messages.map(({ from }) => from)).size).toBe(2);
});

test('a batch is claimed as it is stored, and each of its emails is sent once', async () => {
  const before = sink.messages.length;
  const emails = Array.from({ length: 20 }, (_, n) => ({
    from: box.address,
    to: [`n${n}@b.test`],
    subject: `Batch ${n}`,
    text: 'Hello',
  }));
  const response = await gateway.call(box.apiKey, 'POST', '/emails/batch', emails);
  expect(response.statusCode).toBe(202);
  for (const { id } of response.json().data) await delivered(id);
  expect(
    sink.messages
      .slice(before)
      .flatMap(({ recipients }) => recipients)
      .toSorted(),
  ).toEqual(emails.flatMap(({ to }) => to).toSorted());
});

test('an email waits in its row while its user has many jobs at the destination', async () => {
  const release = holdMessages();
  const ids = await Promise.all(Array.from({ length: 60 }, (_, n) => post({ to: `n${n}@c.test` })));
  const claims = async () =>
    (await Promise.all(ids.map((id) => listAttempts(gateway.owner, id)))).filter(({ length }) => length > 0).length;
  // Mail to other destinations is claimed although these wait.
  const other = await post({ to: 'ann@b.test' });
  expect(await listAttempts(gateway.owner, other)).toHaveLength(1);
  expect(await claims()).toBeGreaterThanOrEqual(40);
  release();
  for (const id of [...ids, other]) await delivered(id);
  for (const id of ids)
    expect(await listAttempts(gateway.owner, id)).toMatchObject([{ number: 1, outcome: 'delivered' }]);
});

test('mail to a suppressed address is refused, and neither stored nor sent', async () => {
  await gateway.call(box.apiKey, 'POST', '/suppressions', { address: 'no@a.test' });
  const before = sink.transactions.length;
  const response = await gateway.call(box.apiKey, 'POST', '/emails', {
    from: box.address,
    to: ['no@a.test', 'ann@a.test'],
    subject: 'Hi',
    text: 'Hello',
  });
  expect(response.statusCode).toBe(400);
  await delivered(await post());
  expect(sink.transactions.slice(before)).toHaveLength(1);
});

test('concurrent requests with one key store, claim and send one email', async () => {
  const before = sink.messages.length;
  const body = { from: box.address, to: 'once@a.test', subject: 'Once', text: 'Hello' };
  const headers = { 'idempotency-key': 'once' };
  const responses = await Promise.all(
    Array.from({ length: 10 }, () => gateway.call(box.apiKey, 'POST', '/emails', body, headers)),
  );
  const ids = new Set(responses.map((response) => response.json().id));
  expect(ids.size).toBe(1);
  await delivered([...ids][0] ?? '');
  expect(sink.messages.slice(before)).toHaveLength(1);
});

/** Returns the statements of a request that write rows, without those that lock or read, and the response's id. */
async function recordWrites(request: () => Promise<string>): Promise<{ id: string; writes: string[] }> {
  const { response: id, texts } = await recordStatements(request);
  return { id, writes: texts.filter((text) => /\b(?:insert into|update|delete from) [a-z_]+ /.test(text)) };
}

test('scheduled mail is stored by one statement after one that reads the time, and nothing of it is claimed', async () => {
  const { response: id, texts } = await recordStatements(() => post({ to: 'ann@b.test', scheduled_at: 'in 3 days' }));
  expect(texts).toEqual(['select postroom_now() as now', expect.stringContaining('insert into raw_message')]);
  expect(await listRecipients(gateway.owner, id)).toMatchObject([{ claimed_by: null, wait_seconds: null }]);
  const { rows } = await gateway.owner.pool.query(
    'select status, thread_id, scheduled_by_key_id from email where id = $1',
    [id],
  );
  expect(rows).toMatchObject([
    { status: 'scheduled', thread_id: null, scheduled_by_key_id: expect.stringMatching(/^key_/) },
  ]);
});

async function draft(more: object = {}): Promise<{ id: string; version: number }> {
  const body = { from: box.address, to: 'ann@b.test', subject: 'Draft', text: 'Hello', ...more };
  const response = await gateway.call(box.apiKey, 'POST', '/drafts', body);
  expect(response.statusCode, response.body).toBeLessThan(300);
  return response.json();
}

const sendDraft = ({ id, version }: { id: string; version: number }, headers: Record<string, string> = {}) =>
  gateway.call(box.apiKey, 'POST', `/drafts/${id}/send`, { version }, headers);

test('the statement that stores the email of a draft claims it and removes the draft with its files', async () => {
  const release = holdMessages();
  const attachments = [{ filename: 'a.txt', content: Buffer.from('a').toString('base64') }];
  const written = await draft({ attachments });
  const { id, writes } = await recordWrites(async () => {
    const response = await sendDraft(written);
    expect(response.statusCode, response.body).toBe(200);
    return response.json().id;
  });
  expect(writes).toEqual([expect.stringMatching(/insert into raw_message[\s\S]*delete from draft /)]);
  expect(await listRecipients(gateway.owner, id)).toMatchObject([{ claimed_by: actor.context.name }]);
  for (const [table, column] of [
    ['draft', 'id'],
    ['draft_attachment', 'draft_id'],
  ])
    expect((await gateway.owner.pool.query(`select from ${table} where ${column} = $1`, [written.id])).rowCount).toBe(
      0,
    );
  release();
  await delivered(id);
});

test('a draft that changes while it is sent is kept, and nothing of it is stored or sent', async () => {
  const before = sink.messages.length;
  const written = await draft({ subject: 'Changing' });
  const client = await gateway.owner.pool.connect();
  try {
    await client.query('begin');
    await client.query('update draft set version = version + 1 where id = $1', [written.id]);
    const sending = sendDraft(written);
    await waitForLock(client);
    await client.query('commit');
    const response = await sending;
    expect([response.statusCode, response.json().version]).toEqual([409, written.version + 1]);
  } finally {
    client.release();
  }
  expect((await gateway.owner.pool.query('select from draft where id = $1', [written.id])).rowCount).toBe(1);
  expect((await gateway.owner.pool.query(`select from email where subject = 'Changing'`)).rowCount).toBe(0);
  await delivered(await post());
  expect(sink.messages).toHaveLength(before + 1);
});

/** Resolves when another transaction waits for a row of this one. */
async function waitForLock(client: pg.PoolClient): Promise<void> {
  const waiting = 'select from pg_stat_activity where pg_backend_pid() = any (pg_blocking_pids(pid))';
  while ((await client.query(waiting)).rowCount === 0) await new Promise(setImmediate);
}

test('of 20 requests that send one draft at once, one sends it and the others get 409 or its response', async () => {
  const before = sink.messages.length;
  const written = await draft({ to: 'twenty@b.test' });
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, n) => sendDraft(written, n % 2 === 0 ? {} : { 'idempotency-key': 'one draft' })),
  );
  const sent = responses.filter(({ statusCode }) => statusCode === 200);
  expect(new Set(sent.map((response) => response.json().id)).size).toBe(1);
  expect(responses.filter(({ statusCode }) => ![200, 404, 409].includes(statusCode))).toEqual([]);
  await delivered(sent[0]?.json().id);
  expect(sink.messages.slice(before).filter(({ recipients }) => recipients.includes('twenty@b.test'))).toHaveLength(1);
});

test('a reply is claimed as it is stored in the thread of its original, and nothing of it is read back to send it', async () => {
  const original = await post({ subject: 'Question' });
  await delivered(original);
  const release = holdMessages();
  const before = sink.transactions.length;
  const { response: id, texts } = await recordStatements(async () => {
    const body = { from: box.address, text: 'An addition' };
    const response = await gateway.call(box.apiKey, 'POST', `/emails/${original}/reply`, body);
    expect(response.statusCode, response.body).toBe(200);
    await sink.until(({ transactions }) => transactions[before]?.recipients.length === 1);
    return response.json().id as string;
  });
  expect(texts.filter((text) => /update recipient|from raw_message/.test(text))).toEqual([]);
  const [recipient] = await listRecipients(gateway.owner, id);
  expect(recipient).toMatchObject({ claimed_by: actor.context.name, return_id: recipient?.id });
  const { rows } = await gateway.owner.pool.query('select distinct thread_id from email where id = any ($1)', [
    [original, id],
  ]);
  expect(rows).toEqual([{ thread_id: expect.any(String) }]);
  release();
  expect(await delivered(id)).toMatchObject([{ attempts: 1, claimed_by: null }]);
});

describe('under a send policy', () => {
  /** Posts with a new key that has the policy. */
  async function postUnder(policy: object): Promise<string> {
    const key = await gateway.call(box.apiKey, 'POST', '/api-keys', { name: 'agent', policy });
    const body = { from: box.address, to: 'ann@b.test', subject: 'Hi', text: 'Hello' };
    const response = await gateway.call(key.json().token, 'POST', '/emails', body);
    expect(response.statusCode, response.body).toBeLessThan(300);
    return response.json().id;
  }

  test('mail that may go is claimed as it is stored', async () => {
    const { response: id, texts } = await recordStatements(async () => {
      const emailId = await postUnder({ per_day: 10 });
      await delivered(emailId);
      return emailId;
    });
    expect(texts.filter((text) => /for update of d skip locked|limit \$2 for update skip locked/.test(text))).toEqual(
      [],
    );
    expect(await listAttempts(gateway.owner, id)).toMatchObject([{ number: 1, outcome: 'delivered' }]);
  });

  test.each([
    ['waits to be undone', { undo_seconds: 60 }, 'scheduled'],
    ['waits for approval', { approval: 'always' }, 'awaiting_approval'],
  ])('mail that %s is not claimed', async (_what, policy, status) => {
    const id = await postUnder(policy);
    const { rows } = await gateway.owner.pool.query('select status from email where id = $1', [id]);
    expect(rows).toEqual([{ status }]);
    expect(await listRecipients(gateway.owner, id)).toMatchObject([{ claimed_by: null, wait_seconds: null }]);
    expect(await listAttempts(gateway.owner, id)).toEqual([]);
  });
});

test('the claims of a stopped actor are sent by the next one after the lease', async () => {
  const release = holdMessages();
  const id = await post({ to: 'late@a.test' });
  await sink.until(({ transactions }) => transactions.at(-1)?.recipients.includes('late@a.test') === true);
  const stopping = actor.stop();
  expect(localSending.sender).toBeNull();
  // No actor of this process claims mail now.
  const behind = await post({ to: 'behind@a.test' });
  expect((await listRecipients(gateway.owner, behind))[0]?.claimed_by).toBeNull();
  release();
  await stopping;
  await start();
  await moveClock(gateway.owner, 31);
  for (const each of [id, behind]) {
    actor.wake(box.workspaceId, each);
    await delivered(each);
  }
});
