import { type DeadRow, type DeadSelection, listDeadRows, replayDeadRows } from '../db/queries/upkeep/dead-row.ts';
import { readArguments, readConfigOrRefuse, refuseToStart, refuseUsage } from './runner/command-line.ts';
import { asOwner, onDatabase } from './runner/on-database.ts';

/** More are not listed at once. */
const MOST_LISTED = 10_000;

const { words, options } = readArguments({
  words: 2,
  optionalWords: 1,
  options: { actor: { type: 'string' }, all: { type: 'boolean' }, json: { type: 'boolean' } },
  usage: `Usage: npx node bin/dead.ts list [--actor A] [--json]
       npx node bin/dead.ts replay ID | --all | --actor A

Rows over which the work failed twenty-five times for reasons of our own, and which are not worked
on any more: mail that cannot be stored, threaded, routed or sent, deliveries, scheduled mail.

list shows them, oldest first, at most ${MOST_LISTED.toLocaleString('en')}; replay has them worked on again within seconds.

  ID          of one row, as the list shows it
  --actor A   of one actor: receiving, threading, sending, scheduling or delivery
  --all       every row
  --json      a JSON object on each line

Both work beside a running service and without one. They find the database by DATABASE_URL,
else by DATA_DIR (default ./data).`,
});

const work = readCommand();
const config = readConfigOrRefuse();

try {
  process.stdout.write(await onDatabase(config, 'dead', work));
} catch (error) {
  refuseToStart((error as Error).message);
}

function readCommand(): (reached: { url: string }) => Promise<string> {
  const [command, id = null] = words;
  const selection: DeadSelection = { actor: options['actor'] ?? null, subjectId: id };
  if (command === 'list') {
    if (id !== null) return refuseUsage(`Unexpected argument '${id}'`);
    return ({ url }) =>
      asOwner(url, 'dead', async (database) => shown(await listDeadRows(database, selection, MOST_LISTED)));
  }
  if (command !== 'replay') return refuseUsage(`Unknown command '${command}'`);
  const chosen = [id, options['actor'], options['all']].filter((one) => one != null);
  if (chosen.length !== 1) return refuseUsage('replay takes one of ID, --actor and --all');
  return ({ url }) =>
    asOwner(url, 'dead', async (database) => {
      const count = await replayDeadRows(database, selection);
      if (count === 0 && id !== null) throw new Error(`No dead row has the id ${id}`);
      return `${JSON.stringify({ replayed: count })}\n`;
    });
}

function shown(rows: readonly DeadRow[]): string {
  const lines = rows.map((row) => {
    const since = row.dead_at.toISOString();
    if (options['json'] === undefined)
      return `${row.subject_id}  ${row.actor}/${row.step}  dead since ${since}  user ${row.user_id}  ${row.last_error}`;
    return JSON.stringify({
      id: row.subject_id,
      actor: row.actor,
      step: row.step,
      userId: row.user_id,
      tries: row.tries,
      error: row.last_error,
      firstFailedAt: row.first_failed_at.toISOString(),
      deadAt: since,
    });
  });
  return lines.map((line) => `${line}\n`).join('');
}
