import type { Database } from '../../../db/connection/database.ts';
import { hasAnyAccount } from '../../../db/queries/accounts/account.ts';
import { endFormerConnections, voidLeases, voidLeasesByClaimant } from '../../../db/queries/upkeep/void-leases.ts';
import { certificateToTrust } from '../../../haraka-plugins/tls-context.ts';
import type { LocalSending } from '../../../operations/sending/local-sender.ts';
import type { Bus } from '../../../schema/messages.ts';
import { createFirstAccount } from '../first-account.ts';
import { createFirstStartFile } from '../first-start-file.ts';
import { openLoggedDatabase } from '../logged-database.ts';
import { migrateInThread } from '../migrate-in-thread.ts';
import { measureBacklog } from '../monitoring/measure-backlog.ts';
import { prepareDatabase } from '../prepare-database.ts';
import { createActorContext, loadActor, startActor } from '../processes/actors.ts';
import { openBesideMail, openNatsBus } from '../processes/bus.ts';
import { openGateway } from '../processes/gateway.ts';
import { welcome } from '../welcome.ts';
import { type Part, runPart } from './part.ts';

/** PostgreSQL connections: of sending and scheduling, of requests, and of sign-in. */
const ACTOR_CONNECTIONS = 3;
const GATEWAY_CONNECTIONS = 4;
const AUTH_CONNECTIONS = 2;
/** Maximum time to drain. Milliseconds. */
const DRAIN_LIMIT_MS = 9_700;

/**
 * The gateway process of one machine: REST, GraphQL and the dashboard, and the actors whose work has no deadline of milliseconds. A request
 * that takes much processor time does not delay mail, which another process receives.
 */
await runPart({
  name: 'gateway',
  isReportingOutages: true,
  load: () => Promise.all((['sending', 'scheduling'] as const).map(loadActor)),
  async prepare(part) {
    const { databaseUrl: url, secretKey, config, directory, log } = part;
    await prepareDatabase({ url, secretKey, allowUnsafeWrites: config.allowUnsafeWrites, migrate: migrateInThread });
    if (directory === null) return;
    // Nothing else uses the data directory, so every holder of a lease is dead, or about to find out.
    const count = await asOwner(part, async (database) => {
      await endFormerConnections(database);
      return voidLeases(database);
    });
    if (count > 0) log.info({ event: 'start.leases-voided', count }, 'took over the work of a run that was killed');
  },
  async work(part, deadClaimants) {
    const { config, secretKey, databaseUrl, log, closers, claimant } = part;
    const bus = await openBus(part);
    closers.add('bus', () => bus.close());
    const actorDatabase = part.open('postroom_actor', ACTOR_CONNECTIONS);
    const context = createActorContext({ bus, database: actorDatabase, log, claimant });
    const count = await voidLeasesByClaimant(actorDatabase, deadClaimants);
    if (count > 0) log.info({ event: 'part.leases-voided', count }, 'took over the work of a process that died');
    measureBacklog(actorDatabase, log);
    const database = part.open('postroom_gateway', GATEWAY_CONNECTIONS);
    const localSending: LocalSending = { sender: null };
    const gateway = await openGateway({
      config,
      secretKey,
      databaseUrl,
      bus,
      database,
      log,
      authDatabase: part.open('postroom_auth', AUTH_CONNECTIONS),
      requestLimitStore: 'memory',
      readiness: part.needs(database),
      // There is no other gateway that could take over.
      quietMs: 0,
      localSending,
    });
    // After everything that can refuse the start: work that has begun must be recorded, so it needs an orderly stop.
    const settings = { ...part, localSending };
    const actors = [await startActor('sending', context, settings), await startActor('scheduling', context, settings)];
    const drain = async () => {
      await Promise.all([...actors.map((actor) => actor.stop()), gateway.close()]);
    };
    closers.add('gateway and actors', drain, DRAIN_LIMIT_MS);
  },
  welcome: printWelcome,
});

async function openBus({ config, busSocket, log }: Part): Promise<Bus> {
  if (config.natsUrl !== null) return openNatsBus(config.natsUrl, 'postroom gateway', log);
  if (busSocket === null) throw new Error('neither NATS nor a socket');
  return openBesideMail(busSocket, log);
}

/** Comes last in a start, because the key is shown only once: nothing may fail between creating it and printing or storing it. */
async function printWelcome(part: Part): Promise<void> {
  const { config, secretKey, directory } = part;
  const { trustedDomains } = config;
  const file =
    directory === null || (config.printsSecrets ?? process.stdout.isTTY)
      ? null
      : await createFirstStartFile(config.dataDirectory);
  const firstAccount =
    directory === null
      ? null
      : await asOwner(part, (database) => createFirstAccount(database, { trustedDomains, secretKey }));
  const facts = {
    smtpAddress: `${config.host}:${config.smtpPort}`,
    submission: { startTls: config.submissionPort, tls: config.submissionsPort },
    certificateFile:
      config.smtpTls === null
        ? certificateToTrust({ dataDirectory: config.dataDirectory, mailHostname: config.mailHostname })
        : null,
    publicUrl: config.publicUrl,
    data: directory ?? 'DATABASE_URL',
    firstAccount,
    // Only the embedded cluster is certain to be readable: DATABASE_URL may name a role that sees no accounts.
    hasAccounts: directory === null || (await asOwner(part, hasAnyAccount)),
    isSignUpOpen: config.isSignUpOpen,
  };
  if (firstAccount === null) await file?.discard();
  else await file?.write(welcome({ ...facts, secretsFile: null }));
  process.stdout.write(welcome({ ...facts, secretsFile: firstAccount === null ? null : (file?.path ?? null) }));
}

async function asOwner<T>({ databaseUrl, log }: Part, work: (database: Database) => Promise<T>): Promise<T> {
  const options = { url: databaseUrl, role: null, poolSize: 1, applicationName: 'start' };
  const { database, close } = openLoggedDatabase(options, log);
  try {
    return await work(database);
  } finally {
    await close();
  }
}
