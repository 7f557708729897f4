import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { readRunRecord, readSecrets } from '../db/data-directory.ts';
import { type Database, isConnectionLost, openDatabase } from '../db/database.ts';
import { migrate } from '../db/migrate.ts';
import { createAccount, type NewAccount } from '../db/queries/account.ts';
import { readArguments, readConfigOrRefuse, refuseToStart, refuseUsage } from './runner/command-line.ts';
import { DataDirectoryTaken, databaseUrlOf, openSingleMachine } from './runner/single-machine.ts';

/** How long the database may change hands before we give up; milliseconds. */
const PATIENCE_MS = 90_000;

const { words, options } = readArguments({
  words: 2,
  options: { password: { type: 'string' }, key: { type: 'string' } },
  usage: `Usage: npx node bin/account.ts create EMAIL [--password P] [--key K]

Creates an account and prints JSON {"userId","email","apiKey"}. The key is shown this once.

  --password P   for signing in, 8 to 128 characters
  --key K        the API key to give it, 32 to 128 characters of A-Z a-z 0-9 _ -; then the
                 command may be repeated: the account answers to that key afterwards

Works beside a running service and without one. It finds the database by DATABASE_URL,
else by DATA_DIR (default ./data).`,
});

const account = readAccount();
const config = readConfigOrRefuse();

try {
  process.stdout.write(`${JSON.stringify(await create())}\n`);
} catch (error) {
  refuseToStart((error as Error).message);
}

async function create(): Promise<{ userId: string; email: string; apiKey: string }> {
  if (config.databaseUrl !== null) return await createAt(config.databaseUrl);
  // Beside a running service its database is open to us; without one we start it. Either may change while we look.
  for (const deadline = Date.now() + PATIENCE_MS; ; await sleep(200)) {
    try {
      const url = await runningDatabaseUrl();
      if (url !== null) return await createAt(url);
      const machine = await openSingleMachine({
        dataDirectory: config.dataDirectory,
        program: 'account',
        tell: (line) => void process.stderr.write(`${line}\n`),
        isServedElsewhere: async () => (await runningDatabaseUrl()) !== null,
      });
      if (machine === null) continue;
      try {
        await migrate(machine.databaseUrl);
        return await createAt(machine.databaseUrl);
      } finally {
        await machine.close();
      }
    } catch (error) {
      if (error instanceof DataDirectoryTaken || !isConnectionLost(error) || Date.now() > deadline) throw error;
    }
  }
}

/** The database of the service that runs on DATA_DIR; null when none answers. */
async function runningDatabaseUrl(): Promise<string | null> {
  const record = await readRunRecord(config.dataDirectory);
  if (record === null || record.pid === null) return null;
  const secrets = await readSecrets(config.dataDirectory);
  if (secrets === null) return null;
  const url = databaseUrlOf(secrets, record);
  const database = open(url);
  try {
    await database.pool.query('select 1');
    return url;
  } catch {
    return null;
  } finally {
    await database.close();
  }
}

async function createAt(url: string): Promise<{ userId: string; email: string; apiKey: string }> {
  const database = open(url);
  try {
    const created = await createAccount(database, account);
    switch (created.outcome) {
      case 'created':
      case 'kept':
        return { userId: created.userId, email: account.email, apiKey: created.apiKey };
      case 'email taken':
        throw new Error(`${account.email} has an account already; --key gives it another key`);
      case 'key taken':
      case 'domain taken':
        throw new Error('That key belongs to another account or was revoked');
    }
  } finally {
    await database.close();
  }
}

function open(url: string): Database {
  return openDatabase({ url, role: null, poolSize: 1, applicationName: 'account', onError: () => undefined });
}

function readAccount(): NewAccount {
  const [command, email] = words;
  if (command !== 'create') return refuseUsage(`Unknown command '${command}'`);
  const shape = z.object({
    email: z.email('EMAIL must be an address such as you@example.com').max(254).toLowerCase(),
    password: z
      .string()
      .min(8, '--password needs 8 characters or more')
      .max(128, '--password takes 128 characters at most')
      .optional(),
    key: z
      .string()
      .regex(/^[A-Za-z0-9_-]{32,128}$/, '--key takes 32 to 128 characters of A-Z a-z 0-9 _ -')
      .optional(),
  });
  const parsed = shape.safeParse({ email, password: options['password'], key: options['key'] });
  if (!parsed.success) return refuseUsage(parsed.error.issues.map((issue) => issue.message).join('; '));
  const { data } = parsed;
  return { email: data.email, password: data.password ?? null, apiKey: data.key ?? null, mailbox: null };
}
