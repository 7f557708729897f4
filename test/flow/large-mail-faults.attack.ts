import { readdirSync, readlinkSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { killsPerPoint } from '../support/chaos-figures.ts';
import { processTree } from '../support/servers/process-tree.ts';
import { until } from '../support/servers/service.ts';
import { FaultBench } from '../support/stages/fault-bench.ts';

/** Above the size from which a message goes to the disk while it arrives, and so many that some wait for their turn. */
const SIZE_BYTES = 3_000_000;
const MESSAGES = 10;

let bench: FaultBench;
let spoolDirectory = '';
beforeAll(async () => {
  bench = await FaultBench.start('single');
  spoolDirectory = path.join(bench.service.environment['DATA_DIR'] ?? '', 'spool');
}, 300_000);
afterAll(() => bench?.stop());

const about = () => bench.service.output.slice(-2_000);

function findMail(): number {
  const part = processTree(bench.service.processes.get('runner')?.pid ?? 0).find(({ command }) =>
    command.includes('parts/mail.'),
  );
  if (part === undefined) throw new Error('the mail process does not run');
  return part.pid;
}

/** Returns how many files of the spool a process has open. They have no name. */
function countSpools(pid: number): number {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).filter((name) => {
    try {
      return readlinkSync(path.join(folder, name)).startsWith(spoolDirectory);
    } catch {
      return false;
    }
  }).length;
}

/** Offers again what did not get its 250, and expects that each message is stored and delivered once, and nothing is left on the disk. */
async function expectWhole(): Promise<void> {
  expect(await readdir(spoolDirectory)).toEqual([]);
  await bench.offerAgain();
  await bench.settle();
  expect(countSpools(findMail())).toBe(0);
  expect(await readdir(spoolDirectory)).toEqual([]);
}

test('kill -9 of the mail process while large mail goes to the disk loses none that got its 250', async () => {
  for (let kill = 0; kill < killsPerPoint; kill++) {
    const pid = findMail();
    const load = bench.offer(MESSAGES, { sessions: MESSAGES, sizeBytes: SIZE_BYTES });
    await until('large mail is on the disk', about, async () => countSpools(pid) > 2);
    process.kill(pid, 'SIGKILL');
    expect((await load).some(({ code }) => code !== 250)).toBe(true);
    await bench.service.awaitReady();
  }
  await expectWhole();
});

test.each([
  ['smtp.spooled', 'while it waits for its turn'],
  ['smtp.loaded', 'when it is back in memory'],
  ['smtp.before-ask', 'before the receiving actor is asked'],
  ['receiving.before-commit', 'before its commit'],
  ['receiving.after-commit', 'after its commit, before the 250'],
  ['smtp.after-reply', 'when it is stored, before the 250'],
  ['receiving.parse-claimed', 'after its commit, before it is parsed'],
  ['receiving.parse-done', 'when it is parsed'],
  ['receiving.stored', 'when it is stored as an email, before its delivery'],
  ['delivery.claimed', 'before its webhook is posted'],
  ['delivery.posted', 'before the outcome of its webhook is stored'],
])('large mail is neither lost nor doubled: killed at %s, %s', async (point) => {
  for (let kill = 0; kill < killsPerPoint; kill++) {
    await bench.service.end('runner', 'SIGKILL');
    await bench.service.start({ FAULT: point });
    const since = bench.service.output.length;
    const load = bench.offer(MESSAGES, { sessions: MESSAGES, sizeBytes: SIZE_BYTES });
    await bench.service.awaitPartDeath(since);
    // Before the part is back, which would die there again.
    await bench.service.end('runner', 'SIGKILL');
    await load;
  }
  await bench.service.start();
  await expectWhole();
});
