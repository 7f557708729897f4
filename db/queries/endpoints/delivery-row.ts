import { type RawBuilder, sql } from 'kysely';
import type { DeliveryAttemptOutcome, DeliveryCause, DeliveryStatus } from '../../../core/endpoints/delivery.ts';
import type { EndpointType } from '../../../core/endpoints/endpoint-config.ts';

/** What becomes of a received email at one endpoint, without its attempts. */
export interface DeliverySummary {
  id: string;
  emailId: string;
  endpointId: string;
  type: EndpointType;
  cause: DeliveryCause;
  status: DeliveryStatus;
  /** tries made; interrupted ones do not count */
  attempts: number;
  lastAttemptAt: Date | null;
  /** null: there is no further try, or the sending queue has it */
  nextAttemptAt: Date | null;
  /** `error` and `statusCode` of the last attempt; null before it */
  responseData: unknown;
  createdAt: Date;
  completedAt: Date | null;
}

/** One try of a delivery. */
export interface DeliveryAttempt {
  /** from 1; interrupted ones are numbered, too */
  number: number;
  startedAt: Date;
  durationMs: number;
  outcome: DeliveryAttemptOutcome;
  statusCode: number | null;
  error: string | null;
  /** without what is secret */
  requestHeaders: Record<string, string>;
  /** how the answer begins; null when there was none */
  responseBody: string | null;
}

/** The columns of the delivery `d` that deliverySummary reads. */
export const deliverySummaryColumns: RawBuilder<unknown> = sql`
  d.id, d.email_id, d.endpoint_id, d.delivery_type, d.cause, d.status, d.attempts, d.last_attempt_at, d.next_attempt_at, d.response_data,
  d.created_at, d.completed_at`;

export interface DeliverySummaryRow {
  id: string;
  email_id: string;
  endpoint_id: string;
  delivery_type: EndpointType;
  cause: DeliverySummary['cause'];
  status: DeliveryStatus;
  attempts: number;
  last_attempt_at: Date | null;
  next_attempt_at: Date | null;
  response_data: unknown;
  created_at: Date;
  completed_at: Date | null;
}

export function deliverySummary(row: DeliverySummaryRow): DeliverySummary {
  return {
    id: row.id,
    emailId: row.email_id,
    endpointId: row.endpoint_id,
    type: row.delivery_type,
    cause: row.cause,
    status: row.status,
    attempts: row.attempts,
    lastAttemptAt: row.last_attempt_at,
    nextAttemptAt: row.next_attempt_at,
    responseData: row.response_data,
    createdAt: row.created_at,
    completedAt: row.completed_at,
  };
}
