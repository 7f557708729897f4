import { claimStatement } from '../claim.ts';

/** A delivery that was taken to be attempted now. */
export interface ClaimedDeliveryRow {
  user_id: string;
  id: string;
  email_id: string;
  endpoint_id: string;
  attempts: number;
  attempts_allowed: number;
  created_at: Date;
  thread_id: string | null;
  thread_position: number | null;
  size_octets: number | null;
}

/**
 * Takes up to $2 webhook deliveries that are due, longest due first, for the claimant $1; endpoints in the array $3 have all they can
 * take already and are left out. Rows: ClaimedDeliveryRow.
 */
export const claimDeliveriesSql = `
  with claimed as (${claimStatement({
    table: 'delivery',
    isDue: `d.status = 'pending' and d.next_attempt_at <= (select postroom_now()) and d.delivery_type = 'webhook' and d.endpoint_id <> all($3::text[])`,
    orderBy: 'd.next_attempt_at',
    returning: [
      'user_id',
      'id',
      'email_id',
      'endpoint_id',
      'attempts',
      'attempts_allowed',
      'created_at',
      'thread_id',
      'thread_position',
      'next_attempt_at',
    ],
  })})
  select c.user_id, c.id, c.email_id, c.endpoint_id, c.attempts, c.attempts_allowed, c.created_at, c.thread_id, c.thread_position,
         (select r.size_octets from raw_message r
          where r.id = (select e.raw_id from email e where e.user_id = c.user_id and e.id = c.email_id)) as size_octets
  from claimed c
  order by c.next_attempt_at`;

/** Lengthens the leases of claimant $1 on the deliveries with user ids $2 and ids $3; $4 is the lease in seconds. */
export const renewLeasesSql = `
  update delivery set claimed_until = (select postroom_now()) + $4 * interval '1 second'
  where user_id = any($2::text[]) and id = any($3::text[]) and claimed_by = $1`;

/** Gives claimant $1's leases on those deliveries back, so that anyone may take them at once. */
export const releaseLeasesSql = `
  update delivery set claimed_by = null, claimed_until = null
  where user_id = any($2::text[]) and id = any($3::text[]) and claimed_by = $1`;
