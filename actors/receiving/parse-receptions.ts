import type { Logger } from 'pino';
import type { OctetStore } from '../../db/octet-store.ts';
import type { Bus } from '../../schema/messages.ts';
import { bareOutcome, type StorableOutcome } from './email-rows.ts';
import type { FaultPoint, Reception } from './reception.ts';
import { type StoreOptions, storeParsed } from './store-parsed.ts';

/** One message for the parser: its octets and what the envelope says of where it came from. */
export interface ParserInput {
  emailId: string;
  octets: Buffer;
  remoteAddress: string;
  helo: string;
  reversePath: string;
}

/** Parses off this thread (parse-pool.ts). Answers in the order of the messages, one outcome each, whatever they hold. */
export interface Parser {
  parse(messages: ParserInput[]): Promise<StorableOutcome[]>;
  close(): Promise<void>;
}

export interface ParseOptions extends StoreOptions {
  parser: Parser;
  octets: OctetStore;
  bus: Bus;
  log: Logger;
  fault: (point: FaultPoint) => void;
}

/** Tries at a message that its parser cannot do; then it is stored by its header section alone (guarantees.md P7). */
const MAX_TRIES = 3;
/** Claims after which a message is not parsed any more: each time, the whole process ended over it, or beside it. */
const MAX_CLAIMS = 10;

/**
 * Parses a chunk of claimed receptions and stores what they came to, then tells threading and the event feed.
 * Answers those to be tried again. Recipients of one message share its parsing. Throws when PostgreSQL is away.
 */
export async function parseReceptions(options: ParseOptions, chunk: readonly Reception[]): Promise<Reception[]> {
  options.fault('receiving.parse-claimed');
  const outcomes = await parseOnce(options, chunk);
  options.fault('receiving.parse-done');
  const parsed = chunk.flatMap((reception) => {
    const outcome = outcomes.get(reception.rawId);
    return outcome === undefined ? [] : [{ reception, outcome }];
  });
  const again = parsed.filter(({ reception, outcome }) => outcome.error !== null && reception.tries < MAX_TRIES);
  const done = parsed.filter((entry) => !again.includes(entry));
  for (const { reception, outcome } of parsed) {
    if (outcome.error === null) continue;
    const { emailId, tries } = reception;
    options.log.warn({ emailId, tries, reason: outcome.error }, 'message could not be parsed');
  }
  const stored = done.length === 0 ? [] : await storeParsed(options, done);
  for (const { userId, emailIds, lastSeq } of stored) {
    options.bus.wake('threading.assign.wake', { userId, emailIds });
    options.bus.publish('event.appended', { userId, lastSeq });
  }
  return again.map(({ reception }) => ({ ...reception, tries: reception.tries + 1 }));
}

async function parseOnce(options: ParseOptions, chunk: readonly Reception[]): Promise<Map<string, StorableOutcome>> {
  const outcomes = new Map<string, StorableOutcome>();
  const firsts = [...new Map(chunk.map((reception) => [reception.rawId, reception])).values()];
  const inputs = await Promise.all(
    firsts.map(async (reception) => {
      const { rawId, emailId, remoteAddress, helo, reversePath, tries } = reception;
      if (tries > MAX_CLAIMS) outcomes.set(rawId, bareOutcome('The parser failed over this message too often'));
      else {
        const octets = await options.octets.get(rawId);
        if (octets !== null) return { rawId, message: { emailId, octets, remoteAddress, helo, reversePath } };
        outcomes.set(rawId, bareOutcome('The octets of this message are gone or damaged'));
      }
      return null;
    }),
  );
  const present = inputs.filter((input) => input !== null);
  if (present.length === 0) return outcomes;
  const results = await options.parser.parse(present.map((input) => input.message));
  for (const [at, { rawId }] of present.entries()) {
    outcomes.set(rawId, results[at] ?? bareOutcome('The parser gave no answer'));
  }
  return outcomes;
}
