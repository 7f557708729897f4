import { readInstructions, type Request } from './read-instructions.ts';

/** Instructions in encoded text. */
export interface EncodedRequest extends Request {
  /** such as `base64` */
  encoding: string;
}

/** Characters that are decoded of one run, and how often what is decoded is decoded again. */
const MAX_RUN = 20_000;
const MAX_DEPTH = 3;

const BASE64 = /[A-Za-z0-9+/_-]{24,}(?:=*\r?\n[A-Za-z0-9+/_-]{4,200})*={0,2}/g;
const HEX = /(?:\\x|0x)?[0-9a-f]{2}(?:[\s,:]{0,2}(?:\\x|0x)?[0-9a-f]{2}){15,}/gi;
const PERCENT = /(?:%[0-9a-f]{2}|\+){12,}/gi;
/** Words of instructions as rot13 writes them, and from behind. */
const ROT13 = /vtaber|qvfertneq|vafgehpgvba|cnffjbeq|nffvfgnag|cebzcg|sbejneq|sbetrg|flfgrz/i;
const REVERSED = /snoitcurtsni|noitcurtsni|erongi|dragersid|tpmorp|drowssap|tnatsissa|drawrof/i;

/** Returns the first instructions that are encoded in a text; null: none. Linear. */
export function findEncodedRequest(text: string, depth = 0): EncodedRequest | null {
  for (const [encoding, decoded] of decodings(text)) {
    const [request] = readInstructions(decoded, 'hidden');
    if (request !== undefined) return { ...request, excerpt: decoded, encoding };
    if (depth + 1 < MAX_DEPTH) {
      const inner = findEncodedRequest(decoded, depth + 1);
      if (inner !== null) return { ...inner, encoding: `${encoding}, then ${inner.encoding}` };
    }
  }
  return null;
}

function* decodings(text: string): Generator<[encoding: string, decoded: string]> {
  for (const [run] of text.matchAll(BASE64)) {
    const decoded = decodeBase64(run.slice(0, MAX_RUN));
    if (decoded !== null) yield ['base64', decoded];
  }
  for (const [run] of text.matchAll(HEX)) {
    const digits = run.slice(0, MAX_RUN).replace(/\\x|0x|[\s,:]/gi, '');
    const decoded = readable(Buffer.from(digits, 'hex'));
    if (decoded !== null) yield ['hexadecimal', decoded];
  }
  for (const [run] of text.matchAll(PERCENT)) {
    const decoded = readable(Buffer.from(run.slice(0, MAX_RUN).replaceAll('%', '').replaceAll('+', '20'), 'hex'));
    if (decoded !== null) yield ['percent signs', decoded];
  }
  if (ROT13.test(text)) yield ['rot13', rotate(text.slice(0, MAX_RUN))];
  if (REVERSED.test(text)) yield ['reverse order', reverse(text.slice(0, MAX_RUN))];
}

/** Bytes that show whether a run is text. */
const PROBE = 18;

function decodeBase64(run: string): string | null {
  const joined = run.replace(/[=\s]+/g, '');
  const probe = Buffer.from(joined.slice(0, PROBE / 3 * 4), 'base64');
  // The end of the probe can divide a character.
  if (!/^[\t\n\r -~\u00a0-\uffff]*\ufffd{0,3}$/.test(probe.toString())) return null;
  return readable(Buffer.from(joined, 'base64'));
}

/** Returns the bytes as text; null when they are none. */
function readable(bytes: Buffer): string | null {
  const text = bytes.toString();
  return text.length >= 12 && !/[\0-\x08\x0b\x0c\x0e-\x1f\x7f\ufffd]/.test(text) ? text : null;
}

function rotate(text: string): string {
  return text.replace(/[a-z]/gi, (letter) => {
    const first = letter <= 'Z' ? 65 : 97;
    return String.fromCharCode(((letter.charCodeAt(0) - first + 13) % 26) + first);
  });
}

function reverse(text: string): string {
  return text
    .split('\n')
    .map((line) => Array.from(line).toReversed().join(''))
    .join('\n');
}
