import { deriveDownloadLinkKey } from '../../core/endpoints/download-link.ts';
import { DEFAULT_APPROVAL_DAYS } from '../../core/sending/approval.ts';
import { createAddressGuard } from '../../core/shared/network-address.ts';
import { CLAIM_BATCH } from '../../db/claim.ts';
import type { BuildEventPayload, SelectPayload } from '../../operations/endpoints/payload-queries.ts';
import { type Actor, type ActorContext, type Run, runActor } from '../actor.ts';
import { createCheckedDispatcher } from '../network/checked-dispatcher.ts';
import { createInHand, laneName } from '../work/in-hand.ts';
import { createActionRunner } from './act-on-response.ts';
import { type AskFaultPoint, createAsker } from './ask-model.ts';
import { createAttempter } from './attempt.ts';
import { createDeliveryLeases } from './claim-deliveries.ts';
import { createDirectDelivery } from './deliver-directly.ts';
import { createDeliveryQueue, type DeliveryLimits } from './delivery-queue.ts';
import { createDispatcher } from './dispatch.ts';
import { createEndpointLookup } from './endpoint-lookup.ts';
import { createFanOut } from './fan-out.ts';
import { createForwarder } from './forward.ts';
import { createForwardThreads, type ForwardThreadsOptions } from './forward-thread.ts';
import { createTurnGiver } from './give-turns.ts';
import { createGuardLookup } from './guard-lookup.ts';
import { createGuardModel } from './guard-model.ts';
import type { DeliveryFaultPoint, DeliveryJob } from './job.ts';
import { JUDGING_LIMITS, type JudgingLimits } from './judging.ts';
import { createRoutePlanner } from './plan-routes.ts';
import { createDeliveryRecorder } from './record-outcomes.ts';
import { createEmailRouter } from './route-emails.ts';
import { createDueTaker } from './take-due.ts';
import { createEndpointTester } from './test-endpoint.ts';

export interface DeliveryActorOptions {
  /** base URL of links in payloads, without a trailing slash */
  publicUrl: string;
  /** CIDRs that webhooks may reach although they are not public */
  allowedPrivateNetworks: readonly string[];
  /** ports of this service's listeners: webhooks never reach them on a private address */
  refusedPorts: readonly number[];
  /** SECRET_KEY, 32 bytes */
  secretKey: Uint8Array;
  /** `host:port` each; absent or empty: the system's resolver */
  dnsServers?: readonly string[];
  /** the EHLO name, and the right side of Message-IDs of forwarded copies; localhost by default */
  mailHostname?: string;
  /** SYSTEM_MAIL_FROM: sends copies for users without a verified domain; postroom@localhost if absent */
  systemMailFrom?: string;
  /** copies that one user's endpoints may forward within an hour; 0 or absent: no limit */
  forwardLimitPerHour?: number;
  /** SEND_LIMIT_PER_HOUR, which replies and forwards by actions count against; 0 or absent: no limit */
  sendLimitPerHour?: number;
  /** days that replies and forwards by actions wait for approval at most; DEFAULT_APPROVAL_DAYS if absent */
  approvalDays?: number;
  /** for the threads that compose copies */
  forwardThreads?: ForwardThreadsOptions;
  /** for evaluating guard rules; defaults in judging.ts */
  judgingLimits?: Partial<JudgingLimits>;
  /** OpenAI-compatible API for guard rules of type ai_prompt; null or absent disables them */
  guardModel?: { url: string; key: string | null; name: string } | null;
  /** runs the payload queries of endpoints; absent: every endpoint gets the default payload */
  selectPayload?: SelectPayload;
  /** builds the bodies that post events; absent: they are given up */
  buildEventPayload?: BuildEventPayload;
  /** PEM certificates of authorities to trust besides the default ones */
  trustedCertificates?: readonly string[];
  fault?: (point: DeliveryFaultPoint | AskFaultPoint) => void;
}

/** Requests to one endpoint at a time: an endpoint that hangs takes up these and no others. */
const REQUESTS_PER_ENDPOINT = 10;
/**
 * Limits on deliveries whose content is in memory, in total and per endpoint: more than are sent at once, so that content is read in
 * batches. The bytes are those of the messages; the content takes a few times as much.
 */
