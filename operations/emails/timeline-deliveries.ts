import type { PastDelivery } from '../../db/queries/emails/email-history.ts';
import type { DeliveryAttempt } from '../../db/queries/endpoints/delivery-row.ts';
import { entry, type TimelineEntry } from './timeline-entry.ts';

const REQUESTS = {
  route: null,
  release: null,
  retry: 'Delivered again, as somebody asked',
  replay: 'Replayed',
} as const;

/** A delivery and its tries; those of copies are told by their recipients. */
export function deliveryEntries(delivery: PastDelivery, attempts: readonly DeliveryAttempt[]): TimelineEntry[] {
  const { id: nodeId, cause, createdAt, completedAt, status, error, endpointName } = delivery;
  const endpoint = endpointName === null ? 'an endpoint that is gone' : `endpoint “${endpointName}”`;
  const request = REQUESTS[cause];
  const isEndedUntried = status === 'failed' && completedAt !== null && delivery.isWebhook && attempts.length === 0;
  return [
    ...(request === null ? [] : [entry('delivery-requested', createdAt, `${request}: to ${endpoint}`, { nodeId })]),
    ...attempts.map((attempt) => attemptEntry(attempt, endpoint, nodeId)),
    ...(isEndedUntried
      ? [
          entry('delivery-ended', completedAt, `The delivery to ${endpoint} was given up`, {
            detail: error,
            isFailure: true,
            nodeId,
          }),
        ]
      : []),
  ];
}

function attemptEntry(attempt: DeliveryAttempt, endpoint: string, nodeId: string): TimelineEntry {
  const { number, startedAt, durationMs, outcome, statusCode, error } = attempt;
  const answer = statusCode === null ? 'no answer' : `answer ${statusCode}`;
  const came = { success: answer, failed: `failed, ${answer}`, interrupted: 'interrupted, does not count' }[outcome];
  return entry('delivery-attempt', startedAt, `Webhook to ${endpoint}, try ${number}: ${came}`, {
    detail: error,
    durationMs,
    isFailure: outcome === 'failed',
    nodeId,
  });
}
