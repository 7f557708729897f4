import { callbackify } from 'node:util';
import pg from 'pg';
import { isReadOnly, noteConnectionError } from '../errors.ts';
import { listUrls } from './database-hosts.ts';
import { findPrimary, type Primary, ReadOnlyServerError } from './failover.ts';
import { queueFairly } from './fair-queue.ts';
import { hasOtherPassword, withEitherPassword, withTakenPassword } from './login-passwords.ts';
import { currentCharge, meterResults } from './result-charge.ts';

type PoolOptions = Omit<pg.PoolConfig, 'connectionString'>;

/** Opens a pool to the server of the URL. With several hosts, the pool follows the current primary. */
export function openPool(url: string, options: PoolOptions): pg.Pool {
  if (listUrls(url).length === 1) return new NotingPool(url, options, LoginClient);
  return new FollowingPool(url, options);
}

/**
 * Closes the connections of the pool that are idle; others are opened when they are needed. PostgreSQL keeps plans and descriptions of
 * tables for each connection that used them: 25 MiB after some mail.
 */
export async function retireIdleConnections(pool: pg.Pool): Promise<void> {
  const taken = await Promise.allSettled(Array.from({ length: pool.idleCount }, () => pool.connect()));
  for (const client of taken) if (client.status === 'fulfilled') client.value.release(true);
}

/** Connection timeout of a program that has just found the server; milliseconds. */
const PROGRAM_LIMIT_MS = 10_000;

/** Opens one connection, with the same settings as a pool. Throws NoPrimaryError. */
export async function connectClient(url: string, options: pg.ClientConfig = {}): Promise<pg.Client> {
  const primary = listUrls(url).length === 1 ? null : findPrimary(url);
  await primary?.find();
  return withEitherPassword(url, async () => {
    const client =
      primary === null
        ? new LoginClient({ ...options, connectionString: url })
        : new FollowingClient(primary, { connectionTimeoutMillis: PROGRAM_LIMIT_MS, ...options });
    // If it breaks while idle, an error without a listener would end the process.
    client.on('error', () => undefined);
    await client.connect();
    return client;
  });
}

/** Logs in with the password that the server took last. */
class LoginClient extends pg.Client {
  constructor(config: pg.ClientConfig) {
    super({ ...config, connectionString: withTakenPassword(config.connectionString ?? '') });
  }
}

/** Marks the errors of its connections, because an ECONNREFUSED alone does not show their origin, and counts the results of its queries. */
class NotingPool extends pg.Pool {
  readonly #url: string;

  constructor(url: string, options: PoolOptions, Client: new (config: pg.ClientConfig) => pg.Client) {
    // The published types omit the last parameter.
    super({ ...options, connectionString: url, Client: Client as never });
    this.#url = url;
    queueFairly(this);
    this.on('connect', (client) => void client.on('error', noteConnectionError));
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<pg.PoolClient> | void {
    const charge = currentCharge();
    if (callback === undefined)
      return withEitherPassword(this.#url, () => super.connect()).then(
        (client) => {
          meterResults(client, charge);
          return client;
        },
        (error: Error) => {
          noteConnectionError(error);
          throw error;
        },
      );
    const tried = withTakenPassword(this.#url);
    const settle: Connected = (error, client, done) => {
      if (error !== undefined) noteConnectionError(error);
      if (client !== undefined) meterResults(client, charge);
      callback(error, client, done);
    };
    super.connect((error, client, done) => {
      if (error !== undefined && hasOtherPassword(this.#url, tried, error)) super.connect(settle);
      else settle(error, client, done);
    });
  }
}

/** Ends all connections to a previous primary, in use or not; new ones go to the current primary. */
class FollowingPool extends NotingPool {
  readonly #primary: Primary;

  constructor(url: string, options: PoolOptions) {
    const primary = findPrimary(url);
    class PoolClient extends FollowingClient {
      constructor(config: pg.ClientConfig) {
        super(primary, config);
      }
    }
    super(url, options, PoolClient);
    this.#primary = primary;
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<pg.PoolClient> | void {
    if (callback === undefined) return this.#connect();
    callbackify(() => this.#connect())((error: Error | null, client) => {
      if (error !== null) callback(error, undefined, () => undefined);
      else callback(undefined, client, (reason) => client.release(reason as Error | undefined));
    });
  }

  async #connect(): Promise<pg.PoolClient> {
    const url = await this.#find();
    try {
      return await super.connect();
    } catch (error) {
      // All connections may be stuck because the server is gone: try once more if another became primary.
      this.#primary.doubt(url);
      const isFull = (error as Error).message === 'timeout exceeded when trying to connect';
      if ((await this.#find()) === url && isFull) throw error;
      return super.connect();
    }
  }

  async #find(): Promise<string> {
    try {
      return await this.#primary.find();
    } catch (error) {
      noteConnectionError(error as Error);
      throw error;
    }
  }
}

type Connected = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: (release?: unknown) => void,
) => void;

/** Connects to the last known primary, and then checks that it accepts writes. */
class FollowingClient extends pg.Client {
  readonly #primary: Primary;
  readonly #url: string;
  #isReadOnly = false;

  constructor(primary: Primary, config: pg.ClientConfig) {
    super({ ...config, connectionString: withTakenPassword(primary.url) });
    this.#primary = primary;
    this.#url = primary.url;
    const connection = (this as unknown as { connection: DriverConnection }).connection;
    const cut = () => connection.stream.destroy();
    // Servers report this on connect and on change (PostgreSQL, "Asynchronous Operations").
    connection.on('parameterStatus', ({ parameterName, parameterValue }: ParameterStatus) => {
      if (parameterName === 'in_hot_standby' || parameterName === 'default_transaction_read_only')
        this.#isReadOnly ||= parameterValue === 'on';
    });
    connection.on('errorMessage', ({ code }: { code?: string }) => {
      if (!isReadOnly({ code })) return;
      primary.doubt(this.#url);
      // The statement gets its error first.
      setImmediate(cut);
    });
    this.on('error', () => primary.doubt(this.#url));
    this.once('end', primary.watch(this.#url, cut));
  }

  override connect(): Promise<this>;
  override connect(callback: (error: Error) => void): void;
  override connect(callback?: (error: Error) => void): Promise<this> | void {
    if (callback === undefined) return this.#connect();
    callbackify(() => this.#connect())((error) => callback(error as Error));
  }

  async #connect(): Promise<this> {
    try {
      await super.connect();
    } catch (error) {
      this.#primary.doubt(this.#url);
      throw error;
    }
    if (!this.#isReadOnly) return this;
    this.#primary.doubt(this.#url);
    await this.end();
    throw new ReadOnlyServerError(`${this.host}:${this.port} takes no writes`);
  }
}

interface DriverConnection {
  stream: { destroy(): void };
  on(event: string, listener: (message: never) => void): void;
}

interface ParameterStatus {
  parameterName: string;
  parameterValue: string;
}
