import { setTimeout as sleep } from 'node:timers/promises';
import type { Offer } from '../../db/queries/emails/accept-group.ts';
import { receivingMetrics } from '../../schema/metrics.ts';
import { apart } from '../bus/tracing.ts';
import type { ParseOutcome, ParseRequest } from './parse-messages.ts';
import type { ParsePool } from './parse-pool.ts';

export interface ReadAheadOptions {
  parser: ParsePool;
  /** lists of messages that the parser gets at the same time */
  listsAtOnce: number;
  /** how long the parser may work on a message before its commit; milliseconds of processor time of this process */
  limitMs: number;
}

/** Parses and checks messages before they are committed, as long as that is quick. */
export interface ReadAhead {
  /** Returns the outcome for an offer; null when it takes too long, or the parser is busy with other mail. Never rejects. */
  read(offer: Offer): Promise<ParseOutcome | null>;
  /**
   * Returns the outcome of a message that was read, even when that took too long for its commit: it need not be parsed again. Undefined when
   * it was not, or the outcome was taken before.
   */
  take(rawId: string): Promise<ParseOutcome> | undefined;
  /** Forgets a message that nothing will take. */
  forget(rawId: string): void;
}

/** One that also shows what it reads. */
export interface OpenReadAhead extends ReadAhead {
  /** Returns what `take` returns, and keeps it. */
  find(rawId: string): Promise<ParseOutcome> | undefined;
}

/** How much longer the limit may last on a busy machine, which leaves this process little processor time. */
const MAX_STRETCH = 4;
/** How much longer the limit is for each message that the parser has besides: they share the processor. Milliseconds. */
const LONGER_PER_MESSAGE_MS = 20;
/** How long a message of a burst waits until the parser gets it; times the limit. */
const MAX_WAIT = 20;
/** Larger messages are committed first. */
const MAX_BYTES = 524_288;
/** Messages that are read ahead, or wait for it: of a larger crowd, the others are committed first. */
const MAX_MESSAGES = 256;
const MAX_TOTAL_BYTES = 32_000_000;
/** Messages that the parser gets in one list: they share its cost, and wait for each other's DNS lookups. */
const LIST_MESSAGES = 16;
const LIST_BYTES = 262_144;
/** Messages that were accepted before and that the parser has: with more, it is busy with them. */
const MAX_OTHERS = 50;

/** How long a list counts as open, so that a message that hangs delays no others; milliseconds. */
const LIST_MS = 1_000;

/** A message on its way to the parser. */
interface Reading {
  request: ParseRequest;
  /** called when the parser gets it */
  begin: () => void;
  resolve: (outcome: Promise<ParseOutcome>) => void;
}

