import { deriveDownloadLinkKey } from '../../core/endpoints/download-link.ts';
import { type DmarcRules, noDmarcRules } from '../../core/screening/door/dmarc-enforcement.ts';
import { DEFAULT_APPROVAL_DAYS } from '../../core/sending/approval.ts';
import { createAddressGuard } from '../../core/shared/network-address.ts';
import { CLAIM_BATCH } from '../../db/claim.ts';
import type { OperationParts } from '../../operations/context.ts';
import type { BuildEventPayload, SelectPayload } from '../../operations/endpoints/payload-queries.ts';
import { type Actor, type ActorContext, type Run, runActor } from '../actor.ts';
import { createCheckedDispatcher } from '../network/checked-dispatcher.ts';
import { laneName } from '../work/in-hand.ts';
import { createActionRunner } from './act-on-response.ts';
import { type AskFaultPoint, createAsker } from './ask-model.ts';
import { createAttempter } from './attempt.ts';
import { createRoutePlanner } from './decide-routes.ts';
import { createDeliveryFlow } from './delivery-flow.ts';
import type { DeliveryFaultPoint } from './delivery-job.ts';
import { createDeliveryQueue, type DeliveryLimits } from './delivery-queue.ts';
import { createDispatcher } from './dispatch.ts';
import { createEndpointLookup } from './endpoint-lookup.ts';
import { JUDGING_LIMITS, type JudgingLimits } from './evaluation-turns.ts';
import { createFanOut } from './fan-out.ts';
import { createForwarder } from './forward.ts';
import { createForwardThreads, type ForwardThreadsOptions } from './forward-thread.ts';
import { createGuardLookup } from './guard-lookup.ts';
import { createGuardModel } from './guard-model.ts';
import { createDeliveryRecorder } from './record-outcomes.ts';
import { createEmailRouter } from './route-emails.ts';
import { createDirectDelivery, createDueTaker, createTurnGiver } from './take-deliveries.ts';
import { createEndpointTester } from './test-endpoint.ts';

/** Intervals at which lanes that were skipped are served again, free turns are found, and leases are renewed; milliseconds. */
const REFILL_MS = 2_000;
const TURN_MS = 2_000;
const RENEWAL_MS = 8_000;

/**
 * Routes received mail, and delivers it and events to endpoints. The steps, in the order of a delivery:
 *
 * 1. `route`: threaded mail gets its route: guard rules, then the endpoint of its address or domain. Most deliveries are claimed as they are
 *    created, and attempted at once. Mail that this process has just received takes a shorter way (take-deliveries.ts).
 * 2. `ask`: the language model is asked about mail whose guard rules need it, which is then routed.
 * 3. `fan-out`: events become deliveries to the endpoints that subscribe to them.
 * 4. `turn`: of deliveries that follow each other, the next one becomes due.
 * 5. `deliver`: due deliveries to webhooks are claimed, endpoint by endpoint, attempted and recorded (dispatch.ts).
 * 6. `refill`: endpoints that were skipped, because enough of their deliveries were in hand, get more.
 * 7. `forward`: copies of mail are composed and added to the sending queue.
 * 8. `renew`: leases of deliveries in hand are extended.
 *
 * What the steps need of each other is in delivery-flow.ts, and what they work with is made below, by createDeliveryParts.
 */
export function startDeliveryActor(context: ActorContext, options: DeliveryActorOptions): Promise<Actor> {
  const parts = createDeliveryParts(context, options);
  const { flow, asker, fanOut, turns, taker, dispatcher, forwarder, direct, tester } = parts;
  const watch = watchEnd(parts);

  const running = runActor({
    context,
    name: 'delivery',
    steps: [
      {
        name: 'route',
        wake: 'delivery.route.wake',
        due: 'route',
        batchSize: CLAIM_BATCH,
        async work(run) {
          watch(run);
          return routeBatch(parts);
        },
      },
      { name: 'ask', due: 'ask', work: (run) => asker.askDue(run) },
      { name: 'fan-out', due: 'fan-out', work: () => fanOut.run() },
      { name: 'turn', everyMs: TURN_MS, work: (run) => turns.run(run) },
      {
        name: 'deliver',
        wake: 'delivery.deliver.wake',
        due: 'deliver',
        async work(run) {
          watch(run);
          // A wake may mean webhooks and forwards.
          if (run.wakes.length > 0) flow.nudge('forward');
          await taker.sweep(run);
        },
      },
      { name: 'refill', everyMs: REFILL_MS, work: (run) => taker.refill(run) },
      {
        name: 'forward',
        due: 'forward',
        batchSize: CLAIM_BATCH,
        work(run) {
          watch(run);
          return forwarder.forward(run);
        },
      },
      { name: 'renew', everyMs: RENEWAL_MS, work: () => flow.leases.renew(flow.inHand.jobs()) },
    ],
    questions: {
      'delivery.endpoint.test': (request) => tester.test(request),
      'delivery.guard.ask': (request) => asker.respond(request),
    },
  });
  flow.connect({ running, dispatcher, taker, turns });
  context.directDelivery.current = direct;

  return Promise.resolve({
    async stop() {
      context.directDelivery.current = null;
      flow.stop();
      dispatcher.stop();
      await fanOut.stop();
      await Promise.all([running.stop(), asker.stop()]);
      await parts.end();
    },
  });
}

