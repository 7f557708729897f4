import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { assignThreads } from '../../actors/threading/assign-thread.ts';
import { scanHeaders } from '../../core/mime/parse-message.ts';
import { baseSubject } from '../../core/mime/subject.ts';
import type { Database } from '../../db/connection/database.ts';
import { analyzeTables } from '../../db/queries/upkeep/analyze-tables.ts';
import { createTestDatabase, type TestDatabase } from '../support/cluster/database.ts';
import {
  type CorpusMessage,
  corporaDirectory,
  hasCorpora,
  readThreadSet,
  scoreThreads,
  shuffled,
  type ThreadTruth,
  threadSets,
} from '../support/mail/corpora.ts';
import { insertEmails, type StoredMail } from '../support/rows/email-rows.ts';
import { canonicalPartition } from '../support/rows/thread-mail.ts';
import { testActorContext } from '../support/stages/actor-context.ts';

const OWN_ADDRESS = 'list@inbox.test';
const BATCH = 25;

describe.skipIf(!hasCorpora)('threads of the corpora, straight into the database', () => {
  let testDatabase: TestDatabase;
  let database: Database;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    database = testDatabase.open('postroom_actor');
  });
  afterAll(() => testDatabase.drop());

  test.each(threadSets)(
    '%s: linked as its truth says, and the same in 5 shuffled orders',
    async (name) => {
      const { messages, truth } = await readThreadSet(name);
      const mails = messages.map(threadable);
      const partitions: Map<string, string>[] = [];
      for (let seed = 0; seed <= 5; seed++) {
        const order = seed === 0 ? mails : shuffled(mails, seed);
        partitions.push(await threadAll(database, `usr_${name}_${seed}`, order));
      }
      const [received, ...others] = partitions;
      for (const [index, other] of others.entries()) expect(other, `shuffle ${index + 1}`).toEqual(received);

      const threadOfId = byMessageId(truth, received ?? new Map());
      const { recall, justified, pairs } = scoreThreads(truth, threadOfId);
      expect(threadOfId.size).toBe(Object.keys(truth.files).length);
      expect(recall).toBeGreaterThanOrEqual(0.995);
      expect(justified).toBeGreaterThanOrEqual(0.99);

      const tool = await scoreByTool(name, threadOfId);
      expect(tool).toEqual({ recall: Number(recall.toFixed(5)), justified: Number(justified.toFixed(5)), pairs });
    },
    120_000,
  );
});

/** Stores and threads the messages in this order; returns the thread of each file. */
async function threadAll(
  database: Database,
  workspaceId: string,
  mails: readonly StoredMail[],
): Promise<Map<string, string>> {
  const context = testActorContext(database);
  for (let at = 0; at < mails.length; at += BATCH) {
    if (at % (10 * BATCH) === 0) await analyzeTables(database);
    const batch = mails
      .slice(at, at + BATCH)
      .map((mail, index) => ({ ...mail, createdAt: new Date(Date.UTC(2026, 0, 1) + (at + index) * 1_000) }));
    await insertEmails(database, workspaceId, batch);
    const count = await assignThreads(
      context,
      workspaceId,
      batch.map((mail) => mail.emailId),
    );
    expect(count).toBe(batch.length);
  }
  const { rows } = await database.pool.query<{ id: string; thread_id: string }>(
    `select id, thread_id from email where workspace_id = $1`,
    [workspaceId],
  );
  return canonicalPartition(new Map(rows.map((row) => [row.id, row.thread_id])));
}

/** What threading needs of a message stands in its header section. */
function threadable({ file, bytes }: CorpusMessage): StoredMail {
  const head = scanHeaders(bytes, '');
  const { from, to, cc } = head.addresses;
  const createdAt = new Date(Date.UTC(2026, 0, 1));
  return {
    emailId: file,
    messageId: head.messageId ?? `<${path.basename(file)}@mail.inbox.test>`,
    inReplyTo: head.inReplyTo,
    references: head.references,
    subject: head.subject,
    baseSubject: baseSubject(head.subject),
    ownAddress: OWN_ADDRESS,
    addresses: [from, to, cc].flatMap((list) => list?.addresses.map((mailbox) => mailbox.address) ?? []),
    createdAt,
    date: head.date ?? createdAt,
  };
}

function byMessageId(truth: ThreadTruth, threadOfFile: ReadonlyMap<string, string>): Map<string, string> {
  const threadOfName = new Map([...threadOfFile].map(([file, thread]) => [path.basename(file), thread]));
  return new Map(
    Object.entries(truth.files).flatMap(([id, file]) => {
      const thread = threadOfName.get(path.basename(file));
      return thread === undefined ? [] : [[id, thread] as const];
    }),
  );
}

/** The corpora's own tool, on the same map. */
async function scoreByTool(
  name: string,
  threadOfId: ReadonlyMap<string, string>,
): Promise<{ recall: number; justified: number; pairs: number }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'postroom-threads-'));
  try {
    const map = path.join(folder, 'map.json');
    await writeFile(map, JSON.stringify(Object.fromEntries(threadOfId)));
    const { stdout } = await promisify(execFile)('python3', [
      path.join(corporaDirectory, 'tools', 'score_threads.py'),
      path.join(corporaDirectory, 'threads', `${name}.truth.json`),
      map,
    ]);
    const refs = /^refs (.*)$/m.exec(stdout)?.[1] ?? '{}';
    const [, justified, pairs] = /^justified (\S+) of (\d+) pairs$/m.exec(stdout) ?? [];
    return {
      recall: (JSON.parse(refs) as { recall: number }).recall,
      justified: Number(justified),
      pairs: Number(pairs),
    };
  } finally {
    await rm(folder, { recursive: true });
  }
}