const LIMITS: DeliveryLimits = {
  active: { count: 2_000, bytes: 128_000_000 },
  ofEndpoint: { count: 50, bytes: 16_000_000 },
  refillOfEndpoint: 20,
};
/** Intervals at which lanes that were skipped are served again, free turns are found, and leases are renewed; milliseconds. */
const REFILL_MS = 2_000;
const TURN_MS = 2_000;
const RENEWAL_MS = 8_000;
/** Deliveries deferred for at most this long are retried by a timer; the sweep finds the others. Seconds. */
const SHORT_DELAY_SECONDS = 60;

/** Routes received mail and delivers it to webhook endpoints. */
export function startDeliveryActor(context: ActorContext, options: DeliveryActorOptions): Promise<Actor> {
  const fault = options.fault ?? (() => undefined);
  const addressGuard = createAddressGuard({
    allowedPrivateNetworks: options.allowedPrivateNetworks,
    ownPorts: options.refusedPorts,
  });
  const httpDispatcher = createCheckedDispatcher({
    guard: addressGuard,
    dnsServers: options.dnsServers ?? [],
    trustedCertificates: options.trustedCertificates ?? null,
  });
  const endpoints = createEndpointLookup({
    pool: context.database.pool,
    secretKey: options.secretKey,
    log: context.log,
  });
  const { publicUrl } = options;
  const linkKey = deriveDownloadLinkKey(options.secretKey);
  const leases = createDeliveryLeases(context);
  const attempter = createAttempter({
    context,
    leases,
    endpoints,
    dispatcher: httpDispatcher,
    publicUrl,
    linkKey,
    selectPayload: options.selectPayload ?? (() => Promise.resolve(null)),
    buildEventPayload:
      options.buildEventPayload ?? (() => Promise.resolve({ verdict: 'gone', reason: 'Events cannot be posted' })),
    requestsPerEndpoint: REQUESTS_PER_ENDPOINT,
  });
  const inHand = createInHand<DeliveryJob>({
    idOf: ({ deliveryId }) => deliveryId,
    laneOf: ({ userId, endpointId }) => ({ userId, key: endpointId }),
  });
  const recorder = createDeliveryRecorder({ context, fault, onDeferred: (seconds) => sweepIn(seconds) });
  const actions = createActionRunner({
    context,
    recorder,
    secretKey: options.secretKey,
    sendLimitPerHour: options.sendLimitPerHour ?? 0,
    approvalDays: options.approvalDays ?? DEFAULT_APPROVAL_DAYS,
    fault,
  });
  const dispatcher = createDispatcher({
    context,
    queue: createDeliveryQueue(LIMITS),
    inHand,
    leases,
    attempter,
    recorder,
    actions,
    fault,
    keep: (work) => running.keep(work),
    onRoom: (job) => {
      const { userId, endpointId, orderKey } = job;
      if (orderKey !== null) turns.free([{ userId, endpointId, orderKey }]);
      for (const step of taker.needsOf(job)) running.nudge(step);
    },
  });
  const taker = createDueTaker({
    context,
    inHand,
    add(jobs) {
      endpoints.forget(jobs);
      dispatcher.add(jobs);
    },
  });
  const planner = createRoutePlanner({ context, endpoints });
  context.directDelivery.current = createDirectDelivery({ context, planner, taker, dispatcher });
  const forwardThreads = createForwardThreads(options.forwardThreads);
  const systemMailFrom = options.systemMailFrom ?? 'postroom@localhost';
  const tester = createEndpointTester({
    context,
    systemMailFrom,
    endpoints,
    dispatcher: httpDispatcher,
    guard: addressGuard,
    publicUrl,
    linkKey,
    threads: forwardThreads,
  });
  const forwarder = createForwarder({
    context,
    secretKey: options.secretKey,
    threads: forwardThreads,
    recorder,
    limitPerHour: options.forwardLimitPerHour ?? 0,
    systemMailFrom,
    mailHostname: options.mailHostname ?? 'localhost',
    fault,
  });
  const model = options.guardModel == null ? null : createGuardModel(options.guardModel);
  const judgingLimits = { ...JUDGING_LIMITS, ...options.judgingLimits };
  const guardRules = createGuardLookup({ bus: context.bus, asideMs: judgingLimits.asideMs });
  const routing = { context, endpoints, guard: guardRules, judgingLimits, hasModel: model !== null };
  const router = createEmailRouter(routing);
  const asker = createAsker({
    parts: routing,
    model,
    nudge: (step) => running.nudge(step),
    onTurns: (freed) => turns.free(freed),
    fault,
  });
  const fanOut = createFanOut({
    context,
    fault,
    nudge: () => running.nudge('fan-out'),
    onDeliveries(freed) {
      turns.free(freed);
      running.nudge('deliver');
    },
  });
  const turns = createTurnGiver({
    context,
    fault,
    nudge: () => running.nudge('turn'),
    admit: (lane, count) => taker.admit(lane, count) !== 'left',
    add: (jobs) => dispatcher.add(jobs),
    onDue(lanes) {
      taker.leave(lanes);
      running.nudge('refill');
    },
  });
  let isStopping = false;
  let nextSweep: { at: number; timer: NodeJS.Timeout } | null = null;

  const route = async (run: Run<'delivery.route.wake'>): Promise<number> => {
    watch(run);
    if (!taker.hasRoom()) return 0;
    await taker.waitForRoom();
    const counts = new Map<string, number>();
    const batch = await router.route(CLAIM_BATCH, (lane) => {
      const count = (counts.get(laneName(lane)) ?? 0) + 1;
      counts.set(laneName(lane), count);
      return taker.admit(lane, count);
    });
    taker.leave(batch.leftTo);
    dispatcher.add(batch.jobs);
    turns.free(batch.turns);
    if (batch.leftTo.length > 0) running.nudge('refill');
    if (batch.isMoreLeft) running.nudge('route');
    if (batch.askCount > 0) running.nudge('ask');
    if (batch.forwardCount > 0) running.nudge('forward');
    return batch.emailCount;
  };

  const deliver = async (run: Run<'delivery.deliver.wake'>): Promise<void> => {
    watch(run);
    // A wake may mean webhooks and forwards.
    if (run.wakes.length > 0) running.nudge('forward');
    await taker.sweep(run);
  };

  const forward = (run: Run<never>): Promise<number> => {
    watch(run);
    return forwarder.forward(run);
  };

  const running = runActor({
    context,
    name: 'delivery',
    steps: [
      { name: 'route', wake: 'delivery.route.wake', due: 'route', batchSize: CLAIM_BATCH, work: route },
      { name: 'deliver', wake: 'delivery.deliver.wake', due: 'deliver', work: deliver },
      { name: 'fan-out', due: 'fan-out', work: () => fanOut.run() },
      { name: 'forward', due: 'forward', batchSize: CLAIM_BATCH, work: forward },
      { name: 'ask', due: 'ask', work: (run) => asker.askDue(run) },
      { name: 'refill', everyMs: REFILL_MS, work: (run) => taker.refill(run) },
      { name: 'turn', everyMs: TURN_MS, work: (run) => turns.run(run) },
      { name: 'renew', everyMs: RENEWAL_MS, work: () => leases.renew(inHand.jobs()) },
    ],
    answers: {
      'delivery.endpoint.test': (request) => tester.test(request),
      'delivery.guard.ask': (request) => asker.answer(request),
    },
  });

  function sweepIn(seconds: number): void {
    if (seconds > SHORT_DELAY_SECONDS || isStopping) return;
    const at = performance.now() + seconds * 1_000;
    if (nextSweep !== null && nextSweep.at <= at) return;
    clearTimeout(nextSweep?.timer);
    const timer = setTimeout(() => {
      nextSweep = null;
      running.nudge('deliver');
    }, seconds * 1_000);
    nextSweep = { at, timer };
  }

  const watched = new WeakSet<AbortSignal>();
  function watch({ signal }: Pick<Run, 'signal'>): void {
    if (watched.has(signal)) return;
    watched.add(signal);
    const interrupt = () => {
      attempter.interrupt();
      tester.interrupt();
      void forwardThreads.end();
    };
    signal.addEventListener('abort', interrupt, { once: true });
  }

  return Promise.resolve({
    async stop() {
      isStopping = true;
      context.directDelivery.current = null;
      clearTimeout(nextSweep?.timer);
      dispatcher.stop();
      await fanOut.stop();
      await Promise.all([running.stop(), asker.stop()]);
      await forwardThreads.end();
      await guardRules.stop();
      await httpDispatcher.destroy();
    },
  });
}
