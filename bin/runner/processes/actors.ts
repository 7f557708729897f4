import type { Logger } from 'pino';
import type { Actor, ActorContext } from '../../../actors/actor.ts';
import type { Scanners } from '../../../actors/screening/scanners.ts';
import { loadOnce } from '../../../core/shared/load-once.ts';
import { createByteStore } from '../../../db/byte-store.ts';
import type { Database } from '../../../db/connection/database.ts';
import { loginUrl } from '../../../db/connection/logins.ts';
import type { BuildEventPayload, SelectPayload } from '../../../operations/endpoints/payload-queries.ts';
import type { LocalSending } from '../../../operations/sending/local-sender.ts';
import type { Bus } from '../../../schema/messages.ts';
import { type Config, makeFault } from '../../config.ts';
import { openLoggedDatabase } from '../logged-database.ts';
import { drawRandom } from '../random-bytes.ts';
import { makeClaimant } from './claimant.ts';
import { openOutgoingScan } from './outgoing-scan.ts';
import { ownPorts } from './own-ports.ts';
import { readAuthorities } from './read-authorities.ts';

/** Names of the actors that can run as separate processes. */
export const actorNames = ['receiving', 'threading', 'sending', 'scheduling', 'delivery'] as const;
export type ActorName = (typeof actorNames)[number];

export interface ContextOptions {
  bus: Bus;
  /** under the role postroom_actor */
  database: Database;
  log: Logger;
  /** the name by which this process claims rows; by default a new one, unique among all processes */
  claimant?: string;
}

/** Shared by all actors of this process: raw messages that one keeps in memory are available to the others. */
export function createActorContext({ bus, database, log, claimant = makeClaimant() }: ContextOptions): ActorContext {
  return {
    bus,
    database,
    bytes: createByteStore({ database, log }),
    directDelivery: { current: null },
    log,
    now: () => new Date(),
    random: drawRandom,
    name: claimant,
  };
}

export function isActorName(name: string): name is ActorName {
  return actorNames.some((known) => known === name);
}

export interface ActorSettings {
  config: Config;
  secretKey: Uint8Array;
  databaseUrl: string;
  /** a directory on the disk that stores the mail; null when an external database stores it */
  mailDirectory: string | null;
  /** the gateway's pool in the same process; absent: payload queries open a separate pool */
  gatewayDatabase?: Database;
  /** where the gateway of the same process finds the sending actor */
  localSending?: LocalSending;
}

const modules = {
  receiving: () => import('../../../actors/receiving/actor.ts'),
  threading: () => import('../../../actors/threading/actor.ts'),
  sending: () => import('../../../actors/sending/actor.ts'),
  scheduling: () => import('../../../actors/scheduling/actor.ts'),
  delivery: () => import('../../../actors/delivery/actor.ts'),
};

/** Loads the code of the actor of that name, which `startActor` does, too. */
export async function loadActor(name: ActorName): Promise<void> {
  await modules[name]();
}

