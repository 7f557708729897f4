import type { ClientBase } from 'pg';

/** A forwarded delivery whose status changed with that of its recipients. */
export interface SettledForward {
  user_id: string;
  delivery_id: string;
  email_id: string;
  endpoint_id: string;
  status: 'success' | 'failed';
  attempts: number;
  /** the SMTP reply code that tells; null when no server answered */
  status_code: number | null;
  error: string | null;
}

/** Settles those of the deliveries whose recipients are all settled, in the transaction that settled the last of them. */
export async function settleForwards(
  client: ClientBase,
  deliveries: readonly { userId: string; deliveryId: string }[],
): Promise<SettledForward[]> {
  if (deliveries.length === 0) return [];
  const { rows } = await client.query<SettledForward>({
    name: 'settle-forwards',
    text: 'select * from settle_forwards($1::text[], $2::text[])',
    values: [deliveries.map(({ userId }) => userId), deliveries.map(({ deliveryId }) => deliveryId)],
  });
  return rows;
}

/** What append_events takes of a settled delivery, but for its id. */
export function eventOfForward(settled: SettledForward) {
  return {
    kind: settled.status === 'success' ? ('delivery.succeeded' as const) : ('delivery.failed' as const),
    emailId: settled.email_id,
    deliveryId: settled.delivery_id,
    endpointId: settled.endpoint_id,
    data: { attempts: settled.attempts, statusCode: settled.status_code, error: settled.error },
  };
}
