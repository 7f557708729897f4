import type { PostedKind } from '../../core/events/event-kinds.ts';
import type { DeliveryContentRow } from '../../db/queries/endpoints/delivery-body.ts';
import type { ClaimedDeliveryRow } from '../../db/queries/endpoints/delivery-claim.ts';
import type { Leased } from '../work/leases.ts';

/** A webhook delivery that this process has claimed and not yet recorded. */
export interface DeliveryJob extends Leased {
  deliveryId: string;
  /** null for an event that is about no email */
  emailId: string | null;
  /** the event that is posted; null: mail that is routed to the endpoint */
  eventSeq: number | null;
  eventKind: PostedKind | null;
  endpointId: string;
  /** attempts so far */
  attempts: number;
  attemptsAllowed: number;
  createdAt: Date;
  threadId: string | null;
  threadPosition: number | null;
  /** see core/endpoints/delivery-order.ts; null: no other delivery waits for it */
  orderKey: string | null;
  /** size of the raw message, which the attempt probably holds in memory */
  sizeBytes: number;
  /** what was read when it was routed; null: nothing, or it was used */
  content: DeliveryContent | null;
}

/** The content of the email of a delivery. */
export interface DeliveryContent {
  email: DeliveryContentRow;
  /** null: not read with it */
  raw: Buffer | null;
  /** on performance.now() */
  readAt: number;
}

/** Points at which fault tests kill the process. */
export type DeliveryFaultPoint =
  | 'delivery.claimed'
  | 'delivery.posted'
  | 'delivery.acted'
  | 'delivery.recorded'
  | 'fan-out.read'
  | 'fan-out.stored'
  | 'delivery.turned'
  | 'forward.claimed'
  | 'forward.composed'
  | 'forward.stored';

/** Returns the job of a claimed delivery; `leaseUntil` is on the clock of performance.now(). */
export function makeJob(row: ClaimedDeliveryRow, leaseUntil: number): DeliveryJob {
  return {
    workspaceId: row.workspace_id,
    deliveryId: row.id,
    emailId: row.email_id,
    eventSeq: row.event_seq,
    eventKind: row.event_kind,
    endpointId: row.endpoint_id,
    attempts: row.attempts,
    attemptsAllowed: row.attempts_allowed,
    createdAt: row.created_at,
    threadId: row.thread_id,
    threadPosition: row.thread_position,
    orderKey: row.order_key,
    sizeBytes: row.size_bytes ?? 0,
    content: null,
    leaseUntil,
  };
}
