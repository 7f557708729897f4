import type { MtaStsPolicy } from '../../../core/sending/mta-sts-policy.ts';
import type { Database } from '../../connection/database.ts';

/** A policy as it was fetched. */
export interface StoredMtaStsPolicy extends MtaStsPolicy {
  /** of the TXT record that announced it */
  policyId: string;
  /** until it expires */
  secondsLeft: number;
}

/** Returns the policy of a domain that has not expired; null when there is none. For actors. */
export async function readMtaStsPolicy(database: Database, domain: string): Promise<StoredMtaStsPolicy | null> {
  const { rows } = await database.pool.query<StoredMtaStsPolicy>({
    name: 'read-mta-sts-policy',
    text: `
      select policy_id as "policyId", mode, mx, max_age_seconds as "maxAgeSeconds",
        extract(epoch from expires_at - postroom_now())::float8 as "secondsLeft"
      from mta_sts_policy where domain = $1 and expires_at > postroom_now()`,
    values: [domain],
  });
  return rows[0] ?? null;
}

/** Stores the policy of a domain in place of an earlier one. For actors. */
export async function storeMtaStsPolicy(
  database: Database,
  domain: string,
  { policyId, mode, mx, maxAgeSeconds }: Omit<StoredMtaStsPolicy, 'secondsLeft'>,
): Promise<void> {
  await database.pool.query({
    name: 'store-mta-sts-policy',
    text: `
      insert into mta_sts_policy (domain, policy_id, mode, mx, max_age_seconds, fetched_at, expires_at)
      select $1, $2, $3, $4::text[], $5::integer, t.now, t.now + $5::integer * interval '1 second'
      from (select postroom_now() as now) t
      on conflict (domain) do update set policy_id = excluded.policy_id, mode = excluded.mode, mx = excluded.mx,
        max_age_seconds = excluded.max_age_seconds, fetched_at = excluded.fetched_at, expires_at = excluded.expires_at`,
    values: [domain, policyId, mode, mx, maxAgeSeconds],
  });
}
