import { ACCESS } from '../../core/accounts/rights.ts';
import { readWebhookConfig } from '../../core/endpoints/endpoint-config.ts';
import { UserError } from '../../core/shared/errors.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import * as replays from '../../db/queries/endpoints/delivery-replay.ts';
import { requireAccessNow } from '../accounts/key-grants.ts';
import { invalid, isValidId, newIdentifier, type OperationContext } from '../context.ts';
import { endpointNotFound } from './endpoints.ts';

export interface ReplayInput {
  /** deliveries created at this time or later */
  since: Date;
  /** and before this time; null: now */
  until: Date | null;
  /** only emails whose latest delivery failed, or all */
  status: 'failed' | 'all';
  /** maximum number of emails, 1 to MAX_REPLAYED */
  limit: number;
}

export interface Replay {
  count: number;
  /** whether the same input with this `until` finds more */
  hasMore: boolean;
  until: Date;
  /** deliveries of the period that were left out, by reason, among the latest 10,000; those of earlier calls count as delivered again */
  skipped: replays.SkippedDeliveries;
}

/** The highest number of deliveries that are counted. */
export const MAX_REPLAY_COUNTED = 10_000;
/** Maximum emails per call. */
export const MAX_REPLAYED = 2_000;
/** Delivery ids in the wake-up; the actor finds the others itself. */
const MAX_TOLD = 100;

/**
 * Redelivers the emails whose latest delivery to the endpoint was created in the given period, each as a new delivery.
 * Emails with a pending or a later delivery are skipped, so a second call with the same `until` does nothing. Throws
 * validation, not_found.
 */
export async function replayDeliveries(
  context: OperationContext,
  endpointId: string,
  input: ReplayInput,
): Promise<Replay> {
  const { bus, database, workspaceId } = context;
  if (!isValidId(endpointId)) throw endpointNotFound();
  const { deliveryIds, ...replay } = await asWorkspace(database, workspaceId, async (transaction) => {
    await requireAccessNow(context, transaction, 'Delivering mail again', ACCESS.endpointsAndRead);
    const endpoint = await replays.holdEndpoint(transaction, workspaceId, endpointId);
    if (endpoint === null) throw endpointNotFound();
    // Capped at now, so that the new deliveries never fall into the period.
    const until = input.until === null || input.until > endpoint.at ? endpoint.at : input.until;
    if (input.until !== null && input.until <= input.since) throw invalid('until must be later than since', 'until');
    if (!endpoint.isActive) throw notActive();
    const { type } = endpoint;
    const attemptsAllowed = type === 'webhook' ? 1 + readWebhookConfig(endpoint.config).retryAttempts : 1;
    const selection = { endpointId, since: input.since, until, status: input.status };
    const found = await replays.findReplayed(transaction, workspaceId, selection, input.limit + 1);
    const skipped = await replays.countSkipped(transaction, workspaceId, selection, MAX_REPLAY_COUNTED);
    const emails = found
      .slice(0, input.limit)
      .map((email) => ({ ...email, deliveryId: newIdentifier(context, 'delivery') }));
    if (emails.length > 0)
      await replays.insertReplays(transaction, workspaceId, { endpointId, type, attemptsAllowed }, emails);
    const ids = emails.map(({ deliveryId }) => deliveryId);
    return { deliveryIds: ids, hasMore: found.length > input.limit, until, skipped };
  });
  if (deliveryIds.length > 0)
    bus.wake('delivery.deliver.wake', { workspaceId, deliveryIds: deliveryIds.slice(0, MAX_TOLD) });
  return { count: deliveryIds.length, ...replay };
}

/** Returns for each endpoint how many emails replayDeliveries would redeliver, over as many calls as needed. Throws validation. */
export async function countReplayed(
  { database, workspaceId, now }: OperationContext,
  endpointIds: readonly string[],
  { since, until, status }: Omit<ReplayInput, 'limit'>,
): Promise<number[]> {
  if (until !== null && until <= since) throw invalid('until must be later than since', 'until');
  const selection = { endpointIds, since, until: until ?? now(), status };
  const counts = await asWorkspace(database, workspaceId, (transaction) =>
    replays.countReplayed(transaction, workspaceId, selection, MAX_REPLAY_COUNTED),
  );
  return endpointIds.map((id) => counts.get(id) ?? 0);
}

/** How many retries were made due, and whether more wait. */
export interface RetriedWaiting {
  count: number;
  hasMore: boolean;
}

/**
 * Attempts deliveries to an endpoint now that wait for their next retry, at most MAX_REPLAYED, the earliest first. Their attempts so far
 * count, and their order stays. Throws validation, not_found.
 */
export async function retryWaiting(context: OperationContext, endpointId: string): Promise<RetriedWaiting> {
  const { bus, database, workspaceId } = context;
  if (!isValidId(endpointId)) throw endpointNotFound();
  const found = await asWorkspace(database, workspaceId, async (transaction) => {
    await requireAccessNow(context, transaction, 'Delivering mail again', ACCESS.endpointsAndRead);
    const endpoint = await replays.holdEndpoint(transaction, workspaceId, endpointId);
    if (endpoint === null) throw endpointNotFound();
    if (!endpoint.isActive) throw notActive();
    const { type } = endpoint;
    const deliveryIds = await replays.retryWaiting(transaction, workspaceId, { endpointId, type }, MAX_REPLAYED);
    const hasMore =
      deliveryIds.length === MAX_REPLAYED &&
      (await replays.isRetryWaiting(transaction, workspaceId, { endpointId, type }));
    return { deliveryIds, hasMore };
  });
  if (found.deliveryIds.length > 0)
    bus.wake('delivery.deliver.wake', { workspaceId, deliveryIds: found.deliveryIds.slice(0, MAX_TOLD) });
  return { count: found.deliveryIds.length, hasMore: found.hasMore };
}

function notActive(): UserError {
  const message = 'Endpoint is not active';
  return new UserError('validation', message, { details: [{ field: 'id', message }], isOfState: true });
}
