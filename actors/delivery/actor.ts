import { CLAIM_BATCH } from '../../db/claim.ts';
import { type Actor, type ActorContext, type Run, runActor } from '../actor.ts';
import { laneName } from '../work/in-hand.ts';
import { createDeliveryParts, type DeliveryActorOptions, type DeliveryParts } from './delivery-parts.ts';

/** Intervals at which lanes that were skipped are served again, free turns are found, and leases are renewed; milliseconds. */
const REFILL_MS = 2_000;
const TURN_MS = 2_000;
const RENEWAL_MS = 8_000;

/**
 * Routes received mail, and delivers it and events to endpoints. The steps, in the order of a delivery:
 *
 * 1. `route`: threaded mail gets its route: guard rules, then the endpoint of its address or domain. Most deliveries are claimed as they are
 *    created, and attempted at once. Mail that this process has just received takes a shorter way (deliver-directly.ts).
 * 2. `ask`: the language model is asked about mail whose guard rules need it, which is then routed.
 * 3. `fan-out`: events become deliveries to the endpoints that subscribe to them.
 * 4. `turn`: of deliveries that follow each other, the next one becomes due.
 * 5. `deliver`: due deliveries to webhooks are claimed, endpoint by endpoint, attempted and recorded (dispatch.ts).
 * 6. `refill`: endpoints that were skipped, because enough of their deliveries were in hand, get more.
 * 7. `forward`: copies of mail are composed and added to the sending queue.
 * 8. `renew`: leases of deliveries in hand are extended.
 *
 * What the steps need of each other is in delivery-flow.ts, and what they work with in delivery-parts.ts.
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
    answers: {
      'delivery.endpoint.test': (request) => tester.test(request),
      'delivery.guard.ask': (request) => asker.answer(request),
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
