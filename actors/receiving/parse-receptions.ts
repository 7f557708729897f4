import { scanHeaders } from '../../core/parse-message.ts';
import type { Bus } from '../../schema/messages.ts';
import type { ParsedOutcome } from './email-rows.ts';
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
  parse(messages: ParserInput[]): Promise<ParsedOutcome[]>;
  close(): Promise<void>;
}

export interface ParseOptions extends StoreOptions {
  parser: Parser;
  bus: Bus;
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
  const again = parsed.filter(({ reception, outcome: { message } }) => {
    const mayBetter = message.parseError !== null && message.parseError !== GONE;
    return mayBetter && reception.tries < MAX_TRIES;
  });
  const done = parsed.filter((entry) => !again.includes(entry));
  for (const { reception, outcome } of parsed) {
    if (outcome.message.parseError === null) continue;
    const { emailId, tries } = reception;
    options.log.warn({ emailId, tries, reason: outcome.message.parseError }, 'message could not be parsed');
  }
  const stored = done.length === 0 ? [] : await storeParsed(options, done);
  for (const { userId, emailIds, lastSeq } of stored) {
    options.bus.wake('threading.assign.wake', { userId, emailIds });
    options.bus.publish('event.appended', { userId, lastSeq });
  }
  return again.map(({ reception }) => ({ ...reception, tries: reception.tries + 1 }));
}

async function parseOnce(options: ParseOptions, chunk: readonly Reception[]): Promise<Map<string, ParsedOutcome>> {
  const outcomes = new Map<string, ParsedOutcome>();
  const firsts = [...new Map(chunk.map((reception) => [reception.rawId, reception])).values()];
  const inputs = await Promise.all(
    firsts.map(async (reception) => {
      const { rawId, emailId, remoteAddress, helo, reversePath, tries } = reception;
      const octets = await options.octets.get(rawId);
      if (octets !== null && tries <= MAX_CLAIMS)
        return { rawId, message: { emailId, octets, remoteAddress, helo, reversePath } };
      outcomes.set(rawId, octets === null ? scanned(new Uint8Array(), GONE) : scanned(octets, GIVEN_UP));
      return null;
    }),
  );
  const present = inputs.filter((input) => input !== null);
  if (present.length === 0) return outcomes;
  const results = await options.parser.parse(present.map((input) => input.message));
  for (const [at, { rawId, message }] of present.entries()) {
    outcomes.set(rawId, results[at] ?? scanned(message.octets, NO_ANSWER));
  }
  return outcomes;
}

const GONE = 'The octets of this message are gone or damaged';
const GIVEN_UP = 'The parser failed over this message too often';
const NO_ANSWER = 'The parser gave no answer';

function scanned(octets: Uint8Array, reason: string): ParsedOutcome {
  return { message: scanHeaders(octets, reason), authentication: null };
}
