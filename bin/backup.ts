import path from 'node:path';
import { type BackupReport, makeBackup } from './runner/backup/make-backup.ts';
import { readArguments, readConfigOrRefuse, refuseToStart, refuseUsage } from './runner/command-line.ts';
import { onDatabase } from './runner/on-database.ts';
import { tellProgress } from './runner/progress.ts';

const { words, options } = readArguments({
  words: 1,
  optionalWords: 1,
  options: { into: { type: 'string' } },
  usage: `Usage: npx node bin/backup.ts DIRECTORY
       npx node bin/backup.ts --into FOLDER

Writes a backup of everything that Postroom keeps to DIRECTORY, which must not exist yet (or be empty):
all mail, accounts and settings as they are at one moment, and SECRET_KEY, without which the keys in
it cannot be opened. Keep it as safe as the service itself. bin/restore.ts reads it.

It works beside a running service and without one. Of the single machine (DATA_DIR, default ./data)
it copies the files of PostgreSQL and the WAL that makes them whole; with DATABASE_URL it runs
pg_dump, which must be at least as new as the server.

  --into FOLDER   writes to a new directory in FOLDER that is named after the time: 2026-11-22T10-09-10Z

Progress goes to stderr, one line of JSON about the finished backup to stdout. A backup that was
broken off leaves a folder DIRECTORY.draft-N behind at most, which bin/restore.ts refuses.`,
});

const config = readConfigOrRefuse();
const { into } = options;
if (words.length === 0 && into === undefined) refuseUsage('DIRECTORY is missing');
if (words.length === 1 && into !== undefined) refuseUsage('DIRECTORY and --into exclude each other');
const directory = path.resolve(into === undefined ? (words[0] ?? '') : path.join(into, timeName(new Date())));
try {
  const report = await onDatabase(config, 'backup', (reached, begin) =>
    makeBackup({ reached, begin, dataDirectory: config.dataDirectory, directory, tell: tellProgress(process.stderr) }),
  );
  process.stdout.write(`${JSON.stringify(report satisfies BackupReport)}\n`);
} catch (error) {
  refuseToStart((error as Error).message);
}

/** A directory name of the time in UTC, to the second. */
function timeName(at: Date): string {
  return at
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(':', '-');
}
