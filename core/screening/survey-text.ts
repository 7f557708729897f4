import { readUnits } from './code-units.ts';
import { addPieces, addToHash, hashWord, isLikely, readMeaning, STEM_KEY, type Token } from './tokens.ts';

/** A sentence of folded text with its words that mean something. */
export interface Sentence {
  text: string;
  start: number;
  end: number;
  tokens: readonly Token[];
  /** concepts of all tokens */
  mask: number;
  /** bits of SIGN */
  signs: number;
  /** whether it begins within quotation marks */
  isInQuotes: boolean;
}

/** What a place of a text has that is worth a closer look, as bits. */
export const SIGN = {
  /** a character of the marks around prompts, or `role:` */
  mark: 1,
  /** a digit or a mark in the place of a letter */
  likeLetter: 2,
  /** words of one letter, one behind another */
  spacedLetters: 4,
  /** a letter before or behind a digit, as in the number of an account */
  number: 8,
  /** a word that may hold several */
  longWord: 16,
} as const;

/** As plain constants: an access to a property in a branch that is seldom taken keeps V8 from optimizing the loop. */
const { mark, likeLetter, spacedLetters, number, longWord } = SIGN;

const LETTER = 1;
const DIGIT = 2;
const LIKE_LETTER = 4;
const MARK = 8;
const END = 16;
const QUOTE = 32;
const CLOSING = 64;
const INDENT = 128;
const COLON = 256;
const LINE_FEED = 512;

/** Kinds of each UTF-16 code unit: most of them are letters. */
const KINDS = new Uint16Array(65_536).fill(LETTER);
KINDS.fill(0, 0, 0xaa);
KINDS.fill(LETTER, 97, 123);
KINDS.fill(0, 0x2000, 0x2070);
for (const code of [0xab, 0xbb, 0xbf, 0x61f, 0x964, 0x3002]) KINDS[code] = 0;
for (const [kind, characters] of [
  [DIGIT, '0123456789'],
  [LIKE_LETTER, '013457@$!'],
  [MARK, '<[#_'],
  [END, '.!?\u061f\u0964\u3002'],
  [QUOTE, '"`'],
  [CLOSING, '.!?"\')]'],
  [INDENT, ' \t\r>'],
  [COLON, ':'],
  [LINE_FEED, '\n'],
] as const)
  for (const character of characters) KINDS[character.charCodeAt(0)] = kind | (KINDS[character.charCodeAt(0)] ?? 0);

const FIRST_JOINED = 0x590;
const IDEOGRAPHIC_STOP = 0x3002;
const SPACE = 0x20;
const ROLE = hashWord('role');
const MAX_WORD = 40;
const LONG_WORD = 17;
/** Words of one letter behind each other that may be one word with spaces, and the characters between two of them. */
const MIN_SINGLES = 3;
const MAX_GAP = 3;

/**
 * Returns the sentences of folded text and what is in them. A sentence ends behind a mark before white space, behind a mark of East Asia, or at
 * a blank line. One pass, linear.
 */
export function surveyText(folded: string): Survey {
  const { length } = folded;
  const units = readUnits(folded);
  const tokens: Token[] = [];
  const sentences: Extent[] = [];
  let at = 0;
  let allCodes = 0;
  let lastWord = 0;
  let singles = 0;
  let singleEnd = -1;
  let signs = 0;
  let quotes = 0;
  /** where the sentence ends, as soon as that is known */
  let due = -1;
  let marksEnd = 0;
  for (let index = 0; index < length; index++) {
    let code = units[index] ?? 0;
    let kind = KINDS[code] ?? 0;
    if ((kind & LETTER) !== 0) {
      const start = index;
      const before = start === 0 ? 0 : (KINDS[units[start - 1] ?? 0] ?? 0);
      const keyEnd = start + STEM_KEY;
      let hash = 0;
      let beginning = 0;
      // The text ends with a unit that is no letter.
      do {
        hash = addToHash(hash, code);
        allCodes |= code;
        code = units[++index] ?? 0;
        kind = KINDS[code] ?? 0;
      } while ((kind & LETTER) !== 0 && index < keyEnd);
      beginning = hash;
      while ((kind & LETTER) !== 0) {
        hash = addToHash(hash, code);
        allCodes |= code;
        code = units[++index] ?? 0;
        kind = KINDS[code] ?? 0;
      }
      at++;
      const size = index - start;
      if (size === 1) {
        singles = start - singleEnd <= MAX_GAP ? singles + 1 : 1;
        singleEnd = index;
        if (singles >= MIN_SINGLES) signs |= spacedLetters;
      } else if (size <= MAX_WORD && isLikely(hash, beginning)) {
        const mask = readMeaning(folded, start, index, hash);
        if (mask !== 0) tokens.push({ start, end: index, mask, at });
      }
      if (size >= LONG_WORD) signs |= longWord;
      if (((before | kind) & DIGIT) !== 0) signs |= number;
      if ((before & LIKE_LETTER) !== 0) signs |= likeLetter;
      lastWord = hash;
      if (index === length) break;
    }
    if (index === due) {
      sentences.push(extent(index, signs, quotes));
      signs = 0;
      quotes = 0;
    }
    if (kind === 0) continue;
    if ((kind & MARK) !== 0 || ((kind & COLON) !== 0 && lastWord === ROLE)) signs |= mark;
    if ((kind & QUOTE) !== 0) quotes++;
    if (code === IDEOGRAPHIC_STOP) {
      sentences.push(extent(index + 1, signs, quotes));
      signs = 0;
      quotes = 0;
    } else if ((kind & END) !== 0 && index >= marksEnd) {
      marksEnd = skip(units, index + 1, CLOSING);
      if ((units[marksEnd] ?? 0) <= SPACE) due = marksEnd;
    } else if ((kind & LINE_FEED) !== 0) {
      const next = skip(units, index + 1, INDENT);
      if (((KINDS[units[next] ?? 0] ?? 0) & LINE_FEED) !== 0) due = next;
    }
  }
  if (length === 0 || sentences.at(-1)?.end !== length) sentences.push(extent(length, signs, quotes));
  return new Survey(folded, allCodes >= FIRST_JOINED ? addPieces(folded, tokens) : tokens, sentences);
}

