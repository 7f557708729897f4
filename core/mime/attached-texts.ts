import { isUtf8 } from 'node:buffer';
import { decodeCharset } from '../shared/text.ts';
import { decodeAttachment } from './attachment.ts';
import { decodeText, firstField, readHeaderSection } from './header-fields.ts';
import { type Leaf, readParts } from './message-parts.ts';
import { isReportPart } from './parse-bounce.ts';

/** What the attachments of a message say, for the screening. */
export interface AttachedTexts {
  texts: string[];
  /** the beginning or the name of the first text that was left out; null: none was */
  rest: string | null;
}

/** Characters of all texts, and bytes that are decoded for them. */
const MAX_CHARACTERS = 1_000_000;
const MAX_BYTES = 4_000_000;
/** Encoded bytes take up to three times as many. */
const PER_BYTE = 3;
/** Messages in attached messages that are read; deeper ones are read as plain text. */
const MAX_DEPTH = 3;
/** Bytes that tell whether an attachment is text, and which. */
const PROBE = 1_024;
/** The share of control characters from which on something is no text. */
const MAX_CONTROLS = 0.1;
const MAX_EXCERPT = 400;

const TEXT_TYPE =
  /^(?:text\/|application\/(?:[a-z.-]{0,40}\+)?(?:json|xml|yaml|x-yaml|csv|ics|x-ndjson|markdown|rtf|(?:x-)?(?:java|ecma|type)script)$)/;
const TEXT_NAME =
  /\.(?:txt|text|md|markdown|rst|csv|tsv|json|jsonl|ndjson|xml|ya?ml|ics|vcf|html?|log|ini|cfg|conf|env|toml|rtf|m?js|tsx?|py|rb|php|sh|sql|css)$/i;
const MESSAGE_TYPE = /^(?:message\/(?:rfc822|global|partial)|text\/rfc822-headers)$/;
const MESSAGE_NAME = /\.eml$/i;
/** What mail servers say of other mail. */
const REPORT_TYPE = /^(?:message\/|text\/rfc822-headers$)/;

/**
 * Returns the texts of those parts that are not the body and are text, which agents read as they read the body: also text of an unknown type,
 * and attached messages with their parts. A delivery report and what it returns are left out.
 */
export async function readAttachedTexts(bytes: Buffer, leaves: readonly Leaf[]): Promise<AttachedTexts> {
  const list = new TextList();
  const isReport = leaves.some(({ contentType }) => isReportPart(contentType));
  const attached = leaves.filter((leaf) => !leaf.isBody && !(isReport && REPORT_TYPE.test(leaf.contentType)));
  await addParts(bytes, attached, 0, list);
  return list;
}

async function addParts(bytes: Buffer, leaves: readonly Leaf[], depth: number, list: TextList): Promise<void> {
  for (const leaf of leaves) {
    const name = leaf.filename ?? leaf.contentType;
    const decode = (length: number) => decodeBeginning(bytes, leaf, length);
    if (MESSAGE_TYPE.test(leaf.contentType) || MESSAGE_NAME.test(name)) {
      if (depth < MAX_DEPTH && (await addMessage(decode(leaf.length), depth, list))) continue;
    } else if (!isDeclaredText(leaf) && !isText(decode(PROBE))) continue;
    list.add(decode, leaf, name);
  }
}

function isDeclaredText({ contentType, filename }: Leaf): boolean {
  return TEXT_TYPE.test(contentType) || REPORT_TYPE.test(contentType) || TEXT_NAME.test(filename ?? '');
}

/** Adds the subject, the names and the parts of an attached message; returns false if it cannot be split into parts. */
async function addMessage(message: Buffer, depth: number, list: TextList): Promise<boolean> {
  const section = readHeaderSection(message, MAX_BYTES / 10);
  const parts = await readParts(message).catch(() => null);
  if (parts === null) return false;
  const heads = ['subject', 'from', 'reply-to', 'to', 'cc'].map((name) =>
    decodeText(firstField(section, name)?.raw ?? '', parts.bodyCharset),
  );
  list.addText(heads.join('\n\n'));
  if (parts.isTruncated) list.leaveOut('An attached message has more parts than are read.');
  await addParts(message, parts.leaves, depth + 1, list);
  return true;
}

function decodeBeginning(bytes: Buffer, { start, length, transferEncoding }: Leaf, maxBytes: number): Buffer {
  const encoded = bytes.subarray(start, start + Math.min(length, PER_BYTE * maxBytes));
  const decoded = decodeAttachment(encoded, transferEncoding);
  return Buffer.from(decoded.buffer, decoded.byteOffset, Math.min(decoded.byteLength, maxBytes));
}

/** The texts that are found, up to their limits. */
class TextList implements AttachedTexts {
  readonly texts: string[] = [];
  rest: string | null = null;
  #characters = MAX_CHARACTERS;
  #bytes = MAX_BYTES;

  leaveOut(what: string): void {
    this.rest ??= what.slice(0, MAX_EXCERPT);
  }

  /** Adds the text of a part as far as the limits allow; `decode` returns its first bytes. */
  add(decode: (length: number) => Buffer, { charset }: Leaf, name: string): void {
    if (this.#bytes <= 0 || this.#characters <= 0) return this.leaveOut(name);
    const content = decode(this.#bytes + 1);
    const isWhole = content.length <= this.#bytes;
    this.#bytes -= content.length;
    const text = decodeCharset(content, findWideCharset(content) ?? charset).replaceAll('\0', '');
    const controls = text.slice(0, PROBE).match(/[\x01-\x08\x0e-\x1a\x1c-\x1f\ufffd]/g)?.length ?? 0;
    if (controls > Math.min(text.length, PROBE) * MAX_CONTROLS) return this.leaveOut(name);
    this.addText(text);
    if (!isWhole) this.leaveOut(name);
  }

  addText(text: string): void {
    if (text.trim() === '') return;
    this.texts.push(text.slice(0, this.#characters));
    if (text.length > this.#characters) this.leaveOut(text.slice(this.#characters));
    this.#characters = Math.max(0, this.#characters - text.length);
  }
}

/** Returns the charset of text in which nearly every second byte is NUL, and which has no byte order mark; null: it is none. */
function findWideCharset(bytes: Buffer): 'utf-16le' | 'utf-16be' | null {
  const probe = bytes.subarray(0, PROBE);
  const nuls: [even: number, odd: number] = [0, 0];
  for (const [at, byte] of probe.entries()) if (byte === 0) nuls[at % 2 === 0 ? 0 : 1]++;
  const [even, odd] = nuls.map((count) => count / Math.max(1, Math.floor(probe.length / 2)));
  if ((odd ?? 0) > 0.8 && (even ?? 0) < 0.1) return 'utf-16le';
  return (even ?? 0) > 0.8 && (odd ?? 0) < 0.1 ? 'utf-16be' : null;
}

const BINARY = /[\0-\x08\x0e-\x1a\x1c-\x1f]/;

/** Returns whether the beginning of an attachment of another type is text, also in UTF-16. PDF begins as text. */
function isText(beginning: Buffer): boolean {
  if (beginning.length === 0 || beginning.toString('latin1', 0, 5) === '%PDF-') return false;
  if (findWideCharset(beginning) !== null) return true;
  if (BINARY.test(beginning.toString('latin1'))) return isMarkedWide(beginning);
  // The end of the beginning can divide a character.
  return [0, 1, 2, 3].some((cut) => isUtf8(beginning.subarray(0, Math.max(1, beginning.length - cut))));
}

function isMarkedWide([first, second]: Buffer): boolean {
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
}
