import { Kysely, PostgresDialect, type Transaction } from 'kysely';
import pg from 'pg';
import type { Origin } from '../../core/accounts/audit.ts';
import type { Reach } from '../../core/accounts/key-rights.ts';
import type { Tables } from '../entities/tables.ts';
import { kyselyPool } from './kysely-pool.ts';
import { type LoginRole, readLoginName } from './logins.ts';
import { openPool } from './open-pool.ts';
import { parseInstant, parseTexts, TEXT_ARRAY_OID } from './text-values.ts';

/** The role that a pool logs in as; null: the owner of the database (migrations, backups, programs for operators). */
export type DatabaseRole = LoginRole | null;

/** One pool of connections under one role: `pool` for hot, prepared statements, `kysely` for composed ones. */
export interface Database {
  pool: pg.Pool;
  kysely: Kysely<Tables>;
  /** a session of the user that asWorkspace reads through (read-session.ts) */
  reading?: { workspaceId: string; run: <T>(work: (transaction: Transaction<Tables>) => Promise<T>) => Promise<T> };
  /** what transactions of the user can access; absent: all (limitedTo) */
  limit?: ReadLimit;
  /** who makes the changes, for the audit log; absent: the process (madeBy) */
  origin?: Origin;
  close(): Promise<void>;
}

/** What an API key, or the payload query of an endpoint with a filter, is limited to. Its addresses are of other domains than its domains. */
export interface ReadLimit extends Reach {
  /** the same database without the limit */
  whole: Database;
}

export interface DatabaseOptions {
  /** URL of the role (loginUrl); with several hosts, the pool follows the primary */
  url: string;
  role: DatabaseRole;
  /** maximum connections; 20 in total on two cores */
  poolSize: number;
  /** shown in pg_stat_activity */
  applicationName: string;
  /** called when the server closed an idle connection */
  onError: (error: Error) => void;
  /** time limit of a statement on the server, and slightly more on the client; null: no limit; 10 s by default */
  statementTimeoutMs?: number | null;
}

/** Milliseconds. */
const STATEMENT_TIMEOUT_MS = 10_000;
/** How much longer the client waits than the server works; milliseconds. */
const RESPONSE_MARGIN_MS = 2_000;
const LOCK_TIMEOUT_MS = 3_000;
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 15_000;
const CONNECTION_TIMEOUT_MS = 5_000;

/**
 * Prepared statements of actors read a few rows by key, and their plans are cached. A plan made while a table was small would still scan
 * the whole table after it has grown, so indexes and nested loops are used from the first row. The plan is kept at all: left to itself,
 * PostgreSQL plans a statement with an array again at every execution, which for one row costs more than executing it. jit: disabled plan
 * types get a high cost, which would trigger JIT compilation (PostgreSQL 17 and earlier).
 */
const ACTOR_PLANNING = ['seqscan', 'bitmapscan', 'hashjoin', 'mergejoin', 'material']
  .map((way) => `-c enable_${way}=off`)
  .concat('-c plan_cache_mode=force_generic_plan', '-c jit=off');

/**
 * Opens a pool; connects lazily. bigint is returned as number, timestamptz as Date, bytea as Buffer. A pool logs in as its role and never
 * uses SET ROLE, because a statement could undo it. Throws when the URL names another user.
 */
export function openDatabase(options: DatabaseOptions): Database {
  if (options.role !== null && readLoginName(options.url) !== options.role)
    throw new Error(`The URL of a pool of ${options.role} names another user`);
  const { statementTimeoutMs = STATEMENT_TIMEOUT_MS } = options;
  const settings = [
    `-c statement_timeout=${statementTimeoutMs ?? 0}`,
    `-c lock_timeout=${LOCK_TIMEOUT_MS}`,
    `-c idle_in_transaction_session_timeout=${IDLE_IN_TRANSACTION_TIMEOUT_MS}`,
    '-c timezone=UTC',
    ...(options.role === 'postroom_actor' ? ACTOR_PLANNING : []),
  ];
  const pool = openPool(options.url, {
    max: options.poolSize,
    options: settings.join(' '),
    application_name: options.applicationName,
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
    // The client's limit ends a query whose server no longer responds (a paused or lost host).
    query_timeout: statementTimeoutMs === null ? 0 : statementTimeoutMs + RESPONSE_MARGIN_MS,
    keepAlive: true,
    types,
  });
  // Idle connections report errors through their own listener; without one on the pool, they would end the process.
  pool.on('error', () => undefined);
  // A connection that breaks while it is checked out fails its query; without a listener it would end the process.
  pool.on('connect', (client) => void client.on('error', options.onError));
  const kysely = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: kyselyPool(pool) }) });
  return { pool, kysely, close: () => pool.end() };
}

const PARSERS: ReadonlyMap<number, (text: string) => unknown> = new Map([
  [pg.types.builtins.INT8, Number],
  [pg.types.builtins.TIMESTAMPTZ, parseInstant],
  [TEXT_ARRAY_OID, parseTexts],
]);

const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format: 'text' | 'binary') => {
    const parse = format === 'text' ? PARSERS.get(oid) : undefined;
    if (parse !== undefined) return parse;
    return pg.types.getTypeParser(oid, format) as unknown;
  }) as pg.CustomTypesConfig['getTypeParser'],
};
