import { readArguments, readConfigOrRefuse, refuseToStart } from './runner/command-line.ts';
import { prepareDatabase } from './runner/prepare-database.ts';
import { openSingleMachine } from './runner/single-machine.ts';

readArguments({
  usage: `Usage: npx node bin/migrate.ts

Brings the schema of the database up to date: of DATABASE_URL (with SECRET_KEY), else of DATA_DIR.
Every start does the same; two at once wait for each other.`,
});

const config = readConfigOrRefuse();
try {
  const migrated = await run();
  process.stdout.write(migrated.length === 0 ? 'The schema is up to date.\n' : `Ran ${migrated.join(', ')}.\n`);
} catch (error) {
  refuseToStart((error as Error).message);
}

function tell(line: string): void {
  process.stderr.write(`${line}\n`);
}

async function run(): Promise<string[]> {
  const { databaseUrl, secretKey, allowUnsafeWrites } = config;
  if (databaseUrl !== null && secretKey !== null)
    return await prepareDatabase({ url: databaseUrl, secretKey, allowUnsafeWrites, warn: tell });
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
