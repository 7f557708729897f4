import { Kysely, PostgresDialect, type Transaction } from 'kysely';
import pg from 'pg';
import type { Tables } from '../entities/tables.ts';
import { kyselyPool } from './kysely-pool.ts';
import { type LoginRole, userOf } from './logins.ts';
import { isConnectionError, openPool } from './open-pool.ts';

/** The role that a pool logs in as; null: the owner of the database (migrations, backups, programs for operators). */
export type DatabaseRole = LoginRole | null;

/** One pool of connections under one role: `pool` for hot, prepared statements, `kysely` for composed ones. */
export interface Database {
  pool: pg.Pool;
  kysely: Kysely<Tables>;
  /** asUser reads by this session of the user (read-session.ts), when there is one */
  reading?: { userId: string; run: <T>(work: (transaction: Transaction<Tables>) => Promise<T>) => Promise<T> };
  /** the one domain of the user that transactions of the user show; absent: all (limitedTo) */
  limit?: DomainLimit;
  close(): Promise<void>;
}

/** A domain by which requests of a key are limited. */
export interface DomainLimit {
  id: string;
  name: string;
  /** the same database without the limit */
  whole: Database;
}

export interface DatabaseOptions {
  /** that of the role (loginUrl); with several hosts the pool follows the one that takes writes */
  url: string;
  role: DatabaseRole;
  /** most connections at once; 20 in all on two cores */
  poolSize: number;
  /** shown in pg_stat_activity */
  applicationName: string;
  /** told of connections that the server dropped while idle */
  onError: (error: Error) => void;
  /** after which the server ends a statement, and soon after the client gives it up; null: neither ever does; absent: 10 s */
  statementTimeoutMs?: number | null;
}

/** Milliseconds. */
const STATEMENT_TIMEOUT_MS = 10_000;
/** What the client waits longer than the server works. */
const ANSWER_MARGIN_MS = 2_000;
const LOCK_TIMEOUT_MS = 3_000;
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 15_000;
const CONNECTION_TIMEOUT_MS = 5_000;

/**
 * Actors' prepared statements touch a few rows by their keys, and their plans are kept. One made while a table was small would read
 * all of it, or join with all of it, long after it has grown; so indexes and nested loops are taken from the first row on.
 * jit: what is switched off here counts as dear, and dear statements would be compiled (PostgreSQL 17 and before).
 */
const ACTOR_PLANNING = ['seqscan', 'bitmapscan', 'hashjoin', 'mergejoin', 'material']
  .map((way) => `-c enable_${way}=off`)
  .concat('-c jit=off');

/**
 * Opens a pool; connects lazily. bigint comes as number, timestamptz as Date, bytea as Buffer. A pool of a role logs in as that role and
 * takes none: what a session takes, a statement in it can give back. Throws when the URL names another user.
 */
export function openDatabase(options: DatabaseOptions): Database {
  if (options.role !== null && userOf(options.url) !== options.role)
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
    // The client's own limit ends a query whose server no longer answers at all (a paused or vanished host).
    query_timeout: statementTimeoutMs === null ? 0 : statementTimeoutMs + ANSWER_MARGIN_MS,
    keepAlive: true,
    types,
  });
  // An idle connection that breaks is told of by its own listener; without one here, too, it would end the process.
  pool.on('error', () => undefined);
  // A connection that breaks while it is checked out fails its query; without a listener it would end the process.
  pool.on('connect', (client) => void client.on('error', options.onError));
  const kysely = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: kyselyPool(pool) }) });
  return { pool, kysely, close: () => pool.end() };
}

/** Whether the error means that PostgreSQL is away, restarting or out of time, so that trying again later may help. */
export function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = (error as { code?: unknown }).code;
  if (typeof code === 'string') {
    // 08: connection exceptions; 57P0x: shutdown; 53: out of resources; 57014: statement timeout; 55P03: lock timeout;
    // 25006: read-only, as a server is that another is taking over from
    if (/^(08|57P0|53)/.test(code)) return true;
    if (['57014', '55P03', '40001', '40P01', '25P03', '25006'].includes(code)) return true;
    if (
      ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOENT', 'EHOSTUNREACH', 'ENOTFOUND', 'EAI_AGAIN'].includes(
        code,
      )
    )
      return true;
  }
  // pg and pg-pool throw these without a code; the pool of a process that stops is a database that is away, too
  return /Connection terminated|timeout exceeded when trying to connect|Query read timeout|timeout expired|Client has encountered a connection error|not queryable|Cannot use a pool after calling end/.test(
    error.message,
  );
}

/** Whether the error, or one that caused it, means that PostgreSQL itself is away, not that it is busy or another transaction in the way. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error.cause !== undefined && isDatabaseAway(error.cause)) return true;
  const code = (error as { code?: unknown }).code;
  if (!isConnectionLost(error) || PASSING.has(code)) return false;
  // Connections to other servers are refused and reset, too; SQLSTATEs and pg's own words are PostgreSQL's alone.
  const isSystemError = typeof code === 'string' && !/^\d/.test(code);
  return !isSystemError || isConnectionError(error);
}

/** Codes of errors that the next statement need not have: time-outs of statements, locks and idle transactions, serialization, deadlock. */
const PASSING: ReadonlySet<unknown> = new Set(['57014', '55P03', '25P03', '40001', '40P01']);

const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format: 'text' | 'binary') => {
    if (oid === pg.types.builtins.INT8 && format === 'text') return Number;
    return pg.types.getTypeParser(oid, format) as unknown;
  }) as pg.CustomTypesConfig['getTypeParser'],
};
