import type { Database } from '../database.ts';

/** A verified domain whose MAIL FROM records are to be looked for. */
export interface MailFromCheck {
  userId: string;
  domainId: string;
  domain: string;
  /** whether they were seen before */
  isVerified: boolean;
  /** since the domain was verified; milliseconds */
  ageMs: number;
}

export interface CheckedMailFrom {
  userId: string;
  domainId: string;
  /** null: DNS did not tell, and what was known stays */
  isSeen: boolean | null;
  /** until they are looked for again; milliseconds */
  delayMs: number;
}

/** Domains taken at once. */
export const MAIL_FROM_BATCH = 50;
/** A process that ends while it looks leaves its domains to the next one after this; seconds. */
const CLAIM_SECONDS = 60;

/** Takes verified domains that are due. */
export async function claimMailFromChecks(database: Database): Promise<MailFromCheck[]> {
  const { rows } = await database.pool.query<MailFromCheck>({
    name: 'claim-mail-from-checks',
    text: `
      update domain d set check_due_at = (select postroom_now()) + interval '${CLAIM_SECONDS} seconds'
      where d.ctid = any (array(
        select c.ctid from domain c where c.status = 'verified' and c.check_due_at <= (select postroom_now())
        order by c.check_due_at limit ${MAIL_FROM_BATCH} for update skip locked))
      returning d.user_id as "userId", d.id as "domainId", d.name as domain, d.mail_from_verified_at is not null as "isVerified",
        (extract(epoch from (select postroom_now()) - coalesce(d.verified_at, d.created_at)) * 1000)::float8 as "ageMs"`,
  });
  return rows;
}

/** Writes what was seen, and when to look next. */
export async function finishMailFromChecks(database: Database, checked: readonly CheckedMailFrom[]): Promise<void> {
  await database.pool.query({
    name: 'finish-mail-from-checks',
    text: `
      update domain d set
        checked_at = n.now,
        check_due_at = n.now + c.delay_ms * interval '1 millisecond',
        mail_from_verified_at = case when c.is_seen then coalesce(d.mail_from_verified_at, n.now)
          when c.is_seen is null then d.mail_from_verified_at end
      from (select postroom_now() as now) n,
        unnest($1::text[], $2::text[], $3::boolean[], $4::float8[]) c (user_id, domain_id, is_seen, delay_ms)
      where d.user_id = c.user_id and d.id = c.domain_id`,
    values: [
      checked.map(({ userId }) => userId),
      checked.map(({ domainId }) => domainId),
      checked.map(({ isSeen }) => isSeen),
      checked.map(({ delayMs }) => delayMs),
    ],
  });
}
