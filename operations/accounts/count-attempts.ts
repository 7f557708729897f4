import type { Transaction } from 'kysely';
import { DAY_MS } from '../../core/shared/durations.ts';
import { UserError } from '../../core/shared/errors.ts';
import type { Tables } from '../../db/entities/tables.ts';
import { leaseRequests, leaseRequestsIn } from '../../db/queries/accounts/request-lease.ts';
import { newIdentifier, type OperationContext } from '../context.ts';

/** What a workspace may do only so often, because it makes requests to other servers, or mails persons in the name of the service. */
export interface CountedAttempts {
  /** apart from other counters, such as `endpoint-test` */
  kind: string;
  /** per workspace and `per`, across all gateways */
  limit: number;
  /** the beginning of a sentence, such as `Endpoint tests` */
  what: string;
  /** a minute when omitted */
  per?: 'minute' | 'day';
}

const WINDOW_MS = { minute: 60_000, day: DAY_MS };

/**
 * Counts an attempt, in the transaction if there is one: it then counts only if that commits, and other attempts wait for it. Throws
 * rate_limited when there were too many.
 */
export async function countAttempt(
  context: OperationContext,
  { kind, limit, what, per = 'minute' }: CountedAttempts,
  transaction?: Transaction<Tables>,
): Promise<void> {
  const makeRequest = () => ({
    // Not a user id, so that attempts are counted separately from requests.
    workspaceId: `${context.workspaceId}:${kind}`,
    leaseId: newIdentifier(context, 'event'),
    wanted: 1,
    limit,
    leaseMs: 0,
    windowMs: WINDOW_MS[per],
    previous: null,
  });
  const { granted, changesInMs } = await (transaction === undefined
    ? leaseRequests(context.database, makeRequest)
    : leaseRequestsIn(transaction, makeRequest()));
  if (granted > 0) return;
  const retryAfterSeconds = Math.max(1, Math.ceil(changesInMs / 1_000));
  const message = `${what} are limited to ${limit} per ${per}. Retry after ${retryAfterSeconds} seconds.`;
  throw new UserError('rate_limited', message, { retryAfterSeconds });
}
