import { UserError } from '../../core/shared/errors.ts';
import { leaseRequests } from '../../db/queries/accounts/request-lease.ts';
import { newIdentifier, type OperationContext } from '../context.ts';

/** What a user may do only so often, because it makes requests to other servers. */
export interface CountedAttempts {
  /** apart from other counters, such as `endpoint-test` */
  kind: string;
  /** per user and minute, across all gateways */
  limit: number;
  /** the beginning of a sentence, such as `Endpoint tests` */
  what: string;
}

const WINDOW_MS = 60_000;

/** Counts an attempt. Throws rate_limited when there were too many within a minute. */
export async function countAttempt(context: OperationContext, { kind, limit, what }: CountedAttempts): Promise<void> {
  const { granted, changesInMs } = await leaseRequests(context.database, () => ({
    // Not a user id, so that attempts are counted separately from requests.
    workspaceId: `${context.workspaceId}:${kind}`,
    leaseId: newIdentifier(context, 'event'),
    wanted: 1,
    limit,
    leaseMs: 0,
    windowMs: WINDOW_MS,
    former: null,
  }));
  if (granted > 0) return;
  const retryAfterSeconds = Math.max(1, Math.ceil(changesInMs / 1_000));
  const message = `${what} are limited to ${limit} per minute. Retry after ${retryAfterSeconds} seconds.`;
  throw new UserError('rate_limited', message, { retryAfterSeconds });
}