/** Routes a batch of threaded mail, and starts the steps that continue with it. Returns how much mail was routed. */
async function routeBatch({ flow, router, taker }: DeliveryParts): Promise<number> {
  if (!taker.hasRoom()) return 0;
  await taker.waitForRoom();
  const counts = new Map<string, number>();
  const batch = await router.route(CLAIM_BATCH, (lane) => {
    const count = (counts.get(laneName(lane)) ?? 0) + 1;
    counts.set(laneName(lane), count);
    return flow.admit(lane, count);
  });
  flow.leave(batch.leftTo);
  flow.attempt(batch.jobs);
  flow.freeTurns(batch.turns);
  if (batch.leftTo.length > 0) flow.nudge('refill');
  if (batch.isMoreLeft) flow.nudge('route');
  if (batch.askCount > 0) flow.nudge('ask');
  if (batch.forwardCount > 0) flow.nudge('forward');
  return batch.emailCount;
}

/** Returns a function that lets the end of the time of a stopping actor end open requests. */
function watchEnd(parts: DeliveryParts): (run: Pick<Run, 'signal'>) => void {
  const watched = new WeakSet<AbortSignal>();
  return ({ signal }) => {
    if (watched.has(signal)) return;
    watched.add(signal);
    signal.addEventListener('abort', () => parts.interrupt(), { once: true });
  };
}

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
  /** for evaluating guard rules; defaults in evaluation-turns.ts */
  judgingLimits?: Partial<JudgingLimits>;
  /** mail that fails DMARC is held by these; nothing by default */
  dmarc?: DmarcRules;
  /** OpenAI-compatible API for guard rules of type ai_prompt; null or absent disables them */
  guardModel?: { url: string; key: string | null; name: string } | null;
  /** runs the payload queries of endpoints; absent: every endpoint gets the default payload */
  selectPayload?: SelectPayload;
  /** builds the bodies that post events; absent: they are given up */
  buildEventPayload?: BuildEventPayload;
  /** checks what actions send for viruses; absent: it is not checked */
  scanOutgoing?: OperationParts['scanOutgoing'];
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
  large: { count: 100, bytes: 20_000_000 },
  ofEndpoint: { count: 50, bytes: 16_000_000 },
  refillOfEndpoint: 20,
};

/** The parts of the delivery actor. */
export type DeliveryParts = ReturnType<typeof createDeliveryParts>;

/** Creates what the steps of the delivery actor work with. What the steps need of each other is the flow. */
export function createDeliveryParts(context: ActorContext, options: DeliveryActorOptions) {
  const { secretKey, publicUrl } = options;
  const fault = options.fault ?? (() => undefined);
  const flow = createDeliveryFlow(context);

  const guard = createAddressGuard({
    allowedPrivateNetworks: options.allowedPrivateNetworks,
    ownPorts: options.refusedPorts,
  });
  const http = createCheckedDispatcher({
    guard,
    dnsServers: options.dnsServers ?? [],
    trustedCertificates: options.trustedCertificates ?? null,
  });
  const linkKey = deriveDownloadLinkKey(secretKey);
  const systemMailFrom = options.systemMailFrom ?? 'postroom@localhost';
  const threads = createForwardThreads(options.forwardThreads);
  const endpoints = createEndpointLookup({ pool: context.database.pool, secretKey, log: context.log });

  const judgingLimits = { ...JUDGING_LIMITS, ...options.judgingLimits };
  const guardRules = createGuardLookup({ bus: context.bus, asideMs: judgingLimits.asideMs });
  const model = options.guardModel == null ? null : createGuardModel(options.guardModel);
  const routing = {
    context,
    endpoints,
    guard: guardRules,
    judgingLimits,
    hasModel: model !== null,
    dmarc: options.dmarc ?? noDmarcRules,
  };
  const router = createEmailRouter(routing);
  const asker = createAsker({ parts: routing, model, flow, fault });

  const recorder = createDeliveryRecorder({ context, flow, fault });
  const attempter = createAttempter({
    context,
    leases: flow.leases,
    endpoints,
    dispatcher: http,
    publicUrl,
    linkKey,
    selectPayload: options.selectPayload ?? (() => Promise.resolve(null)),
    buildEventPayload:
      options.buildEventPayload ?? (() => Promise.resolve({ verdict: 'gone', reason: 'Events cannot be posted' })),
    requestsPerEndpoint: REQUESTS_PER_ENDPOINT,
  });
  const actions = createActionRunner({
    context,
    recorder,
    secretKey,
    sendLimitPerHour: options.sendLimitPerHour ?? 0,
    approvalDays: options.approvalDays ?? DEFAULT_APPROVAL_DAYS,
    scanOutgoing: options.scanOutgoing,
    fault,
  });
  const queue = createDeliveryQueue(LIMITS);
  const dispatcher = createDispatcher({ context, flow, queue, attempter, recorder, actions, fault });
  const taker = createDueTaker({ context, flow, endpoints });
  const turns = createTurnGiver({ context, flow, fault });
  const fanOut = createFanOut({ context, flow, fault });
  const forwarder = createForwarder({
    context,
    secretKey,
    threads,
    recorder,
    limitPerHour: options.forwardLimitPerHour ?? 0,
    systemMailFrom,
    mailHostname: options.mailHostname ?? 'localhost',
    fault,
  });

  const planner = createRoutePlanner({ context, endpoints });
  const direct = createDirectDelivery({ context, planner, taker, dispatcher });
  const tester = createEndpointTester({
    context,
    systemMailFrom,
    endpoints,
    dispatcher: http,
    guard,
    publicUrl,
    linkKey,
    threads,
  });

  return {
    flow,
    router,
    asker,
    fanOut,
    turns,
    taker,
    dispatcher,
    forwarder,
    direct,
    tester,
    /** Ends open requests and the threads that compose copies. */
    interrupt() {
      attempter.interrupt();
      tester.interrupt();
      void threads.end();
    },
    /** Ends what outlives the steps. */
    async end() {
      await threads.end();
      await guardRules.stop();
      await http.destroy();
    },
  };
}
