import iconv from 'iconv-lite';
import { COMMON_CHARACTERS, LETTERS, type Letters } from './letter-statistics.ts';

/** Bytes that are looked at, from the first one above 127. */
const MAX_SAMPLE_BYTES = 32_768;

/**
 * Returns the charset of text that states none and is not UTF-8: windows-1252, unless the statistics of its letters are those of another
 * script. Mail of Western languages has single accented letters within words of ASCII; what counts here are words without ASCII letters.
 * Looks at 32 KB at most; never throws.
 */
export function detectCharset(bytes: Buffer): string {
  const sample = takeSample(bytes);
  if (!/[\x80-\xff]{2}/.test(sample)) return WESTERN;
  if (isDamagedUtf8(sample)) return 'utf8';
  const raw = Buffer.from(sample, 'latin1');
  return detectMultiByte(sample, raw) ?? detectSingleByte(sample, raw) ?? WESTERN;
}

const WESTERN = 'windows-1252';

/** Returns bytes as latin1, from the line of the first one above 127 to the end of a line, if possible. */
function takeSample(bytes: Buffer): string {
  const first = bytes.findIndex((byte) => byte > 0x7f);
  const from = bytes.subarray(0, first).lastIndexOf(LINE_FEED) + 1;
  const start = first - from > MAX_SAMPLE_BYTES / 2 ? first : from;
  if (bytes.length - start <= MAX_SAMPLE_BYTES) return bytes.toString('latin1', start);
  const end = bytes.subarray(0, start + MAX_SAMPLE_BYTES).lastIndexOf(LINE_FEED);
  return bytes.toString('latin1', start, end > start ? end : start + MAX_SAMPLE_BYTES);
}

const LINE_FEED = 0x0a;

const UTF8_SEQUENCE = /[\xc3-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}/g;
const MIN_UTF8_SEQUENCES = 4;

/** Returns whether text is UTF-8 but for a few bytes, such as a character that was cut. */
function isDamagedUtf8(sample: string): boolean {
  const sequences = sample.match(UTF8_SEQUENCE) ?? [];
  const valid = sequences.reduce((sum, sequence) => sum + sequence.length, 0);
  const high = sample.match(/[\x80-\xff]/g)?.length ?? 0;
  return (
    sequences.length >= MIN_UTF8_SEQUENCES && high - valid <= sequences.length / 10 + 2 && high - valid < valid / 4
  );
}

/** Characters beyond ASCII of which a text must have at least as many to be in a charset of several bytes. */
const MIN_CHARACTERS = 3;
/** The part of all characters that the most common ones have at least; in another charset it is below a tenth. */
const MIN_COMMON = 0.22;
/** The same for texts of a few characters. */
const MIN_COMMON_OF_FEW = 0.5;
const FEW_CHARACTERS = 12;

function detectMultiByte(sample: string, raw: Buffer): string | null {
  // Letters of Western languages are single in ASCII words.
  const pairs = sample.match(/[\x81-\xfe][\x40-\xfe]/g)?.length ?? 0;
  if (pairs < MIN_CHARACTERS || mixedWords(sample) * 3 > pairs) return null;
  let [best, share] = [null as string | null, 0];
  for (const [charset, common] of COMMON_CHARACTERS) {
    const found = measureCommon(iconv.decode(raw, charset), common);
    if (found > share) [best, share] = [charset, found];
  }
  return best;
}

/** Words of ASCII letters with one or two others. */
function mixedWords(sample: string): number {
  return (
    sample.match(/(?<![A-Za-z\x80-\xff])[A-Za-z]+[\xc0-\xff]{1,2}(?=[a-z])|(?<![A-Za-z\x80-\xff])[\xc0-\xff][a-z]{2}/g)
      ?.length ?? 0
  );
}

/** Returns the part of the characters beyond ASCII that are common in a charset; 0 when the text is not in it. */
function measureCommon(text: string, common: ReadonlySet<string>): number {
  let [all, found, invalid] = [0, 0, 0];
  for (const character of text) {
    if (character <= '\x7f' || IDEOGRAPHIC_MARKS.has(character)) continue;
    all++;
    if (common.has(character)) found++;
    else if (
      character === '\ufffd' ||
      (character >= '\uff61' && character <= '\uff9f') ||
      (character >= '\ue000' && character <= '\uf8ff')
    )
      invalid++;
  }
  if (all < MIN_CHARACTERS || invalid > 1 + all / 50) return 0;
  const share = found / all;
  return share >= (all < FEW_CHARACTERS ? MIN_COMMON_OF_FEW : MIN_COMMON) ? share : 0;
}

const IDEOGRAPHIC_MARKS: ReadonlySet<string> = new Set('　、。，．・：；？！（）「」『』【】《》〈〉“”‘’…—～·');

