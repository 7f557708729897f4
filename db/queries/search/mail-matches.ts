import { CompiledQuery, type Transaction } from 'kysely';
import type pg from 'pg';
import { PLACES } from '../../../core/search/email-terms.ts';
import { openBlock } from '../../../core/search/segment/block.ts';
import type { DocumentSet } from '../../../core/search/segment/document-set.ts';
import { compareDocuments, decodeId, decodeTimes } from '../../../core/search/segment/documents.ts';
import { matchSegment, neededBlocks, type SegmentMatches } from '../../../core/search/segment/match-segment.ts';
import { decodeHead, type SegmentHead } from '../../../core/search/segment/segment.ts';
import { matchesTerms, type WordQuery } from '../../../core/search/word-query.ts';
import type { Tables } from '../../entities/tables.ts';
import { BlockCache } from './block-cache.ts';
import { type RunStatement, readTerms } from './unindexed-email.ts';
import {
  IDS_PART,
  noteDamage,
  SEGMENTS_SQL,
  SegmentDamage,
  type SegmentRow,
  segmentRow,
  TABLE_PART,
} from './word-segment.ts';

/*
 * The emails that match the words of a search. The steps:
 * 1. One statement reads, in one snapshot, which segments the account has and which emails are unindexed.
 * 2. The words of unindexed emails are read from the emails themselves.
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

const CACHE_LIMITS = { maxBytes: 48 * 1024 * 1024, maxBytesOfUser: 16 * 1024 * 1024, maxAgeMs: 5 * 60_000 };
const blocks = new BlockCache<Buffer>(CACHE_LIMITS);
const heads = new BlockCache<SegmentHead>({
  ...CACHE_LIMITS,
  maxBytes: 16 * 1024 * 1024,
  maxBytesOfUser: 8 * 1024 * 1024,
});

/** Blocks that one statement reads. */
const BLOCKS_AT_ONCE = 128;
/** Segments opened first; each further time twice as many. */
const FIRST_SEGMENTS = 3;
/** From this part of the emails of a segment on, all its ids are read at once instead of one by one. */
const MANY_IDS = 1 / 30;

interface OpenedSegment {
  row: SegmentRow;
  head: SegmentHead;
  times: Float64Array;
  matches: SegmentMatches;
  /** null: not read */
  ids: Buffer | null;
}

/** A number of a segment, or an unindexed email. */
type Candidate = { at: number } & ({ segment: OpenedSegment; number: number } | { email: FoundEmail });

/** The emails of an account that match the words of a search. For one transaction. */
export class MailMatches {
  readonly #run: RunStatement;
  readonly #userId: string;
  readonly #query: WordQuery;
  /** newest first */
  readonly #segments: SegmentRow[];
  readonly #opened = new Map<string, OpenedSegment>();
  /** all unindexed emails that match */
  readonly #tail: FoundEmail[];
  /** what segments have of these is void */
  readonly #void: ReadonlyMap<string, number>;

  private constructor(
    run: RunStatement,
    userId: string,
    query: WordQuery,
    state: { segments: SegmentRow[]; tail: FoundEmail[]; void: ReadonlyMap<string, number> },
  ) {
    this.#run = run;
    this.#userId = userId;
    this.#query = query;
    this.#segments = state.segments.toSorted((one, other) => other.lastAt.getTime() - one.lastAt.getTime());
    this.#tail = state.tail;
    this.#void = state.void;
  }

