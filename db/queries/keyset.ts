import { type RawBuilder, sql } from 'kysely';
import type { KeysetCursor, KeysetPage } from '../../core/shared/page.ts';

/**
 * Returns `and` with the condition that rows of the alias are between the two cursors of a list that is ordered by an instant and id,
 * newest first. The instant alone is compared first: text comparison is not leakproof, so under row-level security no index could use the
 * pair.
 */
export function keysetConditions(
  alias: string,
  { after, before }: KeysetPage,
  column = 'created_at',
): RawBuilder<unknown> {
  const at = sql.ref(`${alias}.${column}`);
  const compare = (place: KeysetCursor | null, operator: RawBuilder<unknown>) =>
    place === null
      ? sql``
      : sql`and ${at} ${operator}= ${place.at}::timestamptz
            and (${at}, ${sql.ref(`${alias}.id`)}) ${operator} (${place.at}::timestamptz, ${place.id}::text)`;
  return sql`${compare(after, sql.raw('<'))} ${compare(before, sql.raw('>'))}`;
}

/** Returns `order by` the instant and id of the alias, newest first; inverted: oldest first. */
export function keysetOrder(
  alias: string,
  { isInverted }: Pick<KeysetPage, 'isInverted'>,
  column = 'created_at',
): RawBuilder<unknown> {
  const direction = sql.raw(isInverted ? 'asc' : 'desc');
  return sql`order by ${sql.ref(`${alias}.${column}`)} ${direction}, ${sql.ref(`${alias}.id`)} ${direction}`;
}
