import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exportToDirectory } from '../../bin/runner/export-account.ts';
import { encryptSecret, NONCE_BYTES } from '../../core/shared/secret-box.ts';
import type { Database } from '../../db/connection/database.ts';
import { createTestDatabase, type TestDatabase } from '../support/cluster/database.ts';
import { insertEmails } from '../support/rows/email-rows.ts';
import { createMailbox, type TestMailbox } from '../support/rows/routing-rows.ts';
import { makeMail } from '../support/stages/thread-stage.ts';

const SECRET_KEY = randomBytes(32);

let testDatabase: TestDatabase;
let owner: Database;
let mailbox: TestMailbox;
let directory: string;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  owner = testDatabase.open(null);
  mailbox = await createMailbox(owner, { domain: 'box.test', address: 'hello@box.test' });
  directory = await mkdtemp(path.join(tmpdir(), 'postroom-export-'));
});
afterAll(async () => {
  await testDatabase.drop();
  await rm(directory, { recursive: true, force: true });
});

async function exported(name: string, file: string, secretKey: Uint8Array | null): Promise<Record<string, unknown>[]> {
  const { workspaceId } = mailbox;
  await exportToDirectory(owner, { workspaceId, directory: path.join(directory, name), secretKey });
  const text = await readFile(path.join(directory, name, file), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

async function addWebhook(format: string, url: string): Promise<void> {
  await owner.pool.query(
    `insert into endpoint (workspace_id, id, name, type, webhook_format, config, secret_ciphertext) values ($1, $2, $3, 'webhook', $3, $4, $5)`,
    [
      mailbox.workspaceId,
      `ep_${format}`,
      format,
      { url, retryAttempts: 3 },
      encryptSecret(SECRET_KEY, 'webhook-secret', 'whsec_x', randomBytes(NONCE_BYTES)),
    ],
  );
}

test('exports only the origin of chat webhooks, and the complete URL with secrets', async () => {
  await addWebhook('native', 'https://tickets.test/in/box');
  await addWebhook('chat_a', 'https://chat-a.test/api/webhooks/1/opens-it');
  await addWebhook('chat_b', 'https://chat-b.test:8443/services/T/B/opens-it?too=this');
  const urls = async (name: string, secretKey: Uint8Array | null) =>
    Object.fromEntries(
      (await exported(name, 'endpoints.jsonl', secretKey)).map(({ id, config }) => [
        id,
        (config as { url: string }).url,
      ]),
    );
  expect(await urls('without', null)).toEqual({
    ep_native: 'https://tickets.test/in/box',
    ep_chat_a: 'https://chat-a.test',
    ep_chat_b: 'https://chat-b.test:8443',
  });
  expect(await urls('with', SECRET_KEY)).toMatchObject({
    ep_chat_a: 'https://chat-a.test/api/webhooks/1/opens-it',
    ep_chat_b: 'https://chat-b.test:8443/services/T/B/opens-it?too=this',
  });
});

test('writes each email on one line in order of arrival, whatever its length', async () => {
  const ids = Array.from({ length: 7 }, (_, n) => `em_${n}${randomBytes(4).toString('hex')}`);
  await insertEmails(
    owner,
    mailbox.workspaceId,
    ids.map((id, n) => makeMail(id, n)),
  );
  await owner.pool.query(`update email_content set text_body = repeat(E'long\\n', 400000) where workspace_id = $1`, [
    mailbox.workspaceId,
  ]);
  const emails = await exported('long', 'emails.jsonl', null);
  expect(emails.map(({ id }) => id)).toEqual(ids);
  for (const { content } of emails) expect((content as { text_body: string }).text_body).toHaveLength(2_000_000);
});