  /** Reads the state of the account's index, and its unindexed emails; those of damaged segments are among them. */
  static async open(
    transaction: Transaction<Tables>,
    userId: string,
    query: WordQuery,
    damaged: ReadonlySet<string> = new Set(),
  ): Promise<MailMatches> {
    const run = runIn(transaction);
    const [state] = await run<StateRow>(STATE_SQL, [userId]);
    const segments = (state?.segments ?? []).map(segmentRow);
    const unindexed = state?.unindexed ?? [];
    for (const { firstAt, lastAt } of segments.filter(({ id }) => damaged.has(id))) {
      const known = new Set(unindexed.map(({ id }) => id));
      const emails = await run<StateRow['unindexed'][number]>(EMAILS_SQL, [userId, firstAt, lastAt]);
      unindexed.push(...emails.filter(({ id }) => !known.has(id)));
    }
    const tail: FoundEmail[] = [];
    const emailIds = unindexed.filter((row) => row.state !== 'gone').map((row) => row.id);
    await readTerms(run, userId, { emailIds, isBodyWanted: true }, ({ id, at, terms }) => {
      if (matchesTerms(query, terms)) tail.push({ id, at });
      return true;
    });
    return new MailMatches(run, userId, query, {
      segments: segments.filter(({ id }) => !damaged.has(id)),
      tail,
      void: new Map(unindexed.map((row) => [row.id, row.at])),
    });
  }

  /** Returns how many emails match at most, and stops counting above `most`. */
  async countUpTo(most: number, range: MatchRange): Promise<number> {
    let count = this.#tail.filter((email) => isInRange(email, range)).length;
    for (
      let first = 0, some = FIRST_SEGMENTS;
      first < this.#segments.length && count <= most;
      first += some, some *= 2
    ) {
      for (const segment of await this.#open(this.#segments.slice(first, first + some))) {
        const [from, to] = numbersInRange(segment, range);
        for (let number = segment.matches.found.next(from); number !== -1 && number < to && count <= most; ) {
          count++;
          number = segment.matches.found.next(number + 1);
        }
      }
    }
    return count;
  }

