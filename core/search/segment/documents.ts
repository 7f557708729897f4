import { crc32 } from 'node:zlib';
import { ByteReader, ByteWriter, DamagedSegment } from './bytes.ts';

/** An email of a segment. */
export interface SegmentDocument {
  id: string;
  /** created at; milliseconds since 1970 */
  at: number;
  /** number of its words, for relevance */
  length: number;
}

/** Returns a number below 0 when the first document comes before the second: documents are numbered by age, then by id. */
export function compareDocuments(
  one: Pick<SegmentDocument, 'at' | 'id'>,
  other: Pick<SegmentDocument, 'at' | 'id'>,
): number {
  return one.at - other.at || (one.id < other.id ? -1 : one.id > other.id ? 1 : 0);
}

/** Returns the ages of the documents and then their lengths, by number. */
export function encodeTable(documents: readonly SegmentDocument[]): Buffer {
  const writer = new ByteWriter();
  let before = 0;
  for (const { at } of documents) {
    writer.integer(at - before);
    before = at;
  }
  for (const { length } of documents) writer.integer(length);
  return writer.take();
}

/** Returns the ages of the documents, ascending; milliseconds since 1970. Throws DamagedSegment. */
export function decodeTimes(table: Buffer, count: number): Float64Array {
  return readTimes(new ByteReader(table), count);
}

/** Returns the ages and the lengths. Throws DamagedSegment. */
export function decodeTable(table: Buffer, count: number): { times: Float64Array; lengths: number[] } {
  const reader = new ByteReader(table);
  const times = readTimes(reader, count);
  const lengths = Array.from({ length: count }, () => reader.integer());
  if (!reader.isAtEnd) throw new DamagedSegment('the table of documents has another length');
  return { times, lengths };
}

function readTimes(reader: ByteReader, count: number): Float64Array {
  const times = new Float64Array(count);
  let at = 0;
  for (let number = 0; number < count; number++) {
    at += reader.integer();
    times[number] = at;
  }
  return times;
}

/**
 * Returns the ids one after the other, each of `width` bytes: not compressed, so that PostgreSQL can read one of them alone.
 */
export function encodeIds(documents: readonly SegmentDocument[]): { ids: Buffer; width: number; checksum: number } {
  const width = Math.max(...documents.map(({ id }) => Buffer.byteLength(id)));
  const ids = Buffer.alloc(width * documents.length);
  for (const [number, { id }] of documents.entries()) ids.write(id, number * width);
  return { ids, width, checksum: crc32(ids) };
}

/** Returns the id in the bytes from this place on. */
export function decodeId(bytes: Buffer, from: number, width: number): string {
  let end = from + width;
  while (end > from && bytes[end - 1] === 0) end--;
  return bytes.toString('utf8', from, end);
}

/** What the head of a segment says of its ids. */
export interface IdsForm {
  width: number;
  checksum: number;
  count: number;
}

/** Throws DamagedSegment for ids other than the stored ones. */
export function checkIds(ids: Buffer, { width, checksum, count }: IdsForm): void {
  if (ids.length !== width * count || crc32(ids) !== checksum)
    throw new DamagedSegment('the ids do not have their checksum');
}

/** Returns all ids. Throws DamagedSegment. */
export function decodeIds(ids: Buffer, form: IdsForm): string[] {
  checkIds(ids, form);
  const { width, count } = form;
  return Array.from({ length: count }, (_, number) => decodeId(ids, number * width, width));
}
