import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { ALLOCATION } from '../../../bin/runner/processes/allocation.ts';
import { chooseNodeFlags, machineMemoryBytes } from '../../../bin/runner/processes/machine-memory.ts';
import { MAX_ACTIONS } from '../../../core/endpoints/actions.ts';
import type { Database } from '../../../db/connection/database.ts';
import { createTestDatabase, type TestDatabase } from '../../support/cluster/database.ts';
import { createMailbox, type TestMailbox } from '../../support/rows/routing-rows.ts';
import { insertThreadedMail } from '../../support/rows/threaded-mail.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { waitFor } from '../../support/wait-for.ts';
import { startDelivering, type TestDelivery, untilDeliveries } from './delivering.ts';

/*
 * Responses of 200 bytes that forward mail of megabytes: the delivery actor composes the copies in turns, whatever ends meanwhile.
 */

/** The most memory that the process may ever have. Bytes. */
const MAX_MEMORY = 600 * 1_024 * 1_024;
const MB = 1_000_000;
const ACCOUNTS = 6;
/** Decoded; two copies are as much as a response may forward. */
const FILE_BYTES = 7_100_000;
/** As many as a response may ask for, of which two have room. */
const FORWARDS = Array.from({ length: MAX_ACTIONS }, (_, at) => ({ type: 'forward', to: `bob${at}@elsewhere.test` }));
const POSSIBLE = 2;

let testDatabase: TestDatabase;
let database: Database;
let owner: Database;
let receiver: WebhookReceiver;
let child: ChildProcess | null = null;
let actors: TestDelivery[] = [];
let count = 0;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = testDatabase.open('postroom_actor');
  owner = testDatabase.open(null);
  receiver = await startWebhookReceiver();
});
afterEach(async () => {
  if (child !== null && child.exitCode === null && child.signalCode === null) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  await Promise.all(actors.map((actor) => actor.stop()));
  actors = [];
});
afterAll(async () => {
  await receiver.stop();
  await testDatabase.drop();
});

async function insertMailbox(): Promise<TestMailbox> {
  const domain = `forwards${count++}.test`;
  const options = { domain, address: `hello@${domain}`, endpointUrl: `${receiver.url}/${domain}` };
  const mailbox = await createMailbox(database, { ...options, endpointConfig: { maxPayloadOctets: 10_000 } });
  await database.pool.query('update endpoint set allow_actions = true where id = $1', [mailbox.endpointId]);
  return mailbox;
}

/** Inserts mail with a file: what is posted of it is small, so that all responses come at once. */
async function receiveLarge(mailbox: TestMailbox, mails: number): Promise<void> {
  const raw = Buffer.from(randomBytes(FILE_BYTES).toString('base64').replaceAll(/.{76}/g, '$&\r\n'));
  const place = { index: 0, contentId: null, contentDisposition: null, start: 0, length: raw.length };
  const file = {
    ...place,
    filename: 'a.bin',
    contentType: 'application/pdf',
    size: FILE_BYTES,
    transferEncoding: 'base64',
  };
  for (let mail = 0; mail < mails; mail++) {
    const { emailId, rawId } = await insertThreadedMail(database, mailbox);
    await owner.pool.query(
      `with r as (update raw_message set packed = $4::bytea, size_bytes = length($4::bytea), sha256 = sha256($4::bytea) where id = $3),
         c as (update email_content set attachments = $5 where workspace_id = $1 and email_id = $2)
       update email set attachment_count = 1, has_attachments = true where workspace_id = $1 and id = $2`,
      [mailbox.workspaceId, emailId, rawId, raw, JSON.stringify([file])],
    );
  }
}

/** Responds with that many forwards for each of these mailboxes, and with a reply for the others. */
function respondFor(forwards: ReadonlyMap<TestMailbox, number>): void {
  const counts = new Map([...forwards].map(([{ address }, count]) => [`/${address.split('@')[1]}`, count]));
  receiver.respond(({ path }) => {
    const count = counts.get(path) ?? 0;
    const actions = count === 0 ? [{ type: 'reply', text: 'Hello' }] : FORWARDS.slice(0, count);
    return { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ actions }) };
  });
}

async function countSent({ workspaceId }: TestMailbox): Promise<number> {
  const { rows } = await database.pool.query<{ sent: number }>(
    `select count(*)::integer as sent from email where workspace_id = $1 and type = 'sent'`,
    [workspaceId],
  );
  return rows[0]?.sent ?? 0;
}

/** Resolves when all deliveries have succeeded; on a busy machine each may take a while. */
async function untilDone(mailbox: TestMailbox, mails: number): Promise<void> {
  for (let done = 1; done <= mails; done++)
    await untilDeliveries(
      database,
      mailbox.endpointId,
      (all) => all.filter(({ status }) => status === 'success').length >= done,
    );
}

function startProcess(name: string): ChildProcess {
  child = fork(
    new URL('./delivering-process.ts', import.meta.url),
    [testDatabase.readUrl('postroom_actor'), name, 'none'],
    { execArgv: chooseNodeFlags(machineMemoryBytes()), env: { ...process.env, ...ALLOCATION } },
  );
  return child;
}

test(`${ACCOUNTS} accounts forward large mail twice or, which is refused, ten times, within 600 MiB, and another one replies meanwhile`, async () => {
  const forwards = new Map<TestMailbox, number>();
  for (let at = 0; at < ACCOUNTS; at++) forwards.set(await insertMailbox(), at % 2 === 0 ? POSSIBLE : FORWARDS.length);
  const other = await insertMailbox();
  respondFor(forwards);
  for (const mailbox of forwards.keys()) await receiveLarge(mailbox, 1);
  await insertThreadedMail(database, other);
  const { pid } = startProcess('forwarding');
  await untilDone(other, 1);
  expect(await countSent(other)).toBe(1);
  for (const [mailbox, count] of forwards) {
    await untilDone(mailbox, 1);
    expect(await countSent(mailbox)).toBe(count === POSSIBLE ? POSSIBLE : 0);
  }
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const peak = Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? Number.NaN) * 1_024;
  expect(peak, `${Math.round(peak / MB)} MB`).toBeLessThan(MAX_MEMORY);
});

test('a process that stops while forwards wait for their turn leaves them to the next one, which sends each once', async () => {
  const mails = 8;
  const mailbox = await insertMailbox();
  respondFor(new Map([[mailbox, POSSIBLE]]));
  await receiveLarge(mailbox, mails);
  const first = await startDelivering(database, owner, { name: 'stopping' });
  await waitFor(async () => expect(await countSent(mailbox)).toBeGreaterThan(0));
  await first.stop();
  const sent = await countSent(mailbox);
  expect(sent).toBeLessThan(mails * POSSIBLE);
  const next = await startDelivering(database, owner, { name: 'next' });
  actors.push(next);
  await next.moveClock(60);
  await untilDone(mailbox, mails);
  expect(await countSent(mailbox)).toBe(mails * POSSIBLE);
});
