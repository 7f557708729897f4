import { setTimeout as pause } from 'node:timers/promises';
import { createAddressGuard } from '../../core/network-address.ts';
import { CLAIM_BATCH } from '../../db/claim.ts';
import { type Actor, type ActorContext, type Run, runActor } from '../actor.ts';
import { createAttempter } from './attempt.ts';
import { createCheckedDispatcher } from './checked-dispatcher.ts';
import { claimDeliveries, createLeaseReleaser, releaseLeases, renewLeases } from './claim-deliveries.ts';
import { createEndpointLookup } from './endpoint-lookup.ts';
import { createFairQueue } from './fair-queue.ts';
import type { DeliveryFaultPoint, DeliveryJob } from './job.ts';
import { createOutcomeRecorder } from './record-outcomes.ts';
import { routeEmails } from './route-emails.ts';

export interface DeliveryActorOptions {
  /** base of links in payloads, without a slash at its end */
  publicUrl: string;
  /** CIDRs that webhooks may reach although they are not public */
  allowedPrivateNetworks: readonly string[];
  /** ports of our own listeners: never reached on an address that is not public */
  refusedPorts: readonly number[];
  /** SECRET_KEY, 32 octets */
  secretKey: Uint8Array;
  /** `host:port` each; absent or empty: the system's resolver */
  dnsServers?: readonly string[];
  /** the EHLO name and right side of Message-IDs of forwarded copies; localhost unless told */
  mailHostname?: string;
  /** copies that one user's endpoints may forward within an hour; 0 or absent: no limit */
  forwardLimitPerHour?: number;
  /** OpenAI-compatible interface for guard rules of type ai_prompt; null or absent: there are none */
  guardModel?: { url: string; key: string | null; name: string } | null;
  /** certificates in PEM trusted instead of the system's */
  trustedCertificates?: readonly string[];
  fault?: (point: DeliveryFaultPoint) => void;
}

/** Requests open at once to one endpoint: one that hangs holds its own few and nobody else's. */
const REQUESTS_PER_ENDPOINT = 10;
/** Deliveries whose content is in memory, in all and of one endpoint; more than are sent at once, so that content is read in batches. */
const MAX_ACTIVE = 2_000;
const MAX_ACTIVE_PER_ENDPOINT = 50;
const REFILL_PER_ENDPOINT = 20;
/** Octets of messages among those; their content takes a few times as much. */
const MAX_ACTIVE_OCTETS = 128_000_000;
const MAX_ACTIVE_OCTETS_PER_ENDPOINT = 16_000_000;
/** Claimed deliveries in hand, and of one endpoint: above these the rest waits in its rows. */
const MAX_IN_HAND = 3_000;
const MAX_IN_HAND_PER_ENDPOINT = 100;
/** An endpoint with that few in hand and more in its rows is served again. */
const FEW_IN_HAND = 40;
/** How long the router waits for a busy endpoint to make room before it leaves that endpoint's mail to be claimed later; milliseconds. */
const ROOM_WAIT_MS = 100;
/** guarantees.md §5; milliseconds. */
const SWEEP_MS = 2_000;
const RENEWAL_MS = 10_000;
/** Before deliveries whose content could not be read are tried again; milliseconds. */
const READ_RETRY_MS = 500;
/** Deliveries deferred for at most that long are awaited by a timer; the sweep finds the others. Seconds. */
const SHORT_DELAY_SECONDS = 60;

