import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { scanHeaders } from '../../core/mime/parse-message.ts';
import type { ByteStore } from '../../db/byte-store.ts';
import { isTransient } from '../../db/errors.ts';
import type { Reception } from '../../db/queries/emails/reception-claim.ts';
import { actorMetrics, receivingMetrics } from '../../schema/metrics.ts';
import { noteStage } from '../mail-spans.ts';
import { collectGarbageSoon } from '../work/collect-garbage.ts';
import type { GroupCommit } from '../work/group-commit.ts';
import { type ReportOptions, takeReports } from './handle-bounces.ts';
import type { ParseOutcome } from './parse-messages.ts';
import type { ParsePool } from './parse-pool.ts';
import { type ParsedReception, removeCopies } from './store-parsed.ts';
import type { ReadAhead } from './take-messages.ts';

/** A reception under this process' lease that waits for the parser. */
export interface QueuedReception {
  reception: Reception;
  sizeBytes: number;
}

export interface ParseQueueOptions {
  /** Parses and stores a chunk. If it throws, all are retried after a pause, one by one if one of them may be the cause. */
  work: (chunk: Reception[]) => Promise<void>;
  /** Called with a reception that failed alone and was removed from this queue. Never rejects. */
  onFault: (reception: Reception, error: unknown) => Promise<void>;
  log: Logger;
  /** chunks in progress at once */
  concurrency: number;
}

export interface ParseQueue {
  /** Appends receptions, and skips any that wait or are in progress already. */
  add(queued: readonly QueuedReception[]): void;
  /** Notes that a message was just accepted, and how many others its commit had: while there are many, parsing waits. */
  noteAccept(sizeBytes: number, groupSize: number): void;
  /**
   * Whether there is room for more mail of one of these users. Part of the room is reserved for users with little in the queue; without
   * `users`, that part does not count.
   */
  hasRoom(users?: Iterable<string>): boolean;
  /** Begins no further chunk, and resolves when those in progress are done. A sweep finds what still waits. */
  stop(): Promise<void>;
}

/**
 * Chunks are large enough that the cost of a worker call and a transaction is small per message, and small enough that losing one to a bad
 * message costs little.
 */
const CHUNK_MESSAGES = 25;
const CHUNK_BYTES = 2_000_000;
/** A message from this size on is large, and parsed alone. */
const LARGE_BYTES = 1_000_000;
/** Large messages that are in progress at the same time, bytes; one that is larger is in progress alone. As text and as rows, each takes many times as much. */
const LARGE_BYTES_AT_ONCE = 16_000_000;
/** After that many bytes of them, garbage is collected: the process would keep it until it has twice as much. */
const COLLECTED_FROM_BYTES = 4_000_000;

/** A process that dies costs each of its messages one try, which says nothing about any of them. */
const SUSPECT_TRIES = 2;

/** Maximum that waits in memory; the bytes stay below the byte store's cache. Further rows wait unclaimed in the table. */
const ROOM_MESSAGES = 20_000;
const ROOM_BYTES = 112_000_000;
/** Part of the room that is for users with less than this part of what waits. */
const RESERVED = 0.25;

/*
 * Users take turns, message by message, so that the burst of one does not delay the others. While parsing yields to accepts, users with
 * few messages do not wait beside one with many, unless there are many users.
 */
const FEW_MESSAGES = 3;
const MANY_USERS = 25;

/*
 * Parsing yields to accepts: a client that waits for its 250 goes before a webhook. "Many accepts" in the quiet window means that the
 * machine is busy with them; at a moderate pace both proceed side by side. Limited by the age of the oldest message and by the backlog.
 */
const QUIET_WINDOW_MS = 150;
const BUSY_ACCEPTS = 75;
/** A large message counts as one accept per this many bytes. */
const ACCEPT_BYTES = 50_000;
/** Messages that had to wait for each other's commits mean waiting clients: with this many in a commit, each counts for more. */
const CROWD = 3;
const CROWD_WEIGHT = 3;
const YIELD_MESSAGES = 4_000;
const YIELD_BYTES = 96_000_000;
const YIELD_AGE_MS = 3_000;

/** How long a reception waits for others while another chunk is in progress; milliseconds. */
const GATHER_MS = 10;

/** Pause after a whole chunk failed, for example when PostgreSQL is unreachable; milliseconds. */
const PAUSE_MS = 1_000;

interface Entry extends QueuedReception {
  since: number;
}

