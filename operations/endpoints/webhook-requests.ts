import { deriveListenerSecrets } from '../../core/endpoints/listening.ts';
import type { OperationContext } from '../context.ts';
import type { EventStart, FeedEvent } from '../events/events.ts';

/** The request that posts an event to a webhook, for a program that pulls it. */
export interface PulledRequest {
  event: FeedEvent;
  /** of the event */
  cursor: string;
  /** names and values, in sending order; signed now */
  headers: [name: string, value: string][];
  body: Buffer;
}

export interface PullPage {
  /** oldest first */
  requests: PulledRequest[];
  nextCursor: string;
  hasMore: boolean;
}

export interface Pull {
  start: EventStart;
  /** the endpoint whose requests are pulled; null: those of an endpoint with default settings that gets all mail */
  endpointId: string | null;
  /** as in `events` of an endpoint, limited further to what the endpoint subscribes to; null: what the endpoint subscribes to */
  patterns: readonly string[] | null;
  limit: number;
  waitMs: number;
}

/** Events that one page reads. */
export const DEFAULT_PULLED_EVENTS = 20;
export const MAX_PULLED_EVENTS = 100;

/**
 * Returns the requests that the events after a cursor cause, with the secret that signs them where no endpoint has one of its own. Waits
 * for the first one for a limited time. Throws not_found, validation, and what awaitEvents throws.
 */
export async function pullWebhookRequests(
  context: OperationContext,
  pull: Pull,
): Promise<PullPage & { signingSecret: string | null }> {
  const page = await context.pullRequests(context, pull);
  if (pull.endpointId !== null) return { ...page, signingSecret: null };
  const { userId, rights, settings } = context;
  const { signingSecret } = deriveListenerSecrets(settings.secretKey, { userId, keyId: rights.keyId });
  return { ...page, signingSecret };
}
