import { type DeadRow, type DeadSelection, listDeadRows, replayDeadRows } from '../db/queries/upkeep/dead-row.ts';
import { readArguments, readConfigOrRefuse, refuseToStart, refuseUsage } from './runner/command-line.ts';
import { asOwner, onDatabase } from './runner/reach-database.ts';

/** Maximum number of rows listed at once. */
const MAX_LISTED = 10_000;

const { words, options } = readArguments({
  words: 2,
  optionalWords: 1,
  options: { actor: { type: 'string' }, all: { type: 'boolean' }, json: { type: 'boolean' } },
  usage: `Usage: npx node bin/dead.ts list [--actor A] [--json]
       npx node bin/dead.ts replay ID | --all | --actor A

Manages dead rows: rows that failed 25 times because of an error in Postroom itself, and are no longer
processed. They can be mail to store, thread, route or send, deliveries, or scheduled mail.

list prints them, oldest first, at most ${MAX_LISTED.toLocaleString('en')}. replay returns them to processing within seconds.

  ID          one row, by its id in the list
  --actor A   rows of one actor: receiving, threading, sending, scheduling or delivery
  --all       all rows
  --json      print one JSON object per line

Both work whether or not the service runs. They use the database of DATABASE_URL, or else of DATA_DIR
(default ./data).`,
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
      asOwner(url, 'dead', async (database) => shown(await listDeadRows(database, selection, MAX_LISTED)));
  }
  if (command !== 'replay') return refuseUsage(`Unknown command '${command}'`);
  const chosen = [id, options['actor'], options['all']].filter((one) => one != null);
  if (chosen.length !== 1) return refuseUsage('replay requires one of ID, --actor and --all');
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
      return `${row.subject_id}  ${row.actor}/${row.step}  dead since ${since}  user ${row.workspace_id}  ${row.last_error}`;
    return JSON.stringify({
      id: row.subject_id,
      actor: row.actor,
      step: row.step,
      workspaceId: row.workspace_id,
      tries: row.tries,
      error: row.last_error,
      firstFailedAt: row.first_failed_at.toISOString(),
      deadAt: since,
    });
  });
  return lines.map((line) => `${line}\n`).join('');
}
