import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { scanOutgoing } from '../../../actors/screening/scanners.ts';
import type { ActionLog } from '../../../core/endpoints/actions.ts';
import type { Database } from '../../../db/connection/database.ts';
import { createTestDatabase, type TestDatabase } from '../../support/cluster/database.ts';
import { createMailbox, type TestMailbox } from '../../support/rows/routing-rows.ts';
import { insertThreadedMail } from '../../support/rows/threaded-mail.ts';
import { EICAR, openTestScanners, startVirusScanner, type VirusServer } from '../../support/servers/scanners.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { startDelivering, type TestDelivery } from './delivering.ts';

let testDatabase: TestDatabase;
let database: Database;
let receiver: WebhookReceiver;
let viruses: VirusServer;
let actor: TestDelivery;
let mailbox: TestMailbox;
let isAway = false;
let count = 0;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = testDatabase.open('postroom_actor');
  receiver = await startWebhookReceiver();
  viruses = await startVirusScanner((bytes) =>
    isAway
      ? 'INSTREAM: Unable to open file. ERROR\0'
      : bytes.includes(EICAR)
        ? 'stream: Eicar FOUND\0'
        : 'stream: OK\0',
  );
  const { virus } = openTestScanners({ virus: { address: viruses.address, whenAway: 'defer' }, pauseMs: 100 });
  if (virus === null) throw new Error('no scanner');
  actor = await startDelivering(database, testDatabase.open(null), {
    scanOutgoing: (bytes) => scanOutgoing(virus, bytes),
  });
});
afterAll(async () => {
  await actor?.stop();
  await receiver?.stop();
  await viruses?.stop();
  await testDatabase?.drop();
});
beforeEach(async () => {
  isAway = false;
  viruses.streams.splice(0);
  const domain = `scanned${count++}.test`;
  mailbox = await createMailbox(database, { domain, address: `hello@${domain}`, endpointUrl: receiver.url });
  await database.pool.query('update endpoint set allow_actions = true where id = $1', [mailbox.endpointId]);
});

/** Delivers a new mail, whose webhook responds with these actions. Returns its id. */
async function respond(actions: unknown): Promise<string> {
  receiver.respond(() => ({
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ actions }),
  }));
  const { emailId } = await insertThreadedMail(database, mailbox);
  actor.wakeRouter();
  return emailId;
}

async function readOutcome(emailId: string): Promise<ActionLog | null> {
  const read = async () => {
    const { rows } = await database.pool.query<{ status: string; actions: ActionLog | null }>(
      'select status, actions from delivery where email_id = $1',
      [emailId],
    );
    return rows[0];
  };
  await vi.waitUntil(async () => !['pending', undefined].includes((await read())?.status), { timeout: 60_000 });
  return (await read())?.actions ?? null;
}

async function countSent(): Promise<number> {
  const { rows } = await database.pool.query(`select from email where workspace_id = $1 and type <> 'received'`, [
    mailbox.workspaceId,
  ]);
  return rows.length;
}

test('scans the replies and forwards of actions, and refuses all actions of a response with a virus', async () => {
  const first = await respond([{ type: 'archive' }, { type: 'reply', text: `See ${EICAR}` }]);
  const log = await readOutcome(first);
  expect(log?.problem?.message ?? JSON.stringify(log)).toContain('The email has a virus: Eicar');
  expect(await countSent()).toBe(0);
  const second = await respond([
    { type: 'reply', text: 'Hello' },
    { type: 'forward', to: 'bob@elsewhere.test' },
  ]);
  expect((await readOutcome(second))?.problem).toBeNull();
  expect(await countSent()).toBe(2);
  expect(viruses.streams).toHaveLength(3);
});

test('sends the reply of an action when the scanner is back', async () => {
  isAway = true;
  const id = await respond([{ type: 'reply', text: 'Hello' }]);
  await vi.waitUntil(() => viruses.streams.length > 0, { timeout: 60_000 });
  expect(await countSent()).toBe(0);
  isAway = false;
  expect((await readOutcome(id))?.problem).toBeNull();
  expect(await countSent()).toBe(1);
});
