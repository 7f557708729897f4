import type { Offer } from '../../db/queries/emails/accept-group.ts';
import { receivingMetrics } from '../../schema/metrics.ts';
import { createGroupCommit } from '../work/group-commit.ts';
import type { ParseOutcome, ParseRequest } from './parse-messages.ts';
import type { ParsePool } from './parse-pool.ts';

export interface ReadAheadOptions {
  parser: ParsePool;
  /** whether the parser has much to do already */
  isBusy: () => boolean;
  /** lists of messages that the parser gets at the same time */
  listsAtOnce: number;
  /** how long a message may be read before its commit; milliseconds of processor time of this process */
  limitMs: number;
}

/** Parses and checks messages before they are committed, as long as that is quick. */
export interface ReadAhead {
  /** Returns the outcome for an offer; null when it takes too long, or the parser is busy. Never rejects. */
  read(offer: Offer): Promise<ParseOutcome | null>;
  /**
   * Returns the outcome of a message that was read, even when that took too long for its commit: it need not be parsed again. Undefined when
   * it was not, or the outcome was taken before.
   */
  take(rawId: string): Promise<ParseOutcome> | undefined;
  /** Forgets a message that nothing will take. */
  forget(rawId: string): void;
}

/** How much longer the limit may last on a busy machine, which leaves this process little processor time. */
const MAX_STRETCH = 4;
/** Larger messages are committed first. */
const MAX_BYTES = 524_288;
/** Messages that are read ahead at the same time: of a crowd, the others are committed first, and then stored in larger groups. */
const MAX_MESSAGES = 8;
const MAX_TOTAL_BYTES = 2_000_000;
/** Messages in one call of the parser: they share its cost, and wait for each other's DNS lookups. */
const LIST_MESSAGES = 4;

export function createReadAhead(options: ReadAheadOptions): ReadAhead {
  const outcomes = new Map<string, Promise<ParseOutcome>>();
  let openMessages = 0;
  let openBytes = 0;

  const lists = createGroupCommit<ParseRequest, ParseOutcome>({
    limits: { items: LIST_MESSAGES },
    groupsAtOnce: options.listsAtOnce,
    write: (requests) => options.parser.parse(requests),
  });

  const start = ({ envelope, bytes, rawId, emailIds }: Offer): Promise<ParseOutcome> => {
    const { remoteAddress, helo, reversePath } = envelope;
    const startedAt = performance.now();
    openMessages++;
    openBytes += bytes.length;
    const outcome = lists
      .add({
        emailId: emailIds[0] ?? '',
        bytes,
        remoteAddress,
        helo,
        reversePath,
        emails: envelope.recipients,
      })
      .finally(() => {
        openMessages--;
        openBytes -= bytes.length;
      });
    outcome.then(
      ({ message }) =>
        receivingMetrics.parseSeconds.observe(
          { outcome: message.parseError === null ? 'parsed' : 'failed' },
          (performance.now() - startedAt) / 1_000,
        ),
      () => undefined,
    );
    outcomes.set(rawId, outcome);
    return outcome;
  };

  return {
    async read(offer) {
      const { length } = offer.bytes;
      const hasRoom = openMessages < MAX_MESSAGES && openBytes + length <= MAX_TOTAL_BYTES;
      if (length > MAX_BYTES || !hasRoom || options.isBusy()) return null;
      const late = startLimit(options.limitMs);
      try {
        return await Promise.race([start(offer), late.passed]);
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
    forget: (rawId) => void outcomes.delete(rawId),
  };
}

/** Resolves `passed` with null when the process has had that much processor time, or after a few times as long. */
function startLimit(limitMs: number): { passed: Promise<null>; end: () => void } {
  const { promise: passed, resolve } = Promise.withResolvers<null>();
  const since = process.cpuUsage();
  const endsAt = performance.now() + MAX_STRETCH * limitMs;
  const look = () => {
    const { user, system } = process.cpuUsage(since);
    const leftMs = limitMs - (user + system) / 1_000;
    if (leftMs <= 0 || performance.now() >= endsAt) resolve(null);
    else timer = setTimeout(look, Math.max(1, leftMs));
  };
  let timer = setTimeout(look, limitMs);
  return { passed, end: () => clearTimeout(timer) };
}
