import type { Logger } from 'pino';
import type { Database } from '../../../db/connection/database.ts';
import type { GatewayConfig } from '../../../gateway/gateway-config.ts';
import { turnAway } from '../../../gateway/http/http-server.ts';
import { createGateway } from '../../../gateway/server.ts';
import type { LocalSending } from '../../../operations/sending/local-sender.ts';
import type { Bus } from '../../../schema/messages.ts';
import { type Config, makeFault } from '../../config.ts';
import type { Readiness } from '../monitoring/readiness.ts';
import { drawRandom } from '../random-bytes.ts';
import { VERSION } from '../version.ts';
import { openOutgoingScan } from './outgoing-scan.ts';
import { ownPorts } from './own-ports.ts';
import { readAuthorities } from './read-authorities.ts';

export interface GatewayParts {
  config: Config;
  secretKey: Uint8Array;
  databaseUrl: string;
  bus: Bus;
  /** under the role postroom_gateway */
  database: Database;
  /** under the role postroom_auth */
  authDatabase: Database;
  log: Logger;
  /** see GatewayConfig */
  requestLimitStore: 'memory' | 'shared';
  readiness: Readiness;
  /** how long keep-alive connections stay open at a stop, so that none closes during a request; milliseconds */
  quietMs: number;
  /** the sending actor of this process; omitted: it runs in other processes */
  localSending?: LocalSending;
}

/** Time for running requests to end, from the beginning of a stop. Milliseconds. */
const GRACE_MS = 9_000;

/** Returns the SMTP address to show to users: the name of the mail server if the listener accepts on all addresses. */
function toSmtp({ host, smtpPort, mailHostname }: Config): { host: string; port: number } {
  return { host: host === '0.0.0.0' || host === '::' ? mailHostname : host, port: smtpPort };
}

/** Returns the gateway's part of the configuration. */
export function readGatewayConfig({
  config,
  secretKey,
  databaseUrl,
  requestLimitStore,
}: Pick<GatewayParts, 'config' | 'secretKey' | 'databaseUrl' | 'requestLimitStore'>): GatewayConfig {
  return {
    publicUrl: config.publicUrl,
    unsubscribeUrl: config.unsubscribeUrl,
    mailHostname: config.mailHostname,
    smtp: toSmtp(config),
    version: VERSION,
    trustedDomains: config.trustedDomains,
    secretKey,
    rateLimitPerSecond: config.rateLimitPerSecond,
    requestLimitStore,
    mtaStsMode: config.mtaStsMode,
    sendLimitPerHour: config.sendLimitPerHour,
    approvalDays: config.approvalDays,
    auditReads: config.auditReads,
    requestLog: config.requestLog,
    streamLimitPerUser: config.streamLimitPerUser,
    retention: config.retention,
    hasGuardModel: config.guardModel !== null,
    hasSpamFilter: config.scanners.spam !== null,
    dmarc: config.dmarc,
    allowedPrivateNetworks: config.allowedPrivateNetworks,
    ownPorts: ownPorts(config, databaseUrl),
    isSignUpOpen: config.isSignUpOpen,
    agentSignUpDomain: config.agentSignUpDomain,
    oidc: config.oidc,
    dnsServers: config.dnsServers,
    openForLocal: config.openForLocal,
    systemMailFrom: config.systemMailFrom,
    trustedProxies: config.trustedProxies,
    connections: config.httpConnections,
    connectionsPerAddress: config.httpConnectionsPerAddress,
    connectionsPerMinute: config.httpConnectionsPerMinute,
  };
}

/** Serves HTTP at HOST and HTTP_PORT until it is closed. */
export async function openGateway(parts: GatewayParts): Promise<{ close(): Promise<void> }> {
  const { config, secretKey, databaseUrl, bus, database, authDatabase, log, requestLimitStore, readiness } = parts;
  const scanOutgoing = await openOutgoingScan(config, log);
  const app = await createGateway({
    database,
    authDatabase,
    bus,
    log,
    random: drawRandom,
    isLeaving: readiness.isLeaving,
    fault: makeFault(config),
    ...(parts.localSending === undefined ? {} : { localSending: parts.localSending }),
    ...(scanOutgoing === null ? {} : { scanOutgoing }),
    config: {
      ...readGatewayConfig({ config, secretKey, databaseUrl, requestLimitStore }),
      ...(config.webhookCaFile === null
        ? {}
        : { trustedCertificates: await readAuthorities('WEBHOOK_CA_FILE', config.webhookCaFile) }),
    },
  });
  await app.listen({ host: config.host, port: config.httpPort });
  return {
    async close() {
      const end = setTimeout(() => app.server.closeAllConnections(), GRACE_MS);
      await turnAway(app, parts.quietMs);
      await app.close();
      clearTimeout(end);
    },
  };
}
