import { CompiledQuery, type Transaction } from 'kysely';
import type pg from 'pg';
import { emailTerms, PLACES } from '../../../core/search/email-terms.ts';
import { KeptEmail } from '../../../core/search/kept-email.ts';
import { rankedWords, relevance, type WordUse, wordUse } from '../../../core/search/relevance.ts';
import type { DocumentSet } from '../../../core/search/segment/document-set.ts';
import { compareDocuments } from '../../../core/search/segment/documents.ts';
import { matchesSource, type WordQuery, type WordTerm } from '../../../core/search/word-query.ts';
import { preparedText } from '../../connection/prepared-text.ts';
import type { Tables } from '../../entities/tables.ts';
import { searchCache } from './search-cache.ts';
import { type NumberedEmail, type OpenedSegment, SegmentReader } from './segment-reader.ts';
import { type RunStatement, readSources } from './unindexed-email.ts';
import { SEGMENTS_SQL, type SegmentRow, segmentRow } from './word-segment.ts';

/*
 * The emails that match the words of a search. The steps:
 * 1. One statement reads, in one snapshot, which segments the account has and which emails are unindexed.
 * 2. Unindexed emails are read themselves, as far as the search comes to them.
 * 3. Segments are opened as they are needed, those of the wanted time first: the blocks with the words of the search are read and decoded,
 *    which gives a set of numbers. The ids of wanted numbers are read one by one.
 * 4. Of a phrase a segment tells only which emails have all its words: the text of these is read.
 */

/** An email that matches, by its place in lists. */
export interface FoundEmail {
  id: string;
  /** created at; milliseconds since 1970 */
  at: number;
}

/** Which emails are looked through, in which order. */
export interface MatchRange {
  /** created at or after, and before; milliseconds */
  sinceAt: number | null;
  untilAt: number | null;
  after: FoundEmail | null;
  before: FoundEmail | null;
  isOldestFirst: boolean;
}

/** An unindexed email. */
interface TailEmail extends FoundEmail {
  /** of its row in unindexed_email, which changes with the words of the email; null: it has none */
  version: string | null;
}

/** Of unindexed emails, by id and version. */
const keptEmails = searchCache.kind<KeptEmail>('email');

/** Segments opened first; each further time twice as many. */
const FIRST_SEGMENTS = 3;

/** An email of a segment, or an unindexed one. */
type Candidate = NumberedEmail | { at: number; email: TailEmail };

/** The emails of an account that match the words of a search. For one transaction. */
export class MailMatches {
  /** whether the transaction reads mail of some domains only: of the emails that match, others must be left out */
  readonly isLimited: boolean;
  readonly #run: RunStatement;
  readonly #workspaceId: string;
  readonly #query: WordQuery;
  /** newest first */
  readonly #segments: SegmentRow[];
  readonly #reader: SegmentReader;
  /** all unindexed emails */
  readonly #tail: TailEmail[];
  /** whether those of them that were read match */
  readonly #tailMatches = new Map<string, boolean>();
  /** where those of the emails that were found are, for `scores` */
  readonly #numbers = new Map<string, NumberedEmail>();
  /** what segments have of these is void */
  readonly #void: ReadonlyMap<string, number>;

  private constructor(
    run: RunStatement,
    workspaceId: string,
    query: WordQuery,
    state: { segments: SegmentRow[]; tail: TailEmail[]; void: ReadonlyMap<string, number>; isLimited: boolean },
  ) {
    this.#run = run;
    this.#workspaceId = workspaceId;
    this.#query = query;
    const emailCount = state.segments.reduce((sum, segment) => sum + segment.emailCount, 0);
    this.#reader = new SegmentReader(run, workspaceId, query, emailCount);
    this.#segments = state.segments.toSorted((one, other) => other.lastAt.getTime() - one.lastAt.getTime());
    this.#tail = state.tail;
    this.#void = state.void;
    this.isLimited = state.isLimited;
  }

  /** Reads the state of the account's index. The emails of damaged segments are among the unindexed ones. */
  static async open(
    transaction: Transaction<Tables>,
    workspaceId: string,
    query: WordQuery,
    damaged: ReadonlySet<string> = new Set(),
  ): Promise<MailMatches> {
    const run = runStatements(transaction);
    const [state] = await run<StateRow>(STATE_SQL, [workspaceId]);
    const segments = (state?.segments ?? []).map(segmentRow);
    const unindexed = readUnindexed(state?.unindexed ?? null);
    for (const { firstAt, lastAt } of segments.filter(({ id }) => damaged.has(id))) {
      const known = new Set(unindexed.map(({ id }) => id));
      const emails = await run<UnindexedState>(EMAILS_SQL, [workspaceId, firstAt, lastAt]);
      unindexed.push(...emails.filter(({ id }) => !known.has(id)));
    }
    const tail = unindexed.filter((row) => row.state !== 'gone').map(({ id, at, version }) => ({ id, at, version }));
    return new MailMatches(run, workspaceId, query, {
      segments: segments.filter(({ id }) => !damaged.has(id)),
      tail,
      void: new Map(unindexed.map((row) => [row.id, row.at])),
      isLimited: state?.is_limited === true,
    });
  }

