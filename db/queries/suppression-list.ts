import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { Page } from '../../core/page.ts';
import type { Tables } from '../tables.ts';
import { containsPattern } from './search-pattern.ts';

/** An address that a user's mail is not sent to any more. */
export interface Suppression {
  id: string;
  /** lower case */
  address: string;
  reason: 'bounce' | 'complaint' | 'manual';
  /** what the server or the report said; null when nothing was said */
  detail: string | null;
  /** the email that was refused or complained of */
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
  { reason, search }: SuppressionConditions,
  page: Page,
): Promise<{ suppressions: Suppression[]; total: number }> {
  const where = sql`s.user_id = ${userId}
    ${reason === null ? sql`` : sql`and s.reason = ${reason}`}
    ${search === null ? sql`` : sql`and s.address like ${containsPattern(search)}`}`;
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
