import type { PostedKind } from '../../core/events/event-kinds.ts';
import { unpackSmall } from '../../db/packed-message.ts';
import { readPlaced } from '../../db/queries/emails/bodies-in-message.ts';
import type { DeliveryContentRow, StoredContentRow } from '../../db/queries/endpoints/delivery-body.ts';
import type { ClaimedDeliveryRow } from '../../db/queries/endpoints/delivery-claim.ts';
import type { RouteRecord, StoredRouteContentRow, StoredRouteRow } from '../../db/queries/routing/delivery-route.ts';
import { type Leased, leaseEnd } from '../work/leases.ts';

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

/** Returns the job of a route that was stored, if this process claimed its delivery, with the content that was read with it. */
export function makeRoutedJobs(
  { record, row }: { record: RouteRecord; row: StoredRouteRow | StoredRouteContentRow },
  sizes: ReadonlyMap<string, number>,
  storedAt: number,
): DeliveryJob[] {
  if (record.delivery_id === null || record.endpoint_id === null || !record.is_claimed) return [];
  return [
    {
      workspaceId: record.workspace_id,
      deliveryId: record.delivery_id,
      emailId: record.email_id,
      eventSeq: null,
      eventKind: null,
      endpointId: record.endpoint_id,
      attempts: 0,
      attemptsAllowed: record.attempts_allowed ?? 1,
      createdAt: row.delivery_created_at,
      threadId: record.thread_id,
      threadPosition: record.thread_position,
      orderKey: null,
      sizeBytes: sizes.get(record.email_id) ?? 0,
      content: findContent(row, storedAt),
      leaseUntil: leaseEnd(storedAt),
    },
  ];
}

function findContent(row: StoredRouteRow | StoredRouteContentRow, readAt: number): DeliveryContent | null {
  if (!hasContent(row)) return null;
  const { packed, sha256, size_bytes: sizeBytes } = row;
  const isThere = packed !== null && sha256 !== null && sizeBytes !== null;
  return { email: readPlaced(row), raw: isThere ? unpackSmall({ packed, sha256, sizeBytes }) : null, readAt };
}

function hasContent(
  row: StoredRouteRow | StoredRouteContentRow,
): row is StoredRouteContentRow & Pick<StoredContentRow, 'id'> {
  return 'id' in row && row.id !== null;
}