  /** Returns the emails in any order; null: they may be more than `most`. Of phrases, emails with all their words count as well. */
  async upTo(most: number, range: MatchRange): Promise<FoundEmail[] | null> {
    const candidates: Candidate[] = [];
    for (let first = 0, some = FIRST_SEGMENTS; first < this.#segments.length; first += some, some *= 2) {
      for (const segment of await this.#reader.open(this.#segments.slice(first, first + some)))
        for (const candidate of listCandidates(segment, range)) {
          if (candidates.length === most) return null;
          candidates.push(candidate);
        }
    }
    const tail = this.#tail.filter((email) => isInRange(email, range));
    for (let at = 0; at < tail.length; at += TAIL_AT_ONCE)
      for (const email of await this.#matchTail(tail.slice(at, at + TAIL_AT_ONCE))) {
        if (candidates.length === most) return null;
        candidates.push({ at: email.at, email });
      }
    return this.#resolve(candidates, range);
  }

  /** Returns how many emails match. */
  async count(): Promise<number> {
    let count = (await this.#matchTail(this.#tail)).length;
    for (let first = 0; first < this.#segments.length; first += SEGMENTS_COUNTED)
      for (const segment of await this.#reader.open(this.#segments.slice(first, first + SEGMENTS_COUNTED))) {
        const found = await this.#settled(segment);
        count += found.count;
        this.#reader.close(segment);
      }
    return count;
  }

  /** Returns the emails in order, in groups; `least`: how many are looked at for the first one. */
  async *walk(range: MatchRange, least: number): AsyncGenerator<FoundEmail[]> {
    const { isOldestFirst } = range;
    const sign = isOldestFirst ? 1 : -1;
    const unopened = this.#segments
      .filter(({ firstAt, lastAt }) => isSpanInRange(firstAt.getTime(), lastAt.getTime(), range))
      .toSorted((one, other) => sign * (edge(one, isOldestFirst) - edge(other, isOldestFirst)));
    const sources: Iterator<Candidate>[] = [
      this.#tail
        .filter((email) => isInRange(email, range))
        .toSorted((one, other) => sign * (one.at - other.at))
        .map((email) => ({ at: email.at, email }))
        .values(),
    ];
    const next: (Candidate | undefined)[] = [takeNext(sources[0])];
    let opening = FIRST_SEGMENTS;
    let group: Candidate[] = [];
    let wanted = least;
    for (;;) {
      let best: number | null = null;
      for (const [at, candidate] of next.entries())
        if (candidate !== undefined && (best === null || sign * (candidate.at - (next[best]?.at ?? 0)) < 0)) best = at;
      const candidate = best === null ? undefined : next[best];
      const [segment] = unopened;
      if (
        segment !== undefined &&
        (candidate === undefined || sign * (edge(segment, isOldestFirst) - candidate.at) <= 0)
      ) {
        const taken = unopened.splice(0, opening);
        opening *= 2;
        for (const opened of await this.#reader.open(taken)) {
          const source = listCandidates(opened, range);
          sources.push(source);
          next.push(takeNext(source));
        }
        continue;
      }
      // Emails of the same instant stay together: only their ids tell their order.
      if (candidate === undefined || (group.length >= wanted && candidate.at !== group.at(-1)?.at)) {
        const emails = await this.#resolve(group, range);
        if (emails.length > 0) yield emails;
        if (candidate === undefined) return;
        if (emails.length * 2 < group.length) wanted = Math.min(wanted * 2, MAX_GROUP);
        group = [];
      }
      group.push(candidate);
      if (best !== null) next[best] = takeNext(sources[best]);
    }
  }

  /** Returns those of the emails that match. */
  async pick(emails: readonly FoundEmail[]): Promise<FoundEmail[]> {
    const ids = new Set(emails.map(({ id }) => id));
    const picked = await this.#matchTail(this.#tail.filter(({ id }) => ids.has(id)));
    const others = emails.filter(({ id }) => !this.#void.has(id));
    const candidates = await this.#findAt(new Float64Array(others.map(({ at }) => at)).sort());
    const wanted = new Set(others.map(({ id }) => id));
    const found = await this.#resolve(candidates, EVERYTHING);
    return [...picked.map(({ id, at }) => ({ id, at })), ...found.filter(({ id }) => wanted.has(id))];
  }

  /** Returns the emails that match and were created at one of these instants, in groups. In ascending order: milliseconds. */
  async *walkInstants(instants: Float64Array): AsyncGenerator<FoundEmail[]> {
    const ofTail = await this.#matchTail(this.#tail.filter(({ at }) => instants[lowerBound(instants, at)] === at));
    if (ofTail.length > 0) yield ofTail;
    const candidates = await this.#findAt(instants);
    for (let at = 0; at < candidates.length; at += RESOLVED_AT_ONCE)
      yield await this.#resolve(candidates.slice(at, at + RESOLVED_AT_ONCE), EVERYTHING);
  }

  /** Returns what segments have of these instants, in ascending order, that matches. Newest segments first. */
  async #findAt(instants: Float64Array): Promise<NumberedEmail[]> {
    const within = ({ firstAt, lastAt }: SegmentRow) =>
      instants.subarray(lowerBound(instants, firstAt.getTime()), lowerBound(instants, lastAt.getTime() + 1));
    const touched = this.#segments.filter((segment) => within(segment).length > 0);
    const candidates: NumberedEmail[] = [];
    for (const segment of await this.#reader.open(touched)) {
      if (segment.matches.found.isEmpty) continue;
      let before = Number.NaN;
      for (const at of within(segment.row)) {
        for (let number = at === before ? -1 : lowerBound(segment.times, at); segment.times[number] === at; number++)
          if (segment.matches.found.has(number)) candidates.push({ at, segment, number });
        before = at;
      }
    }
    return candidates;
  }

  /**
   * Returns how relevant emails are that `walk` or `pick` returned, by id. Rare words are words that few emails have of the segments that these
   * are in.
   */
  async scores(emails: readonly FoundEmail[]): Promise<Map<string, number>> {
    const words = rankedWords(this.#query);
    const uses = new Map<string, WordUse>();
    const having = words.map(() => 0);
    const total = { emailCount: 0, length: 0 };
    const inSegments = emails.flatMap(({ id }) => {
      const found = this.#numbers.get(id);
      return found === undefined ? [] : [{ id, ...found }];
    });
    for (const [segment, found] of Map.groupBy(inSegments, (email) => email.segment)) {
      const read = await this.#reader.wordUses(
        segment,
        words,
        found.map(({ number }) => number),
      );
      for (const [at, { id }] of found.entries()) uses.set(id, read.uses[at] ?? { frequencies: [], length: 0 });
      for (const [at, count] of read.having.entries()) having[at] = (having[at] ?? 0) + count;
      total.emailCount += segment.head.count;
      total.length += read.totalLength;
    }
    const emailIds = emails.filter(({ id }) => !uses.has(id)).map(({ id }) => id);
    await readSources(this.#run, this.#workspaceId, { emailIds, isBodyWanted: true }, ({ id, source }) => {
      const use = wordUse(words, emailTerms(source));
      uses.set(id, use);
      for (const [at, frequency] of use.frequencies.entries()) if (frequency > 0) having[at] = (having[at] ?? 0) + 1;
      total.emailCount++;
      total.length += use.length;
      return true;
    });
    const corpus = {
      emailCount: total.emailCount,
      averageLength: total.length / Math.max(1, total.emailCount),
      having,
    };
    return new Map([...uses].map(([id, use]) => [id, relevance(use, corpus)]));
  }

  /** Returns the matches of a segment without void ones, each of them sure. */
  async #settled(segment: OpenedSegment): Promise<DocumentSet> {
    const { found, unsure } = segment.matches;
    const inSegment: NumberedEmail[] = [];
    for (const at of new Set(this.#void.values()))
      for (let number = lowerBound(segment.times, at); segment.times[number] === at; number++)
        if (found.has(number)) inSegment.push({ at, segment, number });
    for (const { id, number } of await this.#reader.readIds(inSegment)) if (this.#void.has(id)) found.delete(number);
    if (unsure === null) return found;
    const candidates: NumberedEmail[] = [];
    for (let number = unsure.next(0); number !== -1; number = unsure.next(number + 1))
      if (found.has(number)) candidates.push({ at: segment.times[number] ?? 0, segment, number });
    for (let at = 0; at < candidates.length; at += UNSURE_AT_ONCE) {
      const some = await this.#reader.readIds(candidates.slice(at, at + UNSURE_AT_ONCE));
      const sure = await this.#readPhrases(some.map(({ id }) => id));
      for (const { id, number } of some) if (!sure.has(id)) found.delete(number);
    }
    return found;
  }

  /** Returns the emails of the candidates that match, in order. */
  async #resolve(candidates: readonly Candidate[], range: MatchRange): Promise<FoundEmail[]> {
    const ofTail = await this.#matchTail(
      candidates.flatMap((candidate) => ('email' in candidate ? [candidate.email] : [])),
    );
    const emails = ofTail.map(({ id, at }): FoundEmail => ({ id, at }));
    const ofSegments = await this.#reader.readIds(
      candidates.flatMap((candidate) => ('segment' in candidate ? [candidate] : [])),
    );
    const live = ofSegments.filter(({ id }) => !this.#void.has(id));
    const unsure = live.filter(({ segment, number }) => segment.matches.unsure?.has(number) === true);
    const sure = unsure.length === 0 ? null : await this.#readPhrases(unsure.map(({ id }) => id));
    for (const { id, at, segment, number } of live) {
      if (segment.matches.unsure?.has(number) === true && sure?.has(id) !== true) continue;
      emails.push({ id, at });
      if (this.#numbers.size < MAX_NUMBERS) this.#numbers.set(id, { at, segment, number });
    }
    return inOrder(emails, range);
  }

  /** Returns those of these unindexed emails that match. */
  async #matchTail(emails: readonly TailEmail[]): Promise<TailEmail[]> {
    const unread = emails.filter(({ id }) => !this.#tailMatches.has(id));
    const unsure: string[] = [];
    const note = (email: TailEmail, kept: KeptEmail, isKept: boolean) => {
      const { isSplit } = kept;
      const match = kept.match(this.#query);
      this.#tailMatches.set(email.id, match === 'yes');
      if (match === 'unsure') unsure.push(email.id);
      // What a key of one domain reads of an email is not what others read.
      if (email.version !== null && !this.isLimited && (!isKept || kept.isSplit !== isSplit))
        keptEmails.set(this.#workspaceId, `${email.id} ${email.version}`, kept, kept.bytes);
    };
    const missing = new Map<string, TailEmail>();
    for (const email of unread) {
      const kept =
        email.version === null ? undefined : keptEmails.get(this.#workspaceId, `${email.id} ${email.version}`);
      if (kept !== undefined) note(email, kept, true);
      else {
        missing.set(email.id, email);
        // Of one that no longer exists nothing is read.
        this.#tailMatches.set(email.id, false);
      }
    }
    await readSources(
      this.#run,
      this.#workspaceId,
      { emailIds: [...missing.keys()], isBodyWanted: true },
      ({ id, source }) => {
        const email = missing.get(id);
        if (email !== undefined) note(email, new KeptEmail(source), false);
        return true;
      },
    );
    for (const id of await this.#readPhrases(unsure)) this.#tailMatches.set(id, true);
    return emails.filter(({ id }) => this.#tailMatches.get(id) === true);
  }

  /** Returns those of the emails whose text has the wanted phrases, and none of the unwanted ones. */
  async #readPhrases(emailIds: readonly string[]): Promise<Set<string>> {
    const isPhrase = ({ words }: WordTerm) => words.length > 1;
    const query = { wanted: this.#query.wanted.filter(isPhrase), unwanted: this.#query.unwanted.filter(isPhrase) };
    const isBodyWanted = [...query.wanted, ...query.unwanted].some(({ places }) => (places & PLACES.body) !== 0);
    const matching = new Set<string>();
    await readSources(this.#run, this.#workspaceId, { emailIds, isBodyWanted }, ({ id, source }) => {
      if (matchesSource(query, source)) matching.add(id);
      return true;
    });
    return matching;
  }
}

/** Found emails of which it is known for a while where they are: more than are ranked. */
const MAX_NUMBERS = 50_000;
/** Segments that are open at once while all are counted. */
const SEGMENTS_COUNTED = 8;
/** Emails whose text is read between two pauses. */
const UNSURE_AT_ONCE = 200;
/** Unindexed emails that are read before it is seen whether enough were found. */
const TAIL_AT_ONCE = 200;
/** Emails of given instants of which the ids are read at once. */
const RESOLVED_AT_ONCE = 64;
/** Emails that are looked at together, where few of them match. */
const MAX_GROUP = 1_000;

/** Returns those of the emails that are in the range, in its order. */
export function inOrder(emails: readonly FoundEmail[], range: MatchRange): FoundEmail[] {
  const sign = range.isOldestFirst ? 1 : -1;
  return emails
    .filter((email) => isInRange(email, range))
    .toSorted((one, other) => sign * compareDocuments(one, other));
}

const EVERYTHING: MatchRange = { sinceAt: null, untilAt: null, after: null, before: null, isOldestFirst: false };

/** Runs statements whose texts are few. */
/** Returns what runs statements in a transaction, each prepared once. */
export function runStatements(transaction: Transaction<Tables>): RunStatement {
  return async <Row extends pg.QueryResultRow>(text: string, values: readonly unknown[]) => {
    const { rows } = await transaction.executeQuery<Row>(CompiledQuery.raw(preparedText(text), [...values]));
    return rows;
  };
}

function takeNext(source: Iterator<Candidate> | undefined): Candidate | undefined {
  const next: IteratorResult<Candidate, unknown> | undefined = source?.next();
  return next === undefined || next.done === true ? undefined : next.value;
}

/** The end of a segment that comes first. */
function edge({ firstAt, lastAt }: SegmentRow, isOldestFirst: boolean): number {
  return (isOldestFirst ? firstAt : lastAt).getTime();
}

function* listCandidates(segment: OpenedSegment, range: MatchRange): Generator<Candidate> {
  const { times, matches } = segment;
  const [from, to] = numbersInRange(segment, range);
  if (range.isOldestFirst)
    for (let number = matches.found.next(from); number !== -1 && number < to; number = matches.found.next(number + 1))
      yield { at: times[number] ?? 0, segment, number };
  else
    for (let number = matches.found.previous(to - 1); number >= from; number = matches.found.previous(number - 1))
      yield { at: times[number] ?? 0, segment, number };
}

/** The numbers from the first to before the second; emails of the instant of a cursor are among them. */
function numbersInRange({ times }: OpenedSegment, { sinceAt, untilAt, after, before }: MatchRange): [number, number] {
  const from = Math.max(sinceAt ?? -Infinity, before?.at ?? -Infinity);
  const to = Math.min(untilAt ?? Infinity, (after?.at ?? Infinity) + 1);
  return [lowerBound(times, from), lowerBound(times, to)];
}

function isSpanInRange(firstAt: number, lastAt: number, { sinceAt, untilAt, after, before }: MatchRange): boolean {
  return (
    lastAt >= Math.max(sinceAt ?? -Infinity, before?.at ?? -Infinity) &&
    firstAt < (untilAt ?? Infinity) &&
    firstAt <= (after?.at ?? Infinity)
  );
}

function isInRange(email: FoundEmail, { sinceAt, untilAt, after, before }: MatchRange): boolean {
  return (
    (sinceAt === null || email.at >= sinceAt) &&
    (untilAt === null || email.at < untilAt) &&
    (after === null || compareDocuments(email, after) < 0) &&
    (before === null || compareDocuments(email, before) > 0)
  );
}

/** The first number whose email is not older. */
function lowerBound(times: Float64Array, at: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((times[middle] ?? 0) < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

interface StateRow extends pg.QueryResultRow {
  segments: Parameters<typeof segmentRow>[0][];
  unindexed: string | null;
  is_limited: boolean;
}

interface UnindexedState {
  id: string;
  state: string;
  /** milliseconds */
  at: number;
  version: string | null;
}

// The version of an unindexed email is the transaction that wrote its row, which is that in which its words changed. As text: JSON of thousands of rows takes several times as long. Of the tables of segments, whose rows are short, the planner reads all rather
// than use their indexes while they are small, once for each id: not in the rest of this transaction.
const STATE_SQL = `
  select set_config('enable_seqscan', 'off', true), current_setting('role') = 'postroom_domain' as is_limited, (${SEGMENTS_SQL}) as segments, (
    select string_agg(u.email_id || ' ' || u.state || ' ' || (extract(epoch from u.created_at) * 1000)::bigint || ' ' || u.xmin, ',')
    from unindexed_email u where u.workspace_id = $1) as unindexed`;

function readUnindexed(text: string | null): UnindexedState[] {
  if (text === null) return [];
  return text.split(',').map((row) => {
    const [id = '', state = '', at, version = null] = row.split(' ');
    return { id, state, at: Number(at), version };
  });
}

const EMAILS_SQL = `
  select e.id, 'changed' as state, (extract(epoch from e.created_at) * 1000)::bigint as at, null as version from email e
  where e.workspace_id = $1 and e.created_at between $2 and $3`;
