import { randomBytes } from 'node:crypto';
import { access } from 'node:fs/promises';
import path from 'node:path';
import type { Database } from '../../db/connection/database.ts';
import { describeFaults as faultsInWords, findLoginFaults, schemaRoles } from '../../db/connection/logins.ts';
import { isSchemaTooOld, TOO_OLD, TOO_OLD_FIX } from '../../db/migrate.ts';
import { migrationNames } from '../../db/migrations/names.ts';
import { readMigrations } from '../../db/queries/upkeep/database-contents.ts';
import { fitsSecretKey } from '../../db/queries/upkeep/secret-canary.ts';
import type { Config } from '../config.ts';
import { DataDirectoryTaken, openSingleMachine } from '../runner/processes/single-machine.ts';
import { asOwner, type ReachedDatabase, runningDatabase } from '../runner/reach-database.ts';
import { describeError, type Finding, toFindings } from './finding.ts';

const { ok, warn, fail, skip } = toFindings('PostgreSQL');

/** Oldest supported version. */
const LEAST_MAJOR = 15;
/** Connections that one more process needs. */
const FEW_CONNECTIONS = 12;
const CLOCK_OFF_SECONDS = { warn: 2, fail: 60 };

/**
 * Checks the database, and runs `also` on it if it can be read. Without DATABASE_URL and a running service it starts PostgreSQL for the
 * duration of the checks. Changes nothing if the service was never started.
 */
export async function checkDatabase(
  config: Config,
  also: (database: Database) => Promise<Finding[]>,
): Promise<Finding[]> {
  const look = ({ url, secretKey }: Target) =>
    asOwner(url, 'doctor', async (database) => {
      const findings = await lookAt(database, { url, secretKey });
      const isReadable = findings.every(({ name, state }) => name !== 'schema' || state === 'ok');
      return isReadable ? [...findings, ...(await also(database))] : findings;
    });
  if (config.databaseUrl !== null && config.secretKey !== null)
    return look({ url: config.databaseUrl, secretKey: config.secretKey }).catch((error: unknown) => [
      fail('connection', describeError(error), 'Start the server, or correct DATABASE_URL'),
    ]);
  try {
    const running = await runningDatabase(config);
    if (running !== null) return await look(running);
    const wasStarted = await access(path.join(config.dataDirectory, 'secrets.json')).then(
      () => true,
      () => false,
    );
    if (!wasStarted) return [skip('connection', `the service was never started with DATA_DIR ${config.dataDirectory}`)];
    const machine = await openSingleMachine({
      dataDirectory: config.dataDirectory,
      program: 'doctor',
      tell: () => undefined,
      isServedElsewhere: async () => (await runningDatabase(config)) !== null,
    });
    if (machine === null) return await checkDatabase(config, also);
    try {
      return await look({ url: machine.databaseUrl, secretKey: config.secretKey ?? machine.secrets.secretKey });
    } finally {
      await machine.close();
    }
  } catch (error) {
    const fix =
      error instanceof DataDirectoryTaken
        ? 'Wait until the other program has finished'
        : 'Read DATA_DIR/postgresql/server.log. docs/backup.md explains how to restore';
    return [fail('connection', describeError(error), fix)];
  }
}

async function lookAt(database: Database, { url, secretKey }: Target): Promise<Finding[]> {
  const begun = Date.now();
  const { rows } = await database.pool.query<ServerRow>(SERVER_SQL);
  // Approximately when the server read its clock.
  const askedAt = (begun + Date.now()) / 2;
  const [server] = rows;
  if (server === undefined) return [fail('connection', 'the server does not respond', 'Read its log')];
  return [
    server.version >= LEAST_MAJOR * 10_000
      ? ok('connection', `PostgreSQL ${server.version_text}, ${server.size} in ${server.name}`)
      : fail('connection', `PostgreSQL ${server.version_text} is too old`, `Install version ${LEAST_MAJOR} or newer`),
    server.is_replica
      ? fail(
          'writes',
          'the server is a replica and does not accept writes',
          'Point DATABASE_URL at the primary, or list all hosts in it',
        )
      : ok('writes', 'the server accepts writes'),
    checkSafety(server),
    server.data_checksums === 'on'
      ? ok('checksums', 'checksums of pages are verified')
      : warn(
          'checksums',
          'data_checksums is off, so disk corruption is not detected',
          'Stop the server and run pg_checksums --enable, or create the cluster with initdb -k',
        ),
    checkConnections(server),
    checkClock(server.now.getTime() - askedAt),
    await checkRoles(database, { url, secretKey }),
    ...(await checkSchema(database, secretKey)),
  ];
}

type Target = Pick<ReachedDatabase, 'url' | 'secretKey'>;

