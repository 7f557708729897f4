import { CompiledQuery } from 'kysely';
import type pg from 'pg';
import type { Database } from './database.ts';
import { limitedError, userSettings } from './transaction.ts';

/** A prepared statement that only reads. Its name always goes with the same text, so that each connection plans it once. */
export interface UserRead {
  name: string;
  text: string;
  values: readonly (string | number | Date)[];
}

/**
 * Runs one frequent statement as asUser would, in one round trip instead of four: the settings of the user and the statement are sent
 * together, as one transaction (PostgreSQL, "Pipelining"). The cached plan uses indexes and nested loops, whatever the tables held when it
 * was made.
 */
export async function readAsUser<Row extends pg.QueryResultRow>(
  database: Database,
  userId: string,
  read: UserRead,
): Promise<readonly Row[]> {
  const { reading, limit } = database;
  if (reading?.userId === userId)
    return reading.run(async (transaction) => {
      const { rows } = await transaction.executeQuery<Row>(CompiledQuery.raw(read.text, [...read.values]));
      return rows;
    });
  const client = await database.pool.connect();
  let failure: Error | undefined;
  try {
    return await new Promise<Row[]>((resolve, reject) => {
      const done = (error: Error | null, rows: Row[]) => (error === null ? resolve(rows) : reject(error));
      client.query(new UserReadQuery<Row>(client, userSettings(userId, limit), read, done));
    });
  } catch (error) {
    failure = error as Error;
    throw limitedError(error, limit);
  } finally {
    // After an error it is unknown what the connection has prepared.
    client.release(failure);
  }
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
  bind(portal: { statement: string; values: readonly string[] }): void;
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
class UserReadQuery<Row> {
  readonly #client: pg.PoolClient;
  readonly #settings: Settings;
  readonly #read: UserRead;
  readonly #rows: Row[] = [];
  #columns: Column[] | undefined;
  #areSettled = false;
  /** of reading a row */
  #failure: Error | null = null;
  /** set and replaced by pg */
  callback: (error: Error | null, rows: Row[]) => void;

  constructor(client: pg.PoolClient, settings: Settings, read: UserRead, callback: UserReadQuery<Row>['callback']) {
    this.#client = client;
    this.#settings = settings;
    this.#read = read;
    this.callback = callback;
  }

  submit(given: unknown): void {
    const connection = given as Connection;
    const { name, text, values } = this.#read;
    const known = prepared.get(connection) ?? new Map<string, Column[]>();
    prepared.set(connection, known);
    connection.stream.cork();
    const settings = `settings ${this.#settings.length}`;
    if (!known.has(settings)) connection.parse({ name: settings, text: settingsText(this.#settings) });
    known.set(settings, []);
    connection.bind({ statement: settings, values: this.#settings.map(([, value]) => value) });
    connection.execute({});
    this.#columns = known.get(name);
    if (this.#columns === undefined) connection.parse({ name, text });
    connection.bind({ statement: name, values: values.map(parameterText) });
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
    this.callback(error, []);
  }
}

function settingsText(settings: Settings): string {
  const given = settings.map(([name], at) => `set_config('${name}', $${at + 1}, true)`);
  return `select ${[...PLANNING, ...given].join(', ')}`;
}

function parameterText(value: UserRead['values'][number]): string {
  return value instanceof Date ? value.toISOString() : String(value);
}
