import { SpanKind } from '@opentelemetry/api';
import type { Database } from '../../db/connection/database.ts';
import { noteStage } from '../mail-spans.ts';
import type { DeliveryJob } from './job.ts';
import type { WebhookResponse } from './post-webhook.ts';

/** Records one request to a user's endpoint, without its place: that is the user's affair. */
export function noteAttempt(
  database: Database,
  job: DeliveryJob,
  startedTick: number,
  response: WebhookResponse,
): void {
  const statusCode = response.kind === 'answered' ? response.statusCode : null;
  const isTaken = statusCode !== null && statusCode >= 200 && statusCode < 300;
  noteStage(database, [job], {
    name: 'webhook attempt',
    kind: SpanKind.CLIENT,
    startedTick,
    attributes: {
      'postroom.delivery.id': job.deliveryId,
      'postroom.endpoint.id': job.endpointId,
      'postroom.attempt': job.attempts + 1,
      'http.request.method': 'POST',
      ...(statusCode === null ? {} : { 'http.response.status_code': statusCode }),
    },
    error: isTaken ? null : statusCode === null ? response.kind : String(statusCode),
  });
}