interface ServerRow {
  version: number;
  version_text: string;
  name: string;
  size: string;
  is_replica: boolean;
  fsync: string;
  full_page_writes: string;
  synchronous_commit: string;
  data_checksums: string;
  most: number;
  used: number;
  now: Date;
}

const SERVER_SQL = `
  select current_setting('server_version_num')::int as version, split_part(current_setting('server_version'), ' ', 1) as version_text,
    current_database() as name, pg_size_pretty(pg_database_size(current_database())) as size, pg_is_in_recovery() as is_replica,
    current_setting('fsync') as fsync, current_setting('full_page_writes') as full_page_writes,
    -- as the service's connections get it, not as ours has it
    (select coalesce((select split_part(c, '=', 2) from pg_db_role_setting s cross join unnest(s.setconfig) c
       where c like 'synchronous\\_commit=%' and (s.setdatabase = 0 or s.setdatabase = (select oid from pg_database where datname = current_database()))
         and (s.setrole = 0 or s.setrole in (select oid from pg_roles where rolname in (${schemaRoles.map((role) => `'${role}'`).join(', ')}))) limit 1),
       (select setting from pg_settings where name = 'synchronous_commit'))) as synchronous_commit,
    current_setting('data_checksums') as data_checksums,
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as most,
    (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as used, clock_timestamp() as now`;

function checkSafety(server: ServerRow): Finding {
  const off = (['fsync', 'full_page_writes', 'synchronous_commit'] as const).filter((name) => server[name] === 'off');
  if (off.length === 0) return ok('safe writes', 'fsync, full_page_writes and synchronous_commit are on');
  return fail(
    'safe writes',
    `${off.join(', ')} off: accepted mail can be lost in a crash, and the service does not start`,
    `Set ${off.map((name) => `${name} = on`).join(', ')} in postgresql.conf (and in no role or database), then reload`,
  );
}

function checkConnections({ most, used }: ServerRow): Finding {
  const detail = `${used} of ${most} in use`;
  if (most - used >= FEW_CONNECTIONS) return ok('connections', detail);
  return warn(
    'connections',
    `${detail}: another process may not get a connection`,
    'Raise max_connections, run fewer processes, or use a connection pooler',
  );
}

function checkClock(offMs: number): Finding {
  const seconds = Math.abs(offMs) / 1000;
  const detail = `${seconds.toFixed(1)} s ${offMs >= 0 ? 'behind' : 'ahead of'} PostgreSQL's`;
  if (seconds < CLOCK_OFF_SECONDS.warn) return ok('clock', 'this machine and PostgreSQL agree');
  const fix = 'Synchronize both machines with NTP (systemd-timesyncd or chrony)';
  return seconds < CLOCK_OFF_SECONDS.fail ? warn('clock', detail, fix) : fail('clock', detail, fix);
}

async function checkRoles(database: Database, { url, secretKey }: Target): Promise<Finding> {
  const client = await database.pool.connect();
  const faults = await findLoginFaults(client, url, secretKey).finally(() => client.release());
  if (faults.length === 0) return ok('roles', 'the service logs in as its roles, and none has excess rights');
  const fix = faults.every(({ statement }) => statement !== null)
    ? 'Run npx node bin/migrate.ts with the same SECRET_KEY'
    : 'As superuser, remove the excess rights of the role (revoke, reassign owned). docs/operate.md lists the roles';
  return fail('roles', faultsInWords(faults), fix);
}

async function checkSchema(database: Database, secretKey: Uint8Array): Promise<Finding[]> {
  if (await isSchemaTooOld(database.pool)) return [fail('schema', TOO_OLD, TOO_OLD_FIX)];
  const { ran, unknown } = await readMigrations(database);
  const lacking = migrationNames.filter((name) => !ran.includes(name));
  if (unknown.length > 0)
    return [
      fail(
        'schema',
        `the schema is from a newer version of Postroom (${unknown.join(', ')})`,
        'Run that version, or restore a backup made before it',
      ),
    ];
  if (lacking.length > 0)
    return [
      fail('schema', `pending migrations: ${lacking.join(', ')}`, 'Run npx node bin/migrate.ts, or start the service'),
    ];
  const { rows } = await database.pool.query<{ count: number }>('select count(*)::int as count from secret_canary');
  // The first key that is checked would be stored as the right one.
  if (rows[0]?.count === 0) return [ok('schema', 'up to date'), skip('SECRET_KEY', 'no encrypted data yet')];
  return [
    ok('schema', 'up to date'),
    (await fitsSecretKey(database, secretKey, randomBytes))
      ? ok('SECRET_KEY', 'matches the stored data')
      : fail(
          'SECRET_KEY',
          'does not match the stored keys and secrets',
          'Set the original key. It is in DATA_DIR/secrets.json and in every backup',
        ),
  ];
}
