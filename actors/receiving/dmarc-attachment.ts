import { inflateRawSync } from 'node:zlib';
import type { DmarcReport } from '../../core/domains/dmarc-report.ts';
import { type Attachment, decodeAttachment } from '../../core/mime/attachment.ts';
import { loadOnce } from '../../core/shared/load-once.ts';
import { decodeCharset } from '../../core/shared/text.ts';

// Few messages are reports, and what reads them takes 8 MB in each parser thread.
const reportReader = loadOnce(() => import('../../core/domains/dmarc-report.ts'));
const zipReader = loadOnce(() => import('yauzl'));

/** Maximum bytes of a report's XML, ten times the largest genuine ones. */
const MAX_XML_BYTES = 20_000_000;
/** Maximum files in an archive; a report is one (RFC 7489 §7.2.1.1, RFC 9990). */
const MAX_ARCHIVE_FILES = 10;
/** Attachments of one message that are examined; a report is one. */
const MAX_ATTACHMENTS = 2;

const REPORT_TYPES: ReadonlySet<string> = new Set([
  'application/zip',
  'application/x-zip',
  'application/x-zip-compressed',
  'application/gzip',
  'application/x-gzip',
  'application/xml',
  'text/xml',
]);
/** Many receivers neither use the names of RFC 7489 §7.2.1.1 and RFC 9990 (`receiver!domain!begin!end.xml.gz`) nor the types. */
const REPORT_NAME = /\.(?:xml|gz|zip)$/i;

/**
 * Returns the DMARC aggregate report in a message; null when there is none. Its time is bounded by the size of the message and by {@link
 * MAX_XML_BYTES}, whatever an archive unpacks to. Never rejects.
 */
export async function readDmarcAttachment(
  bytes: Buffer,
  attachments: readonly Attachment[],
): Promise<DmarcReport | null> {
  for (const attachment of attachments.filter(mayBeReport).slice(0, MAX_ATTACHMENTS)) {
    const { start, length, transferEncoding } = attachment;
    const content = decodeAttachment(bytes.subarray(start, start + length), transferEncoding);
    const xml = await unpack(Buffer.from(content.buffer, content.byteOffset, content.byteLength)).catch(() => null);
    const report = xml === null ? null : (await reportReader()).readDmarcReport(readText(xml));
    if (report !== null) return report;
  }
  return null;
}

function mayBeReport({ contentType, filename }: Attachment): boolean {
  return REPORT_TYPES.has(contentType) || REPORT_NAME.test(filename);
}

/** Decided by the first bytes, not the declared type: many senders confuse zip and gzip. */
async function unpack(content: Buffer): Promise<Buffer | null> {
  if (content.readUInt16BE(0) === GZIP) return gunzip(content);
  if (content.readUInt32BE(0) === ZIP) return unzip(content);
  return content.length <= MAX_XML_BYTES ? content : null;
}

const GZIP = 0x1f8b;
const ZIP = 0x504b0304;

/**
 * Unpacks the members of a gzip file (RFC 1952 §2.2). What follows the last one is ignored: some receivers append a line end, which zlib takes
 * for another member.
 */
function gunzip(content: Buffer): Buffer {
  const pieces: Buffer[] = [];
  let left = MAX_XML_BYTES;
  let at = 0;
  for (let members = 0; members < MAX_ARCHIVE_FILES; members++) {
    if (at + 2 > content.length || content.readUInt16BE(at) !== GZIP) break;
    const data = content.subarray(at + gzipHeaderLength(content.subarray(at)));
    // Bytes after the end of the compressed data are not read, `engine` says how many were.
    const { buffer, engine } = inflateRawSync(data, { maxOutputLength: Math.max(left, 1), info: true }) as unknown as {
      buffer: Buffer;
      engine: { bytesWritten: number };
    };
    pieces.push(buffer);
    left -= buffer.length;
    at = data.byteOffset - content.byteOffset + engine.bytesWritten + GZIP_TRAILER_BYTES;
  }
  return Buffer.concat(pieces);
}

const GZIP_TRAILER_BYTES = 8;

/** Returns the bytes before the compressed data (RFC 1952 §2.3); throws when they are not complete. */
function gzipHeaderLength(member: Buffer): number {
  const flags = member.readUInt8(3);
  let at = 10;
  if ((flags & 4) !== 0) at += 2 + member.readUInt16LE(at);
  for (const flag of [8, 16]) {
    if ((flags & flag) === 0) continue;
    const end = member.indexOf(0, at);
    if (end === -1) throw new RangeError('The header of the gzip file does not end.');
    at = end + 1;
  }
  return (flags & 2) === 0 ? at : at + 2;
}

/**
 * Returns the first .xml file of an archive, or its only file; null when there is none, too many files, or an encrypted or too large one.
 */
async function unzip(content: Buffer): Promise<Buffer | null> {
  const { fromBufferPromise } = await zipReader();
  const archive = await fromBufferPromise(withoutTrailer(content), { lazyEntries: true, validateEntrySizes: true });
  if (archive.entryCount > MAX_ARCHIVE_FILES) return null;
  for await (const entry of archive.eachEntry()) {
    if (archive.entryCount > 1 && !/\.xml$/i.test(entry.fileName)) continue;
    if (entry.isEncrypted() || entry.uncompressedSize > MAX_XML_BYTES) return null;
    const pieces: Buffer[] = [];
    // Fails rather than return more than the announced size.
    for await (const piece of await archive.openReadStreamPromise(entry)) pieces.push(piece as Buffer);
    return Buffer.concat(pieces);
  }
  return null;
}

/** Returns an archive without the bytes after its end, which yauzl does not allow. */
function withoutTrailer(content: Buffer): Buffer {
  const end = content.lastIndexOf(ZIP_END);
  if (end === -1 || end + ZIP_END_BYTES > content.length) return content;
  return content.subarray(0, end + ZIP_END_BYTES + content.readUInt16LE(end + ZIP_END_BYTES - 2));
}

/** Signature, and bytes without the comment, of the last record of an archive. */
const ZIP_END = Buffer.from('PK\x05\x06', 'latin1');
const ZIP_END_BYTES = 22;

/** In the charset of its byte order mark or declaration (XML 1.0 §4.3.3). */
function readText(xml: Buffer): string {
  const mark = xml.length < 2 ? 0 : xml.readUInt16BE(0);
  if (mark === 0xfffe) return decodeCharset(xml.subarray(2), 'utf-16le');
  if (mark === 0xfeff) return decodeCharset(xml.subarray(2), 'utf-16be');
  const declared = /^[^<]*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})["']/i.exec(
    xml.toString('latin1', 0, 400),
  );
  return decodeCharset(xml, declared?.[1] ?? null);
}
