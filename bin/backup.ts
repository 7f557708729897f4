import path from 'node:path';
import { type BackupReport, makeBackup } from './runner/backup/make-backup.ts';
import { readArguments, readConfigOrRefuse, refuseToStart, refuseUsage } from './runner/command-line.ts';
import { tellProgress } from './runner/progress.ts';
import { onDatabase } from './runner/reach-database.ts';

const { words, options } = readArguments({
  words: 1,
  optionalWords: 1,
  options: { into: { type: 'string' } },
  usage: `Usage: npx node bin/backup.ts DIRECTORY
       npx node bin/backup.ts --into FOLDER

Writes a backup of all data to DIRECTORY, which must not exist or must be empty: mail, accounts and
settings at one moment, and SECRET_KEY, which decrypts the stored keys. Protect the backup like the
service itself. Restore it with bin/restore.ts.

It works whether or not the service runs. For DATA_DIR (default ./data) it copies the files of
PostgreSQL and the WAL that makes them consistent. For DATABASE_URL it runs pg_dump, which must be at
least as new as the server.

  --into FOLDER   writes to a new directory in FOLDER, named after the time: 2026-11-22T10-09-10Z

It prints progress to stderr and one JSON line about the finished backup to stdout. An interrupted
backup leaves at most a folder DIRECTORY.draft-N, which bin/restore.ts rejects.`,
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
