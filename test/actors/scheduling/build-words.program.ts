import { fork } from 'node:child_process';
import { type KyselyPlugin, sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type BuildWordsOptions, buildWords } from '../../../actors/scheduling/build-words.ts';
import { parseSearch } from '../../../core/search/search-query.ts';
import { openBlock } from '../../../core/search/segment/block.ts';
import type { Database } from '../../../db/connection/database.ts';
import { openReadSession } from '../../../db/connection/read-session.ts';
import { asWorkspace } from '../../../db/connection/transaction.ts';
import { countMatchingEmails, findMatchingEmails } from '../../../db/queries/search/find-mail.ts';
import { noteChanged, noteGone } from '../../../db/queries/search/unindexed-email.ts';
import { removeRetired } from '../../../db/queries/search/word-segment.ts';
import { createTestDatabase, type TestDatabase } from '../../support/cluster/database.ts';
import { type SearchedMail, someMail, storeMail } from '../../support/rows/searched-mail.ts';
import { seededRandom } from '../../support/rows/thread-mail.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';

const USER = 'usr_words';
const NOW = new Date('2026-07-01T00:00:00Z');
const NOTHING = { newCount: 1e6, newSeconds: 1e6, changedCount: 1e6, goneCount: 1e6, changedSeconds: 1e6 };
const NEW = { ...NOTHING, newCount: 1 };
const CHANGED = { ...NOTHING, changedCount: 1, goneCount: 1 };
const ALL = { ...CHANGED, newCount: 1 };

let testDatabase: TestDatabase;
let actor: Database;
let gateway: Database;

beforeEach(async () => {
  testDatabase = await createTestDatabase();
  actor = testDatabase.open('postroom_actor');
  gateway = testDatabase.open('postroom_gateway');
});
afterEach(() => testDatabase.drop());

describe('an email is found exactly once', () => {
  test('in unindexed mail, in a segment, and in a merged one', async () => {
    for (let at = 0; at < 9; at++) {
      await store(`tail${at}`, 3);
      await expectFound();
      await build(NEW);
      await expectFound();
    }
    expect(await segmentCounts()).toEqual([3, 24]);
    expect(await unindexed()).toEqual([]);
  });

  test.each(['words.claimed', 'words.before-swap', 'words.before-commit'] as const)(
    'when the process is killed at %s of a build, a merge and a rewrite',
    async (point) => {
      const killed: BuildWordsOptions = {
        fault(at) {
          if (at === point) throw new Error('killed');
        },
      };
      for (let at = 0; at < 8; at++) {
        await store(`kill${at}`, 2);
        // The eighth build is followed by a merge, which is killed as well.
        await expect(build(NEW, killed)).rejects.toThrow('killed');
        await expectFound();
        await endLeases();
        await build(at === 7 ? NEW : { ...NEW, newCount: 2 });
        await expectFound();
      }
      await change('em_kill3_0', 'redacted text');
      await remove('em_kill2_1');
      await expectFound({ gone: ['em_kill2_1', 'em_kill3_0'] });
      await expect(build(CHANGED, killed)).rejects.toThrow('killed');
      await expectFound({ gone: ['em_kill2_1', 'em_kill3_0'] });
      await endLeases();
      await build(ALL);
      await expectFound({ gone: ['em_kill2_1', 'em_kill3_0'] });
      expect(await found('redacted')).toEqual(['em_kill3_0']);
      expect(await unindexed()).toEqual([]);
    },
  );

  test('when the process is killed between the last segment of a rewrite and its end', async () => {
    await store('first', 4);
    await build(NEW);
    await change('em_first_0', 'redacted text');
    await remove('em_first_1');
    const gone = ['em_first_0', 'em_first_1'];
    const killed = (point: string) => {
      if (point === 'words.settling') throw new Error('killed');
    };
    await expect(build(CHANGED, { fault: killed })).rejects.toThrow('killed');
    expect(await segmentCounts()).toEqual([2]);
    expect(await unindexed()).toEqual(['em_first_0 changed', 'em_first_1 gone']);
    await expectFound({ gone });
    await endLeases();
    await build(CHANGED);
    expect(await unindexed()).toEqual(['em_first_0 new']);
    await expectFound({ gone });
    await build(NEW);
    await expectFound({ gone });
    expect(await found('redacted')).toEqual(['em_first_0']);
  });

  test('when it is stored, changed or removed while a segment with others is built', async () => {
    await store('first', 4);
    let isChanged = false;
    await build(NEW, {
      async fault(at) {
        if (at !== 'words.before-swap' || isChanged) return;
        isChanged = true;
        await store('second', 2);
        await change('em_first_0', 'redacted text');
        await remove('em_first_1');
      },
    });
    const gone = ['em_first_0', 'em_first_1'];
    await expectFound({ gone });
    expect(await found('redacted')).toEqual(['em_first_0']);
    expect((await unindexed()).filter((row) => !row.endsWith('new'))).toEqual([
      'em_first_0 changed',
      'em_first_1 gone',
    ]);
    await build(ALL);
    await expectFound({ gone });
    expect(await found('redacted')).toEqual(['em_first_0']);
    expect(await unindexed()).toEqual([]);
  });

  test('when it is changed while its segment is rewritten', async () => {
    await store('first', 4);
    await build(NEW);
    await change('em_first_0', 'second text');
    let isChanged = false;
    await build(CHANGED, {
      async fault(at) {
        if (at !== 'words.before-swap' || isChanged) return;
        isChanged = true;
        await change('em_first_0', 'third text');
        expect(await found('third')).toEqual(['em_first_0']);
      },
    });
    expect(await found('second')).toEqual([]);
    expect(await found('third')).toEqual(['em_first_0']);
    expect(await unindexed()).toEqual(['em_first_0 new']);
    await build(NEW);
    expect(await found('second text')).toEqual([]);
    expect(await found('third')).toEqual(['em_first_0']);
    await expectFound({ gone: ['em_first_0'] });
  });
});

