import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { scanHeaders } from '../../core/mime/parse-message.ts';
import type { ByteStore } from '../../db/byte-store.ts';
import type { Reception } from '../../db/queries/emails/reception-claim.ts';
import { actorMetrics, receivingMetrics } from '../../schema/metrics.ts';
import { noteStage } from '../mail-spans.ts';
import type { GroupCommit } from '../work/group-commit.ts';
import type { FaultPoint } from './accept-message.ts';
import { type ReportOptions, takeReports } from './handle-bounces.ts';
import type { ParseOutcome } from './parse-messages.ts';
import type { ParsePool } from './parse-pool.ts';
import type { ReadAhead } from './read-ahead.ts';
import { removeCopies } from './remove-copies.ts';
import type { ParsedReception } from './store-parsed.ts';

export interface ParseOptions {
  parser: ParsePool;
  /** what was parsed before its commit */
  readAhead: Pick<ReadAhead, 'take'>;
  bytes: ByteStore;
  /** resolves to those whose user's threads are busy */
  storing: GroupCommit<ParsedReception[], ParsedReception[]>;
  reports: ReportOptions;
  log: Logger;
  fault: (point: FaultPoint) => void;
}

/** Claims after which a message is not parsed any more: each time, the whole process died on it, or beside it. */
const MAX_CLAIMS = 10;

const GONE = 'The stored bytes of this message are missing or damaged';
const GIVEN_UP = 'The parser failed over this message too often';

/** Pause before mail is stored again whose user's threads were busy. Milliseconds. */
const BUSY_PAUSE_MS = 50;

/** How long messages that are parsed wait for others of their chunk: a message that hangs may be of another user. Milliseconds. */
const COMPANY_MS = 500;

/**
 * Parses a chunk of claimed receptions. Resolves when the emails are stored and the reports applied; messages that take long are stored
 * after the others. Recipients of one message are parsed once. Throws when PostgreSQL is unreachable or the parser was closed: what was
 * stored by then is skipped when the chunk is tried again.
 */
export async function parseReceptions(options: ParseOptions, chunk: readonly Reception[]): Promise<void> {
  const startedTick = performance.now();
  options.fault('receiving.parse-claimed');
  for await (const outcomes of parsedTogether(options, chunk))
    await storeOutcomes(options, { chunk, outcomes, startedTick });
}

interface ParsedPart {
  chunk: readonly Reception[];
  /** by raw message */
  outcomes: ReadonlyMap<string, ParseOutcome>;
  startedTick: number;
}

async function storeOutcomes(options: ParseOptions, { chunk, outcomes, startedTick }: ParsedPart): Promise<void> {
  options.fault('receiving.parse-done');
  const parsed = chunk.flatMap((reception) => {
    const outcome = outcomes.get(reception.rawId);
    return outcome === undefined ? [] : [{ reception, outcome }];
  });
  for (const { reception, outcome } of parsed) {
    const reason = outcome.message.parseError;
    if (reason !== null) options.log.warn({ emailId: reception.emailId, reason }, 'message could not be parsed');
  }
  const mail = await takeReports(options.reports, parsed);
  for (let waiting = await withoutCopies(options, mail); waiting.length > 0; ) {
    waiting = await options.storing.add(waiting);
    // Until the lease ends at the latest: what another process has claimed is not stored here, and not busy.
    if (waiting.length > 0) await sleep(BUSY_PAUSE_MS);
  }
  for (const { reception, outcome } of parsed) {
    const error = outcome.message.parseError === null ? null : 'parse';
    noteStage(options.reports.database, [reception], { name: 'parse', startedTick, error });
  }
  const now = Date.now();
  for (const {
    reception: { acceptedAt, tries },
  } of parsed) {
    actorMetrics.sinceAcceptSeconds.observe({ stage: 'parsed' }, Math.max(0, now - acceptedAt.getTime()) / 1_000);
    if (tries > 1) actorMetrics.retries.inc({ queue: 'parse' });
  }
}

async function withoutCopies({ reports }: ParseOptions, mail: readonly ParsedReception[]): Promise<ParsedReception[]> {
  const messages = await removeCopies(
    reports.database,
    mail.map(({ reception: { workspaceId }, outcome: { message } }) => ({ workspaceId, message })),
  );
  return mail.map(({ reception, outcome }, at) => {
    return { reception, outcome: { ...outcome, message: messages[at] ?? outcome.message } };
  });
}

/** Yields the outcomes of the chunk's messages by raw message: most of them together, and later the ones that take long. */
async function* parsedTogether(
  options: ParseOptions,
  chunk: readonly Reception[],
): AsyncGenerator<ReadonlyMap<string, ParseOutcome>> {
  const outcomes = new Map<string, ParseOutcome>();
  const emails = Map.groupBy(chunk, (reception) => reception.rawId);
  const firsts = [...new Map(chunk.map((reception) => [reception.rawId, reception])).values()];
  const inputs = await Promise.all(
    firsts.map(async (reception) => {
      const { rawId, emailId, remoteAddress, helo, reversePath, tries, imported } = reception;
      const isOriginKnown = imported !== null;
      const bytes = await options.bytes.get(rawId);
      if (bytes !== null && tries <= MAX_CLAIMS)
        return {
          rawId,
          request: { emailId, bytes, remoteAddress, helo, reversePath, isOriginKnown, emails: emails.get(rawId) ?? [] },
        };
      const message = bytes === null ? scanHeaders(new Uint8Array(), GONE) : scanHeaders(bytes, GIVEN_UP);
      outcomes.set(rawId, {
        emailId,
        message,
        authentication: null,
        report: null,
        dmarcReport: null,
      });
      return null;
    }),
  );
  const present = inputs.filter((input) => input !== null);
  const startedAt = performance.now();
  let known = outcomes;
  const read = present.map(({ rawId }) => options.readAhead.take(rawId));
  const unread = options.parser.parseEach(
    present.flatMap(({ request }, at) => (read[at] === undefined ? [request] : [])),
  );
  const parsing = present.map(async ({ rawId, request }, at) => {
    const early = read[at]?.catch(() => options.parser.parse([request]).then(firstOf));
    const outcome = await (early ?? unread.shift());
    if (outcome === undefined) throw new Error('the parser returned no outcome');
    known.set(rawId, outcome);
    if (early !== undefined) return;
    const seconds = (performance.now() - startedAt) / 1_000;
    receivingMetrics.parseSeconds.observe(
      { outcome: outcome.message.parseError === null ? 'parsed' : 'failed' },
      seconds,
    );
  });
  const all = Promise.all(parsing);
  // A failure between two parts is thrown by the next race.
  all.catch(() => undefined);
  for (;;) {
    const isWhole = await Promise.race([all.then(() => true), sleep(COMPANY_MS, false, { ref: false })]);
    if (!isWhole && known.size === 0) continue;
    const part = known;
    known = new Map();
    yield part;
    if (isWhole) return;
  }
}

function firstOf<T>([first]: readonly T[]): T | undefined {
  return first;
}
