import { resolveReferences } from '../html/visible-text.ts';
import { CONCEPT } from './concept.ts';
import type { Effort } from './effort.ts';
import { foldText } from './folded-text.ts';
import { type Request, readInstructions } from './read-instructions.ts';
import { SIGN, type Survey, surveyText } from './survey-text.ts';

/** Instructions in encoded text. */
export interface EncodedRequest extends Request {
  /** such as `base64` */
  encoding: string;
}

/** Characters that are decoded of one run, and how often what is decoded is decoded again. */
const MAX_RUN = 20_000;
const MAX_DEPTH = 3;

const MIN_BASE64 = 24;
const MIN_HEX = 32;
const BASE64_LINES = /^[A-Za-z0-9+/_-]{24,}(?:=*\r?\n[A-Za-z0-9+/_-]{4,200})*={0,2}/;
const HEX = /(?:\\x|0x)?[0-9a-f]{2}(?:[\s,:]{0,2}(?:\\x|0x)?[0-9a-f]{2}){15,}/i;
const OF_BASE64 = listCharacters(/[A-Za-z0-9+/_-]/);
const OF_HEX = listCharacters(/[0-9a-fA-Fx\\\s,:]/);
const OF_NUMBERS = listCharacters(/[0-9\s,;&#]/);
const MIN_NUMBERS = 40;
const OF_BASE32 = listCharacters(/[A-Z2-7]/);
const MIN_BASE32 = 32;
const OF_MORSE = listCharacters(/[.\-/\s]/);
const MIN_MORSE = 60;
const ASCII85 = /<~([!-uz\s]{20,20000})~>/g;
const ESCAPES = /(?:\\u[0-9a-f]{4}){8,}/gi;
const REFERENCES = /(?:&#(?:x[0-9a-f]{2,5}|\d{2,6});[ \t]?){12,}/gi;
const PERCENT = /(?:%[0-9a-f]{2}|\+){12,}/gi;
/** Words of instructions as rot13 writes them, and from behind. */
const ROT13 =
  /vtaber|qvfertneq|vafgehpgvba|cnffjbeq|nffvfgnag|cebzcg|sbejneq|sbetrg|flfgrz|nccebir|cnlzrag|abobql|vaibvpr|qryrgr|fraqre|gehfgrq|pbagnpgf|vaobk|znvyobk|zrffntr|frperg|genafsre|gbxra|qrfpevor/;
const REVERSED =
  /snoitcurtsni|noitcurtsni|erongi|dragersid|tpmorp|drowssap|tnatsissa|drawrof|evorppa|tnemyap|ydobon|eciovni|eteled|rednes|detsurt|stcatnoc|xobni|xobliam|egassem|terces|refsnart|ebircsed/;

/**
 * Returns the first instructions that are encoded in a text; null: none. `survey`: of what it says. In HTML, character references are text as
 * any other. Linear.
 */
export function findEncodedRequest(
  text: string,
  survey: Survey,
  effort: Effort,
  isHtml = false,
  depth = 0,
): EncodedRequest | null {
  for (const [encoding, decoded] of decodings(text, survey, isHtml)) {
    if (effort.isSpent) return null;
    const own = surveyText(foldText(decoded));
    const [request] = readInstructions(decoded, 'hidden', effort, own);
    if (request !== undefined) return { ...request, excerpt: decoded, encoding };
    if (depth + 1 < MAX_DEPTH) {
      const inner = findEncodedRequest(decoded, own, effort, false, depth + 1);
      if (inner !== null) return { ...inner, encoding: `${encoding}, then ${inner.encoding}` };
    }
  }
  return null;
}

function listCharacters(pattern: RegExp): Uint8Array {
  return Uint8Array.from({ length: 128 }, (_each, code) => (pattern.test(String.fromCharCode(code)) ? 1 : 0));
}

/** Returns where runs of at least `length` of the characters are. Most of the text is skipped in steps of that length. */
function findRuns(text: string, characters: Uint8Array, length: number): [start: number, end: number][] {
  const runs: [number, number][] = [];
  const isIn = (at: number) => characters[text.charCodeAt(at)] === 1;
  for (let at = 0; at + length <= text.length; ) {
    let first = at + length - 1;
    while (first >= at && isIn(first)) first--;
    if (first >= at) {
      at = first + 1;
      continue;
    }
    let end = at + length;
    while (end < text.length && isIn(end)) end++;
    runs.push([at, end]);
    at = end + 1;
  }
  return runs;
}

function* decodings(
  text: string,
  { folded, mask, signs }: Survey,
  isHtml: boolean,
): Generator<[encoding: string, decoded: string]> {
  let behind = 0;
  for (const [start, end] of findRuns(text, OF_BASE64, MIN_BASE64)) {
    if (start < behind) continue;
    const [run = ''] = BASE64_LINES.exec(text.slice(start, Math.max(end, start + MAX_RUN))) ?? [];
    behind = start + run.length;
    const decoded = decodeBase64(run);
    if (decoded !== null) yield ['base64', decoded];
  }
  for (const [start, end] of findRuns(text, OF_HEX, MIN_HEX)) {
    const run = text.slice(start, Math.min(end, start + MAX_RUN));
    // A word before the run can end with letters that are digits, too.
    for (const part of [run, ...run.split(/[\s,:]+/).filter((each) => each.length >= MIN_HEX)]) {
      const [digits] = HEX.exec(part) ?? [];
      const decoded = digits === undefined ? null : readable(Buffer.from(digits.replace(/\\x|0x|[\s,:]/gi, ''), 'hex'));
      if (decoded === null) continue;
      yield ['hexadecimal', decoded];
      break;
    }
  }
  for (const [start, end] of findRuns(text, OF_NUMBERS, MIN_NUMBERS)) {
    const decoded = decodeNumbers(text.slice(start, Math.min(end, start + MAX_RUN)));
    if (decoded !== null) yield ['numbers of characters', decoded];
  }
  for (const [start, end] of findRuns(text, OF_BASE32, MIN_BASE32)) {
    const decoded = decodeBase32(text.slice(start, Math.min(end, start + MAX_RUN)));
    if (decoded !== null) yield ['base32', decoded];
  }
  for (const [start, end] of findRuns(text, OF_MORSE, MIN_MORSE)) {
    const decoded = decodeMorse(text.slice(start, Math.min(end, start + MAX_RUN)));
    if (decoded !== null) yield ['Morse code', decoded];
  }
  if (text.includes('<~'))
    for (const [, run = ''] of text.matchAll(ASCII85)) {
      const decoded = decodeAscii85(run);
      if (decoded !== null) yield ['ascii85', decoded];
    }
  if (text.includes('\\u'))
    for (const [run] of text.matchAll(ESCAPES))
      yield [
        'escapes',
        run
          .replace(/\\u([0-9a-f]{4})/gi, (_all, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
          .toWellFormed(),
      ];
  for (const [run] of (isHtml || !text.includes('&#') ? '' : text).matchAll(REFERENCES))
    yield ['character references', resolveReferences(run.slice(0, MAX_RUN))];
  for (const [run] of (text.includes('%') ? text : '').matchAll(PERCENT)) {
    const decoded = readable(Buffer.from(run.slice(0, MAX_RUN).replaceAll('%', '').replaceAll('+', '20'), 'hex'));
    if (decoded !== null) yield ['percent signs', decoded];
  }
  if ((mask & CONCEPT.encoded) === 0 && (signs & SIGN.longWord) === 0) return;
  if (ROT13.test(folded)) yield ['rot13', rotate(folded.slice(0, MAX_RUN))];
  if (REVERSED.test(folded)) yield ['reverse order', reverse(folded.slice(0, MAX_RUN))];
}

/** Bytes that show whether a run is text. */
const PROBE = 18;

function decodeBase64(run: string): string | null {
  const joined = run.replace(/[=\s]+/g, '');
  const probe = Buffer.from(joined.slice(0, (PROBE / 3) * 4), 'base64');
  // The end of the probe can divide a character.
  if (!/^[\t\n\r -~\u00a0-\uffff]*\ufffd{0,3}$/.test(probe.toString())) return null;
  return readable(Buffer.from(joined, 'base64'));
}

/** Decodes numbers of characters: eight binary digits, or decimal ones. */
function decodeNumbers(run: string): string | null {
  const digits = run.replace(/\D+/g, ' ').trim();
  const binary = digits.replaceAll(' ', '');
  if (/^[01]+$/.test(binary) && binary.length % 8 === 0)
    return readable(Buffer.from((binary.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2))));
  const codes = digits.split(' ').map(Number);
  return codes.every((code) => code >= 9 && code < 127) ? readable(Buffer.from(codes)) : null;
}

function decodeBase32(run: string): string | null {
  const bytes: number[] = [];
  let bits = 0;
  let value = 0;
  for (const letter of run) {
    value = ((value << 5) | BASE32.indexOf(letter)) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((value >> bits) & 255);
  }
  return readable(Buffer.from(bytes));
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

const MORSE: ReadonlyMap<string, string> = new Map(
  '.- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --.. ----- .---- ..--- ...-- ....- ..... -.... --... ---.. ----. .-.-.- --..-- .--.-.'
    .split(' ')
    .map((sign, at) => [sign, 'abcdefghijklmnopqrstuvwxyz0123456789.,@'.charAt(at)]),
);

/** Letters are divided by a space, words by a slash, three spaces or a line. */
function decodeMorse(run: string): string | null {
  const words = run.trim().split(/\s*\/\s*|\s{3,}|\n/);
  const letters = words.map((word) => word.split(/\s+/).map((sign) => (sign === '' ? '' : MORSE.get(sign))));
  if (letters.some((word) => word.includes(undefined))) return null;
  const text = letters.map((word) => word.join('')).join(' ');
  return text.length >= 12 ? text : null;
}

/** Adobe's form of base 85, between `<~` and `~>`. */
function decodeAscii85(run: string): string | null {
  const bytes: number[] = [];
  const digits = run.replace(/\s+/g, '').replaceAll('z', '!!!!!');
  for (let at = 0; at < digits.length; at += 5) {
    const group = digits.slice(at, at + 5);
    let value = 0;
    for (const digit of group.padEnd(5, 'u')) value = value * 85 + digit.charCodeAt(0) - 33;
    const four = [value / 0x1000000, value / 0x10000, value / 0x100, value].map((each) => Math.floor(each) & 255);
    bytes.push(...four.slice(0, group.length - 1));
  }
  return readable(Buffer.from(bytes));
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
