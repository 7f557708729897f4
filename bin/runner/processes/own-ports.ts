import { listUrls } from '../../../db/connection/database-hosts.ts';
import type { Config } from '../../config.ts';

/** Ports that no user's URL may name on a private address, because our own listeners, the database and the bus use them. */
export function ownPorts(config: Config, databaseUrl: string): number[] {
  const natsUrls = config.natsUrl?.split(',') ?? [];
  return [
    config.httpPort,
    config.smtpPort,
    ...[config.submissionPort, config.submissionsPort].filter((port) => port !== null),
    ...(config.monitoring === null ? [] : [config.monitoring.port]),
    ...listUrls(databaseUrl).map((url) => Number(new URL(url).port || POSTGRESQL_PORT)),
    ...natsUrls.map((url) => Number(new URL(url).port || NATS_PORT)),
  ];
}

/** Default ports of URLs that name none. */
const POSTGRESQL_PORT = 5432;
const NATS_PORT = 4222;
