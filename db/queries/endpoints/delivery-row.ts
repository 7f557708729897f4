import { type RawBuilder, sql } from 'kysely';
import type { ActionLog } from '../../../core/endpoints/actions.ts';
import type { DeliveryAttemptOutcome, DeliveryCause, DeliveryStatus } from '../../../core/endpoints/delivery.ts';
import type { EndpointType } from '../../../core/endpoints/endpoint-config.ts';
import type { PostedKind } from '../../../core/events/event-kinds.ts';

/** The delivery of a received email or an event to one endpoint, without its attempts. */
export interface DeliverySummary {
  id: string;
  /** null for an event that is about no email */
  emailId: string | null;
  endpointId: string;
  /** the event that is posted; null: mail that is routed to the endpoint */
  event: { seq: number; kind: PostedKind } | null;
  type: EndpointType;
  cause: DeliveryCause;
  status: DeliveryStatus;
  /** attempts made; interrupted ones do not count */
  attempts: number;
  lastAttemptAt: Date | null;
  /** null: there is no further attempt, or the copy is in the sending queue */
  nextAttemptAt: Date | null;
  /** `error` and `statusCode` of the last attempt; null before it */
  responseData: unknown;
  /** what became of the actions in the webhook's response; null: it had none */
  actions: ActionLog | null;
  createdAt: Date;
  completedAt: Date | null;
}

/** An attempt of a delivery. */
export interface DeliveryAttempt {
  /** from 1; interrupted attempts are numbered, too */
  number: number;
  startedAt: Date;
  durationMs: number;
  outcome: DeliveryAttemptOutcome;
  statusCode: number | null;
  error: string | null;
  /** without secrets */
  requestHeaders: Record<string, string>;
  /** the beginning of the response body; null when there was none */
  responseBody: string | null;
}

/** The columns of the delivery `d` that deliverySummary reads. */
export const deliverySummaryColumns: RawBuilder<unknown> = sql`
  d.id, d.email_id, d.endpoint_id, d.event_seq, d.event_kind, d.delivery_type, d.cause, d.status, d.attempts, d.last_attempt_at,
  d.next_attempt_at, d.response_data, d.actions, d.created_at, d.completed_at`;

export interface DeliverySummaryRow {
  id: string;
  email_id: string | null;
  endpoint_id: string;
  event_seq: number | null;
  event_kind: PostedKind | null;
  delivery_type: EndpointType;
  cause: DeliverySummary['cause'];
  status: DeliveryStatus;
  attempts: number;
  last_attempt_at: Date | null;
  next_attempt_at: Date | null;
  response_data: unknown;
  actions: ActionLog | null;
  created_at: Date;
  completed_at: Date | null;
}

export function deliverySummary(row: DeliverySummaryRow): DeliverySummary {
  return {
    id: row.id,
    emailId: row.email_id,
    endpointId: row.endpoint_id,
    event: row.event_seq === null || row.event_kind === null ? null : { seq: row.event_seq, kind: row.event_kind },
    type: row.delivery_type,
    cause: row.cause,
    status: row.status,
    attempts: row.attempts,
    lastAttemptAt: row.last_attempt_at,
    nextAttemptAt: row.next_attempt_at,
    responseData: row.response_data,
    actions: row.actions,
    createdAt: row.created_at,
    completedAt: row.completed_at,
  };
}
