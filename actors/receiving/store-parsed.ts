import type { Logger } from 'pino';
import { scanHeaders } from '../../core/mime/parse-message.ts';
import type { IdentifierKind } from '../../core/shared/identifiers.ts';
import type { ByteStore } from '../../db/byte-store.ts';
import { type Database, isConnectionLost } from '../../db/connection/database.ts';
import type { NewDmarcReport } from '../../db/queries/domains/dmarc-write.ts';
import type { Reception } from '../../db/queries/emails/reception-claim.ts';
import { type NewEmail, type StoredEmails, storeReceived } from '../../db/queries/emails/store-received.ts';
import { dmarcRow, emailRows, receivedWords } from './email-rows.ts';
import type { ParseOutcome } from './parse-messages.ts';

export interface StoreOptions {
  database: Database;
  bytes: ByteStore;
  log: Logger;
  /** the process that holds the leases */
  claimant: string;
  /** right side of the Message-ID for mail without one */
  mailHostname: string;
  makeId: (kind: IdentifierKind) => string;
}

/** A reception and its parsed message. */
export interface ParsedReception {
  reception: Reception;
  outcome: Pick<ParseOutcome, 'message' | 'authentication' | 'dmarcReport' | 'words'>;
}

/**
 * Stores parsed receptions as emails, all in one transaction. If that fails, each is stored alone, and one that still fails is stored with
 * what a scan of its header section gives, flagged with `parse_error`: its bytes are kept, and it is listed, threaded and delivered. A
 * DMARC report is stored beside its email, unless its mail fails DMARC itself or is imported: then it is only mail. Receptions whose claim was lost are
 * skipped. Throws when PostgreSQL is unreachable: either nothing or everything was stored then, and storing again is harmless.
 */
export async function storeParsed(options: StoreOptions, parsed: readonly ParsedReception[]): Promise<StoredEmails[]> {
  const rows = parsed.map(({ reception, outcome }) => rowsOf(options, reception, outcome));
  try {
    return await storeReceived(options.database, options.claimant, rows, reportsOf(options, parsed));
  } catch (error) {
    if (isConnectionLost(error)) throw error;
    options.log.warn({ err: error, count: rows.length }, 'parsed messages could not be stored together');
  }
  const stored: StoredEmails[] = [];
  for (const [at, one] of parsed.entries()) {
    const row = rows[at];
    if (row !== undefined) stored.push(...(await storeAlone(options, one, row)));
  }
  return stored;
}

const NOT_STORABLE = 'The parsed message could not be stored';

async function storeAlone(options: StoreOptions, parsed: ParsedReception, row: NewEmail): Promise<StoredEmails[]> {
  const { reception } = parsed;
  const { database, claimant, log, bytes } = options;
  const lesser = [
    async () => scanHeaders((await bytes.get(reception.rawId)) ?? new Uint8Array(), NOT_STORABLE),
    () => scanHeaders(new Uint8Array(), NOT_STORABLE),
  ];
  let current = row;
  let reports = reportsOf(options, [parsed]);
  for (;;) {
    try {
      return await storeReceived(database, claimant, [current], reports);
    } catch (error) {
      if (isConnectionLost(error)) throw error;
      if (reports.length > 0) {
        log.error({ err: error, emailId: reception.emailId }, 'DMARC report could not be stored, kept as mail');
        reports = [];
        continue;
      }
      const next = lesser.shift();
      if (next === undefined) throw error;
      log.error({ err: error, emailId: reception.emailId }, 'parsed message could not be stored');
      current = rowsOf(options, reception, {
        message: await next(),
        authentication: null,
        dmarcReport: null,
        words: new Map(),
      });
    }
  }
}

function rowsOf(options: StoreOptions, reception: Reception, outcome: ParsedReception['outcome']): NewEmail {
  const words = outcome.words.get(reception.emailId) ?? receivedWords(reception, outcome.message);
  return { ...emailRows(reception, outcome, options.makeId('event'), options.mailHostname), words };
}

function reportsOf({ makeId }: StoreOptions, parsed: readonly ParsedReception[]): NewDmarcReport[] {
  return parsed.flatMap(({ reception, outcome: { dmarcReport, authentication } }) => {
    const isForged = authentication?.dmarc.result === 'fail';
    return dmarcReport === null || isForged || reception.imported !== null
      ? []
      : [dmarcRow(reception, dmarcReport, makeId)];
  });
}
