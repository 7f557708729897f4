import { sql, type Transaction } from 'kysely';
import type { Tables } from '../../entities/tables.ts';
import { receivesSql } from '../domains/domain-row.ts';
import { lookUpRow } from '../look-up-row.ts';
import { containsPattern } from '../search/search-pattern.ts';

/** Threads that are searched: this many of the newest, and as many of those whose addresses or subject contain the text. */
const MAX_LOOKED_THROUGH = 300;
/** Minimum characters for which the index of threads is useful. */
const LEAST_INDEXED = 3;

/**
 * Returns the participants of the newest threads, and of older ones whose addresses contain the text, in lower case; newest thread first.
 */
export async function readParticipants(
  transaction: Transaction<Tables>,
  workspaceId: string,
  text: string,
): Promise<{ emails: string[]; names: string[] }[]> {
  const newest = sql`
    (select t.id from thread t where t.workspace_id = ${workspaceId} and t.trashed_at is null order by t.last_message_at desc, t.id desc limit ${MAX_LOOKED_THROUGH})`;
  // The search covers no names, so the newest threads are read in any case.
  const found =
    text.length < LEAST_INDEXED
      ? newest
      : sql`${newest} union select s.thread_id from search_threads(${workspaceId}, ${containsPattern(text)}, null, null, false, null, null,
          null, null, false, ${MAX_LOOKED_THROUGH}) s`;
  const { rows } = await sql<{ emails: string[]; names: string[] }>`
    select t.participant_emails as emails, t.participant_names as names
    from (${found}) f ${lookUpRow(sql`${workspaceId}`, 'thread', 'f.id', 't')}
    order by t.last_message_at desc, t.id desc`.execute(transaction);
  return rows;
}

/** Returns those of the addresses that belong to the workspace. */
export async function findOwn(
  transaction: Transaction<Tables>,
  workspaceId: string,
  addresses: readonly string[],
): Promise<Set<string>> {
  const rows = await transaction
    .selectFrom('email_address')
    .select('address')
    .where('workspace_id', '=', workspaceId)
    .where(sql<boolean>`address = any (${addresses}::text[])`)
    .execute();
  return new Set(rows.map(({ address }) => address));
}

/** An address that the user may send from. */
export interface SenderAddress {
  id: string;
  address: string;
  domainId: string;
}

/** Returns active addresses on verified domains that begin with a text in lower case; receiving ones first, then the oldest. */
export async function readSenders(
  transaction: Transaction<Tables>,
  workspaceId: string,
  prefix: string,
  most: number,
): Promise<SenderAddress[]> {
  const { rows } = await sql<SenderAddress>`
    select a.id, a.address, a.domain_id as "domainId"
    from email_address a join address_domain d on d.workspace_id = ${workspaceId} and d.id = a.domain_id
    where a.workspace_id = ${workspaceId} and a.is_active and d.status = 'verified' and starts_with(a.address, ${prefix})
    order by ${receivesSql('d')} desc, a.created_at, a.id limit ${most}`.execute(transaction);
  return rows;
}