/** The receptions that this process has leased and not parsed yet, in memory. Their rows are the truth. */
export function createParseQueue(options: ParseQueueOptions): ParseQueue {
  /** by email, oldest first */
  const waiting = new Map<string, Entry>();
  /** of each user with something waiting, in the order of their turns */
  const turns = new Map<string, Entry[]>();
  const known = new Set<string>();
  const running = new Set<Promise<void>>();
  const accepts = countRecent(QUIET_WINDOW_MS);
  let waitingBytes = 0;
  /** of large messages in progress */
  const large = { count: 0, bytes: 0 };
  /** They take at most half of the slots, because most of them wait for the one thread that parses them. */
  const largeAtOnce = Math.max(1, Math.floor(options.concurrency / 2));
  /** the large message that had its turn without room: no other one begins before it, because the room would go to smaller ones for ever */
  let nextLarge: Entry | null = null;
  let pausedUntil = 0;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;

  /** Returns the users with few messages beside one with more; none if users are many. */
  function workspacesWithFew(): Set<string> {
    if (turns.size > MANY_USERS) return new Set();
    const few = [...turns].flatMap(([user, { length }]) => (length <= FEW_MESSAGES ? user : []));
    return new Set(few.length === turns.size ? [] : few);
  }

  /** Returns the milliseconds until the next chunk may start; 0 is now. */
  function delay(): number {
    const now = performance.now();
    const [oldest] = waiting.values();
    if (pausedUntil > now) return pausedUntil - now;
    if (oldest === undefined) return 0;
    if (!isYielding()) {
      const mayGather = running.size > 0 && waiting.size < CHUNK_MESSAGES;
      return mayGather ? Math.max(0, oldest.since + GATHER_MS - now) : 0;
    }
    if (waiting.size >= YIELD_MESSAGES || waitingBytes >= YIELD_BYTES) return 0;
    return Math.min(Math.max(0, oldest.since + YIELD_AGE_MS - now), QUIET_WINDOW_MS / 3);
  }

  /** Whether accepts are so many that parsing waits for them. */
  function isYielding(): boolean {
    return accepts.count() >= BUSY_ACCEPTS;
  }

  function start(): void {
    while (!isStopped && waiting.size > 0 && running.size < options.concurrency) {
      const ms = delay();
      const few = ms > 0 && pausedUntil <= performance.now() && isYielding() ? workspacesWithFew() : null;
      if (ms > 0 && (few === null || few.size === 0)) {
        timer ??= setTimeout(() => {
          timer = undefined;
          start();
        }, ms);
        return;
      }
      const chunk = takeChunk(few);
      // Large messages wait for the end of those in progress, which calls this again.
      if (chunk.length === 0) return;
      const chunkBytes = chunk.reduce((sum, entry) => sum + (isLarge(entry) ? entry.sizeBytes : 0), 0);
      noteLarge(chunkBytes, 1);
      const work = run(chunk);
      running.add(work);
      void work.finally(() => {
        running.delete(work);
        noteLarge(chunkBytes, -1);
        start();
        if (chunkBytes >= COLLECTED_FROM_BYTES) collectGarbageSoon();
      });
    }
  }

  function noteLarge(bytes: number, sign: 1 | -1): void {
    if (bytes === 0) return;
    large.count += sign;
    large.bytes += sign * bytes;
  }

  function mayBegin(entry: Entry): boolean {
    if (!isLarge(entry)) return true;
    if (nextLarge !== null && nextLarge !== entry) return false;
    const hasRoom = large.bytes + entry.sizeBytes <= LARGE_BYTES_AT_ONCE && large.count < largeAtOnce;
    if (hasRoom || large.count === 0) return true;
    nextLarge = entry;
    return false;
  }

  /** Takes the next messages, one of each user in turn. `users`: of these only; null: of all. */
  function takeChunk(users: ReadonlySet<string> | null): Entry[] {
    const chunk: Entry[] = [];
    let bytes = 0;
    // What is set again comes last, so that the loop goes round.
    for (const [user, entries] of turns) {
      if (users?.has(user) === false) continue;
      const at = entries.findIndex(mayBegin);
      const entry = entries[at];
      if (entry === undefined) continue;
      const isFull = chunk.length === CHUNK_MESSAGES || bytes + entry.sizeBytes > CHUNK_BYTES;
      if (chunk.length > 0 && (isFull || isAlone(entry))) break;
      if (entry === nextLarge) nextLarge = null;
      bytes += entry.sizeBytes;
      chunk.push(entry);
      entries.splice(at, 1);
      waiting.delete(entry.reception.emailId);
      turns.delete(user);
      if (entries.length > 0) turns.set(user, entries);
      if (isAlone(entry)) break;
    }
    waitingBytes -= bytes;
    receivingMetrics.parseWaiting.set(waiting.size);
    return chunk;
  }

  async function run(chunk: Entry[]): Promise<void> {
    try {
      await options.work(chunk.map((entry) => entry.reception));
      for (const entry of chunk) known.delete(entry.reception.emailId);
    } catch (error) {
      // The parser is closed: the stop of the actor releases them, and nothing is wrong with them.
      if (isStopped) return;
      options.log.warn({ err: error, count: chunk.length }, 'receptions could not be parsed now');
      pausedUntil = performance.now() + PAUSE_MS;
      const [only] = chunk;
      if (isTransient(error)) putBack(chunk);
      else if (chunk.length > 1 || only === undefined) putBackAlone(chunk);
      else {
        known.delete(only.reception.emailId);
        await options.onFault(only.reception, error);
      }
    }
  }

  function putBack(chunk: Entry[]): void {
    const later = [...waiting];
    waiting.clear();
    for (const entry of chunk) waiting.set(entry.reception.emailId, entry);
    for (const [emailId, entry] of later) waiting.set(emailId, entry);
    for (const entry of chunk.toReversed()) {
      const { workspaceId } = entry.reception;
      turns.set(workspaceId, [entry, ...(turns.get(workspaceId) ?? [])]);
      waitingBytes += entry.sizeBytes;
    }
  }

  /** One of them may be the cause: each goes alone from now on. */
  function putBackAlone(chunk: Entry[]): void {
    for (const { reception, sizeBytes } of chunk) {
      known.delete(reception.emailId);
      put({ reception: { ...reception, tries: Math.max(SUSPECT_TRIES, reception.tries) + 1 }, sizeBytes });
    }
  }

  function put({ reception, sizeBytes }: QueuedReception): void {
    if (known.has(reception.emailId)) return;
    known.add(reception.emailId);
    const entry = { reception, sizeBytes, since: performance.now() };
    waiting.set(reception.emailId, entry);
    const others = turns.get(reception.workspaceId);
    if (others === undefined) turns.set(reception.workspaceId, [entry]);
    else others.push(entry);
    waitingBytes += sizeBytes;
    receivingMetrics.parseWaiting.set(waiting.size);
  }

  return {
    add(queued) {
      for (const entry of queued) put(entry);
      start();
    },
    noteAccept: (sizeBytes, groupSize) =>
      accepts.add((groupSize < CROWD ? 1 : CROWD_WEIGHT) * (1 + sizeBytes / ACCEPT_BYTES)),
    hasRoom(users = []) {
      const used = Math.max(waiting.size / ROOM_MESSAGES, waitingBytes / ROOM_BYTES);
      if (isStopped || used >= 1) return false;
      const isSmall = (user: string) => (turns.get(user)?.length ?? 0) < RESERVED * waiting.size;
      return used < 1 - RESERVED || [...users].some(isSmall);
    },
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await Promise.all(running);
    },
  };
}

