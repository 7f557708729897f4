import { urlsOf } from '../../../db/connection/database-hosts.ts';
import type { Config } from '../../config.ts';

/** Ports that no user's URL may name on a private address: behind them are our own listeners, the database and the bus. */
export function ownPorts(config: Config, databaseUrl: string): number[] {
  const natsUrls = config.natsUrl?.split(',') ?? [];
  return [
    config.httpPort,
    config.smtpPort,
    ...(config.monitoring === null ? [] : [config.monitoring.port]),
    ...urlsOf(databaseUrl).map((url) => Number(new URL(url).port || POSTGRESQL_PORT)),
    ...natsUrls.map((url) => Number(new URL(url).port || NATS_PORT)),
  ];
}

/** Where they listen when the URL does not say. */
const POSTGRESQL_PORT = 5432;
const NATS_PORT = 4222;