function extent(end: number, signs: number, quotes: number): Extent {
  return { end, signs, quotes, mask: 0, firstToken: 0, isInQuotes: false };
}

/** Returns where units of a kind end. */
function skip(units: Uint16Array, from: number, kind: number): number {
  let at = from;
  while (((KINDS[units[at] ?? 0] ?? 0) & kind) !== 0) at++;
  return at;
}

/** A sentence without its text. */
interface Extent {
  end: number;
  /** bits of SIGN */
  signs: number;
  /** quotation marks in it */
  quotes: number;
  mask: number;
  /** index of its first token, or of the one behind it */
  firstToken: number;
  isInQuotes: boolean;
}

/** The sentences of folded text and what is in them; a sentence has its own text only when it is read. */
export class Survey {
  readonly folded: string;
  readonly tokens: readonly Token[];
  readonly sentences: readonly Extent[];
  /** concepts of all tokens */
  readonly mask: number;
  /** bits of SIGN of the whole text */
  readonly signs: number;

  constructor(folded: string, tokens: readonly Token[], sentences: Extent[]) {
    let mask = 0;
    let signs = 0;
    let next = 0;
    let isInQuotes = false;
    for (const sentence of sentences) {
      sentence.firstToken = next;
      sentence.isInQuotes = isInQuotes;
      for (; (tokens[next]?.start ?? Infinity) < sentence.end; next++) sentence.mask |= tokens[next]?.mask ?? 0;
      mask |= sentence.mask;
      signs |= sentence.signs;
      // A paragraph ends a quotation that nothing closes.
      if (isInQuotes || sentence.quotes > 0)
        isInQuotes = !isParagraphEnd(folded, sentence.end) && (sentence.quotes % 2 === 1) !== isInQuotes;
    }
    this.folded = folded;
    this.tokens = tokens;
    this.sentences = sentences;
    this.mask = mask;
    this.signs = signs;
  }

  /** Returns where the sentences are and what is in them, without their texts. */
  extents(): { start: number; end: number; mask: number; signs: number }[] {
    return this.sentences.map(({ end, mask, signs }, at) => ({
      start: this.sentences[at - 1]?.end ?? 0,
      end,
      mask,
      signs,
    }));
  }

  /** Returns the same of the first sentences alone. */
  first(count: number): Survey {
    const end = this.sentences[count - 1]?.end ?? 0;
    const tokens = this.tokens.slice(0, this.sentences[count]?.firstToken);
    return new Survey(this.folded.slice(0, end), tokens, this.sentences.slice(0, count));
  }

  /** Returns some sentences from a place on. */
  read(from: number, to: number): Sentence[] {
    return this.sentences.slice(from, to).map(({ end, mask, signs, firstToken, isInQuotes }, index) => {
      const at = from + index;
      const start = at === 0 ? 0 : (this.sentences[at - 1]?.end ?? 0);
      const tokens = mask === 0 ? NONE : this.tokens.slice(firstToken, this.sentences[at + 1]?.firstToken);
      return { text: this.folded.slice(start, end), start, end, tokens, mask, signs, isInQuotes };
    });
  }
}

const NONE: readonly Token[] = [];

function isParagraphEnd(text: string, end: number): boolean {
  return text[end - 1] === '\n' || text[end] === '\n';
}

/** Returns whether a place in a sentence is within quotation marks. */
export function isQuoted({ text, isInQuotes }: Sentence, from: number, to: number): boolean {
  const before = text.slice(0, from).match(/["`]/g)?.length ?? 0;
  const isOpen = (before % 2 === 1) !== isInQuotes;
  return isOpen && (/["`]/.test(text.slice(to)) || before > 0 || isInQuotes);
}