test.each(['words.claimed', 'words.before-swap', 'words.before-commit', 'words.settling'])(
  'a scheduling process that is killed at %s loses no email and finds none twice',
  async (point) => {
    await store('first', 40);
    await build(NEW);
    await change('em_first_0', 'redacted text');
    await remove('em_first_1');
    await actor.pool.query(`update unindexed_email set noted_at = now() - interval '11 minutes'`);
    await store('second', 210);
    const child = fork(
      new URL('./scheduling-process.ts', import.meta.url),
      [testDatabase.readUrl('postroom_actor'), point],
      { execArgv: [] },
    );
    expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(137);
    const gone = ['em_first_0', 'em_first_1'];
    await expectFound({ gone });
    expect(await found('redacted')).toEqual(['em_first_0']);
    await endLeases();
    await build(ALL);
    expect(await unindexed()).toEqual([]);
    expect((await segmentCounts()).reduce((sum, count) => sum + count, 0)).toBe(249);
    await expectFound({ gone });
    expect(await found('redacted')).toEqual(['em_first_0']);
  },
);

describe('two builders', () => {
  test('never take the same account at once', async () => {
    await store('first', 4);
    let taken = -1;
    await build(NEW, {
      async fault(at) {
        if (at === 'words.claimed') taken = await build(NEW);
      },
    });
    expect(taken).toBe(0);
    await expectFound();
  });

  test('store every email once when one lost its lease', async () => {
    await store('first', 4);
    let isOvertaken = false;
    await build(NEW, {
      async fault(at) {
        if (at !== 'words.before-swap' || isOvertaken) return;
        isOvertaken = true;
        await endLeases();
        await build(NEW, {}, 'other');
      },
    });
    expect(isOvertaken).toBe(true);
    expect(await segmentCounts()).toEqual([4]);
    await expectFound();
  });

  test('keep changed words when one lost its lease before the end of a rewrite', async () => {
    await store('first', 4);
    await build(NEW);
    await change('em_first_0', 'second text');
    let isOvertaken = false;
    await build(CHANGED, {
      async fault(at) {
        if (at !== 'words.before-swap' || isOvertaken) return;
        isOvertaken = true;
        await endLeases();
        await build(CHANGED, {}, 'other');
        await build(NEW, {}, 'other');
        await change('em_first_0', 'third text');
      },
    });
    expect(isOvertaken).toBe(true);
    expect(await unindexed()).toEqual(['em_first_0 changed']);
    expect(await found('second')).toEqual([]);
    expect(await found('third')).toEqual(['em_first_0']);
  });

  test('merge every segment once when one lost its lease', async () => {
    for (let at = 0; at < 7; at++) {
      await store(`m${at}`, 2);
      await build({ ...NEW, newCount: 2 });
    }
    await store('last', 2);
    let swaps = 0;
    await build(NEW, {
      async fault(at) {
        // The second swap is that of the merge.
        if (at !== 'words.before-swap' || ++swaps !== 2) return;
        await endLeases();
        await store('more', 1);
        await build(NEW, {}, 'other');
      },
    });
    expect(swaps).toBe(2);
    await expectFound();
    expect((await segmentCounts()).reduce((sum, count) => sum + count, 0)).toBe(17);
  });
});