  /** Returns how many emails match. */
  async count(): Promise<number> {
    let count = this.#tail.length;
    for (let first = 0; first < this.#segments.length; first += SEGMENTS_COUNTED)
      for (const segment of await this.#open(this.#segments.slice(first, first + SEGMENTS_COUNTED))) {
        const found = await this.#settled(segment);
        count += found.count;
        this.#opened.delete(segment.row.id);
      }
    return count;
  }

  /** Returns the emails in order, in groups of at least `least` emails, but the last. */
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
    const next: (Candidate | undefined)[] = [nextOf(sources[0])];
    let opening = FIRST_SEGMENTS;
    let group: Candidate[] = [];
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
        for (const opened of await this.#open(taken)) {
          const source = candidatesOf(opened, range);
          sources.push(source);
          next.push(nextOf(source));
        }
        continue;
      }
      // Emails of the same instant stay together: only their ids tell their order.
      if (candidate === undefined || (group.length >= least && candidate.at !== group.at(-1)?.at)) {
        const emails = await this.#resolve(group, range);
        if (emails.length > 0) yield emails;
        if (candidate === undefined) return;
        group = [];
      }
      group.push(candidate);
      if (best !== null) next[best] = nextOf(sources[best]);
    }
  }

  /** Returns those of the emails that match. */
  async pick(emails: readonly FoundEmail[]): Promise<FoundEmail[]> {
    const inTail = new Set(this.#tail.map(({ id }) => id));
    const picked = emails.filter(({ id }) => inTail.has(id));
    const others = emails.filter(({ id }) => !this.#void.has(id));
    const touched = this.#segments.filter(({ firstAt, lastAt }) =>
      others.some(({ at }) => at >= firstAt.getTime() && at <= lastAt.getTime()),
    );
    const wanted = new Set(others.map(({ id }) => id));
    const candidates = new Map<string, Candidate>();
    for (const segment of await this.#open(touched))
      for (const { at } of others)
        for (let number = lowerBound(segment.times, at); segment.times[number] === at; number++)
          if (segment.matches.found.has(number)) candidates.set(`${segment.row.id} ${number}`, { at, segment, number });
    const found = await this.#resolve([...candidates.values()], EVERYTHING);
    return [...picked, ...found.filter(({ id }) => wanted.has(id))];
  }

  /** Returns the matches of a segment without those that are void, each of them sure. */
  async #settled(segment: OpenedSegment): Promise<DocumentSet> {
    const { found, unsure } = segment.matches;
    const inSegment: Candidate[] = [];
    for (const at of new Set(this.#void.values()))
      for (let number = lowerBound(segment.times, at); segment.times[number] === at; number++)
        if (found.has(number)) inSegment.push({ at, segment, number });
    for (const { id, number } of await this.#readIds(inSegment)) if (this.#void.has(id)) found.delete(number);
    if (unsure === null) return found;
    const candidates: Candidate[] = [];
    for (let number = unsure.next(0); number !== -1; number = unsure.next(number + 1))
      if (found.has(number)) candidates.push({ at: segment.times[number] ?? 0, segment, number });
    for (let at = 0; at < candidates.length; at += UNSURE_AT_ONCE) {
      const some = await this.#readIds(candidates.slice(at, at + UNSURE_AT_ONCE));
      const sure = await this.#readPhrases(some.map(({ id }) => id));
      for (const { id, number } of some) if (!sure.has(id)) found.delete(number);
    }
    return found;
  }

  /** Returns the emails of the candidates that match, in order. */
  async #resolve(candidates: readonly Candidate[], range: MatchRange): Promise<FoundEmail[]> {
    const emails: FoundEmail[] = candidates.flatMap((candidate) => ('email' in candidate ? [candidate.email] : []));
    const ofSegments = await this.#readIds(candidates);
    const live = ofSegments.filter(({ id }) => !this.#void.has(id));
    const unsure = live.filter(({ segment, number }) => segment.matches.unsure?.has(number) === true);
    const sure = unsure.length === 0 ? null : await this.#readPhrases(unsure.map(({ id }) => id));
    for (const { id, at, segment, number } of live)
      if (segment.matches.unsure?.has(number) !== true || sure?.has(id) === true) emails.push({ id, at });
    return inOrder(emails, range);
  }

  /** Returns those of the emails whose text has the wanted phrases, and none of the unwanted ones. */
  async #readPhrases(emailIds: readonly string[]): Promise<Set<string>> {
    const isPhrase = ({ words }: { words: readonly string[] }) => words.length > 1;
    const query = { wanted: this.#query.wanted.filter(isPhrase), unwanted: this.#query.unwanted.filter(isPhrase) };
    const isBodyWanted = [...query.wanted, ...query.unwanted].some(({ places }) => (places & PLACES.body) !== 0);
    const matching = new Set<string>();
    await readTerms(this.#run, this.#userId, { emailIds, isBodyWanted }, ({ id, terms }) => {
      if (matchesTerms(query, terms)) matching.add(id);
      return true;
    });
    return matching;
  }

  async #readIds(
    candidates: readonly Candidate[],
  ): Promise<{ id: string; at: number; segment: OpenedSegment; number: number }[]> {
    const ofSegments = candidates.flatMap((candidate) => ('segment' in candidate ? [candidate] : []));
    const single = [];
    for (const [segment, some] of Map.groupBy(ofSegments, (candidate) => candidate.segment)) {
      if (segment.ids === null && some.length > segment.head.count * MANY_IDS) {
        const [row] = await this.#run<{ bytes: Buffer }>(IDS_SQL, [this.#userId, segment.row.id]);
        segment.ids = row?.bytes ?? Buffer.alloc(0);
        if (segment.ids.length !== segment.head.count * segment.head.idWidth)
          throw new SegmentDamage(segment.row.id, 'ids are missing');
      }
      if (segment.ids === null) single.push(...some);
    }
    const slices =
      single.length === 0
        ? []
        : await this.#run<{ bytes: Buffer | null }>(ID_SLICES_SQL, [
            this.#userId,
            single.map(({ segment }) => segment.row.id),
            single.map(({ segment, number }) => segment.head.idWidth * number + 1),
            single.map(({ segment }) => segment.head.idWidth),
          ]);
    const bytes = new Map(single.map((candidate, at) => [candidate, slices[at]?.bytes ?? null]));
    return ofSegments.map((candidate) => {
      const { segment, number, at } = candidate;
      const width = segment.head.idWidth;
      const id = bytes.get(candidate) ?? segment.ids?.subarray(number * width, (number + 1) * width);
      if (id === undefined || id.length !== width) throw new SegmentDamage(segment.row.id, 'an id is missing');
      return { id: decodeId(id), at, segment, number };
    });
  }

  /** Opens segments: reads the blocks that the search needs. In the order given. */
  async #open(rows: readonly SegmentRow[]): Promise<OpenedSegment[]> {
    const closed = rows.filter(({ id }) => !this.#opened.has(id));
    const headsOf = await this.#readHeads(closed);
    const parts = await this.#readBlocks(
      closed.flatMap((row) =>
        [...neededBlocks(headsOf.get(row.id)?.firstWords ?? [], this.#query)].map((number) => ({ row, number })),
      ),
    );
    const matching: { row: SegmentRow; head: SegmentHead; matches: SegmentMatches }[] = [];
    for (const row of closed) {
      const head = headsOf.get(row.id);
      if (head === undefined) continue;
      const block = (number: number) => parts.get(`${row.id} ${number}`) ?? Buffer.alloc(0);
      const matches = noteDamage(row.id, () =>
        matchSegment({ count: head.count, firstWords: head.firstWords, block }, this.#query),
      );
      if (matches.found.isEmpty) this.#opened.set(row.id, { row, head, matches, times: NO_TIMES, ids: null });
      else matching.push({ row, head, matches });
    }
    const tables = await this.#readBlocks(matching.map(({ row }) => ({ row, number: TABLE_PART })));
    for (const { row, head, matches } of matching) {
      const table = tables.get(`${row.id} ${TABLE_PART}`) ?? Buffer.alloc(0);
      const times = noteDamage(row.id, () => decodeTimes(table, head.count));
      this.#opened.set(row.id, { row, head, matches, times, ids: null });
    }
    return rows.flatMap(({ id }) => this.#opened.get(id) ?? []);
  }

  async #readHeads(rows: readonly SegmentRow[]): Promise<Map<string, SegmentHead>> {
    const found = new Map<string, SegmentHead>();
    for (const { id } of rows) {
      const head = heads.get(`${this.#userId} ${id}`);
      if (head !== undefined) found.set(id, head);
    }
    const missing = rows.filter(({ id }) => !found.has(id));
    if (missing.length === 0) return found;
    const read = await this.#run<{ id: string; head: Buffer }>(HEADS_SQL, [this.#userId, missing.map(({ id }) => id)]);
    const bytes = new Map(read.map((row) => [row.id, row.head]));
    for (const { id } of missing) {
      const sealed = bytes.get(id);
      if (sealed === undefined) throw new SegmentDamage(id, 'the head is missing');
      const head = noteDamage(id, () => decodeHead(sealed));
      found.set(id, head);
      heads.set(`${this.#userId} ${id}`, this.#userId, head, sealed.length * BYTES_OF_HEAD);
    }
    return found;
  }

  async #readBlocks(wanted: readonly { row: SegmentRow; number: number }[]): Promise<Map<string, Buffer>> {
    const found = new Map<string, Buffer>();
    const missing = wanted.filter(({ row, number }) => {
      const block = blocks.get(`${this.#userId} ${row.id} ${number}`);
      if (block !== undefined) found.set(`${row.id} ${number}`, block);
      return block === undefined;
    });
    for (let at = 0; at < missing.length; at += BLOCKS_AT_ONCE) {
      const some = missing.slice(at, at + BLOCKS_AT_ONCE);
      const read = await this.#run<{ segment_id: string; number: number; bytes: Buffer }>(BLOCKS_SQL, [
        this.#userId,
        some.map(({ row }) => row.id),
        some.map(({ number }) => number),
      ]);
      const bytes = new Map(read.map((row) => [`${row.segment_id} ${row.number}`, row.bytes]));
      for (const { row, number } of some) {
        const key = `${row.id} ${number}`;
        const sealed = bytes.get(key);
        if (sealed === undefined) throw new SegmentDamage(row.id, 'a block is missing');
        const block = noteDamage(row.id, () => openBlock(sealed));
        found.set(key, block);
        blocks.set(`${this.#userId} ${key}`, this.#userId, block, block.length);
      }
    }
    return found;
  }
}

