import type { RankedWord } from '../../../core/search/relevance.ts';
import { openBlock } from '../../../core/search/segment/block.ts';
import { checkIds, decodeId, decodeTable, decodeTimes } from '../../../core/search/segment/documents.ts';
import { matchSegment, neededBlocks, type SegmentMatches } from '../../../core/search/segment/match-segment.ts';
import { countInBlock, decodeHead, findBlocks, type SegmentHead } from '../../../core/search/segment/segment.ts';
import { wordUses } from '../../../core/search/segment/word-uses.ts';
import type { WordQuery } from '../../../core/search/word-query.ts';
import { finishSteps } from './finish-steps.ts';
import { SEARCH_CACHE_LIMITS, searchCache } from './search-cache.ts';
import type { RunStatement } from './unindexed-email.ts';
import { IDS_PART, noteDamage, SegmentDamage, type SegmentRow, TABLE_PART } from './word-segment.ts';

const blocks = searchCache.kind<Buffer>('block');
const heads = searchCache.kind<SegmentHead>('head');
/** of the emails of a segment, which a decoded table gives only slowly */
const times = searchCache.kind<Float64Array>('times');
const allIds = searchCache.kind<Buffer>('ids');
/** how many ids of a segment were read one by one */
const singleReads = searchCache.kind<{ count: number }>('single');

/** A segment and the numbers of the blocks that a search needs of it. */
interface NeededSegment {
  row: SegmentRow;
  head: SegmentHead;
  needed: number[];
}

/** Blocks that a search has in memory, unless a single segment needs more: of 16 KiB each. */
const MAX_BLOCKS = 512;
/** Blocks that one statement reads. */
const BLOCKS_AT_ONCE = 128;
/** When this part of the ids of a segment was read one by one, all are read at once: that takes about as long. */
const MANY_IDS = 1 / 30;
/** The ids of all segments are kept up to this size; bytes. */
const MAX_KEPT_IDS = SEARCH_CACHE_LIMITS.perAccount / 2;
/** Bytes of an id, about. */
const ID_BYTES = 35;

/** A segment of which a search knows the matches. */
export interface OpenedSegment {
  row: SegmentRow;
  head: SegmentHead;
  times: Float64Array;
  matches: SegmentMatches;
  /** null: not read yet */
  ids: Buffer | null;
}

/** An email of a segment by its number. */
export interface NumberedEmail {
  /** created at; milliseconds since 1970 */
  at: number;
  segment: OpenedSegment;
  number: number;
}

/** Reads of an account's segments what one search needs. For one transaction. Throws SegmentDamage. */
export class SegmentReader {
  readonly #run: RunStatement;
  readonly #workspaceId: string;
  readonly #query: WordQuery;
  readonly #areIdsKept: boolean;
  readonly #opened = new Map<string, OpenedSegment>();

  /** `emailCount`: of all segments of the account. */
  constructor(run: RunStatement, workspaceId: string, query: WordQuery, emailCount: number) {
    this.#run = run;
    this.#workspaceId = workspaceId;
    this.#query = query;
    this.#areIdsKept = emailCount * ID_BYTES <= MAX_KEPT_IDS;
  }

