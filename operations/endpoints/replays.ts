import { readWebhookConfig } from '../../core/endpoints/endpoint-config.ts';
import { UserError } from '../../core/shared/errors.ts';
import { asUser } from '../../db/connection/database.ts';
import * as replays from '../../db/queries/endpoints/delivery-replay.ts';
import { invalid, isAskable, newIdentifier, type OperationContext } from '../context.ts';
import { endpointNotFound } from './endpoints.ts';

export interface ReplayWish {
  /** deliveries made from then on ... */
  since: Date;
  /** ... and before then; null: now */
  until: Date | null;
  /** emails whose latest delivery failed, or those that succeeded, too */
  status: 'failed' | 'all';
  /** emails at most, 1 to MAX_REPLAYED */
  limit: number;
}

export interface Replay {
  count: number;
  /** whether the same wish, with this `until`, finds more */
  hasMore: boolean;
  until: Date;
}

/** Emails that one call delivers again at most. */
export const MAX_REPLAYED = 2_000;
/** Deliveries that the actor is told of; it finds the others by itself. */
const MAX_TOLD = 100;

/**
 * Delivers again, each in a new delivery, the emails whose latest delivery to an endpoint was made in that time. One that is still pending
 * is left alone, and so is one that was delivered again later: asking twice with one `until` delivers nothing twice. Throws validation,
 * not_found.
 */
export async function replayDeliveries(
  context: OperationContext,
  endpointId: string,
  wish: ReplayWish,
): Promise<Replay> {
  const { bus, database, userId } = context;
  if (!isAskable(endpointId)) throw endpointNotFound();
  const { deliveryIds, hasMore, until } = await asUser(database, userId, async (transaction) => {
    const endpoint = await replays.holdEndpoint(transaction, userId, endpointId);
    if (endpoint === null) throw endpointNotFound();
    // Not beyond now, so that what is made here never lies in that time.
    const until = wish.until === null || wish.until > endpoint.at ? endpoint.at : wish.until;
    if (wish.until !== null && wish.until <= wish.since) throw invalid('until must be later than since', 'until');
    if (!endpoint.isActive) throw notActive();
    const { type } = endpoint;
    const attemptsAllowed = type === 'webhook' ? 1 + readWebhookConfig(endpoint.config).retryAttempts : 1;
    const selection = { endpointId, since: wish.since, until, status: wish.status };
    const found = await replays.findReplayed(transaction, userId, selection, wish.limit + 1);
    const emails = found
      .slice(0, wish.limit)
      .map((email) => ({ ...email, deliveryId: newIdentifier(context, 'delivery') }));
    if (emails.length > 0)
      await replays.insertReplays(transaction, userId, { endpointId, type, attemptsAllowed }, emails);
    const ids = emails.map(({ deliveryId }) => deliveryId);
    return { deliveryIds: ids, hasMore: found.length > wish.limit, until };
  });
  if (deliveryIds.length > 0)
    bus.wake('delivery.deliver.wake', { userId, deliveryIds: deliveryIds.slice(0, MAX_TOLD) });
  return { count: deliveryIds.length, hasMore, until };
}

/** Emails that countReplayed counts at most. */
export const MAX_REPLAY_COUNTED = 10_000;

/** How many emails replayDeliveries would deliver again, in as many calls as that takes. Throws validation. */
export function countReplayed(
  { database, userId, now }: OperationContext,
  endpointId: string,
  { since, until, status }: Omit<ReplayWish, 'limit'>,
): Promise<number> {
  if (until !== null && until <= since) throw invalid('until must be later than since', 'until');
  const selection = { endpointId, since, until: until ?? now(), status };
  return asUser(database, userId, (transaction) =>
    replays.countReplayed(transaction, userId, selection, MAX_REPLAY_COUNTED),
  );
}

function notActive(): UserError {
  const message = 'Endpoint is not active';
  return new UserError('validation', message, { details: [{ field: 'id', message }], isOfState: true });
}
