import type { Logger } from 'pino';
import { differences, type FieldChange } from '../../core/mime/stored-differences.ts';
import { MAX_GUARDED_HTML_LENGTH, MAX_GUARDED_TEXT_LENGTH } from '../../core/routing/guard-facts.ts';
import type { IdentifierKind } from '../../core/shared/identifiers.ts';
import type { ByteStore } from '../../db/byte-store.ts';
import type { Database } from '../../db/connection/database.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import { insertDmarcReports } from '../../db/queries/domains/dmarc-write.ts';
import * as again from '../../db/queries/emails/parse-again.ts';
import { noteChanged } from '../../db/queries/search/unindexed-email.ts';
import { lockThreads } from '../../db/queries/threads/thread-claim.ts';
import { appendThreadEvents } from '../../db/queries/threads/thread-events.ts';
import type { Reply, Request } from '../../schema/messages.ts';
import { dmarcRow, emailRows } from './email-rows.ts';
import type { ParseOutcome } from './parse-messages.ts';
import type { ParsePool } from './parse-pool.ts';
import { removeCopies } from './store-parsed.ts';

/** Parses stored mail again with the current parser. */
export interface Reparser {
  /** Handles the question of that name. */
  parseAgain(request: Request<'receiving.email.parse-again'>): Promise<Reply<'receiving.email.parse-again'>>;
}

export interface ReparserOptions {
  database: Database;
  bytes: ByteStore;
  log: Logger;
  parser: ParsePool;
  mailHostname: string;
  makeId: (kind: IdentifierKind) => string;
  onEvents: (workspaceId: string, lastSeq: number) => void;
}

/** Messages in progress at once: new mail goes first. */
const MAX_OPEN = 8;

const IN_WORK: Reparsed = {
  verdict: 'conflict',
  reason: 'The email has just come in and is still in work. Try again shortly.',
};

type Reparsed = Reply<'receiving.email.parse-again'>;

/** Ends the transaction of a dry run. */
class DryRun extends Error {
  readonly reparsed: Reparsed;
  constructor(reparsed: Reparsed) {
    super('dry run');
    this.reparsed = reparsed;
  }
}

export function createReparser(options: ReparserOptions): Reparser {
  let open = 0;
  return {
    async parseAgain(request) {
      if (open >= MAX_OPEN) return { verdict: 'busy' };
      open++;
      try {
        return await parseAgain(options, request);
      } catch (error) {
        if (error instanceof DryRun) return error.reparsed;
        throw error;
      } finally {
        open--;
      }
    },
  };
}

async function parseAgain(
  options: ReparserOptions,
  request: Request<'receiving.email.parse-again'>,
): Promise<Reparsed> {
  const { database, bytes, log, parser } = options;
  const { workspaceId, emailId } = request;
  const stage = await again.readStage(database.pool, workspaceId, emailId);
  if (stage === 'missing') return { verdict: 'not-found' };
  if (stage === 'unparsed') return IN_WORK;
  const stored = stage === 'parsed' ? await again.readParsed(database.pool, workspaceId, emailId) : null;
  if (stored === null) return { verdict: 'failed', reason: 'Only received emails can be parsed again' };
  if (stored.thread_id === null) return IN_WORK;
  const raw = stored.raw_id === null ? null : await bytes.get(stored.raw_id);
  if (raw === null) return { verdict: 'failed', reason: 'The stored bytes of this message are missing or damaged' };
  const [outcome] = await parser.parse([
    {
      emailId,
      bytes: raw,
      remoteAddress: stored.remote_address ?? '',
      helo: stored.helo ?? '',
      reversePath: stored.reverse_path ?? '',
      // Results of the first parsing stay: keys and DNS records of senders change.
      isOriginKnown: stored.authentication !== null || stored.remote_address === null,
    },
  ]);
  if (outcome === undefined) return { verdict: 'busy' };
  const { parseError } = outcome.message;
  if (parseError !== null) {
    log.warn({ emailId, reason: parseError }, 'message could not be parsed again');
    return { verdict: 'failed', reason: `The parser failed over this message, which stays as it is: ${parseError}` };
  }
  const [message = outcome.message] = await removeCopies(database, [{ workspaceId, message: outcome.message }]);
  const { reparsed, lastSeq } = await inTransaction(database, async (client) => {
    await lockThreads(client, workspaceId);
    const before = await again.lockParsed(client, workspaceId, emailId);
    if (before === null || before.thread_id === null) return { reparsed: IN_WORK, lastSeq: null };
    return store(options, client, request, before, { ...outcome, message });
  });
  if (lastSeq !== null) options.onEvents(workspaceId, lastSeq);
  return reparsed;
}

