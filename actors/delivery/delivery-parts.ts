import { deriveDownloadLinkKey } from '../../core/endpoints/download-link.ts';
import { type DmarcRules, noDmarcRules } from '../../core/screening/door/dmarc-enforcement.ts';
import { DEFAULT_APPROVAL_DAYS } from '../../core/sending/approval.ts';
import { createAddressGuard } from '../../core/shared/network-address.ts';
import type { OperationParts } from '../../operations/context.ts';
import type { BuildEventPayload, SelectPayload } from '../../operations/endpoints/payload-queries.ts';
import type { ActorContext } from '../actor.ts';
import { createCheckedDispatcher } from '../network/checked-dispatcher.ts';
import { createActionRunner } from './act-on-response.ts';
import { type AskFaultPoint, createAsker } from './ask-model.ts';
import { createAttempter } from './attempt.ts';
import { createDirectDelivery } from './deliver-directly.ts';
import { createDeliveryFlow } from './delivery-flow.ts';
import { createDeliveryQueue, type DeliveryLimits } from './delivery-queue.ts';
import { createDispatcher } from './dispatch.ts';
import { createEndpointLookup } from './endpoint-lookup.ts';
import { JUDGING_LIMITS, type JudgingLimits } from './evaluation-turns.ts';
import { createFanOut } from './fan-out.ts';
import { createForwarder } from './forward.ts';
import { createForwardThreads, type ForwardThreadsOptions } from './forward-thread.ts';
import { createGuardLookup } from './guard-lookup.ts';
import { createGuardModel } from './guard-model.ts';
import type { DeliveryFaultPoint } from './job.ts';
import { createRoutePlanner } from './plan-routes.ts';
import { createDeliveryRecorder } from './record-outcomes.ts';
import { createEmailRouter } from './route-emails.ts';
import { createTurnGiver } from './start-ordered-deliveries.ts';
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