/** Of a segment without matches nothing more is needed. */
const NO_TIMES = new Float64Array(0);
/** What a decoded head takes in memory for each byte of the stored one, about. */
const BYTES_OF_HEAD = 12;
/** Segments that are open at once while all are counted. */
const SEGMENTS_COUNTED = 8;
/** Emails whose text is read between two pauses. */
const UNSURE_AT_ONCE = 200;

/** Returns those of the emails that are in the range, in its order. */
export function inOrder(emails: readonly FoundEmail[], range: MatchRange): FoundEmail[] {
  const sign = range.isOldestFirst ? 1 : -1;
  return emails
    .filter((email) => isInRange(email, range))
    .toSorted((one, other) => sign * compareDocuments(one, other));
}

const EVERYTHING: MatchRange = { sinceAt: null, untilAt: null, after: null, before: null, isOldestFirst: false };

function runIn(transaction: Transaction<Tables>): RunStatement {
  return async <Row extends pg.QueryResultRow>(text: string, values: readonly unknown[]) => {
    const { rows } = await transaction.executeQuery<Row>(CompiledQuery.raw(text, [...values]));
    return rows;
  };
}

function nextOf(source: Iterator<Candidate> | undefined): Candidate | undefined {
  const next: IteratorResult<Candidate, unknown> | undefined = source?.next();
  return next === undefined || next.done === true ? undefined : next.value;
}