describe('a burst of mail', () => {
  test('is read by a search only as far as its page requires', async () => {
    await store('burst', 1_200);
    const page = { after: null, before: null, isInverted: false, limit: 26 };
    const readBy = (text: string) =>
      asWorkspace(gateway, USER, async (transaction) => {
        const texts = countTexts();
        const ids = await findMatchingEmails(transaction.withPlugin(texts), search(text), page);
        return { count: texts.count, ids };
      });
    const common = await readBy('everywhere');
    expect(common.ids).toEqual(all().slice(0, 26));
    expect(common.count).toBeLessThanOrEqual(200);
    const rare = await readBy('rare');
    expect(rare.ids).toEqual(['em_burst_300']);
    // The second search has kept what the first one read.
    expect(common.count + rare.count).toBe(1_200);
  });

  test('is put into segments by one run of the builder, each email once', async () => {
    await store('burst', 2_300);
    expect(await build({ ...NEW, newCount: 200 })).toBe(1);
    expect(await unindexed()).toEqual([]);
    expect(await segmentCounts()).toEqual([300, 1_000, 1_000]);
    await expectFound();
  });
});

test('segments are merged up to a limit of bytes, and larger ones stay unchanged', async () => {
  for (let at = 0; at < 12; at++) {
    await store(`m${at}`, 4);
    await build({ ...NEW, newCount: 4 }, { mergedBytes: 1 });
  }
  expect(await segmentCounts()).toEqual(Array.from({ length: 12 }, () => 4));
  const { rows } = await actor.pool.query<{ size: number }>('select max(size_bytes) as size from word_segment');
  const mergedBytes = 2 * (rows[0]?.size ?? 0);
  await store('last', 4);
  await build(NEW, { mergedBytes });
  const { rows: merged } = await actor.pool.query<{ size: number; count: number }>(
    'select max(size_bytes) as size, count(*)::integer as count from word_segment where retired_at is null',
  );
  expect(merged[0]?.size).toBeLessThanOrEqual(mergedBytes);
  expect(merged[0]?.count).toBeLessThan(13);
  expect((await segmentCounts()).reduce((sum, count) => sum + count, 0)).toBe(52);
  await expectFound();
});

describe('words of removed mail are removed', () => {
  test('with the next rewrite, and the old blocks a minute later', async () => {
    await store('first', 30);
    await change('em_first_0', 'rhinoceros');
    await build(ALL);
    expect(await found('rhinoceros')).toEqual(['em_first_0']);
    expect(await bytesWith('hinoceros')).toBe(true);
    await remove('em_first_0');
    expect(await found('rhinoceros')).toEqual([]);
    await build(CHANGED);
    expect(await removeRetired(actor, 10)).toBe(0);
    await actor.pool.query(
      `update word_segment set retired_at = retired_at - interval '61 seconds' where retired_at is not null`,
    );
    expect(await removeRetired(actor, 10)).toBeGreaterThan(0);
    expect(await bytesWith('hinoceros')).toBe(false);
    expect((await segmentCounts()).reduce((sum, count) => sum + count, 0)).toBe(29);
    await expectFound({ gone: ['em_first_0'] });
  });

  test('together with a segment that has no mail left', async () => {
    await store('first', 3);
    await build(NEW);
    for (const id of ['em_first_0', 'em_first_1', 'em_first_2']) await remove(id);
    await build(CHANGED);
    expect(await segmentCounts()).toEqual([]);
    expect(await unindexed()).toEqual([]);
    expect(await found('hello')).toEqual([]);
  });
});

describe('a damaged segment', () => {
  const parts = [
    ['its words', `update word_block set bytes = overlay(bytes placing '\\x00'::bytea from 9) where number = 0`],
    ['its table', `update word_block set bytes = overlay(bytes placing '\\x00'::bytea from 9) where number = -2`],
    ['its ids', 'delete from word_block where number = -1'],
    ['all blocks', 'delete from word_block'],
    ['its head', `update word_segment set head = overlay(head placing '\\x00'::bytea from 9)`],
  ] as const;

  test.each(parts)('is detected by a search, which finds everything, and is built again: %s', async (_, damage) => {
    await store('first', 20);
    await build(NEW);
    await store('second', 2);
    await actor.pool.query(damage);
    const session = openReadSession(gateway, USER);
    expect(await found('everywhere', session.database)).toEqual(all());
    await session.end();
    expect(await segmentCounts()).toEqual([20]);
    await expectFound();
    expect(await segmentCounts()).toEqual([]);
    await build(ALL);
    await expectFound();
    expect(await unindexed()).toEqual([]);
  });

  test.each(parts)('is detected by a merge: %s', async (_, damage) => {
    for (let at = 0; at < 8; at++) {
      await store(`m${at}`, 2);
      await build(
        { ...NEW, newCount: 2 },
        at < 7 ? {} : { fault: async (point) => void (point === 'words.claimed' && (await actor.pool.query(damage))) },
      );
    }
    await build(ALL);
    await build(ALL);
    await expectFound();
    expect(await unindexed()).toEqual([]);
  });
});

