import type { Logger } from 'pino';
import { textOfHtml } from '../../core/html/text-of-html.ts';
import { type ParsedMessage, scanHeaders } from '../../core/mime/parse-message.ts';
import { mayContainCopy, withoutCopy } from '../../core/mime/unmarked-copy.ts';
import { keptApartFor } from '../../core/screening/spam-check.ts';
import type { IdentifierKind } from '../../core/shared/identifiers.ts';
import type { ByteStore } from '../../db/byte-store.ts';
import type { Database } from '../../db/connection/database.ts';
import { inTransactionFrom } from '../../db/connection/transaction.ts';
import { isConflict, isLockTimeout, isTransient, retryContention } from '../../db/errors.ts';
import { insertDmarcReports, type NewDmarcReport } from '../../db/queries/domains/dmarc-write.ts';
import { readOriginalTexts } from '../../db/queries/emails/original-texts.ts';
import type { Reception } from '../../db/queries/emails/reception-claim.ts';
import { type EmailRows, storeReceived } from '../../db/queries/emails/store-received.ts';
import { storeKeptApart } from '../../db/queries/screening/store-apart.ts';
import { claimUnthreaded, lockWorkspacesSql } from '../../db/queries/threads/thread-claim.ts';
import { appendThreadEvents } from '../../db/queries/threads/thread-events.ts';
import { joinThreads } from '../../operations/threads/join-threads.ts';
import { actorMetrics, threadingMetrics } from '../../schema/metrics.ts';
import { noteStage } from '../mail-spans.ts';
import { dmarcRow, emailRows } from './email-rows.ts';
import type { ParseOutcome } from './parse-messages.ts';

/** A parsed message of a user. */
interface OwnedMessage {
  workspaceId: string;
  message: ParsedMessage;
}

/** Maximum msg-ids of a reply whose emails are compared with it. */
const MAX_ORIGINALS = 3;

/**
 * Returns the messages in the same order, without copies of the emails that they reply to. Reads from PostgreSQL only if one of them may
 * contain a copy: a reply of some length in which nothing is marked as quoted.
 */
export async function removeCopies(
  { pool }: Pick<Database, 'pool'>,
  messages: readonly OwnedMessage[],
): Promise<ParsedMessage[]> {
  const suspects = messages.filter(({ message }) => mayContainCopy(message));
  if (suspects.length === 0) return messages.map(({ message }) => message);
  const keys = suspects.flatMap(({ workspaceId, message }) =>
    message.inReplyTo.slice(0, MAX_ORIGINALS).map((messageId) => ({ workspaceId, messageId })),
  );
  const originals = await readOriginalTexts(pool, keys);
  return messages.map(({ workspaceId, message }) => {
    if (!mayContainCopy(message)) return message;
    const own = originals.filter((one) => one.workspaceId === workspaceId && message.inReplyTo.includes(one.messageId));
    return withoutCopy(
      message,
      own.map((one) => ('text' in one ? one.text : (textOfHtml(one.html) ?? ''))),
    );
  });
}

export interface StoreOptions {
  database: Database;
  bytes: ByteStore;
  log: Logger;
  /** the process that holds the leases */
  claimant: string;
  /** right side of the Message-ID for mail without one */
  mailHostname: string;
  now: () => Date;
  random: (bytes: number) => Uint8Array;
  makeId: (kind: IdentifierKind) => string;
  /** called at the points where fault tests kill the process */
  fault?: (point: 'receiving.threads-joined' | 'receiving.stored') => void;
}

/** A reception and its parsed message. */
export interface ParsedReception {
  reception: Reception;
  outcome: Pick<ParseOutcome, 'message' | 'authentication' | 'dmarcReport'>;
}

/** The emails of one user that became visible, each with its thread. */
export interface ThreadedEmails {
  workspaceId: string;
  emailIds: string[];
  /** last number of the user's event feed */
  lastSeq: number;
}

/** What was stored, and what has to be stored later, because the threads of its user are locked by another transaction. */
export interface StoredReceptions {
  stored: ThreadedEmails[];
  busy: ParsedReception[];
}

