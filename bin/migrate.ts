import { withoutPreviousKey } from '../core/shared/previous-key.ts';
import { findLoginFaults } from '../db/connection/logins.ts';
import { connectClient } from '../db/connection/open-pool.ts';
import { pendingMigrations } from '../db/migrate.ts';
import { readArguments, readConfigOrRefuse, refuseToStart } from './runner/command-line.ts';
import { prepareDatabase } from './runner/prepare-database.ts';
import { openSingleMachine } from './runner/processes/single-machine.ts';

const { options } = readArguments({
  options: { check: { type: 'boolean' }, logins: { type: 'boolean' } },
  usage: `Usage: npx node bin/migrate.ts [--check | --logins]

Updates the database schema of DATABASE_URL (with SECRET_KEY), or else of DATA_DIR, and lets the roles
of the service log in with passwords derived from SECRET_KEY. DATABASE_URL must log in as the owner of
the database. npm start does the same. Simultaneous runs wait for each other.

  --check    changes nothing. Exits with 0 if the schema of DATABASE_URL is up to date for this version,
             otherwise with 1 and the missing migrations
  --logins   changes nothing. Prints the statements that a superuser has to run once if the owner may not
             manage roles. The statements contain no plain-text password`,
});

const config = readConfigOrRefuse();
try {
  if (options['check'] !== undefined) await check();
  if (options['logins'] !== undefined) await printLogins();
  const migrated = await run();
  process.stdout.write(migrated.length === 0 ? 'The schema is up to date.\n' : `Ran ${migrated.join(', ')}.\n`);
} catch (error) {
  refuseToStart((error as Error).message);
}

async function check(): Promise<never> {
  if (config.databaseUrl === null) throw new Error('--check requires DATABASE_URL');
  const pending = await pendingMigrations(config.databaseUrl);
  if (pending.length > 0) throw new Error(`Pending migrations: ${pending.join(', ')}`);
  process.stdout.write('The schema is up to date.\n');
  process.exit(0);
}

async function printLogins(): Promise<never> {
  const { databaseUrl, secretKey } = config;
  if (databaseUrl === null || secretKey === null) throw new Error('--logins requires DATABASE_URL and SECRET_KEY');
  const client = await connectClient(databaseUrl);
  try {
    for (const { role, reason, statement } of await findLoginFaults(client, databaseUrl, withoutPreviousKey(secretKey)))
      process.stdout.write(`-- ${role} ${reason}\n${statement === null ? '' : `${statement};\n`}`);
  } finally {
    await client.end();
  }
  process.exit(0);
}

function tell(line: string): void {
  process.stderr.write(`${line}\n`);
}

async function run(): Promise<string[]> {
  const { databaseUrl, secretKey, allowUnsafeWrites } = config;
  if (databaseUrl !== null && secretKey !== null)
    return prepareDatabase({ url: databaseUrl, secretKey, allowUnsafeWrites, warn: tell });
  const machine = await openSingleMachine({
    dataDirectory: config.dataDirectory,
    program: 'migrate',
    tell,
  });
  if (machine === null) return [];
  try {
    const key = secretKey ?? machine.secrets.secretKey;
    return await prepareDatabase({ url: machine.databaseUrl, secretKey: key, allowUnsafeWrites });
  } finally {
    await machine.close();
  }
}
