import type pg from 'pg';
import { lockNumberSql } from './transaction.ts';

/** A prepared statement. Its name always goes with the same text, so that each connection plans it once. */
export interface WorkspaceStatement {
  name: string;
  text: string;
  values: readonly (string | number | Date | Buffer | null)[];
}

/** What a transaction begins with. */
interface Opening {
  /** which last until it ends */
  settings: Settings;
  /** names of locks of the workspace that it shares, in the order in which they are taken */
  sharedLocks: readonly string[];
  workspaceId: string;
}

/** A statement did not begin, because a lock or the settings before it failed. */
export class OpeningFailed extends Error {
  /** SQLSTATE */
  readonly code: string | undefined;

  constructor(cause: Error) {
    super(cause.message, { cause });
    this.code = (cause as { code?: string }).code;
  }
}

/**
 * Runs one statement with settings that hold until it ends: both are sent together, as one transaction (PostgreSQL, "Pipelining"). The cached
 * plan uses indexes and nested loops, whatever the tables held when it was made. After an error, the client must be closed.
 */
export function runWorkspaceStatement<Row extends pg.QueryResultRow>(
  client: pg.PoolClient,
  opening: Opening,
  statement: WorkspaceStatement,
): Promise<Row[]> {
  return new Promise<Row[]>((resolve, reject) => {
    const done = (error: Error | null, rows: Row[]) => (error === null ? resolve(rows) : reject(error));
    client.query(new WorkspaceStatementQuery<Row>(client, opening, statement, done));
  });
}

/** Settings for the plans of frequent statements; see ACTOR_PLANNING in database.ts. */
const PLANNING = [
  `set_config('plan_cache_mode', 'force_generic_plan', true)`,
  ...['seqscan', 'bitmapscan', 'hashjoin', 'mergejoin', 'material'].map(
    (way) => `set_config('enable_${way}', 'off', true)`,
  ),
];

type Settings = readonly (readonly [name: string, value: string])[];

/** The part of pg's connection that queries use. */
interface Connection {
  stream: { cork(): void; uncork(): void };
  parse(statement: { name: string; text: string }): void;
  bind(portal: { statement: string; values: readonly (string | Buffer | null)[] }): void;
  describe(portal: { type: 'P' }): void;
  execute(portal: object): void;
  sync(): void;
}

interface Column {
  name: string;
  parse: (text: string) => unknown;
}

/** What each connection has prepared, with the columns of the result. */
const prepared = new WeakMap<Connection, Map<string, Column[]>>();

/** A query of pg (`Submittable`). The server replies to the settings with one row and the end of a command, then to the statement. */
class WorkspaceStatementQuery<Row> {
  readonly #client: pg.PoolClient;
  readonly #opening: Opening;
  readonly #statement: WorkspaceStatement;
  readonly #rows: Row[] = [];
  #columns: Column[] | undefined;
  #areSettled = false;
  /** of reading a row */
  #failure: Error | null = null;
  /** set and replaced by pg */
  callback: (error: Error | null, rows: Row[]) => void;

  constructor(
    client: pg.PoolClient,
    opening: Opening,
    statement: WorkspaceStatement,
    callback: WorkspaceStatementQuery<Row>['callback'],
  ) {
    this.#client = client;
    this.#opening = opening;
    this.#statement = statement;
    this.callback = callback;
  }

  /** as queries of pg have it */
  get text(): string {
    return this.#statement.text;
  }

  submit(given: unknown): void {
    const connection = given as Connection;
    const { name, text, values } = this.#statement;
    const known = prepared.get(connection) ?? new Map<string, Column[]>();
    prepared.set(connection, known);
    connection.stream.cork();
    const { settings, sharedLocks, workspaceId } = this.#opening;
    const opening = openingName(this.#opening);
    if (!known.has(opening)) connection.parse({ name: opening, text: openingText(this.#opening) });
    known.set(opening, []);
    connection.bind({
      statement: opening,
      values: [...settings.map(([, value]) => value), ...sharedLocks.map(() => workspaceId)],
    });
    connection.execute({});
    this.#columns = known.get(name);
    if (this.#columns === undefined) connection.parse({ name, text });
    connection.bind({ statement: name, values: values.map(findParameter) });
    if (this.#columns === undefined) {
      known.set(name, (this.#columns = []));
      connection.describe({ type: 'P' });
    }
    connection.execute({});
    connection.sync();
    connection.stream.uncork();
  }

  handleRowDescription({ fields }: { fields: { name: string; dataTypeID: number }[] }): void {
    for (const { name, dataTypeID } of fields) {
      const parse = this.#client.getTypeParser(dataTypeID, 'text') as Column['parse'];
      this.#columns?.push({ name, parse });
    }
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    if (!this.#areSettled || this.#failure !== null) return;
    // pg would throw it from the socket.
    try {
      const row: Record<string, unknown> = {};
      let at = 0;
      for (const { name, parse } of this.#columns ?? []) {
        const text = fields[at++];
        row[name] = text == null ? null : parse(text);
      }
      this.#rows.push(row as Row);
    } catch (error) {
      this.#failure = error as Error;
    }
  }

  handleCommandComplete(): void {
    this.#areSettled = true;
  }

  handleReadyForQuery(): void {
    this.callback(this.#failure, this.#rows);
  }

  handleError(error: Error): void {
    const hasBegun = this.#areSettled || this.#opening.sharedLocks.length === 0;
    this.callback(hasBegun ? error : new OpeningFailed(error), []);
  }
}

/** What the openings set, each with its place: a name of a statement must be short. */
const openings: string[] = [];

function openingName({ settings, sharedLocks }: Opening): string {
  const key = `${settings.map(([name]) => name).join(' ')}; ${sharedLocks.join(', ')}`;
  if (!openings.includes(key)) openings.push(key);
  return `opening ${openings.indexOf(key)}`;
}

function openingText({ settings, sharedLocks }: Opening): string {
  const given = settings.map(([name], at) => `set_config('${name}', $${at + 1}, true)`);
  // Last, because they wait as long as the settings say.
  const locks = sharedLocks.map(
    (name, at) => `pg_advisory_xact_lock_shared(${lockNumberSql(name, `$${settings.length + at + 1}`)})`,
  );
  return `select ${[...PLANNING, ...given, ...locks].join(', ')}`;
}

function findParameter(value: WorkspaceStatement['values'][number]): string | Buffer | null {
  if (value === null || Buffer.isBuffer(value)) return value;
  return value instanceof Date ? value.toISOString() : String(value);
}
