import { sql, type Transaction } from 'kysely';
import type { Tables } from '../../entities/tables.ts';

/** A message that SMTP accepted and that is not parsed yet. */
export interface PendingReception {
  emailId: string;
  /** forward-path as given */
  recipient: string;
  /** the address that received it, lower case */
  ownAddress: string;
  addressId: string | null;
  domainId: string;
  acceptedAt: Date;
  isTest: boolean;
  /** of the reply address that received it; null for other mail */
  metadata: unknown;
  /** the first bytes of the message */
  head: Buffer;
}

/** Bytes of a message in which its header section is read. */
const HEAD_BYTES = 65_536;

/** Returns those of the emails that were accepted with a 250 for the user and have no row yet. */
export async function findPendingReceptions(
  transaction: Transaction<Tables>,
  userId: string,
  emailIds: readonly string[],
): Promise<PendingReception[]> {
  if (emailIds.length === 0) return [];
  const { rows } = await sql<PendingRow>`
    select * from pending_receptions(${userId}, ${emailIds}::text[], ${HEAD_BYTES})`.execute(transaction);
  return rows.map((row) => ({
    emailId: row.email_id,
    recipient: row.recipient,
    ownAddress: row.own_address,
    addressId: row.address_id,
    domainId: row.domain_id,
    acceptedAt: row.accepted_at,
    isTest: row.is_test,
    metadata: row.metadata,
    head: row.head,
  }));
}

interface PendingRow {
  email_id: string;
  recipient: string;
  own_address: string;
  address_id: string | null;
  domain_id: string;
  accepted_at: Date;
  is_test: boolean;
  metadata: unknown;
  head: Buffer;
}