/** Routes received mail and delivers it to webhook endpoints. */
export function startDeliveryActor(context: ActorContext, options: DeliveryActorOptions): Promise<Actor> {
  const fault = options.fault ?? (() => undefined);
  const guard = createAddressGuard({
    allowedPrivateNetworks: options.allowedPrivateNetworks,
    ownPorts: options.refusedPorts,
  });
  const dispatcher = createCheckedDispatcher({
    guard,
    dnsServers: options.dnsServers ?? [],
    trustedCertificates: options.trustedCertificates ?? null,
  });
  const endpoints = createEndpointLookup({
    pool: context.database.pool,
    secretKey: options.secretKey,
    log: context.log,
  });
  const attempter = createAttempter({
    context,
    endpoints,
    dispatcher,
    publicUrl: options.publicUrl,
    requestsPerEndpoint: REQUESTS_PER_ENDPOINT,
  });
  const queue = createFairQueue({
    active: MAX_ACTIVE,
    activePerEndpoint: MAX_ACTIVE_PER_ENDPOINT,
    refillPerEndpoint: REFILL_PER_ENDPOINT,
    activeOctets: MAX_ACTIVE_OCTETS,
    activeOctetsPerEndpoint: MAX_ACTIVE_OCTETS_PER_ENDPOINT,
  });
  const releaser = createLeaseReleaser(context);
  const recorder = createOutcomeRecorder({ context, fault, onDeferred: (seconds) => sweepIn(seconds) });
  // Endpoints with deliveries that wait in their rows: newer mail must not overtake those.
  const behind = new Set<string>();
  let hasMoreInRows = false;
  let isStopping = false;
  let isPumpDue = false;
  let roomAwaited: (() => void) | null = null;
  let nextSweep: { at: number; timer: NodeJS.Timeout } | null = null;

  const route = async (run: Run<'delivery.route.wake'>): Promise<number> => {
    watch(run);
    if (!hasRoom()) return 0;
    await roomForBusyEndpoints();
    const claimedNow = new Map<string, number>();
    const batch = await routeEmails(context, endpoints, CLAIM_BATCH, (endpointId) => {
      const count = (claimedNow.get(endpointId) ?? 0) + 1;
      claimedNow.set(endpointId, count);
      return !behind.has(endpointId) && queue.sizeOf(endpointId) + count <= MAX_IN_HAND_PER_ENDPOINT + CLAIM_BATCH;
    });
    for (const endpointId of batch.leftTo) behind.add(endpointId);
    start(batch.jobs);
    if ([...batch.leftTo].some((endpointId) => queue.sizeOf(endpointId) < FEW_IN_HAND)) running.nudge('deliver');
    return batch.emailCount;
  };

  const deliver = async (run: Run<'delivery.deliver.wake'>): Promise<number> => {
    watch(run);
    if (!hasRoom()) return 0;
    const full = queue.endpointsAbove(MAX_IN_HAND_PER_ENDPOINT);
    const jobs = await claimDeliveries(context, CLAIM_BATCH, full);
    if (jobs.length < CLAIM_BATCH)
      for (const endpointId of behind) if (!full.includes(endpointId)) behind.delete(endpointId);
    endpoints.forget(jobs);
    // A lease of ours may run out while the job is still in hand, when PostgreSQL was away for long.
    start(jobs.filter((job) => !queue.has(job.deliveryId)));
    return jobs.length;
  };

  const running = runActor({
    context,
    name: 'delivery',
    steps: [
      { name: 'route', wake: 'delivery.route.wake', everyMs: SWEEP_MS, batchSize: CLAIM_BATCH, work: route },
      { name: 'deliver', wake: 'delivery.deliver.wake', everyMs: SWEEP_MS, batchSize: CLAIM_BATCH, work: deliver },
      { name: 'renew', everyMs: RENEWAL_MS, work: () => renewLeases(context, queue.jobs()) },
    ],
  });

  function start(jobs: readonly DeliveryJob[]): void {
    if (jobs.length === 0) return;
    fault('delivery.claimed');
    if (isStopping) running.keep(releaseLeases(context, jobs));
    else queue.add(jobs);
    pump();
  }

  /** Starts what may start. */
  function pump(): void {
    if (isStopping) return;
    const jobs = queue.take();
    if (jobs.length > 0) running.keep(attemptAll(jobs));
  }

  /** Not at once: what ends in the same turn of the event loop makes room for one batch. */
  function pumpSoon(): void {
    if (isPumpDue) return;
    isPumpDue = true;
    setImmediate(() => {
      isPumpDue = false;
      pump();
    });
  }

  async function attemptAll(jobs: DeliveryJob[]): Promise<void> {
    const { promise: allRecorded, resolve } = Promise.withResolvers<void>();
    let open = jobs.length;
    try {
      await attempter.attempt(jobs, (job, outcome) => {
        if (outcome !== null) fault('delivery.posted');
        queue.end(job);
        pumpSoon();
        const settled = outcome === null ? releaser.release(job) : recorder.record(outcome);
        void settled.then(() => {
          forget(job);
          if (--open === 0) resolve();
        });
      });
    } catch (error) {
      context.log.warn({ err: error, count: jobs.length }, 'delivery: attempts wait for the database');
      for (const job of jobs) queue.end(job);
      await pause(READ_RETRY_MS);
      // On a stop their leases run out.
      if (!isStopping) queue.add(jobs);
      pump();
      return;
    }
    await allRecorded;
  }

  function forget(job: DeliveryJob): void {
    queue.forget(job.deliveryId);
    if (roomAwaited !== null && queue.endpointsAbove(MAX_IN_HAND_PER_ENDPOINT).every((id) => behind.has(id)))
      roomAwaited();
    if (behind.has(job.endpointId) && queue.sizeOf(job.endpointId) < FEW_IN_HAND) running.nudge('deliver');
    if (hasMoreInRows && queue.size() < MAX_IN_HAND / 2) {
      hasMoreInRows = false;
      running.nudge('route');
      running.nudge('deliver');
    }
  }

  function hasRoom(): boolean {
    const hasRoomNow = queue.size() < MAX_IN_HAND;
    if (!hasRoomNow) hasMoreInRows = true;
    return hasRoomNow;
  }

  /** Resolves when no endpoint is full, or after a while: then those that are still full are left behind. */
  async function roomForBusyEndpoints(): Promise<void> {
    const busy = () => queue.endpointsAbove(MAX_IN_HAND_PER_ENDPOINT).filter((id) => !behind.has(id));
    if (busy().length === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const former = roomAwaited;
    const done = () => {
      former?.();
      resolve();
    };
    roomAwaited = done;
    const timer = setTimeout(done, ROOM_WAIT_MS);
    await promise;
    clearTimeout(timer);
    if (roomAwaited === done) roomAwaited = null;
    for (const endpointId of busy()) behind.add(endpointId);
  }

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
  function watch({ signal }: Run): void {
    if (watched.has(signal)) return;
    watched.add(signal);
    signal.addEventListener('abort', () => attempter.interrupt(), { once: true });
  }

  return Promise.resolve({
    async stop() {
      isStopping = true;
      clearTimeout(nextSweep?.timer);
      running.keep(releaseLeases(context, queue.clearWaiting()));
      await running.stop();
      await dispatcher.destroy();
    },
  });
}