/** The end of a segment that comes first. */
function edge({ firstAt, lastAt }: SegmentRow, isOldestFirst: boolean): number {
  return (isOldestFirst ? firstAt : lastAt).getTime();
}

function* candidatesOf(segment: OpenedSegment, range: MatchRange): Generator<Candidate> {
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
  unindexed: { id: string; state: string; at: number }[];
}

const STATE_SQL = `
  select (${SEGMENTS_SQL}) as segments, (
    select coalesce(jsonb_agg(jsonb_build_object('id', u.email_id, 'state', u.state, 'at', (extract(epoch from u.created_at) * 1000)::bigint)), '[]')
    from unindexed_email u where u.user_id = $1) as unindexed`;

const EMAILS_SQL = `
  select e.id, 'changed' as state, (extract(epoch from e.created_at) * 1000)::bigint as at from email e
  where e.user_id = $1 and e.created_at between $2 and $3`;

const HEADS_SQL = 'select s.id, s.head from word_segment s where s.user_id = $1 and s.id = any ($2::text[])';

// One look-up for each, whatever the planner knows of the table.
const BLOCKS_SQL = `
  select n.segment_id, n.number, b.bytes from unnest($2::text[], $3::integer[]) n(segment_id, number)
  cross join lateral (
    select w.bytes from word_block w where w.user_id = $1 and w.segment_id = n.segment_id and w.number = n.number limit 1) b`;

const IDS_SQL = `select w.bytes from word_block w where w.user_id = $1 and w.segment_id = $2 and w.number = ${IDS_PART}`;

const ID_SLICES_SQL = `
  select (select substring(w.bytes from n.first for n.width) from word_block w
    where w.user_id = $1 and w.segment_id = n.segment_id and w.number = ${IDS_PART}) as bytes
  from unnest($2::text[], $3::integer[], $4::integer[]) with ordinality n(segment_id, first, width, place) order by n.place`;