function isLarge({ sizeBytes }: Entry): boolean {
  return sizeBytes >= LARGE_BYTES;
}

/** Whether it is parsed alone: small messages neither wait for a large one nor suffer from a suspect. */
function isAlone(entry: Entry): boolean {
  return isLarge(entry) || isSuspect(entry);
}

/** Whether it may have brought down a parser or a process before. It is then parsed alone, so that it harms no other. */
function isSuspect(entry: Entry): boolean {
  return entry.reception.tries > SUSPECT_TRIES;
}

/** Counts what was added within the last `windowMs`, accurate to a third of it. */
function countRecent(windowMs: number): { add(count: number): void; count(): number } {
  const slots = [0, 0, 0, 0];
  const slotMs = windowMs / (slots.length - 1);
  let current = Math.floor(performance.now() / slotMs);

  function advance(): void {
    const slot = Math.floor(performance.now() / slotMs);
    for (let at = Math.max(current + 1, slot - slots.length + 1); at <= slot; at++) slots[at % slots.length] = 0;
    current = slot;
  }
  return {
    add(count) {
      advance();
      slots[current % slots.length] = (slots[current % slots.length] ?? 0) + count;
    },
    count() {
      advance();
      return slots.reduce((sum, count) => sum + count, 0);
    },
  };
}

/** Points at which fault tests kill the process; a no-op otherwise. */
export type FaultPoint =
  | 'receiving.screened'
  | 'screening.checked'
  | 'screening.before-commit'
  | 'receiving.before-commit'
  | 'receiving.after-commit'
  | 'receiving.replies-counted'
  | 'receiving.parse-claimed'
  | 'receiving.parse-done'
  | 'receiving.threads-joined'
  | 'receiving.stored';

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
    const early = read[at]?.catch(() => options.parser.parse([request]).then(takeFirst));
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

function takeFirst<T>([first]: readonly T[]): T | undefined {
  return first;
}