/** Letters of words without ASCII that a text must have. */
const MIN_LETTERS = 4;
const MIN_WORD_LENGTH = 3;
const MIN_DIFFERENT_LETTERS = 3;
/** Mean of the binary logarithms of the frequencies of its letters; natural text has about -4.4, text in another charset below -6. */
const MIN_MEAN = -5.3;
const MIN_MEAN_OF_FEW = -4.9;
const FEW_LETTERS = 8;

function detectSingleByte(sample: string, raw: Buffer): string | null {
  const pure = (sample.match(PURE_WORD) ?? []).filter((word) => !isList(word));
  const letters = pure.reduce((sum, word) => sum + word.length, 0);
  if (letters < MIN_LETTERS || !pure.some((word) => word.length >= MIN_WORD_LENGTH)) return null;
  if (new Set(pure.join('')).size < MIN_DIFFERENT_LETTERS) return null;
  if (letters < 2 * mixedWords(sample)) return null;
  let [best, mean] = [null as string | null, Number.NEGATIVE_INFINITY];
  for (const letters of LETTERS) {
    const found = measureLikelihood(iconv.decode(raw, letters.charset), letters);
    if (found !== null && found > mean) [best, mean] = [letters.charset, found];
  }
  return best;
}

/** Returns whether a word repeats a mark, or lists letters in their order: `°°°`, `áéíóú`. */
function isList(word: string): boolean {
  const bytes = Array.from(word);
  return bytes.every((byte) => byte === word[0]) || bytes.every((byte, at) => at === 0 || byte > (bytes[at - 1] ?? ''));
}

/** A word of letters of no Western language alone: without letters of ASCII, and not only marks. */
const PURE_WORD = /(?<![A-Za-z\x80-\x9f\xa1-\xff])[\x80-\x9f\xa1-\xff]{2,}(?![A-Za-z\x80-\x9f\xa1-\xff])/g;

/** Costs in the unit of the mean, for each occurrence, of what natural text hardly ever has. */
const COST_OF_STRANGER = 9;
const COST_OF_MIXED_WORD = 8;
const COST_OF_INNER_CAPITAL = 8;
const COST_OF_CAPITALS = 0.5;
/** Of a letter where it never is, such as a final one within a word. */
const COST_OF_PLACE = 6;

/** Marks that every charset of mail has, and that separate words. */
const MARKS: ReadonlySet<string> = new Set('\u00a0\u00ad«»“”„‘’‚‹›–—…•·№©®™§°±€¶،؛؟ـ΄΅·־');

/** Returns the mean of the logarithms of the frequencies of the letters; null when it is below that of natural text. */
function measureLikelihood(text: string, script: Letters): number | null {
  let [letters, sum] = [0, 0];
  for (const [word] of text.matchAll(WORD)) {
    if (word.length === 1 && word <= '\x7f') continue;
    const found = weigh(word, script);
    letters += found.letters;
    sum += found.sum;
  }
  if (letters < MIN_LETTERS) return null;
  const mean = sum / letters - script.handicap;
  return mean >= (letters < FEW_LETTERS ? MIN_MEAN_OF_FEW : MIN_MEAN) ? mean : null;
}

// oxlint-disable-next-line no-control-regex
const WORD = /[^\x00-\x40[-`{-\x7f\s]+/g;

function weigh(
  word: string,
  { frequencies, onlyLast, neverLast, neverFirst }: Letters,
): { letters: number; sum: number } {
  let [letters, sum, capitals] = [0, 0, 0];
  let isMixed = false;
  /** the letter before, and whether it is a capital */
  let before: { lower: string; isCapital: boolean } | null = null;
  for (const character of word) {
    const lower = character.toLowerCase();
    const frequency = frequencies.get(lower);
    if (frequency !== undefined) {
      const isCapital = lower !== character;
      if (before === null && neverFirst.includes(lower)) sum -= COST_OF_PLACE;
      if (before !== null && onlyLast.includes(before.lower)) sum -= COST_OF_PLACE;
      if (isCapital && before?.isCapital === false) sum -= COST_OF_INNER_CAPITAL;
      if (isCapital) capitals++;
      sum += frequency;
      letters++;
      before = { lower, isCapital };
    } else if (character <= '\x7f') isMixed = true;
    else if (!MARKS.has(character) && !/\p{Mn}/u.test(character)) sum -= COST_OF_STRANGER;
  }
  if (before?.isCapital === false && letters > 1 && neverLast.includes(before.lower)) sum -= COST_OF_PLACE / 2;
  if (isMixed && letters > 0) sum -= COST_OF_MIXED_WORD;
  if (letters > 1 && capitals === letters) sum -= capitals * COST_OF_CAPITALS;
  return { letters, sum };
}
