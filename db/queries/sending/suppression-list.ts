import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { SuppressionReason } from '../../../core/sending/suppression.ts';
import type { KeysetPage, Page } from '../../../core/shared/page.ts';
import type { Tables } from '../../entities/tables.ts';
import { keysetConditions, keysetOrder } from '../keyset.ts';
import { containsPattern } from '../search/search-pattern.ts';

/** An address that a user's mail is not sent to any more. */
export interface Suppression {
  id: string;
  /** lower case */
  address: string;
  reason: SuppressionReason;
  /** what the server, the report or the user said; null when nothing was said */
  detail: string | null;
  /** the email that was refused or complained of; null when the user put the address in */
  emailId: string | null;
  createdAt: Date;
}

/** Which suppressions a list shows; null puts no condition. */
export interface SuppressionConditions {
  reason: Suppression['reason'] | null;
  /** part of the address in any case */
  search: string | null;
}

/** A page, newest first, and how many there are in all. */
export async function listSuppressions(
  transaction: Transaction<Tables>,
  userId: string,
  conditions: SuppressionConditions,
  page: Page,
): Promise<{ suppressions: Suppression[]; total: number }> {
  const where = whereSql(userId, conditions);
  const { rows } = await sql<{ total: number } & (Row | { id: null })>`
    select t.total, p.* from (select count(*) as total from suppression s where ${where}) t
    left join lateral (
      select ${columns} from suppression s where ${where}
      order by s.created_at desc, s.id desc limit ${page.limit} offset ${page.offset}
    ) p on true order by p.created_at desc, p.id desc`.execute(transaction);
  return {
    suppressions: rows.flatMap((row) => (row.id === null ? [] : [suppressionOf(row)])),
    total: Number(rows[0]?.total ?? 0),
  };
}

/** The suppressions behind and before two places, newest first; inverted: oldest first. */
export async function pageSuppressions(
  transaction: Transaction<Tables>,
  userId: string,
  conditions: SuppressionConditions,
  page: KeysetPage,
): Promise<Suppression[]> {
  const { rows } = await sql<Row>`
    select ${columns} from suppression s where ${whereSql(userId, conditions)} ${keysetConditions('s', page)}
    ${keysetOrder('s', page)} limit ${page.limit}`.execute(transaction);
  return rows.map(suppressionOf);
}

export async function countSuppressions(
  transaction: Transaction<Tables>,
  userId: string,
  conditions: SuppressionConditions,
): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from suppression s where ${whereSql(userId, conditions)}`.execute(transaction);
  return Number(rows[0]?.total ?? 0);
}

/** Those of the suppressions that the user has, in no order. */
export async function findSuppressions(
  transaction: Transaction<Tables>,
  userId: string,
  ids: readonly string[],
): Promise<Suppression[]> {
  const { rows } = await sql<Row>`
    select ${columns} from suppression s where s.user_id = ${userId} and s.id = any (${ids}::text[])`.execute(
    transaction,
  );
  return rows.map(suppressionOf);
}

/** Puts an address, in lower case, on the list by its user's wish; one that is listed already stays as it is. Answers what stands there. */
export async function insertSuppression(
  transaction: Transaction<Tables>,
  userId: string,
  { id, address, detail }: Pick<Suppression, 'id' | 'address' | 'detail'>,
): Promise<Suppression> {
  const { rows } = await sql<Row>`
    insert into suppression as s (user_id, id, address, reason, detail, email_id, created_at)
    values (${userId}, ${id}, ${address}, 'manual', ${detail}, null, (select postroom_now()))
    on conflict (user_id, address) do update set address = s.address returning ${columns}`.execute(transaction);
  const [row] = rows;
  if (row === undefined) throw new Error('a suppression was not written');
  return suppressionOf(row);
}

/** One by its id, or by its address in any case of letters; null when the user has none. */
export async function findSuppression(
  transaction: Transaction<Tables>,
  userId: string,
  idOrAddress: string,
): Promise<Suppression | null> {
  const { rows } = await sql<Row>`
    select ${columns} from suppression s where s.user_id = ${userId} and ${isOne(idOrAddress)}`.execute(transaction);
  return rows[0] === undefined ? null : suppressionOf(rows[0]);
}

/** As findSuppression, and takes it off the list. */
export async function deleteSuppression(
  transaction: Transaction<Tables>,
  userId: string,
  idOrAddress: string,
): Promise<Suppression | null> {
  const { rows } = await sql<Row>`
    delete from suppression s where s.user_id = ${userId} and ${isOne(idOrAddress)} returning ${columns}`.execute(
    transaction,
  );
  return rows[0] === undefined ? null : suppressionOf(rows[0]);
}

function whereSql(userId: string, { reason, search }: SuppressionConditions): RawBuilder<unknown> {
  return sql`s.user_id = ${userId}
    ${reason === null ? sql`` : sql`and s.reason = ${reason}`}
    ${search === null ? sql`` : sql`and s.address like ${containsPattern(search)}`}`;
}

function isOne(idOrAddress: string): RawBuilder<unknown> {
  return idOrAddress.includes('@') ? sql`s.address = ${idOrAddress.toLowerCase()}` : sql`s.id = ${idOrAddress}`;
}

interface Row {
  id: string;
  address: string;
  reason: Suppression['reason'];
  detail: string | null;
  email_id: string | null;
  created_at: Date;
}

const columns = sql`s.id, s.address, s.reason, s.detail, s.email_id, s.created_at`;

function suppressionOf(row: Row): Suppression {
  const { id, address, reason, detail, email_id: emailId, created_at: createdAt } = row;
  return { id, address, reason, detail, emailId, createdAt };
}
