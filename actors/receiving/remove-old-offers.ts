import type { Database } from '../../db/connection/database.ts';

/** How long a repeated offer of the same bytes is recognised; senders give up after 5 days (RFC 5321 §4.5.4.1). */
const OFFER_AGE_DAYS = 7;

/** Offers removed at once. */
export const REMOVE_BATCH = 2_000;

/** Removes a batch of offers that are too old to come again; answers how many. */
export async function removeOldOffers(database: Database): Promise<number> {
  const { rowCount } = await database.pool.query({
    name: 'remove-old-offers',
    text: `
      delete from smtp_offer where ctid = any (array(
        select ctid from smtp_offer where accepted_at < (select postroom_now()) - interval '${OFFER_AGE_DAYS} days'
        order by accepted_at limit ${REMOVE_BATCH} for update skip locked))`,
  });
  return rowCount ?? 0;
}