const BODIES: ReadonlySet<string> = new Set(['textBody', 'htmlBody', 'cleanedText', 'cleanedHtml']);

async function store(
  options: ReparserOptions,
  client: Parameters<typeof insertDmarcReports>[0],
  { workspaceId, emailId, isDryRun }: Request<'receiving.email.parse-again'>,
  before: again.ParsedRow,
  outcome: ParseOutcome,
): Promise<{ reparsed: Reparsed; lastSeq: number | null }> {
  const { authentication = null } = before;
  const kept = {
    ...outcome,
    authentication: (authentication ?? outcome.authentication) as ParseOutcome['authentication'],
  };
  const reception = { workspaceId, emailId, recipient: before.recipient ?? before.own_address };
  const row = emailRows(reception, kept, options.mailHostname);
  const changes = differences(
    makeShown({ ...before, date: before.date?.toISOString() ?? null }),
    makeShown(row),
    BODIES,
  );
  if (changes.length > 0) {
    await again.writeReparsed(client, workspaceId, emailId, row);
    await noteChanged(client, workspaceId, [emailId]);
    await again.refreshThread(client, workspaceId, before.thread_id ?? '');
  }
  const reported = await storeReport(options, client, { workspaceId, emailId }, kept);
  if (reported.change !== null) changes.push(reported.change);
  if (isDryRun) {
    const draft = changes.length === 0 ? null : makeDraft(row, reported.change !== null);
    throw new DryRun({ verdict: 'parsed', changes, draft });
  }
  const event = {
    id: options.makeId('event'),
    kind: 'email.reprocessed',
    emailId,
    threadId: before.thread_id ?? '',
    data: { step: 'parse', changed: changes.map(({ field }) => field) },
  };
  const lastSeq = changes.length === 0 ? null : await appendThreadEvents(client, workspaceId, [event]);
  return { reparsed: { verdict: 'parsed', changes, draft: null }, lastSeq };
}

/** A DMARC report that was not found the first time is stored; one that was found stays. */
async function storeReport(
  options: ReparserOptions,
  client: Parameters<typeof insertDmarcReports>[0],
  email: { workspaceId: string; emailId: string },
  { dmarcReport, authentication }: ParseOutcome,
): Promise<{ change: FieldChange | null }> {
  if (dmarcReport === null || authentication?.dmarc.result === 'fail') return { change: null };
  const grown = await insertDmarcReports(client, [dmarcRow(email, dmarcReport, options.makeId)]);
  const change = { field: 'dmarcReport', before: null, after: dmarcReport.policy.domain, differsAt: null };
  return { change: grown.length === 0 ? null : change };
}

type Row = again.ReparsedRow;

/** The compared fields, by the names that users see. */
function makeShown(row: Omit<Row, 'search_text' | 'parties'>): Record<string, unknown> {
  return {
    messageId: row.message_id,
    subject: row.subject,
    baseSubject: row.base_subject,
    from: row.from_text,
    fromName: row.from_name,
    fromAddress: row.from_address,
    to: row.to_addresses,
    cc: row.cc_addresses,
    addresses: row.addresses,
    date: row.date,
    inReplyTo: row.in_reply_to,
    references: row.reference_ids,
    headers: row.headers,
    priority: row.priority,
    textBody: row.text_body,
    htmlBody: row.html_body,
    cleanedText: row.cleaned_text,
    cleanedHtml: row.cleaned_html,
    removedParts: row.removed_parts,
    preview: row.preview,
    attachments: row.attachments,
    authentication: row.authentication,
    injection: row.injection,
    isTruncated: row.is_truncated,
    parseError: row.parse_error,
    parserVersion: row.parser_version,
  };
}

function makeDraft(row: Row, isDmarcReport: boolean): Extract<Reparsed, { verdict: 'parsed' }>['draft'] {
  return {
    messageId: row.message_id,
    subject: row.subject,
    baseSubject: row.base_subject,
    date: row.date,
    addresses: row.addresses,
    inReplyTo: row.in_reply_to,
    references: row.reference_ids,
    attachments: row.attachments,
    authentication: row.authentication,
    injection: row.injection,
    textBody: row.text_body?.slice(0, MAX_GUARDED_TEXT_LENGTH).toWellFormed() ?? null,
    htmlBody: row.html_body?.slice(0, MAX_GUARDED_HTML_LENGTH).toWellFormed() ?? null,
    isDmarcReport,
  };
}
