import pg from 'pg';
import { processTree, readProcess } from '../support/servers/process-tree.ts';

/** What one process of Postroom and its connections have used. */
export interface Cost {
  /** of the process itself and its children; milliseconds */
  ownCpuMs: number;
  /** of the PostgreSQL processes behind its connections; milliseconds */
  databaseCpuMs: number;
  /** of the write-ahead log; bytes */
  walBytes: number;
}

/** The name under which everything of PostgreSQL that serves no connection of ours is summed up: checkpoints, vacuum. */
export const BACKGROUND = 'PostgreSQL';

const LOOK_EVERY_MS = 250;

/**
 * Counts from now on what each process uses, beside its connections to one PostgreSQL (18: it tells the log that each backend wrote), which
 * are known by `postroom NAME`. Connections come and go, so it looks often and keeps what it saw.
 */
export class CostMeter {
  readonly #client: pg.Client;
  readonly #postmaster: number;
  readonly #pids: Record<string, readonly number[]>;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();
  /** by backend: whose, and what it had used when it was first and last seen */
  #backends = new Map<number, { name: string; first: Use; last: Use }>();
  #own = new Map<string, { first: number; last: number }>();
  #failure: unknown = null;

  private constructor(client: pg.Client, postmaster: number, pids: Record<string, readonly number[]>) {
    this.#client = client;
    this.#postmaster = postmaster;
    this.#pids = pids;
  }

  static async open(
    databaseUrl: string,
    postmaster: number,
    pids: Record<string, readonly number[]>,
  ): Promise<CostMeter> {
    const client = new pg.Client({ connectionString: databaseUrl, application_name: 'meter' });
    await client.connect();
    return new CostMeter(client, postmaster, pids);
  }

  async start(): Promise<void> {
    this.#backends = new Map();
    this.#own = new Map();
    await this.#look(true);
    this.#timer = setInterval(() => {
      this.#looking = this.#looking
        .then(() => this.#look(false))
        .catch((error: unknown) => {
          this.#failure = error;
        });
    }, LOOK_EVERY_MS);
  }

  /** What was used since start(), for each of that many messages, by process. */
  async end(messages: number): Promise<Map<string, Cost>> {
    clearInterval(this.#timer);
    await this.#looking;
    await this.#look(false);
    if (this.#failure !== null) throw this.#failure;
    const costs = new Map<string, Cost>();
    const of = (name: string) => {
      const known = costs.get(name) ?? { ownCpuMs: 0, databaseCpuMs: 0, walBytes: 0 };
      costs.set(name, known);
      return known;
    };
    for (const [name, { first, last }] of this.#own) of(name).ownCpuMs += (last - first) / messages;
    for (const { name, first, last } of this.#backends.values()) {
      of(name).databaseCpuMs += (last.cpuMs - first.cpuMs) / messages;
      of(name).walBytes += (last.walBytes - first.walBytes) / messages;
    }
    return costs;
  }

  /** The one number that the statement answers. */
  async count(statement: string): Promise<number> {
    const { rows } = await this.#client.query<{ count: string }>(statement);
    return Number(rows[0]?.count ?? 0);
  }

  /** What PostgreSQL wrote so far, to the files of tables and indexes and to those of the log; bytes. */
  async written(): Promise<{ data: number; log: number }> {
    const { rows } = await this.#client.query<{ data: string; log: string }>(
      `select coalesce(sum(coalesce(write_bytes, 0) + coalesce(extend_bytes, 0)) filter (where object = 'relation'), 0) as data,
              coalesce(sum(write_bytes) filter (where object = 'wal'), 0) as log from pg_stat_io`,
    );
    return { data: Number(rows[0]?.data), log: Number(rows[0]?.log) };
  }

  async tell(statement: string): Promise<void> {
    await this.#client.query(statement);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
    await this.#client.end();
  }

  async #look(isFirst: boolean): Promise<void> {
    const { rows } = await this.#client.query<{ pid: number; name: string; wal: string | null }>(
      `select a.pid, coalesce(a.application_name, '') as name,
              case when a.backend_type = 'client backend' then (select w.wal_bytes from pg_stat_get_backend_wal(a.pid) w) end as wal
       from pg_stat_activity a where a.pid <> pg_backend_pid()`,
    );
    const ours = new Map(rows.filter(({ name }) => name.startsWith('postroom ')).map((row) => [row.pid, row]));
    for (const { pid, cpuSeconds } of processTree(this.#postmaster)) {
      const row = ours.get(pid);
      const use = { cpuMs: cpuSeconds * 1000, walBytes: Number(row?.wal ?? 0) };
      const known = this.#backends.get(pid);
      // One that was not there at the start has used all of it since.
      const first = known?.first ?? (isFirst ? use : { cpuMs: 0, walBytes: 0 });
      const name = row === undefined ? (known?.name ?? BACKGROUND) : findProcess(row.name);
      // Backends that have ended count in their parent as well.
      if (pid === this.#postmaster) continue;
      this.#backends.set(pid, { name, first, last: use });
    }
    for (const [name, roots] of Object.entries(this.#pids)) {
      const ms = roots.flatMap((root) => processTree(root)).reduce((sum, { cpuSeconds }) => sum + cpuSeconds * 1000, 0);
      const known = this.#own.get(name);
      this.#own.set(name, { first: known?.first ?? ms, last: Math.max(ms, known?.last ?? 0) });
    }
  }
}

interface Use {
  cpuMs: number;
  walBytes: number;
}

/** Memory of these processes together. */
export function residentMiB(pids: readonly number[]): number {
  return pids.flatMap((pid) => readProcess(pid)).reduce((sum, each) => sum + each.residentMiB, 0);
}

/** The gateway has a second pool, for accounts. */
function findProcess(applicationName: string): string {
  const name = applicationName.replace(/^postroom /, '');
  return name === 'auth' ? 'gateway' : name;
}
