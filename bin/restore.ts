import path from 'node:path';
import { findNativePostgresql } from '../db/cluster/native-postgresql.ts';
import {
  BackupRefused,
  checkFiles,
  DUMP_FILE,
  readBackupSecrets,
  readManifest,
  SECRETS_FILE,
} from './runner/backup/backup-manifest.ts';
import { assertEmptyDatabase, emptyDatabase, makeRoles } from './runner/backup/empty-database.ts';
import { readMajor, restoreDump } from './runner/backup/pg-dump.ts';
import { restoreCluster } from './runner/backup/restore-cluster.ts';
import type { Restored } from './runner/backup/settle-restored.ts';
import { assertKnown, settleRestored } from './runner/backup/settle-restored.ts';
import { readArguments, readConfigOrRefuse, refuseToStart, refuseUsage } from './runner/command-line.ts';
import { sizeInWords, tellProgress } from './runner/progress.ts';

const { words, options } = readArguments({
  words: 1,
  options: { check: { type: 'boolean' }, outgoing: { type: 'string' } },
  usage: `Usage: npx node bin/restore.ts DIRECTORY [--outgoing hold|send]
       npx node bin/restore.ts DIRECTORY --check

Restores a backup of bin/backup.ts: a backup of DATA_DIR into DATA_DIR (default ./data), which must
not contain data; a pg_dump backup into the empty database of DATABASE_URL, which must have no other
connections. It checks every file before it writes, and leaves nothing behind if it fails.

  --check            verifies the checksums of the backup and writes nothing
  --outgoing hold    (default) holds outgoing mail, because it may have been sent after the backup;
                     bin/held.ts sends or drops it
  --outgoing send    sends outgoing mail at the next start; mail that was sent after the backup
                     arrives twice, with the same Message-ID

Pending webhooks and forwarded copies are always sent again, webhooks with the same webhook-id. It
prints progress to stderr and one JSON line about the restored data to stdout.`,
});

const directory = path.resolve(words[0] ?? '');
const outgoing = options['outgoing'] ?? 'hold';
if (outgoing !== 'hold' && outgoing !== 'send') refuseUsage('--outgoing must be hold or send');
const config = readConfigOrRefuse();
const tell = tellProgress(process.stderr);

try {
  const { manifest, secrets } = await check();
  if (options['check'] === 'true') {
    const { kind, startedAt, postroomVersion, postgresqlVersion } = manifest;
    print({ directory, kind, startedAt, postroomVersion, postgresqlVersion, isWhole: true });
  } else {
    const restored = await restore(manifest, secrets);
    tellOperator(restored, manifest.startedAt);
    print({ directory, kind: manifest.kind, startedAt: manifest.startedAt, ...restored });
  }
} catch (error) {
  refuseToStart((error as Error).message);
}

type Backup = Awaited<ReturnType<typeof check>>;

async function check() {
  const manifest = await readManifest(directory);
  const bytes = manifest.files.reduce((sum, file) => sum + file.sizeBytes, 0);
  await checkFiles(directory, manifest, (done) => tell.step('Checked', done, bytes));
  const secrets = await readBackupSecrets(directory);
  tell.say(
    `${directory} is complete: ${sizeInWords(bytes)} of Postroom ${manifest.postroomVersion}, created at ${manifest.startedAt}`,
  );
  return { manifest, secrets };
}

async function restore(manifest: Backup['manifest'], secrets: Backup['secrets']): Promise<Restored> {
  const { secretKey, databasePassword } = secrets;
  if (config.secretKey !== null && Buffer.compare(config.secretKey, secretKey) !== 0)
    throw new BackupRefused('SECRET_KEY does not match the backup. Use the one in its secrets.json');
  assertKnown(manifest.migrations);
  const settle = (url: string) => settleRestored({ url, secretKey, outgoing: outgoing === 'send' ? 'send' : 'hold' });
  if (manifest.kind === 'cluster' && databasePassword !== null) {
    if (config.databaseUrl !== null)
      throw new BackupRefused(
        `${directory} is a backup of a single machine. Unset DATABASE_URL to restore it into DATA_DIR`,
      );
    const { dataDirectory } = config;
    const major = Number.parseInt((await findNativePostgresql()).version, 10);
    const made = readMajor(manifest.postgresqlVersion);
    if (major !== made)
      throw new BackupRefused(
        `${directory} was made with PostgreSQL ${made}, but this Postroom includes ${major}. Use a version that includes ${made}`,
      );
    return restoreCluster(
      { directory, manifest, secrets: { secretKey, databasePassword }, dataDirectory, tell },
      settle,
    );
  }
  const url = config.databaseUrl;
  if (url === null)
    throw new BackupRefused(
      `${directory} is a dump of an external database. Set SECRET_KEY, and DATABASE_URL of an empty database`,
    );
  await assertEmptyDatabase(url);
  await makeRoles(url);
  await restoreDump({
    url,
    file: path.join(directory, DUMP_FILE),
    postgresqlVersion: manifest.postgresqlVersion,
    say: tell.say,
  });
  return settle(url).catch((error: unknown) => emptyAgain(url, error as Error));
}

/** Empties the database again: a service started on one that is not settled would send mail a second time. */
async function emptyAgain(url: string, { message }: Error): Promise<never> {
  await emptyDatabase(url).catch((error: Error) => {
    throw new BackupRefused(
      `${message}. The restored database could not be emptied (${error.message}). Drop it, and start no service on it`,
    );
  });
  throw new BackupRefused(`${message}. The database of DATABASE_URL is empty again`);
}

function tellOperator({ accounts, emails, newestEmailAt, held, waiting }: Restored, startedAt: string): void {
  const lines = [
    `Restored: ${accounts} accounts, ${emails} emails${newestEmailAt === null ? '' : `, the newest of ${newestEmailAt.toISOString()}`}.`,
    `Mail and changes after ${startedAt} are not included.`,
  ];
  if (held.recipients > 0)
    lines.push(
      `${held.emails} emails to ${held.recipients} recipients were due and may have been sent after the backup, so they are held.`,
      '  List them: npx node bin/held.ts list      Send them: npx node bin/held.ts send      Drop them: npx node bin/held.ts drop',
    );
  if (outgoing === 'send' && waiting.due > 0)
    lines.push(
      `${waiting.due} recipients and scheduled emails are due and will be sent at the next start, some possibly for the second time.`,
    );
  if (waiting.webhooks > 0)
    lines.push(`${waiting.webhooks} webhooks are pending and will be sent at the next start with the same webhook-id.`);
  if (waiting.unfinished > 0)
    lines.push(
      `${waiting.unfinished} emails had just arrived: they will be parsed and routed again, and their webhooks may be sent twice.`,
    );
  if (waiting.scheduled > 0) lines.push(`${waiting.scheduled} emails are scheduled and go at their time.`);
  if (waiting.forwards > 0)
    lines.push(
      `${waiting.forwards} emails still had to be forwarded: the copies will be sent at the next start, some possibly for the second time.`,
    );
  const start =
    config.databaseUrl === null
      ? 'start this one (npm start)'
      : `set SECRET_KEY of ${path.join(directory, SECRETS_FILE)} for every process of this one, start them (docs/operate.md)`;
  lines.push(`Next: make sure that the first service is off, ${start}, and run npx node bin/doctor.ts.`);
  for (const line of lines) tell.say(line);
}

function print(report: object): void {
  process.stdout.write(`${JSON.stringify(report)}\n`);
}