/** Starts the actor of that name with its part of the configuration. Loads only its code, so that a process with one actor starts sooner. */
export async function startActor(name: ActorName, context: ActorContext, settings: ActorSettings): Promise<Actor> {
  const { config, secretKey } = settings;
  const fault = makeFault(config);
  switch (name) {
    case 'receiving': {
      const { startReceivingActor } = await modules.receiving();
      return startReceivingActor(context, {
        workers: config.parseWorkers,
        dnsServers: config.dnsServers,
        dataDirectory: settings.mailDirectory,
        mailHostname: config.mailHostname,
        dmarc: config.dmarc,
        secretKey,
        scanners: await openConfiguredScanners(config, context.log),
        fault,
      });
    }
    case 'threading': {
      const { startThreadingActor } = await modules.threading();
      return startThreadingActor(context, { fault });
    }
    case 'sending': {
      const { startSendingActor } = await modules.sending();
      return startSendingActor(context, {
        mailHostname: config.mailHostname,
        relayUrl: config.outboundRelayUrl,
        port: config.outboundPort,
        inboundSmtp: config.inboundSmtp,
        allowedPrivateNetworks: config.allowedPrivateNetworks,
        refusedPorts: ownPorts(config, settings.databaseUrl),
        secretKey,
        dnsServers: config.dnsServers,
        validatingResolvers: config.validatingResolvers,
        countsTlsSessions: config.sendsTlsReports,
        ...(settings.localSending === undefined ? {} : { localSending: settings.localSending }),
        ...(config.outboundCaFile === null
          ? {}
          : { trustedCertificates: await readAuthorities('OUTBOUND_CA_FILE', config.outboundCaFile) }),
        fault,
      });
    }
    case 'scheduling': {
      const { startSchedulingActor } = await modules.scheduling();
      return startSchedulingActor(context, {
        dnsServers: config.dnsServers,
        mailHostname: config.mailHostname,
        retention: config.retention,
        auditDays: config.auditDays,
        ...(config.sendsTlsReports
          ? {
              tlsReports: {
                allowedPrivateNetworks: config.allowedPrivateNetworks,
                refusedPorts: ownPorts(config, settings.databaseUrl),
                trustedCertificates:
                  config.outboundCaFile === null
                    ? null
                    : await readAuthorities('OUTBOUND_CA_FILE', config.outboundCaFile),
                systemMailFrom: config.systemMailFrom,
              },
            }
          : {}),
        fault,
      });
    }
    case 'delivery': {
      const { startDeliveryActor } = await modules.delivery();
      const payloads = openPayloads(context, settings);
      const scanOutgoing = await openOutgoingScan(config, context.log);
      const actor = await startDeliveryActor(context, {
        publicUrl: config.publicUrl,
        allowedPrivateNetworks: config.allowedPrivateNetworks,
        refusedPorts: ownPorts(config, settings.databaseUrl),
        secretKey,
        dnsServers: config.dnsServers,
        mailHostname: config.mailHostname,
        systemMailFrom: config.systemMailFrom,
        forwardLimitPerHour: config.forwardLimitPerHour,
        sendLimitPerHour: config.sendLimitPerHour,
        approvalDays: config.approvalDays,
        guardModel: config.guardModel,
        ...(scanOutgoing === null ? {} : { scanOutgoing }),
        dmarc: config.dmarc,
        ...(config.webhookCaFile === null
          ? {}
          : { trustedCertificates: await readAuthorities('WEBHOOK_CA_FILE', config.webhookCaFile) }),
        selectPayload: payloads.selectPayload,
        buildEventPayload: payloads.buildEventPayload,
        fault,
      });
      return {
        async stop() {
          await actor.stop();
          await payloads.close();
        },
      };
    }
  }
}

/** Opens the scanners. Without any, their code is not loaded. */
async function openConfiguredScanners({ scanners }: Config, log: Logger): Promise<Scanners | null> {
  if (scanners.spam === null && scanners.virus === null) return null;
  const { openScanners } = await import('../../../actors/screening/scanners.ts');
  const { findScannerFaults } = await import('../../../actors/screening/ping-scanners.ts');
  // The start does not wait for scanners, which may need minutes: the log says which is not there, and what to do.
  void findScannerFaults(scanners).then((faults) => {
    for (const fault of faults) log.warn(fault, 'scanner does not respond');
  });
  return openScanners(scanners, log);
}

/** PostgreSQL connections for payload queries, in a process without a gateway. */
const PAYLOAD_CONNECTIONS = 2;

/** Runs payload queries of endpoints, and builds the bodies that post events. Loads the GraphQL schema, and connects as the gateway's role, when the first one runs. */
function openPayloads(
  { bus, log, random }: ActorContext,
  { config, secretKey, databaseUrl, gatewayDatabase }: ActorSettings,
): { selectPayload: SelectPayload; buildEventPayload: BuildEventPayload; close: () => Promise<void> } {
  let close = () => Promise.resolve();
  const open = (): Database => {
    const role = 'postroom_gateway';
    const url = loginUrl(databaseUrl, role, secretKey);
    const opened = openLoggedDatabase(
      { url, role, poolSize: PAYLOAD_CONNECTIONS, applicationName: 'postroom payload queries' },
      log,
    );
    close = opened.close;
    return opened.database;
  };
  const runner = loadOnce(async () => {
    const { createPayloadRunner } = await import('../../../gateway/graphql/payload-runner.ts');
    const { readGatewayConfig } = await import('./gateway.ts');
    return createPayloadRunner({
      database: gatewayDatabase ?? open(),
      bus,
      log,
      random,
      config: readGatewayConfig({ config, secretKey, databaseUrl, requestLimitStore: 'memory' }),
    });
  });
  return {
    selectPayload: async (...input) => (await runner()).selectPayload(...input),
    buildEventPayload: async (...input) => (await runner()).buildEventPayload(...input),
    close: () => close(),
  };
}