/** How long a group waits for the threads of its users. Beyond that, the mail of other users does not wait for them. Milliseconds. */
const THREADS_WAIT_MS = 250;
/** Attempts for a group that fails with a deadlock or a serialization failure. */
const MAX_TRIES = 3;

/**
 * Stores parsed receptions as emails with their threads, all in one transaction. If that fails, each is stored alone, and one that still
 * fails is stored with what a scan of its header section gives, flagged with `parse_error`: its bytes are kept, and it is listed, threaded and
 * delivered. A DMARC report is stored beside its email, unless its mail fails DMARC itself or is imported: then it is only mail. Receptions
 * whose claim was lost are skipped. Throws when PostgreSQL is unreachable: either nothing or everything was stored then, and storing again is
 * harmless.
 */
export async function storeParsed(
  options: StoreOptions,
  parsed: readonly ParsedReception[],
): Promise<StoredReceptions> {
  try {
    const rows = parsed.map(({ reception, outcome }) => makeRows(options, reception, outcome));
    return { stored: await storeTogether(options, parsed, rows, makeReports(options, parsed)), busy: [] };
  } catch (error) {
    if (isLockTimeout(error)) return storeByWorkspace(options, parsed);
    if (isTransient(error)) throw error;
    options.log.warn({ err: error, count: parsed.length }, 'parsed messages could not be stored together');
  }
  const all: StoredReceptions = { stored: [], busy: [] };
  for (const one of parsed) {
    const stored = await storeAlone(options, one);
    if (stored === null) all.busy.push(one);
    else all.stored.push(...stored);
  }
  return all;
}

async function storeByWorkspace(options: StoreOptions, parsed: readonly ParsedReception[]): Promise<StoredReceptions> {
  const ofWorkspaces = [...Map.groupBy(parsed, ({ reception }) => reception.workspaceId).values()];
  if (ofWorkspaces.length === 1) return { stored: [], busy: [...parsed] };
  const all: StoredReceptions = { stored: [], busy: [] };
  for (const ofWorkspace of ofWorkspaces) {
    const { stored, busy } = await storeParsed(options, ofWorkspace);
    all.stored.push(...stored);
    all.busy.push(...busy);
  }
  return all;
}

/**
 * Stores emails, their threads, the events of both and the reports, in one transaction. The locks of the threads come first, and each
 * user's events last, as in every transaction that changes threads.
 */
async function storeTogether(
  options: StoreOptions,
  parsed: readonly ParsedReception[],
  rows: readonly EmailRows[],
  reports: readonly NewDmarcReport[],
): Promise<ThreadedEmails[]> {
  const startedTick = performance.now();
  const workspaceIds = [...new Set(rows.map((row) => row.workspace_id))];
  const store = () =>
    inTransactionFrom(options.database, lockWorkspacesSql(workspaceIds, THREADS_WAIT_MS), async (client) => {
      const threaded: ThreadedEmails[] = [];
      const apart = rows.filter((row) => keptApartFor(row.screening ?? null) !== null);
      if (apart.length > 0) threaded.push(...(await storeApart(client, options, apart)));
      const others = apart.length === 0 ? rows : rows.filter((row) => !apart.includes(row));
      if (others.length === 0) return threaded;
      for (const { workspaceId, emailIds, events } of await storeReceived(client, options.claimant, others)) {
        const claimed = await claimUnthreaded(client, workspaceId, emailIds);
        const lastSeq = await joinThreads(options, client, workspaceId, claimed, events);
        threaded.push({ workspaceId, emailIds, lastSeq: lastSeq ?? 0 });
      }
      options.fault?.('receiving.threads-joined');
      return withReports(client, threaded, reports);
    });
  const stored = await retryContention(store, {
    maxTries: MAX_TRIES,
    firstPauseMs: 0,
    mayRetry: isConflict,
    onRetry: () => actorMetrics.retries.inc({ queue: 'assign' }),
  });
  options.fault?.('receiving.stored');
  noteThreaded(options, parsed, stored, startedTick);
  return stored;
}

