import { randomBytes } from 'node:crypto';
import { readdir, readlink, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { queryOnce } from '../support/cluster/cluster.ts';
import { awaitExit, greets, until } from '../support/servers/service.ts';
import { SmtpClient, toData } from '../support/servers/smtp-client.ts';
import { FaultBench, passLeases } from '../support/stages/fault-bench.ts';
import { waitFor } from '../support/wait-for.ts';

/** Large in every step: it waits on the disk, is committed before it is parsed, and is parsed and delivered apart from small mail. Bytes. */
const LARGE_BYTES = 2_500_000;
/** How long a client waits for the reply of a process that is dead. Milliseconds. */
const REPLY_LIMIT_MS = 5_000;
/** Exit status of a process that has died at a fault point. */
const KILLED = 137;

let bench: FaultBench;
let spool = '';
beforeAll(async () => {
  bench = await FaultBench.start('split', { processes: ['gateway', 'smtp', 'receiving', 'threading', 'delivery'] });
  spool = path.join(bench.service.directory, 'data', 'spool');
});
afterAll(() => bench?.stop());

const about = () => bench.service.output.slice(-2_000);
const query = async <Row extends object>(text: string) => queryOnce<Row>(await bench.service.databaseUrl(), text);
const countStored = async () =>
  (await query<{ count: number }>('select count(*)::int as count from reception'))[0]?.count ?? 0;

/** Claims whose holder is dead, and whose leases go on. */
const OPEN = {
  reception: 'select email_id as id from reception where parsed_at is null and claimed_until > postroom_now()',
  delivery: `select id from delivery where status = 'pending' and claimed_until > postroom_now()`,
};

type Killed = 'smtp' | 'receiving' | 'delivery';

/** Starts it, and awaits that it does its work. One that dies at a point that it reaches by itself does not. */
async function start(name: Killed, environment: Record<string, string> = {}): Promise<void> {
  bench.service.startProcess(name, environment);
  if (name === 'smtp') await until('SMTP greets', about, () => greets(bench.service.smtpPort));
  if (name === 'receiving') await bench.awaitVerdicts();
}

/** Starts the process again, and awaits that all that was offered is stored once, delivered, and no longer on the disk. */
async function recover(name: Killed): Promise<void> {
  await passLeases(await bench.service.databaseUrl());
  await start(name);
  expect(await readdir(spool)).toEqual([]);
  await bench.offerAgain();
  await bench.settle();
}

/** Returns the bytes of the largest file of the spool that the process has open. Such files have no names. */
async function spooledBytes(pid: number): Promise<number> {
  const folder = `/proc/${pid}/fd`;
  const sizes = (await readdir(folder)).map(async (file) => {
    const target = await readlink(path.join(folder, file)).catch(() => '');
    return target.startsWith(spool) ? (await stat(path.join(folder, file))).size : 0;
  });
  return Math.max(...(await Promise.all(sizes)));
}

test('large mail of which half has arrived when the process is killed leaves nothing, and is stored when it is sent again', async () => {
  const head = `Message-ID: <half@ledger.test>\r\nFrom: ledger@elsewhere.test\r\nTo: ${bench.address}\r\nSubject: half\r\n\r\n`;
  const body = Array.from({ length: LARGE_BYTES / 74 }, () => `${randomBytes(54).toString('base64')}\r\n`).join('');
  const bytes = Buffer.from(head + body);
  const smtp = bench.service.processes.get('smtp');
  const client = await SmtpClient.greet(bench.service.smtpPort);
  await client.begin([bench.address]);
  client.send(toData(bytes).subarray(0, bytes.length / 2));
  await waitFor(async () => expect(await spooledBytes(smtp?.pid ?? 0)).toBeGreaterThan(500_000));
  expect(await readdir(spool)).toEqual([]);
  await bench.service.end('smtp', 'SIGKILL');
  expect(smtp?.signalCode).toBe('SIGKILL');
  await client.closed;
  expect(await countStored()).toBe(0);
  // As a kill leaves it that comes before the file has lost its name.
  await writeFile(path.join(spool, 'left'), bytes);
  const recipients = [bench.address];
  bench.offers.push({ bytes, recipients, result: { code: null, isDataSent: false, reply: 'connection closed' } });
  await recover('smtp');
});

/** In the order of one message: whether it is stored when the process dies there, and what the dead process has claimed. */
const STEPS: readonly [point: string, what: string, isStored: boolean, open: keyof typeof OPEN | null][] = [
  ['smtp.spooled', 'is on the disk and waits for its turn', false, null],
  ['smtp.loaded', 'is back in memory', false, null],
  ['smtp.before-ask', 'is about to be offered', false, null],
  ['smtp.after-reply', 'is stored and has no 250', true, null],
  ['receiving.before-commit', 'is not committed yet', false, null],
  ['receiving.after-commit', 'is committed and has no 250', true, 'reception'],
  ['receiving.parse-claimed', 'is about to be parsed', true, 'reception'],
  ['receiving.parse-done', 'is parsed', true, 'reception'],
  ['receiving.stored', 'has its email and no webhook', true, null],
  ['delivery.claimed', 'is about to be posted', true, 'delivery'],
  ['delivery.posted', 'is posted and its outcome is not stored', true, 'delivery'],
];

test.each(STEPS)(
  'killed at %s, large mail that %s is neither lost, doubled nor cut',
  async (point, _, isStored, open) => {
    const name = point.slice(0, point.indexOf('.')) as Killed;
    await bench.service.end(name, 'SIGKILL');
    const before = await countStored();
    await start(name, { FAULT: point });
    const child = bench.service.processes.get(name);
    if (child === undefined) throw new Error(`${name} was not started`);
    const [exit, [offered]] = await Promise.all([
      awaitExit(child),
      bench.offer(1, { sizeBytes: LARGE_BYTES, limitMs: REPLY_LIMIT_MS }),
    ]);
    expect(exit).toBe(KILLED);
    expect(await countStored()).toBe(before + (isStored ? 1 : 0));
    if (!isStored) expect(offered?.code).not.toBe(250);
    if (name === 'delivery') expect(offered?.code).toBe(250);
    if (open !== null) expect(await query(OPEN[open])).toHaveLength(1);
    await recover(name);
  },
);
