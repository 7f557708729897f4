import type { Logger } from 'pino';
import type { Database } from '../../db/database.ts';
import { isConnectionLost } from '../../db/database.ts';
import { bareOutcome, emailRows, type StorableOutcome } from './email-rows.ts';
import type { Reception } from './reception.ts';
import { type EmailRows, type StoredEmails, storeRows } from './store-rows.ts';

export interface StoreOptions {
  database: Database;
  log: Logger;
  /** whose lease the receptions bear */
  claimant: string;
  /** right side of the Message-ID that mail without one gets */
  mailHostname: string;
  makeEventId: () => string;
}

/** A reception and what its octets were parsed to. */
export interface ParsedReception {
  reception: Reception;
  outcome: StorableOutcome;
}

/**
 * Makes emails of parsed receptions, all in one transaction. When that fails each is stored alone, and one that still fails
 * is stored bare, flagged with `parse_error`: its octets are kept, and it is listed, threaded and delivered. Receptions that this
 * claimant holds no longer are passed over. Throws when PostgreSQL is away; then nothing, or all, was stored, and storing again is harmless.
 */
export async function storeParsed(options: StoreOptions, parsed: readonly ParsedReception[]): Promise<StoredEmails[]> {
  const rows = parsed.map(({ reception, outcome }) => rowsOf(options, reception, outcome));
  try {
    return await storeRows(options.database, options.claimant, rows);
  } catch (error) {
    if (isConnectionLost(error)) throw error;
    options.log.warn({ err: error, count: rows.length }, 'parsed messages could not be stored together');
  }
  const stored: StoredEmails[] = [];
  for (const [at, { reception }] of parsed.entries()) {
    const row = rows[at];
    if (row !== undefined) stored.push(...(await storeAlone(options, reception, row)));
  }
  return stored;
}

async function storeAlone(options: StoreOptions, reception: Reception, row: EmailRows): Promise<StoredEmails[]> {
  const { database, claimant, log } = options;
  try {
    return await storeRows(database, claimant, [row]);
  } catch (error) {
    if (isConnectionLost(error)) throw error;
    log.error({ err: error, emailId: reception.emailId }, 'parsed message could not be stored');
    const bare = bareOutcome('The parsed message could not be stored');
    return await storeRows(database, claimant, [rowsOf(options, reception, bare)]);
  }
}

function rowsOf(options: StoreOptions, reception: Reception, outcome: StorableOutcome): EmailRows {
  return emailRows(reception, outcome, options.makeEventId(), options.mailHostname);
}
