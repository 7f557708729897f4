import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { createAddressGuard } from '../../core/shared/network-address.ts';
import type { LocalSending } from '../../operations/sending/local-sender.ts';
import { type Actor, type ActorContext, type Run, runActor } from '../actor.ts';
import { openDispatcherLater } from '../network/checked-request.ts';
import { createDnsResolver } from '../network/dns-resolver.ts';
import { createDnssecLookups } from '../network/dnssec-lookups.ts';
import { createInHand } from '../work/in-hand.ts';
import { createAttempter } from './attempt.ts';
import { createRecipientLeases } from './claim-recipients.ts';
import { createDestinationQueue } from './destination-queue.ts';
import { leaveList } from './leave-list.ts';
import { createLocalSender } from './local-sender.ts';
import type { OpeningLimits } from './open-session.ts';
import { createSendingRecorder } from './record-outcomes.ts';
import { inboundRoute, relayRoute } from './resolve-destination.ts';
import type { SendingJob, Transaction } from './sending-job.ts';
import { createMessageSigner } from './sign-message.ts';
import { createDispatcher, createDueTaker } from './take-due.ts';
import { createTlsSessions } from './tls-sessions.ts';
import { createMtaStsPolicies, findDane } from './transport-security.ts';

/** Points at which fault tests kill the process: attempts are written; the server has replied; the outcome is committed. */
type SendingFaultPoint = 'sending.claimed' | 'sending.sent' | 'sending.recorded';

export interface SendingActorOptions {
  /** our host name in EHLO */
  mailHostname: string;
  /** smtp:// or smtps://, with credentials; null: directly to the MX */
  relayUrl: string | null;
  /** of MX hosts */
  port: number;
  /** our own listener, which receives mail for domains of this service */
  inboundSmtp: { host: string; port: number };
  /** CIDRs that MX hosts may have although they are not public */
  allowedPrivateNetworks: readonly string[];
  /** ports of this service: never reached on a private address */
  refusedPorts: readonly number[];
  /** SECRET_KEY, 32 bytes */
  secretKey: Uint8Array;
  /** `host:port` each; empty: the system's resolver */
  dnsServers: readonly string[];
  /** `host:port` of validating resolvers; empty: DANE is not used */
  validatingResolvers?: readonly string[];
  /** PEM certificates of authorities that mail servers and policy hosts may use besides the default ones */
  trustedCertificates?: readonly string[] | null;
  /** of MTA-STS policy hosts: 443, except in tests */
  policyPort?: number;
  /** whether sessions are counted for TLS reports (RFC 8460) */
  countsTlsSessions?: boolean;
  /** overrides of the defaults, for tests */
  limits?: Partial<OpeningLimits>;
  fault?: (point: SendingFaultPoint) => void;
  /** where a gateway in the same process finds this actor */
  localSending?: LocalSending;
}

/**
 * Milliseconds. RFC 5321 §4.5.3.2 demands more before the message. After the message it demands this much, because a client that gives up
 * earlier may send the message twice. Leases are renewed meanwhile.
 */
const LIMITS: OpeningLimits = {
  connectMs: 30_000,
  openingMs: 90_000,
  greetingMs: 60_000,
  envelopeMs: 120_000,
  messageMs: 600_000,
};
/**
 * Concurrent transactions, and the bytes of their messages: in total, and with destinations that have not accepted a message yet. Then the
 * transactions per destination: a new one, and one that keeps up.
 */
