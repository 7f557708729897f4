import type { EmbeddedCluster } from '../../../db/cluster/embedded-cluster.ts';
import { ReplicatedDatabase } from '../cluster/replicated-database.ts';
import { SecondHost } from '../servers/second-host.ts';

/** The hosts that a ComposeStage stands on, and its PostgreSQL. */
export interface StageGround {
  /** three of four numbers: the network of all its addresses */
  network: string;
  /** as the one server that takes writes */
  cluster: EmbeddedCluster;
  password: string;
  /** `host:port` of PostgreSQL, or several with commas */
  postgres: string;
  /** of .env */
  env: Record<string, string>;
  /** where a service is; null: wherever the stage puts it */
  readAddress(service: string): string | null;
  /** the words before a service's command */
  within(service: string): readonly string[];
  remove(): Promise<void>;
}

/** Two PostgreSQL servers and two hosts: the second of every kind of process, and the third NATS node, are on a host of their own. */
export interface TwoHosts extends StageGround {
  servers: ReplicatedDatabase;
  host: SecondHost;
  isOnSecondHost(service: string): boolean;
}

export async function twoHosts(directory: string): Promise<TwoHosts> {
  const host = await SecondHost.make(directory);
  const servers = await ReplicatedDatabase.start(directory, host.network).catch(async (error: unknown) => {
    await host.remove();
    throw error;
  });
  const there: string[] = [];
  const isOnSecondHost = (service: string) => (service.endsWith('-2') ? service !== 'nats-2' : service === 'nats-3');
  return {
    network: host.network,
    servers,
    host,
    isOnSecondHost,
    cluster: {
      get url() {
        return servers.primaryUrl;
      },
      port: 0,
      socketDirectory: null,
      stop: () => servers.stop(),
    },
    password: servers.password,
    postgres: servers.places,
    env: { ALLOWED_PRIVATE_NETWORKS: `127.0.0.0/8,${host.network}.0/24` },
    readAddress(service) {
      if (!isOnSecondHost(service)) return null;
      if (!there.includes(service)) there.push(service);
      return host.address(201 + there.indexOf(service));
    },
    within: (service) => (isOnSecondHost(service) ? host.within : []),
    remove: () => host.remove(),
  };
}
