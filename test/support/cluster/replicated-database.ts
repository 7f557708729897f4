import { appendFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { takeBaseBackup } from '../../../db/cluster/base-backup.ts';
import { type EmbeddedCluster, startEmbeddedCluster } from '../../../db/cluster/embedded-cluster.ts';
import { findNativePostgresql } from '../../../db/cluster/native-postgresql.ts';
import { readPostmaster } from '../../../db/cluster/postmaster.ts';
import { processTree } from '../servers/process-tree.ts';
import { until } from '../servers/service.ts';
import { freePort, onServer } from './cluster.ts';
import { copyCluster } from './data-template.ts';

/** The standby's name in synchronous_standby_names. */
const STANDBY = 'standby';

/** Two servers of the same data: what the first commits it has also written at the second before it says so (synchronous replication). */
export class ReplicatedDatabase {
  readonly #directory: string;
  readonly password: string;
  readonly #network: string | undefined;
  readonly #first: EmbeddedCluster;
  readonly #second: EmbeddedCluster;
  #isPromoted = false;

  private constructor(
    directory: string,
    { password, network }: { password: string; network: string | undefined },
    servers: [EmbeddedCluster, EmbeddedCluster],
  ) {
    this.#directory = directory;
    this.password = password;
    this.#network = network;
    [this.#first, this.#second] = servers;
  }

  /**
   * Starts the first server on a migrated cluster, and the second from a base backup of it; both lie in the folder. With a network,
   * three of four numbers, they are reached at its first address, too, by all of it.
   */
  static async start(directory: string, network?: string): Promise<ReplicatedDatabase> {
    const first = path.join(directory, 'cluster');
    const password = await copyCluster(first);
    const settings = settingsFor(network);
    if (network !== undefined)
      await appendFile(path.join(first, 'pg_hba.conf'), `host all all ${network}.0/24 scram-sha-256\n`);
    const primary = await startEmbeddedCluster({ directory: first, password, port: await freePort(), settings });
    const second = path.join(directory, 'standby');
    const { user } = await findNativePostgresql();
    await takeBaseBackup({ url: primary.url, target: second, owner: user });
    await onServer(primary.url, `select pg_create_physical_replication_slot('${STANDBY}', true)`);
    const from = `host=127.0.0.1 port=${primary.port} user=postroom password=${password} application_name=${STANDBY}`;
    await appendFile(
      path.join(second, 'postgresql.auto.conf'),
      `\nprimary_conninfo = '${from}'\nprimary_slot_name = '${STANDBY}'\n`,
    );
    await writeFile(path.join(second, 'standby.signal'), '');
    const standby = await startEmbeddedCluster({ directory: second, password, port: await freePort(), settings });
    await onServer(primary.url, `alter system set synchronous_standby_names = '${STANDBY}'`);
    await onServer(primary.url, 'select pg_reload_conf()');
    const servers = new ReplicatedDatabase(directory, { password, network }, [primary, standby]);
    await servers.#awaitSynchronous();
    return servers;
  }

  /** `host:port` of both servers, the first one first, as the network reaches them. */
  get places(): string {
    const host = this.#network === undefined ? '127.0.0.1' : `${this.#network}.1`;
    return `${host}:${this.#first.port},${host}:${this.#second.port}`;
  }

  /** For processes: both servers, the first one first. */
  get url(): string {
    return bothHosts(this.#first, this.#second);
  }

  /** The same with the hosts the other way round. */
  get reversedUrl(): string {
    return bothHosts(this.#second, this.#first);
  }

  get firstUrl(): string {
    return this.#first.url;
  }

  get secondUrl(): string {
    return this.#second.url;
  }

  /** Of the one server that shall take writes. */
  get primaryUrl(): string {
    return this.#isPromoted ? this.#second.url : this.#first.url;
  }

  /** Ends the first server as a power cut does; resolves when nothing of it is left. */
  async killFirst(): Promise<void> {
    const postmaster = await readPostmaster(path.join(this.#directory, 'cluster'));
    if (postmaster === null) throw new Error('the first server does not run');
    // Its backends, too: one that has just been asked answers before it notices that its postmaster is gone.
    for (const { pid } of processTree(postmaster.pid)) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    }
    await until(
      'nobody listens at the port of the first server',
      () => '',
      async () => !(await isReachable(this.#first.url)),
    );
  }

  /** Lets the second server take writes. */
  async promoteSecond(): Promise<void> {
    await onServer(this.#second.url, 'select pg_promote()');
    this.#isPromoted = true;
  }

  /** The first server as it comes back when nobody fences it: on its own, and taking writes. */
  async restartFirst(): Promise<void> {
    await startEmbeddedCluster({
      directory: path.join(this.#directory, 'cluster'),
      password: this.password,
      port: this.#first.port,
      settings: { ...settingsFor(this.#network), synchronous_standby_names: '' },
    });
  }

  async stop(): Promise<void> {
    await this.#second.stop();
    await this.#first.stop();
  }

  async #awaitSynchronous(): Promise<void> {
    const client = new pg.Client({ connectionString: this.#first.url });
    await client.connect();
    try {
      await until(
        'the standby follows synchronously',
        () => '',
        async () =>
          (await client.query(`select from pg_stat_replication where sync_state = 'sync' and state = 'streaming'`))
            .rowCount === 1,
      );
    } finally {
      await client.end();
    }
  }
}

function settingsFor(network: string | undefined): Record<string, string> {
  const listen: Record<string, string> = network === undefined ? {} : { listen_addresses: `127.0.0.1,${network}.1` };
  return { ...listen, max_connections: '200' };
}

function bothHosts(one: EmbeddedCluster, other: EmbeddedCluster): string {
  return one.url.replace(/(127\.0\.0\.1:\d+)/, `$1,127.0.0.1:${other.port}`);
}

async function isReachable(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  return client.connect().then(
    () => client.end().then(() => true),
    () => false,
  );
}