const TRANSACTIONS = {
  active: { count: 200, bytes: 256_000_000 },
  unproven: { count: 100, bytes: 128_000_000 },
  first: 3,
  most: 20,
};
/** Time limits for all lookups of one transaction, and for one query to one server; milliseconds. */
const DNS_TIME_MS = 15_000;
const DNS_QUERY_MS = 2_500;
/** Intervals at which lanes that were skipped are served again, and leases are renewed; milliseconds. */
const REFILL_MS = 2_000;
const RENEWAL_MS = 8_000;
/** How often attempts whose lease expired are interrupted, for example when PostgreSQL is unreachable; milliseconds. */
const LAPSE_MS = 1_000;
/** Interval at which counted TLS sessions are stored; milliseconds. */
const TLS_SESSIONS_MS = 5_000;
/** Sends queued mail: claims recipients, attempts SMTP transactions, and records the outcomes. */
export function startSendingActor(context: ActorContext, options: SendingActorOptions): Promise<Actor> {
  const { mailHostname, secretKey } = options;
  const fault = options.fault ?? (() => undefined);
  const dns = createDnsResolver({
    servers: options.dnsServers,
    queryTimeoutMs: DNS_QUERY_MS,
    // A domain with dead name servers says nothing about other domains.
    failuresUntilPause: Number.POSITIVE_INFINITY,
  });
  const guard = createAddressGuard({
    allowedPrivateNetworks: options.allowedPrivateNetworks,
    ownPorts: options.refusedPorts,
  });
  const resolvers = options.validatingResolvers ?? [];
  const validated = resolvers.length === 0 ? null : createDnssecLookups(resolvers);
  const authorities = options.trustedCertificates ?? null;
  const inbound = inboundRoute(options.inboundSmtp);
  const relay = options.relayUrl === null ? null : relayRoute(options.relayUrl);
  const openDispatcher = openDispatcherLater({
    guard,
    dnsServers: options.dnsServers,
    trustedCertificates: authorities,
  });
  const signer = createMessageSigner(context, secretKey);
  const tlsSessions = options.countsTlsSessions === true ? createTlsSessions(context) : null;
  const attempter = createAttempter({
    context,
    signer,
    secretKey,
    opening: {
      ehloName: mailHostname,
      limits: { ...LIMITS, ...options.limits },
      secureContext: makeContext(authorities),
    },
    resolving: { guard, port: options.port, ownName: mailHostname, draw: Math.random },
    policies: createMtaStsPolicies({
      database: context.database,
      log: context.log,
      openDispatcher,
      port: options.policyPort ?? HTTPS_PORT,
    }),
    findDane: (domain) =>
      validated === null ? Promise.resolve({ kind: 'insecure' }) : findDane(validated, domain, options.port),
    lookUp: () => dns.within(DNS_TIME_MS),
    tlsSessions,
    fixedRoute: (key) => (key === INBOUND ? inbound : key === RELAY ? relay : null),
    onSent: () => fault('sending.sent'),
  });
  const findDestination = ({ isHosted, domain }: Transaction) => {
    const key = isHosted ? INBOUND : relay !== null ? RELAY : domain;
    return { key, isOurs: key !== domain, isRelay: key === RELAY };
  };
  const inHand = createInHand<SendingJob>({
    idOf: ({ recipientId }) => recipientId,
    laneOf: ({ workspaceId, domain }) => ({ workspaceId, key: domain }),
  });
  const leases = createRecipientLeases(context);
  const dispatcher = createDispatcher({
    context,
    queue: createDestinationQueue({
      limits: TRANSACTIONS,
      keyOf: (transaction) => findDestination(transaction).key,
      onReady: () => dispatcher.pump(),
    }),
    inHand,
    leases,
    attempter,
    recorder: createSendingRecorder(context, () => fault('sending.recorded')),
    destinationOf: findDestination,
    keep: (work) => running.keep(work),
    onRoom: ({ workspaceId, domain }) => {
      const need = taker.needOf({ workspaceId, key: domain });
      if (need !== null) running.nudge(need === 'refill' ? 'refill' : 'send');
    },
  });
  const add = (transactions: Transaction[]) => {
    fault('sending.claimed');
    dispatcher.add(transactions);
  };
  const taker = createDueTaker({ context, inHand, add });

  const send = async (run: Run<'sending.send.wake'>): Promise<void> => {
    watch(run);
    await (run.wakes.length > 0 ? taker.takeWoken(run) : taker.sweep(run));
  };
  const running = runActor({
    context,
    name: 'sending',
    steps: [
      { name: 'send', wake: 'sending.send.wake', due: 'send', work: send },
      { name: 'refill', everyMs: REFILL_MS, work: (run) => taker.refill(run) },
      { name: 'renew', everyMs: RENEWAL_MS, work: () => leases.renew(inHand.jobs()) },
      { name: 'lapse', everyMs: LAPSE_MS, work: async () => attempter.interruptLapsed() },
      ...(tlsSessions === null
        ? []
        : [{ name: 'tls-sessions', everyMs: TLS_SESSIONS_MS, work: () => tlsSessions.flush() }]),
    ],
    questions: {
      'sending.list.unsubscribe': ({ url }) => leaveList(openDispatcher, url),
    },
  });

  const { localSending } = options;
  if (localSending !== undefined) localSending.sender = createLocalSender({ context, taker, add });

  const watched = new WeakSet<AbortSignal>();
  function watch({ signal }: Run): void {
    if (watched.has(signal)) return;
    watched.add(signal);
    signal.addEventListener('abort', () => attempter.interrupt(), { once: true });
  }

  return Promise.resolve({
    async stop() {
      if (localSending !== undefined) localSending.sender = null;
      attempter.close();
      dispatcher.stop();
      await running.stop();
      await tlsSessions
        ?.flush()
        .catch((error: unknown) => context.log.warn({ err: error }, 'sending: TLS sessions are lost'));
    },
  });
}

const HTTPS_PORT = 443;

/** Returns a context that trusts these authorities and the default ones. It is made once, because that takes milliseconds. */
function makeContext(authorities: readonly string[] | null): SecureContext | null {
  return authorities === null ? null : createSecureContext({ ca: [...getCACertificates('default'), ...authorities] });
}

/** Keys of destinations that are not domains; a domain contains no colon. */
const INBOUND = ':inbound';
const RELAY = ':relay';
