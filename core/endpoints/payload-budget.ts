import { type Steps, textPieces } from '../shared/steps.ts';

/** Bytes of the parts of a payload as JSON text, counting repetitions. */
export interface PayloadSizes {
  /** what is always sent: every key, and all values but those below */
  fixed: number;
  /** contents of attachments in base64, in the order of the message */
  contents: readonly number[];
  raw: number;
  html: number;
  text: number;
  headers: number;
}

/** A part that is left out to stay within the budget, in the order of omission. */
export type DroppedPart = 'attachments' | 'raw' | 'html' | 'text' | 'headers';

export interface PayloadPlan {
  /** indexes in `contents` of the attachments that are sent */
  contents: ReadonlySet<number>;
  hasRaw: boolean;
  hasHtml: boolean;
  /** maximum bytes of the texts; null: not cut */
  textBytes: number | null;
  hasHeaders: boolean;
  dropped: DroppedPart[];
}

/**
 * Decides which parts of a payload fit into the budget (bytes). Contents of attachments are left out first, the largest first and only as
 * many as necessary, so that a small invoice is still sent beside a video; then the raw message, the HTML, the text, which is cut rather
 * than dropped, and finally the header fields. `fixed` is always sent, even if it exceeds the budget.
 */
export function planPayload(budget: number, sizes: PayloadSizes): PayloadPlan {
  const contents = new Set(sizes.contents.keys());
  const plan = { hasRaw: true, hasHtml: true, textBytes: null as number | null, hasHeaders: true };
  const dropped: DroppedPart[] = [];
  let total = sizes.fixed + sizes.raw + sizes.html + sizes.text + sizes.headers;
  for (const size of sizes.contents) total += size;

  for (const [place, size] of [...sizes.contents.entries()].toSorted(largestFirst)) {
    if (total <= budget) break;
    contents.delete(place);
    total -= size;
    if (dropped.length === 0) dropped.push('attachments');
  }
  if (total > budget && sizes.raw > 0) {
    plan.hasRaw = false;
    total -= sizes.raw;
    dropped.push('raw');
  }
  if (total > budget && sizes.html > 0) {
    plan.hasHtml = false;
    total -= sizes.html;
    dropped.push('html');
  }
  if (total > budget && sizes.text > 0) {
    plan.textBytes = Math.max(0, budget - (total - sizes.text));
    total -= sizes.text - plan.textBytes;
    dropped.push('text');
  }
  if (total > budget && sizes.headers > 0) {
    plan.hasHeaders = false;
    dropped.push('headers');
  }
  return { contents, ...plan, dropped };
}

/** Largest first; of equal sizes the later one first. */
function largestFirst([placeA, a]: [number, number], [placeB, b]: [number, number]): number {
  return b - a || placeB - placeA;
}

/** Returns the bytes of the text as a JSON string in UTF-8, without quotation marks. */
export function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2;
}

/** Returns the bytes of texts as JSON strings, in steps. */
export function* countJsonBytes(texts: readonly (string | null)[]): Steps<number> {
  let bytes = 0;
  for (const text of texts)
    for (const piece of textPieces(text ?? '')) {
      bytes += jsonBytes(piece);
      yield;
    }
  return bytes;
}

/** Returns the longest prefix of a text that takes at most `limit` bytes in JSON, without splitting a surrogate pair, in steps. */
export function* cutToJsonBytes(text: string, limit: number): Steps<string> {
  let at = 0;
  let left = limit;
  for (const piece of textPieces(text)) {
    const bytes = jsonBytes(piece);
    if (bytes > left) return text.slice(0, at) + cutPiece(piece, left);
    at += piece.length;
    left -= bytes;
    yield;
  }
  return text;
}

function cutPiece(text: string, limit: number): string {
  let bytes = 0;
  for (let at = 0; at < text.length; ) {
    const point = text.codePointAt(at) ?? 0;
    bytes += escapedBytes(point);
    if (bytes > limit) return text.slice(0, at);
    at += point > 0xffff ? 2 : 1;
  }
  return text;
}

/** Bytes of a code point as JSON.stringify writes it (ECMA-404 §9): lone surrogates are escaped. */
function escapedBytes(point: number): number {
  if (point < 0x20) return SHORT_ESCAPES.has(point) ? 2 : 6;
  if (point === 0x22 || point === 0x5c) return 2;
  if (point < 0x80) return 1;
  if (point < 0x800) return 2;
  if (point >= 0xd800 && point <= 0xdfff) return 6;
  return point > 0xffff ? 4 : 3;
}

/** \b \t \n \f \r */
const SHORT_ESCAPES = new Set([0x08, 0x09, 0x0a, 0x0c, 0x0d]);