test('segments, blocks and unindexed emails of other accounts are not shown', async () => {
  await store('first', 4);
  await build(NEW);
  await store('second', 1);
  const tables = ['word_segment', 'word_block', 'unindexed_email', 'word_build'];
  for (const table of tables) {
    const count = (workspaceId: string) =>
      asWorkspace(gateway, workspaceId, async (transaction) => {
        const { rows } = await sql<{
          count: number;
        }>`select count(*)::integer as count from ${sql.table(table)}`.execute(transaction);
        return rows[0]?.count;
      });
    expect(await count('usr_other'), table).toBe(0);
    expect(await count(USER), table).toBe(table === 'word_build' ? 0 : table === 'word_block' ? 3 : 1);
    expect((await gateway.pool.query(`select from ${table}`)).rowCount).toBe(0);
  }
  await asWorkspace(gateway, 'usr_other', async (transaction) => {
    const { rows } = await sql<{ count: number }>`
      select coalesce(sum(discard_word_segment(${USER}, s.id)), 0)::integer as count from (select id from word_segment
        union select ${'seg_any'}) s`.execute(transaction);
    expect(rows[0]?.count).toBe(0);
  });
  expect(await segmentCounts()).toEqual([4]);
});

const stored = new Map<TestDatabase, SearchedMail[]>();

function mails(): SearchedMail[] {
  return stored.get(testDatabase) ?? [];
}

function all(): string[] {
  return mails()
    .toSorted((one, other) => other.createdAt.getTime() - one.createdAt.getTime() || (one.id < other.id ? 1 : -1))
    .map(({ id }) => id);
}

async function store(name: string, count: number): Promise<void> {
  const some = someMail(seededRandom(mails().length + 1), count).map((mail, at) => ({
    ...mail,
    id: `em_${name}_${at}`,
  }));
  await storeMail(actor, USER, some);
  await actor.pool.query(`update unindexed_email set state = 'new' where email_id like $1`, [`em_${name}_%`]);
  stored.set(testDatabase, [...mails(), ...some]);
}

async function change(id: string, text: string): Promise<void> {
  await actor.pool.query(`update email_content set text_body = $2, html_body = null where email_id = $1`, [id, text]);
  await noteChanged(actor.pool as never, USER, [id]);
}

async function remove(id: string): Promise<void> {
  await noteGone(actor.pool as never, USER, [id]);
  await actor.pool.query('delete from email where id = $1', [id]);
  await actor.pool.query('delete from email_content where email_id = $1', [id]);
}

function build(
  limits: BuildWordsOptions['limits'],
  options: BuildWordsOptions = {},
  name = 'builder',
): Promise<number> {
  return buildWords({ ...testActorContext(actor), name }, { limits, ...options } as BuildWordsOptions, {
    isStopping: () => false,
  });
}

async function endLeases(): Promise<void> {
  await actor.pool.query(`update word_build set claimed_until = now() - interval '1 second'`);
}

function found(text: string, database = gateway): Promise<string[]> {
  const page = { after: null, before: null, isInverted: false, limit: 10_000 };
  return asWorkspace(database, USER, (transaction) => findMatchingEmails(transaction, search(text), page));
}

function search(text: string) {
  return { workspaceId: USER, terms: parseSearch(text, NOW), conditions: {} };
}

/** Every email has the word `everywhere`, but those that are gone or have other words. */
async function expectFound({ gone = [] }: { gone?: string[] } = {}): Promise<void> {
  const ids = all().filter((id) => !gone.includes(id));
  expect(await found('everywhere')).toEqual(ids);
  const count = await asWorkspace(gateway, USER, (transaction) =>
    countMatchingEmails(transaction, search('everywhere')),
  );
  expect(count).toBe(ids.length);
}

/** Counts the emails whose text is read. */
function countTexts(): KyselyPlugin & { count: number } {
  return {
    count: 0,
    transformQuery: ({ node }) => node,
    transformResult({ result }) {
      this.count += result.rows.filter((row) => 'text_body' in row).length;
      return Promise.resolve(result);
    },
  };
}

async function segmentCounts(): Promise<number[]> {
  const { rows } = await actor.pool.query<{ email_count: number }>(
    'select email_count from word_segment where retired_at is null order by 1',
  );
  return rows.map((row) => row.email_count);
}

async function unindexed(): Promise<string[]> {
  const { rows } = await actor.pool.query<{ row: string }>(
    `select email_id || ' ' || state as row from unindexed_email order by 1`,
  );
  return rows.map(({ row }) => row);
}

async function bytesWith(word: string): Promise<boolean> {
  const { rows } = await actor.pool.query<{ bytes: Buffer }>('select bytes from word_block where number >= 0');
  return rows.some(({ bytes }) => openBlock(bytes).includes(word));
}
