import { sql, type Transaction } from 'kysely';
import type { Tables } from '../../entities/tables.ts';
import { addressOf, domainNameOf } from '../domains/own-name.ts';
import { containsPattern } from '../search/search-pattern.ts';

/** Filters of the received mail to wait for; null matches all. */
export interface AwaitedEmail {
  /** id or name of the receiving address; with a plus-tag, only that one */
  address: string | null;
  /** id or name of the receiving domain */
  domain: string | null;
  /** the sender's address, or its domain */
  from: string | null;
  /** part of the subject, case-insensitive */
  subject: string | null;
  /** earliest time of acceptance */
  since: Date;
}

/** Returns the first matching received email that has its thread, of all or of these; null when there is none. */
export async function findAwaited(
  transaction: Transaction<Tables>,
  userId: string,
  awaited: AwaitedEmail,
  emailIds: readonly string[] | null,
): Promise<string | null> {
  const { address, domain, from, subject, since } = awaited;
  const none = sql``;
  const { rows } = await sql<{ id: string }>`
    select e.id from email e
    where e.user_id = ${userId} and e.type = 'received' and e.trashed_at is null and e.thread_id is not null and e.created_at >= ${since}
      ${emailIds === null ? none : sql`and e.id = any (${emailIds}::text[])`}
      ${address === null ? none : addressCondition(userId, address)}
      ${domain === null ? none : sql`and e.own_domain = ${domainNameOf(userId, domain)}`}
      ${from === null ? none : fromCondition(from.trim().toLowerCase())}
      ${subject === null ? none : sql`and lower(e.subject) like ${containsPattern(subject)}`}
    order by e.created_at, e.id limit 1`.execute(transaction);
  return rows[0]?.id ?? null;
}

/** The row stores the address without its tag, and the envelope recipient as given. */
function addressCondition(userId: string, address: string) {
  return /\+.*@/.test(address)
    ? sql`and lower(e.recipient) = ${address.trim().toLowerCase()}`
    : sql`and e.own_address = ${addressOf(userId, address)}`;
}

function fromCondition(from: string) {
  return from.includes('@') && !from.startsWith('@')
    ? sql`and lower(e.from_address) = ${from}`
    : sql`and split_part(lower(e.from_address), '@', -1) = ${from.replace(/^@/, '')}`;
}
