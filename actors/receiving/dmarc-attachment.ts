import { gunzipSync } from 'node:zlib';
import { fromBufferPromise } from 'yauzl';
import { type DmarcReport, readDmarcReport } from '../../core/domains/dmarc-report.ts';
import { type Attachment, decodeAttachment } from '../../core/mime/attachment.ts';
import { decodeCharset } from '../../core/shared/text.ts';

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
/** receiver "!" policy-domain "!" begin "!" end [ "!" id ] (RFC 7489 §7.2.1.1, RFC 9990) */
const REPORT_NAME = /^[^!]{1,255}![^!]{1,255}!\d{1,15}!\d{1,15}(?:![^!]{1,255})?\.(?:xml|xml\.gz|gz|zip)$/i;

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
    const report = xml === null ? null : readDmarcReport(textOf(xml));
    if (report !== null) return report;
  }
  return null;
}

function mayBeReport({ contentType, filename }: Attachment): boolean {
  return REPORT_TYPES.has(contentType) || REPORT_NAME.test(filename);
}

/** Decided by the first bytes, not the declared type: many senders confuse zip and gzip. */
async function unpack(content: Buffer): Promise<Buffer | null> {
  if (content.readUInt16BE(0) === GZIP) return gunzipSync(content, { maxOutputLength: MAX_XML_BYTES });
  if (content.readUInt32BE(0) === ZIP) return unzip(content);
  return content.length <= MAX_XML_BYTES ? content : null;
}

const GZIP = 0x1f8b;
const ZIP = 0x504b0304;

/** Returns the first .xml file of an archive; null when there is none, too many files, or an encrypted or too large one. */
async function unzip(content: Buffer): Promise<Buffer | null> {
  const archive = await fromBufferPromise(content, { lazyEntries: true, validateEntrySizes: true });
  if (archive.entryCount > MAX_ARCHIVE_FILES) return null;
  for await (const entry of archive.eachEntry()) {
    if (!/\.xml$/i.test(entry.fileName)) continue;
    if (entry.isEncrypted() || entry.uncompressedSize > MAX_XML_BYTES) return null;
    const pieces: Buffer[] = [];
    // Fails rather than return more than the announced size.
    for await (const piece of await archive.openReadStreamPromise(entry)) pieces.push(piece as Buffer);
    return Buffer.concat(pieces);
  }
  return null;
}

/** In the charset of its byte order mark or declaration (XML 1.0 §4.3.3). */
function textOf(xml: Buffer): string {
  const mark = xml.length < 2 ? 0 : xml.readUInt16BE(0);
  if (mark === 0xfffe) return decodeCharset(xml.subarray(2), 'utf-16le');
  if (mark === 0xfeff) return decodeCharset(xml.subarray(2), 'utf-16be');
  const declared = /^[^<]*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})["']/i.exec(
    xml.toString('latin1', 0, 400),
  );
  return decodeCharset(xml, declared?.[1] ?? null);
}
