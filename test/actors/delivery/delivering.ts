import type { Actor, ActorContext } from '../../../actors/actor.ts';
import { type DeliveryActorOptions, startDeliveryActor } from '../../../actors/delivery/actor.ts';
import type { Database } from '../../../db/connection/database.ts';
import type { Bus } from '../../../schema/messages.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';

export const LOOPBACK_NETWORKS = ['127.0.0.0/8', '::1/128'];
/** Of every process of a test: bodies may bear links that are signed under it. */
export const SECRET_KEY = Buffer.alloc(32, 9);

export interface TestDelivery extends Actor {
  bus: Bus;
  /** Tells the actor that mail waits for a route. */
  wakeRouter(): void;
  /** Moves the clock by which rows fall due, and tells the actor. */
  moveClock(seconds: number): Promise<void>;
}

/** Starts a delivery actor that may reach loopback; `owner` may move the clock. */
export async function startDelivering(
  database: Database,
  owner: Database,
  options: Partial<DeliveryActorOptions> & Partial<Pick<ActorContext, 'name' | 'bytes' | 'bus'>> = {},
): Promise<TestDelivery> {
  const { name, bytes, bus, ...actorOptions } = options;
  const context = {
    ...testActorContext(database, name),
    ...(bytes === undefined ? {} : { bytes }),
    ...(bus === undefined ? {} : { bus }),
  };
  const actor = await startDeliveryActor(context, {
    publicUrl: 'https://mail.example.test',
    allowedPrivateNetworks: LOOPBACK_NETWORKS,
    refusedPorts: [],
    secretKey: SECRET_KEY,
    ...actorOptions,
  });
  return {
    ...actor,
    bus: context.bus,
    wakeRouter: () => context.bus.wake('delivery.route.wake', { workspaceId: '', emailIds: [] }),
    async moveClock(seconds) {
      await owner.pool.query(`update clock set shift = shift + $1 * interval '1 second'`, [seconds]);
      context.bus.wake('delivery.deliver.wake', { workspaceId: '', deliveryIds: [] });
      context.bus.wake('delivery.route.wake', { workspaceId: '', emailIds: [] });
    },
  };
}

export interface DeliverySight {
  id: string;
  status: string;
  attempts: number;
  /** until the next attempt, at the time of asking */
  wait_seconds: number | null;
  /** from the end of the last attempt to the next; null without one of them */
  pause_seconds: number | null;
  error: string | null;
  status_code: number | null;
  claimed_by: string | null;
}

/** The deliveries of an endpoint, oldest first. */
export async function listDeliveries(database: Database, endpointId: string | null): Promise<DeliverySight[]> {
  const { rows } = await database.pool.query<DeliverySight>(
    `select id, status, attempts, extract(epoch from next_attempt_at - postroom_now())::float8 as wait_seconds,
            extract(epoch from next_attempt_at - (select shift from clock) - (last_attempt->>'started_at')::timestamptz)::float8
              - (last_attempt->>'duration_ms')::float8 / 1000 as pause_seconds,
            response_data->>'error' as error, (response_data->>'statusCode')::integer as status_code, claimed_by
     from delivery where endpoint_id = $1 order by id`,
    [endpointId],
  );
  return rows;
}

/** Resolves when the deliveries meet the condition; rejects with what they were after 120 s. */
export async function untilDeliveries(
  database: Database,
  endpointId: string | null,
  isMet: (deliveries: DeliverySight[]) => boolean,
): Promise<DeliverySight[]> {
  const deadline = Date.now() + 120_000;
  for (;;) {
    const deliveries = await listDeliveries(database, endpointId);
    if (deliveries.length > 0 && isMet(deliveries)) return deliveries;
    if (Date.now() > deadline)
      throw new Error(`deliveries did not come to that: ${JSON.stringify(deliveries.slice(0, 5))}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
