import iconv from 'iconv-lite';

/** Charsets that switch between sets of characters by escape sequences; iconv-lite has none of them. */
type SevenBitCharset = 'iso2022jp' | 'iso2022kr' | 'iso2022cn' | 'hzgb2312';

/** Returns whether decodeSevenBit knows the charset. */
export function isSevenBitCharset(name: string): name is SevenBitCharset {
  return name === 'iso2022jp' || name === 'iso2022kr' || name === 'iso2022cn' || name === 'hzgb2312';
}

/** Decodes ISO-2022-JP (RFC 1468, RFC 1554, RFC 2237), ISO-2022-KR (RFC 1557), ISO-2022-CN (RFC 1922) or HZ (RFC 1843). Linear. */
export function decodeSevenBit(bytes: Buffer, charset: SevenBitCharset): string {
  return charset === 'hzgb2312' ? decodeHz(bytes) : decodeIso2022(bytes);
}

/** Returns the charset whose escape sequences the bytes have (ISO/IEC 2022); null when there are none. */
export function detectSevenBit(bytes: Buffer): SevenBitCharset | null {
  let seen = 0;
  for (let at = bytes.indexOf(ESCAPE); at !== -1 && seen < MAX_ESCAPES; at = bytes.indexOf(ESCAPE, at + 1)) {
    seen++;
    const start = bytes.toString('latin1', at, at + 4);
    if (/^\x1b\$(?:[@B]|\([@BDOPQ])|^\x1b\(I/.test(start)) return 'iso2022jp';
    if (start === '\x1b$)C') return 'iso2022kr';
    if (/^\x1b\$(?:\)[AG]|\*H)/.test(start)) return 'iso2022cn';
  }
  return null;
}

/** Escape characters that are looked at. */
const MAX_ESCAPES = 1_000;
const ESCAPE = 0x1b;
const SHIFT_OUT = 0x0e;
const SHIFT_IN = 0x0f;
const LINE_FEED = 0x0a;

/** A set of characters: how its bytes are decoded by a charset of iconv-lite. */
interface CharacterSet {
  bytesPerCharacter: 1 | 2;
  decode(bytes: Buffer): string;
}

const JAPANESE: CharacterSet = { bytesPerCharacter: 2, decode: (bytes) => iconv.decode(toShiftJis(bytes), 'cp932') };
const JAPANESE_SUPPLEMENT: CharacterSet = {
  bytesPerCharacter: 2,
  decode: (bytes) => iconv.decode(prefixed(bytes, 0x8f), 'eucjp'),
};
const KATAKANA: CharacterSet = { bytesPerCharacter: 1, decode: (bytes) => iconv.decode(raised(bytes), 'cp932') };
const KOREAN: CharacterSet = { bytesPerCharacter: 2, decode: (bytes) => iconv.decode(raised(bytes), 'cp949') };
const CHINESE: CharacterSet = { bytesPerCharacter: 2, decode: (bytes) => iconv.decode(raised(bytes), 'gb18030') };
/** Sets that no library here has, such as CNS 11643: their characters are lost, the others are not. */
const UNKNOWN: CharacterSet = { bytesPerCharacter: 2, decode: (bytes) => '\ufffd'.repeat(Math.ceil(bytes.length / 2)) };

/** By what follows the escape character; null: ASCII. */
const DESIGNATIONS: readonly (readonly [sequence: string, set: CharacterSet | null])[] = [
  ['(B', null],
  ['(J', null],
  ['(H', null],
  ['(I', KATAKANA],
  ['$@', JAPANESE],
  ['$B', JAPANESE],
  ['$A', CHINESE],
  ['$(@', JAPANESE],
  ['$(B', JAPANESE],
  ['$(D', JAPANESE_SUPPLEMENT],
  ['$(C', KOREAN],
  ['$(A', CHINESE],
  ['$(O', JAPANESE],
  ['$(Q', JAPANESE],
  ['$(P', UNKNOWN],
];
/** Sets that are used between shift out and shift in. */
const SHIFTED: readonly (readonly [sequence: string, set: CharacterSet])[] = [
  ['$)C', KOREAN],
  ['$)A', CHINESE],
  ['$)G', UNKNOWN],
  ['$)E', UNKNOWN],
  [')I', KATAKANA],
];
/** Announcements and sets that change nothing here. */
const IGNORED = ['&@', '$*H', '$+I', '$+J', '$+K', '$+L', '$+M'];

function decodeIso2022(bytes: Buffer): string {
  const pieces: string[] = [];
  let designated: CharacterSet | null = null;
  let shifted: CharacterSet = KOREAN;
  let isShifted = false;
  let from = 0;
  const take = (to: number) => {
    if (to > from) pieces.push(decodeRun(bytes.subarray(from, to), isShifted ? shifted : designated));
    from = to;
  };
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === SHIFT_OUT || byte === SHIFT_IN) {
      take(at);
      isShifted = byte === SHIFT_OUT;
      from = at + 1;
    } else if (byte === LINE_FEED) {
      // Each line begins in ASCII (RFC 1468), so that damage ends with its line.
      take(at);
      [designated, isShifted] = [null, false];
    } else if (byte === ESCAPE) {
      const start = bytes.toString('latin1', at + 1, at + 4);
      const one = DESIGNATIONS.find(([sequence]) => start.startsWith(sequence));
      const other = SHIFTED.find(([sequence]) => start.startsWith(sequence));
      const length = (one ?? other)?.[0].length ?? IGNORED.find((sequence) => start.startsWith(sequence))?.length;
      if (length === undefined) continue;
      take(at);
      if (one !== undefined) designated = one[1];
      if (other !== undefined) shifted = other[1];
      from = at + 1 + length;
      at += length;
    }
  }
  take(bytes.length);
  return pieces.join('');
}

