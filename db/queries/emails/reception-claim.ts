import type { Screening } from '../../../core/screening/spam-check.ts';
import { claimStatement } from '../../claim.ts';
import type { Database } from '../../connection/database.ts';
import { notSetAsideSql } from '../upkeep/dead-row.ts';

/** Claims what is not parsed before a scanner has checked it. */
export const SCREENING_CLAIMANT = 'screening';

/** A claimed reception. */
export interface ClaimedReception {
  reception: Reception;
  /** of the message */
  sizeBytes: number;
}

/**
 * Claims unparsed receptions without a lease or whose lease expired: those of a process that died, and those left unclaimed. Oldest first,
 * at most `limit`.
 */
export async function claimReceptions(
  database: Database,
  claimant: string,
  limit: number,
): Promise<ClaimedReception[]> {
  const { rows } = await database.pool.query<ClaimedRow>({
    name: 'claim-receptions',
    text: CLAIM_SQL,
    values: [claimant, limit],
  });
  return rows.map((row) => ({
    reception: {
      workspaceId: row.workspace_id,
      emailId: row.email_id,
      rawId: row.raw_id,
      reversePath: row.reverse_path,
      recipient: row.recipient,
      ownAddress: row.own_address,
      addressId: row.address_id,
      domainId: row.domain_id,
      replyAddressId: row.reply_address_id,
      imported: row.imported,
      screening: row.screening,
      remoteAddress: row.remote_address,
      helo: row.helo,
      isTls: row.is_tls,
      traceFields: row.trace_fields,
      acceptedAt: row.accepted_at,
      tries: row.tries,
    },
    sizeBytes: row.size_bytes ?? 0,
  }));
}

/** Releases a reception that failed. */
export async function releaseReception(
  database: Database,
  claimant: string,
  { workspaceId, emailId }: { workspaceId: string; emailId: string },
): Promise<void> {
  await database.pool.query({
    name: 'release-reception',
    text: `update reception set claimed_by = null, claimed_until = null
           where workspace_id = $1 and email_id = $2 and parsed_at is null and claimed_by = $3`,
    values: [workspaceId, emailId, claimant],
  });
}

/** Releases what this process claimed and did not parse, so that the next one need not wait for the leases to expire. */
export async function releaseReceptions(database: Database, claimant: string): Promise<void> {
  await database.pool.query(
    'update reception set claimed_by = null, claimed_until = null where parsed_at is null and claimed_by = $1',
    [claimant],
  );
}

interface ClaimedRow {
  workspace_id: string;
  email_id: string;
  raw_id: string;
  reverse_path: string;
  recipient: string;
  own_address: string;
  address_id: string | null;
  domain_id: string;
  reply_address_id: string | null;
  imported: Imported | null;
  screening: Screening | null;
  remote_address: string;
  helo: string;
  is_tls: boolean;
  trace_fields: string;
  accepted_at: Date;
  tries: number;
  size_bytes: number | null;
}

const columns = [
  'workspace_id',
  'email_id',
  'raw_id',
  'reverse_path',
  'recipient',
  'own_address',
  'address_id',
  'domain_id',
  'reply_address_id',
  'imported',
  'screening',
  'remote_address',
  'helo',
  'is_tls',
  'trace_fields',
  'accepted_at',
  'tries',
];

// A lease that its holder renews, because the row still waits in memory, is not another try.
const CLAIM_SQL = `
  with claimed as (${claimStatement({
    table: 'reception',
    isDue: `d.parsed_at is null and ${notSetAsideSql('parse', 'd.workspace_id', 'd.email_id')}`,
    orderBy: 'd.accepted_at',
    returning: columns,
    set: 'tries = case when t.claimed_by = $1 then t.tries else t.tries + 1 end',
  })})
  select c.*, (select m.size_bytes from raw_message m where m.id = c.raw_id) as size_bytes from claimed c order by c.accepted_at`;

/** What a user says about a message that is imported. */
export interface Imported {
  /** when it was received elsewhere, ISO 8601: the time of the email */
  date: string;
  isRead: boolean;
  /** whether it is routed like new mail; otherwise it is only stored */
  isRouted: boolean;
}

/** One accepted recipient of one SMTP transaction (a row of table reception): the envelope, and what will be parsed. */
export interface Reception {
  workspaceId: string;
  emailId: string;
  rawId: string;
  /** empty for the null reverse-path */
  reversePath: string;
  /** forward-path as given, including the plus-tag */
  recipient: string;
  /** the address that receives it, lower case */
  ownAddress: string;
  /** null when the catch-all accepted it */
  addressId: string | null;
  domainId: string;
  /** null when the recipient is not a reply address */
  replyAddressId: string | null;
  /** null when it was not imported */
  imported: Imported | null;
  /** what the scanners said before the 250; null: nothing */
  screening: Screening | null;
  remoteAddress: string;
  helo: string;
  isTls: boolean;
  /** our own trace fields, with CRLF line ends; they precede the bytes */
  traceFields: string;
  /** when SMTP replied 250 */
  acceptedAt: Date;
  /** tries to parse it, including the one that is due */
  tries: number;
}