/** Stores mail that is kept apart: no thread, route or total has it. */
async function storeApart(
  client: Parameters<typeof storeKeptApart>[0],
  { claimant, makeId }: StoreOptions,
  rows: readonly EmailRows[],
): Promise<ThreadedEmails[]> {
  const stored: ThreadedEmails[] = [];
  for (const { workspaceId, events } of await storeKeptApart(client, claimant, rows, () => makeId('event'))) {
    const lastSeq = await appendThreadEvents(client, workspaceId, events);
    stored.push({ workspaceId, emailIds: [], lastSeq: lastSeq ?? 0 });
  }
  return stored;
}

async function withReports(
  client: Parameters<typeof insertDmarcReports>[0],
  threaded: ThreadedEmails[],
  reports: readonly NewDmarcReport[],
): Promise<ThreadedEmails[]> {
  if (reports.length === 0) return threaded;
  const emailIds = new Set(threaded.flatMap((of) => of.emailIds));
  const grown = await insertDmarcReports(
    client,
    reports.filter((report) => emailIds.has(report.email_id)),
  );
  const lastSeqs = new Map(grown.map(({ workspaceId, lastSeq }) => [workspaceId, lastSeq]));
  return threaded.map((of) => ({ ...of, lastSeq: lastSeqs.get(of.workspaceId) ?? of.lastSeq }));
}

function noteThreaded(
  { database }: StoreOptions,
  parsed: readonly ParsedReception[],
  stored: readonly ThreadedEmails[],
  startedTick: number,
): void {
  const emails = stored.flatMap(({ workspaceId, emailIds }) => emailIds.map((emailId) => ({ workspaceId, emailId })));
  if (emails.length === 0) return;
  noteStage(database, emails, { name: 'thread', startedTick });
  threadingMetrics.emails.inc(emails.length);
  const ids = new Set(emails.map(({ emailId }) => emailId));
  const now = Date.now();
  for (const { reception } of parsed) {
    // Imported mail is as old as its date.
    if (!ids.has(reception.emailId) || reception.imported !== null) continue;
    const seconds = Math.max(0, now - reception.acceptedAt.getTime()) / 1_000;
    actorMetrics.sinceAcceptSeconds.observe({ stage: 'threaded' }, seconds);
  }
}

const NOT_STORABLE = 'The parsed message could not be stored';

/** Returns null when the threads of the user are busy. */
async function storeAlone(options: StoreOptions, parsed: ParsedReception): Promise<ThreadedEmails[] | null> {
  const { reception, outcome } = parsed;
  const { log, bytes } = options;
  const lesser = [
    async () => scanHeaders((await bytes.get(reception.rawId)) ?? new Uint8Array(), NOT_STORABLE),
    () => scanHeaders(new Uint8Array(), NOT_STORABLE),
  ];
  let current = makeRows(options, reception, outcome);
  let reports = makeReports(options, [parsed]);
  for (;;) {
    try {
      return await storeTogether(options, [parsed], [current], reports);
    } catch (error) {
      if (isLockTimeout(error)) return null;
      if (isTransient(error)) throw error;
      if (reports.length > 0) {
        log.error({ err: error, emailId: reception.emailId }, 'DMARC report could not be stored, kept as mail');
        reports = [];
        continue;
      }
      const next = lesser.shift();
      if (next === undefined) throw error;
      log.error({ err: error, emailId: reception.emailId }, 'parsed message could not be stored');
      current = makeRows(options, reception, {
        message: await next(),
        authentication: null,
        dmarcReport: null,
      });
    }
  }
}

function makeRows(options: StoreOptions, reception: Reception, outcome: ParsedReception['outcome']): EmailRows {
  return emailRows(reception, outcome, options.mailHostname);
}

function makeReports({ makeId }: StoreOptions, parsed: readonly ParsedReception[]): NewDmarcReport[] {
  return parsed.flatMap(({ reception, outcome: { dmarcReport, authentication } }) => {
    const isForged = authentication?.dmarc.result === 'fail';
    return dmarcReport === null || isForged || reception.imported !== null
      ? []
      : [dmarcRow(reception, dmarcReport, makeId)];
  });
}