/** Decodes a run of bytes of one set; control characters and spaces within it are ASCII. */
function decodeRun(run: Buffer, set: CharacterSet | null): string {
  if (set === null) return run.toString('latin1');
  const pieces: string[] = [];
  let from = 0;
  while (from < run.length) {
    let to = from;
    while (to < run.length && ((run[to] ?? 0) & 0x7f) > 0x20) to++;
    if (to > from) pieces.push(set.decode(run.subarray(from, to)));
    let next = to;
    while (next < run.length && ((run[next] ?? 0) & 0x7f) <= 0x20) next++;
    pieces.push(run.toString('latin1', to, next));
    from = next;
  }
  return pieces.join('');
}

/** Sets the high bits: the form of EUC. */
function raised(bytes: Buffer): Buffer {
  return Buffer.from(bytes.map((byte) => byte | 0x80));
}

/** Returns the pairs of bytes in EUC, each behind a prefix. */
function prefixed(bytes: Buffer, prefix: number): Buffer {
  const out = Buffer.alloc(Math.ceil(bytes.length / 2) * 3, prefix);
  for (let at = 0; at < bytes.length; at++) out[Math.floor(at / 2) * 3 + 1 + (at % 2)] = (bytes[at] ?? 0) | 0x80;
  return out;
}

/** Converts pairs of bytes of JIS X 0208 to Shift_JIS, whose table has the vendors' characters, too. */
function toShiftJis(bytes: Buffer): Buffer {
  const out = Buffer.alloc(bytes.length);
  for (let at = 0; at < bytes.length; at += 2) {
    const row = (bytes[at] ?? 0) & 0x7f;
    const cell = (bytes[at + 1] ?? 0) & 0x7f;
    out[at] = ((row + 1) >> 1) + (row < 0x5f ? 0x70 : 0xb0);
    if (at + 1 < out.length) out[at + 1] = cell + (row % 2 === 0 ? 0x7e : cell > 0x5f ? 0x20 : 0x1f);
  }
  return out;
}

function decodeHz(bytes: Buffer): string {
  const pieces: string[] = [];
  const text = bytes.toString('latin1');
  let isChinese = false;
  let from = 0;
  const take = (to: number) => {
    if (to > from) pieces.push(decodeRun(bytes.subarray(from, to), isChinese ? CHINESE : null));
  };
  for (let at = text.indexOf('~'); at !== -1; at = text.indexOf('~', at)) {
    // A tilde before the end of a line joins it with the next one; in mail that is CRLF.
    const isSoftBreak = text.startsWith('\r\n', at + 1);
    const next = isSoftBreak ? '\n' : text[at + 1];
    // Within Chinese text a tilde may be the second byte of a character.
    const isEscape = isChinese ? next === '}' && (at - from) % 2 === 0 : next === '{' || next === '~' || next === '\n';
    if (!isEscape) {
      at++;
      continue;
    }
    take(at);
    if (next === '~') pieces.push('~');
    isChinese = next === '{';
    at += isSoftBreak ? 3 : 2;
    from = at;
  }
  take(bytes.length);
  return pieces.join('');
}