export function createReadAhead({ parser, listsAtOnce, limitMs }: ReadAheadOptions): OpenReadAhead {
  const outcomes = new Map<string, Promise<ParseOutcome>>();
  let openMessages = 0;
  let openBytes = 0;
  /** how many of the open messages the parser has */
  let begunMessages = 0;

  const waiting: Reading[] = [];
  let openLists = 0;

  const startLists = (): void => {
    while (openLists < listsAtOnce && waiting.length > 0) {
      openLists++;
      void parseList(takeList()).finally(() => {
        openLists--;
        startLists();
      });
    }
  };

  const takeList = (): Reading[] => {
    let count = 0;
    let bytes = 0;
    for (const { request } of waiting) {
      bytes += request.bytes.length;
      if (count === LIST_MESSAGES || (count > 0 && bytes > LIST_BYTES)) break;
      count++;
    }
    return waiting.splice(0, count);
  };

  /** Resolves when all of the list are parsed, or they take long. */
  const parseList = async (list: readonly Reading[]): Promise<void> => {
    begunMessages += list.length;
    for (const { begin } of list) begin();
    const outcomes = parser.parseEach(list.map(({ request }) => request));
    for (const [at, outcome] of outcomes.entries()) {
      list[at]?.resolve(outcome);
      void outcome.catch(() => undefined).finally(() => begunMessages--);
    }
    await Promise.race([Promise.allSettled(outcomes), sleep(LIST_MS, undefined, { ref: false })]);
  };

  const hasRoomFor = (sizeBytes: number): boolean =>
    sizeBytes <= MAX_BYTES &&
    openMessages < MAX_MESSAGES &&
    openBytes + sizeBytes <= MAX_TOTAL_BYTES &&
    parser.openCount() - begunMessages <= MAX_OTHERS;

  const start = (offer: Offer, begin: () => void): Promise<ParseOutcome> => {
    const startedAt = performance.now();
    openMessages++;
    openBytes += offer.bytes.length;
    const { promise, resolve } = Promise.withResolvers<ParseOutcome>();
    waiting.push({ request: makeParseRequest(offer), begin, resolve });
    const outcome = promise.finally(() => {
      openMessages--;
      openBytes -= offer.bytes.length;
    });
    // A list is of several messages and belongs to none of their traces.
    apart(startLists);
    outcome.then(
      ({ message }) =>
        receivingMetrics.parseSeconds.observe(
          { outcome: message.parseError === null ? 'parsed' : 'failed' },
          (performance.now() - startedAt) / 1_000,
        ),
      () => undefined,
    );
    outcomes.set(offer.rawId, outcome);
    return outcome;
  };

  return {
    async read(offer) {
      if (!hasRoomFor(offer.bytes.length)) return null;
      const late = startLimit(limitMs * MAX_WAIT);
      try {
        return await Promise.race([
          start(offer, () => late.begin(limitMs, LONGER_PER_MESSAGE_MS * (begunMessages - 1))),
          late.passed,
        ]);
      } catch {
        // The parser was closed, or fails: the message is committed, and parsed later.
        return null;
      } finally {
        late.end();
      }
    },
    take(rawId) {
      const outcome = outcomes.get(rawId);
      outcomes.delete(rawId);
      return outcome;
    },
    find: (rawId) => outcomes.get(rawId),
    forget: (rawId) => void outcomes.delete(rawId),
  };
}

/** Returns what the parser gets of an offer. */
export function makeParseRequest({ envelope, bytes, emailIds }: Offer): ParseRequest {
  const { remoteAddress, helo, reversePath } = envelope;
  return {
    emailId: emailIds[0] ?? '',
    bytes,
    remoteAddress,
    helo,
    reversePath,
    emails: envelope.recipients,
  };
}

interface Limit {
  /** Resolves with null when the wait or the work took too long. */
  passed: Promise<null>;
  /** Ends the wait: from now on, the process may have that much processor time, on a busy machine for a few times as long. */
  begin: (limitMs: number, longerMs: number) => void;
  end: () => void;
}

function startLimit(waitMs: number): Limit {
  const { promise: passed, resolve } = Promise.withResolvers<null>();
  let timer = setTimeout(() => resolve(null), waitMs);
  const begin = (limitMs: number, longerMs: number) => {
    clearTimeout(timer);
    const since = processorMs();
    const endsAt = performance.now() + MAX_STRETCH * limitMs + longerMs;
    const look = () => {
      const leftMs = limitMs + longerMs - (processorMs() - since);
      if (leftMs <= 0 || performance.now() >= endsAt) resolve(null);
      else timer = setTimeout(look, Math.max(1, leftMs));
    };
    timer = setTimeout(look, limitMs);
  };
  return { passed, begin, end: () => clearTimeout(timer) };
}

/** How long a reading of the processor time is used; milliseconds. Each takes a system call. */
const READING_MS = 5;
let lastReading = { at: Number.NEGATIVE_INFINITY, ms: 0 };

/** Returns the processor time of this process, accurate to a few milliseconds. */
function processorMs(): number {
  const now = performance.now();
  if (now - lastReading.at > READING_MS) {
    const { user, system } = process.cpuUsage();
    lastReading = { at: now, ms: (user + system) / 1_000 };
  }
  return lastReading.ms;
}