  /** Opens segments: reads the blocks that the search needs. In the order given. */
  async open(rows: readonly SegmentRow[]): Promise<OpenedSegment[]> {
    const closed = rows.filter(({ id }) => !this.#opened.has(id));
    const headsOf = await this.#readHeads(closed);
    let group: NeededSegment[] = [];
    let blockCount = 0;
    for (const row of closed) {
      const head = headsOf.get(row.id);
      if (head === undefined) continue;
      const needed = [...neededBlocks(head.firstWords, this.#query)];
      if (group.length > 0 && blockCount + needed.length > MAX_BLOCKS) {
        await this.#match(group);
        group = [];
        blockCount = 0;
      }
      group.push({ row, head, needed });
      blockCount += needed.length;
    }
    await this.#match(group);
    return rows.flatMap(({ id }) => this.#opened.get(id) ?? []);
  }

  /** Opens segments whose blocks are in memory at the same time. */
  async #match(group: readonly NeededSegment[]): Promise<void> {
    const parts = await this.#readBlocks(group.flatMap(({ row, needed }) => needed.map((number) => ({ row, number }))));
    const matching: { row: SegmentRow; head: SegmentHead; matches: SegmentMatches }[] = [];
    for (const { row, head } of group) {
      const block = (number: number) => parts.get(`${row.id} ${number}`) ?? Buffer.alloc(0);
      const steps = matchSegment({ count: head.count, firstWords: head.firstWords, block }, this.#query);
      const matches = await finishSteps(() => noteDamage(row.id, () => steps.next()));
      if (matches.found.isEmpty) this.#opened.set(row.id, { row, head, matches, times: NO_TIMES, ids: null });
      else matching.push({ row, head, matches });
    }
    const timesOf = await this.#readTimes(matching);
    for (const { row, head, matches } of matching)
      this.#opened.set(row.id, { row, head, matches, times: timesOf.get(row.id) ?? NO_TIMES, ids: null });
  }

  async #readTimes(segments: readonly { row: SegmentRow; head: SegmentHead }[]): Promise<Map<string, Float64Array>> {
    const found = new Map<string, Float64Array>();
    const missing = segments.filter(({ row: { id } }) => {
      const known = times.get(this.#workspaceId, id);
      if (known !== undefined) found.set(id, known);
      return known === undefined;
    });
    const tables = await this.#readBlocks(missing.map(({ row }) => ({ row, number: TABLE_PART })));
    for (const { row, head } of missing) {
      const table = tables.get(`${row.id} ${TABLE_PART}`) ?? Buffer.alloc(0);
      const decoded = noteDamage(row.id, () => decodeTimes(table, head.count));
      found.set(row.id, decoded);
      times.set(this.#workspaceId, row.id, decoded, decoded.byteLength);
    }
    return found;
  }

  async #readHeads(rows: readonly SegmentRow[]): Promise<Map<string, SegmentHead>> {
    const found = new Map<string, SegmentHead>();
    for (const { id } of rows) {
      const head = heads.get(this.#workspaceId, id);
      if (head !== undefined) found.set(id, head);
    }
    const missing = rows.filter(({ id }) => !found.has(id));
    if (missing.length === 0) return found;
    const read = await this.#run<{ id: string; head: Buffer }>(HEADS_SQL, [
      this.#workspaceId,
      missing.map(({ id }) => id),
    ]);
    const bytes = new Map(read.map((row) => [row.id, row.head]));
    for (const { id } of missing) {
      const sealed = bytes.get(id);
      if (sealed === undefined) throw new SegmentDamage(id, 'the head is missing');
      const head = noteDamage(id, () => decodeHead(sealed));
      found.set(id, head);
      heads.set(this.#workspaceId, id, head, sealed.length * BYTES_OF_HEAD);
    }
    return found;
  }

  async #readBlocks(wanted: readonly { row: SegmentRow; number: number }[]): Promise<Map<string, Buffer>> {
    const found = new Map<string, Buffer>();
    const missing = wanted.filter(({ row, number }) => {
      const block = blocks.get(this.#workspaceId, `${row.id} ${number}`);
      if (block !== undefined) found.set(`${row.id} ${number}`, block);
      return block === undefined;
    });
    for (let at = 0; at < missing.length; at += BLOCKS_AT_ONCE) {
      const some = missing.slice(at, at + BLOCKS_AT_ONCE);
      const read = await this.#run<{ segment_id: string; number: number; bytes: Buffer }>(BLOCKS_SQL, [
        this.#workspaceId,
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
        blocks.set(this.#workspaceId, key, block, block.length);
      }
    }
    return found;
  }

  /** Returns how these emails of the segment use the words, how many of all its emails have each word, and the length of all. */
  async wordUses(
    { row, head }: OpenedSegment,
    words: readonly RankedWord[],
    numbers: readonly number[],
  ): Promise<ReturnType<typeof wordUses> & { totalLength: number }> {
    const needed = neededBlocks(head.firstWords, this.#query);
    const parts = await this.#readBlocks([TABLE_PART, ...needed].map((number) => ({ row, number })));
    const block = (number: number) => parts.get(`${row.id} ${number}`) ?? Buffer.alloc(0);
    return noteDamage(row.id, () => {
      const { lengths } = decodeTable(block(TABLE_PART), head.count);
      const segment = { count: head.count, firstWords: head.firstWords, block };
      const totalLength = lengths.reduce((sum, length) => sum + length, 0);
      return { ...wordUses(segment, words, numbers, lengths), totalLength };
    });
  }

  /**
   * Returns the accepted words of the blocks that hold words with one of the prefixes, and about how many emails have each. Reads at most
   * `maxBlocks` blocks, those of the first prefixes and segments first.
   */
  async countWords(
    rows: readonly SegmentRow[],
    prefixes: readonly string[],
    { accepts, maxBlocks }: { accepts: (word: string) => boolean; maxBlocks: number },
  ): Promise<Map<string, number>> {
    const headsOf = await this.#readHeads(rows);
    const wanted = new Map<string, { row: SegmentRow; number: number }>();
    for (const start of prefixes)
      for (const row of rows) {
        const [from, to] = findBlocks(headsOf.get(row.id)?.firstWords ?? [], { start, isPrefix: true, accepts: null });
        for (let number = from; number < to && wanted.size < maxBlocks; number++)
          wanted.set(`${row.id} ${number}`, { row, number });
      }
    const parts = await this.#readBlocks([...wanted.values()]);
    const counts = new Map<string, number>();
    for (const [key, { row }] of wanted)
      noteDamage(row.id, () => {
        for (const { word, count } of countInBlock(parts.get(key) ?? Buffer.alloc(0), accepts))
          counts.set(word, (counts.get(word) ?? 0) + count);
      });
    return counts;
  }

  /** Lets go of a segment. */
  close({ row }: OpenedSegment): void {
    this.#opened.delete(row.id);
  }

  async #readAllIds({ row: { id }, head }: OpenedSegment): Promise<Buffer> {
    const [row] = await this.#run<{ bytes: Buffer }>(IDS_SQL, [this.#workspaceId, id]);
    const ids = row?.bytes ?? Buffer.alloc(0);
    noteDamage(id, () => checkIds(ids, { width: head.idWidth, checksum: head.idChecksum, count: head.count }));
    if (this.#areIdsKept) allIds.set(this.#workspaceId, id, ids, ids.length);
    return ids;
  }

  /** Returns the emails with their ids, in the order given. */
  async readIds(emails: readonly NumberedEmail[]): Promise<(NumberedEmail & { id: string })[]> {
    const single: NumberedEmail[] = [];
    for (const [segment, some] of Map.groupBy(emails, (candidate) => candidate.segment)) {
      segment.ids ??= allIds.get(this.#workspaceId, segment.row.id) ?? null;
      if (segment.ids !== null) continue;
      const reads = singleReads.get(this.#workspaceId, segment.row.id) ?? { count: 0 };
      const count = some.length + (this.#areIdsKept ? reads.count : 0);
      if (count > segment.head.count * MANY_IDS) segment.ids = await this.#readAllIds(segment);
      else {
        single.push(...some);
        singleReads.set(this.#workspaceId, segment.row.id, { count }, 0);
      }
    }
    const slices =
      single.length === 0
        ? []
        : await this.#run<{ bytes: Buffer | null }>(ID_SLICES_SQL, [
            this.#workspaceId,
            single.map(({ segment }) => segment.row.id),
            single.map(({ segment, number }) => segment.head.idWidth * number + 1),
            single.map(({ segment }) => segment.head.idWidth),
          ]);
    const bytes = new Map(single.map((candidate, at) => [candidate, slices[at]?.bytes ?? null]));
    return emails.map((candidate) => {
      const { segment, number, at } = candidate;
      const width = segment.head.idWidth;
      const slice = segment.ids === null ? bytes.get(candidate) : segment.ids;
      const from = segment.ids === null ? 0 : number * width;
      if (slice == null || slice.length < from + width) throw new SegmentDamage(segment.row.id, 'an id is missing');
      return { id: decodeId(slice, from, width), at, segment, number };
    });
  }
}

/** Of a segment without matches nothing more is needed. */
const NO_TIMES = new Float64Array(0);
/** What a decoded head takes in memory for each byte of the stored one, about. */
const BYTES_OF_HEAD = 12;
const HEADS_SQL = 'select s.id, s.head from word_segment s where s.workspace_id = $1 and s.id = any ($2::text[])';

// One look-up for each, whatever the planner knows of the table.
const BLOCKS_SQL = `
  select n.segment_id, n.number, b.bytes from unnest($2::text[], $3::integer[]) n(segment_id, number)
  cross join lateral (
    select w.bytes from word_block w where w.workspace_id = $1 and w.segment_id = n.segment_id and w.number = n.number limit 1) b`;

const IDS_SQL = `select w.bytes from word_block w where w.workspace_id = $1 and w.segment_id = $2 and w.number = ${IDS_PART}`;

const ID_SLICES_SQL = `
  select (select substring(w.bytes from n.first for n.width) from word_block w
    where w.workspace_id = $1 and w.segment_id = n.segment_id and w.number = ${IDS_PART}) as bytes
  from unnest($2::text[], $3::integer[], $4::integer[]) with ordinality n(segment_id, first, width, place) order by n.place`;
