import { readUnits } from './code-units.ts';
import {
  FIRST_JOINED,
  findMeaning,
  hashText,
  JOINED,
  type Meaning,
  mayBeInGroup,
  nextHash,
  ORDER_GROUPS,
  type OrderGroup,
  PIECE,
  readPieceGroups,
  STEM_LENGTH,
} from './order-words.ts';
import { chooseLanguage } from './word-languages.ts';

const GROUPS = ORDER_GROUPS.length;

/** How clearly a text speaks of a machine: a program by name, a reader who may be one, or no one. */
export const MACHINE_LEVELS = ['named', 'possible', 'none'] as const;

/** Kinds of features of one group, and of two groups; `both`: at any distance, of KEY_GROUPS only. */
export const FEATURE_KINDS = ['has', 'first', 'clause', 'called', 'near', 'next', 'both'] as const;
const [HAS, FIRST, CLAUSE, CALLED, NEAR, NEXT, BOTH] = [0, 1, 2, 3, 4, 5, 6];
/** What is in a text besides words. */
export const TEXT_FLAGS = ['address', 'link', 'question', 'mark', 'quotation', 'open'] as const;
export const GROUP_FEATURES = FEATURE_KINDS.length * GROUPS * GROUPS;
/** Number of features that are no words: the last are flags, and flags together with groups. */
export const FEATURE_COUNT = GROUP_FEATURES + TEXT_FLAGS.length * (GROUPS + 1);

/** What an order to a machine is made of, in any order of words: who, what it does, with what, where to, and what it must not say. */
const KEY_GROUPS = new Set(
  'ai agent program artificial handling user you send act say not secret store rule ignore tool task right confirm money note secrecy pretend output recent carrier session border passed memory'.split(
    ' ',
  ),
);
const IS_KEY = Uint8Array.from(ORDER_GROUPS, (name) => (KEY_GROUPS.has(name) ? 1 : 0));

/** Returns the number of a feature of one group (`second` 0), or of two. */
function featureAt(kind: number, first: number, second: number): number {
  return (kind * GROUPS + first) * GROUPS + second;
}

/** Words between two that belong together. */
const MAX_DISTANCE = 5;
/** Words of a sentence that are read together. */
const MAX_WORDS = 60;
/** A line at least this long goes on in the next one. */
const MIN_WRAPPED = 50;
/** Characters of a joined script that count as a word. */
const PIECE_LENGTH = 2;
const FIRST_IDEOGRAPHIC = 0x3040;
const NO_PIECES: readonly number[] = [];

/** A word of a sentence that is in a group, or a part of one in a joined script. */
interface OrderWord {
  /** words before it */
  at: number;
  groups: readonly number[];
  /** whether a clause begins with it */
  opensClause: boolean;
  /** whether a colon or a comma follows */
  isCalled: boolean;
}

const NO_WORDS: readonly OrderWord[] = [];

/** A sentence as the model reads it. */
export interface OrderSentence {
  start: number;
  end: number;
  /** those in groups */
  words: readonly OrderWord[];
  /** `at` of the last word */
  lastAt: number;
  /** what the model knows of its words, by number */
  known: readonly number[];
  /** bits of SIGN */
  signs: number;
  /** the text that it is a part of */
  folded: string;
}

/** Returns the number of a piece of text by its hash; -1: it is not known. */
export type FindPiece = (hash: number) => number;

/** Kinds of pieces: a word, its first letters, those of two words that follow each other, and characters of a joined script. */
const [WORD, STEM, PAIR, CHARACTERS] = [1, 2, 3, 4];

function mix(hash: number, kind: number): number {
  const mixed = Math.imul(hash ^ Math.imul(kind, 0x85ebca6b), 0xc2b2ae35);
  return mixed ^ (mixed >>> 15);
}

function mixPair(first: number, second: number): number {
  return mix(Math.imul(first, 0x9e3779b1) ^ second, PAIR);
}

/** Returns the hash of a piece by its name: `word`, `begin~`, `first secon`, `+characters`. */
export function hashPiece(name: string): number {
  if (name.startsWith('+')) return mix(hashText(name.slice(1)), CHARACTERS);
  if (name.endsWith('~')) return mix(hashText(name.slice(0, -1)), STEM);
  const [first = '', second] = name.split(' ');
  return second === undefined ? mix(hashText(first), WORD) : mixPair(hashText(first), hashText(second));
}

/** Han and kana, of which two characters say as much as four of other scripts. */
function countTogether(code: number): number {
  return code >= FIRST_IDEOGRAPHIC ? 2 : 4;
}

const LETTER = 1;
const STOP = 2;
const WIDE_STOP = 4;
const BREAK = 8;
const CALL = 16;
const SIGNIFICANT = 32;
const KINDS = new Uint8Array(65_536);
for (let code = 0; code < KINDS.length; code++) {
  const isLetter = code >= 0xd800 && code < 0xe000 ? true : /[\p{L}\p{M}\p{N}]/u.test(String.fromCharCode(code));
  if (isLetter) KINDS[code] = LETTER;
}
for (const [kind, characters] of [
  [STOP, '.!?\u061f\u0964'],
  [WIDE_STOP, '\u3002\uff01\uff1f'],
  [BREAK, ',:;.!?\u2013\u2014-()[]"{}<>/*#\uff0c\uff1a\uff1b\u3001\u3002\uff08\uff09\u300c\u300d\u060c'],
  [CALL, ':,!\uff1a\uff0c'],
  [SIGNIFICANT, '@/?<[{#("'],
] as const)
  for (const character of characters) {
    const code = character.charCodeAt(0);
    KINDS[code] = (KINDS[code] ?? 0) | kind;
  }

/** Characters of a sentence that tell which flags it may have. */
const SIGN = { at: 1, slash: 2, question: 4, bracket: 8, hash: 16, call: 32, quotation: 64 } as const;
const SIGNS = new Uint8Array(128);
for (const [sign, characters] of [
  [SIGN.at, '@'],
  [SIGN.slash, '/'],
  [SIGN.question, '?'],
  [SIGN.bracket, '<[{'],
  [SIGN.hash, '#'],
  [SIGN.call, '('],
  [SIGN.quotation, '"'],
] as const)
  for (const character of characters) SIGNS[character.charCodeAt(0)] = sign;

const LINE_FEED = 10;
const SPACE = 32;
const APOSTROPHE = 39;

/** Returns the sentences of folded text with their words and the pieces that `find` knows. One pass, linear. */
export function readOrderSentences(folded: string, find: FindPiece): OrderSentence[] {
  const sentences: OrderSentence[] = [];
  const { length } = folded;
  const units = readUnits(folded);
  // No function captures these: V8 would keep them in memory instead of registers.
  let words: OrderWord[] = [];
  let known: number[] = [];
  let votes: number[] = [];
  let doubtful: Doubtful[] = [];
  let language = -1;
  let signs = 0;
  let start = 0;
  let at = 0;
  let lineStart = 0;
  let opensClause = true;
  /** the hash of the first letters of the word before; 0: none */
  let last = 0;
  /** whether the sentence ends before the next character */
  let isEnd = false;
  for (let index = 0; ; ) {
    if (isEnd || index >= length) {
      if (at > 0) {
        language = chooseLanguage(votes, language);
        if (doubtful.length > 0) words = readInLanguage(words, doubtful, language);
        const hasWords = words.length > 0;
        const hasKnown = known.length > 0;
        sentences.push({
          start,
          end: index,
          words: hasWords ? words : NO_WORDS,
          lastAt: at - 1,
          known: hasKnown ? known : NO_PIECES,
          signs,
          folded,
        });
        if (hasWords) words = [];
        if (hasKnown) known = [];
        if (votes.length > 0) votes = [];
        if (doubtful.length > 0) doubtful = [];
      }
      if (index >= length) return sentences;
      isEnd = false;
      signs = 0;
      start = index;
      at = 0;
      last = 0;
      opensClause = true;
    }
    const code = units[index] ?? 0;
    const kind = KINDS[code] ?? 0;
    if ((kind & LETTER) !== 0) {
      if (at >= MAX_WORDS) {
        isEnd = true;
        continue;
      }
      const from = index;
      let codes = 0;
      let hash = 0;
      let three = 0;
      let four = 0;
      let five = 0;
      let letter = code;
      // The text ends with a unit that is no letter.
      do {
        codes |= letter;
        hash = nextHash(hash, letter);
        letter = units[++index] ?? 0;
        const size = index - from;
        if (size === 3) three = hash;
        else if (size === 4) four = hash;
        else if (size === STEM_LENGTH) five = hash;
      } while (
        ((KINDS[letter] ?? 0) & LETTER) !== 0 ||
        (letter === APOSTROPHE && ((KINDS[units[index + 1] ?? 0] ?? 0) & LETTER) !== 0)
      );
      const isCalled = ((KINDS[letter] ?? 0) & CALL) !== 0;
      if (codes >= FIRST_JOINED && JOINED.test(folded.slice(from, index))) {
        at = addPieces(words, folded.slice(from, index), { at, opensClause, isCalled });
        for (let place = from; place < index; place++) {
          const end = place + countTogether(units[place] ?? 0);
          if (end > index) continue;
          let together = 0;
          for (let next = place; next < end; next++) together = nextHash(together, units[next] ?? 0);
          const piece = find(mix(together, CHARACTERS));
          if (piece !== -1) known.push(piece);
        }
        last = 0;
      } else {
        const isLong = index - from > STEM_LENGTH;
        const stem = isLong ? five : hash;
        const whole = find(mix(hash, WORD));
        if (whole !== -1) known.push(whole);
        const beginning = isLong ? find(mix(stem, STEM)) : -1;
        if (beginning !== -1) known.push(beginning);
        const pair = last === 0 ? -1 : find(mixPair(last, stem));
        if (pair !== -1) known.push(pair);
        last = stem;
        if (mayBeInGroup(three, four, five, hash)) {
          const { groups, byLanguage, languages } = findMeaning(folded, from, index, hash);
          if (languages !== 0) votes.push(languages);
          if (byLanguage !== null) doubtful.push({ place: words.length, byLanguage });
          if (groups.length > 0) words.push({ at, groups, opensClause, isCalled });
        }
        at++;
      }
      opensClause = false;
      continue;
    }
    index++;
    if (kind !== 0) {
      if ((kind & BREAK) !== 0) opensClause = true;
      if ((kind & SIGNIFICANT) !== 0) signs |= SIGNS[code] ?? 0;
      const isStop = (kind & STOP) !== 0 && (index === length || (units[index] ?? 0) <= SPACE);
      isEnd = isStop || (kind & WIDE_STOP) !== 0;
    } else if (code === LINE_FEED) {
      const isWrapped = index - lineStart > MIN_WRAPPED && (units[index] ?? 0) > SPACE;
      isEnd = !isWrapped;
      lineStart = index;
    }
  }
}

/** A word that means something else in some languages. */
interface Doubtful {
  /** among the words of its sentence */
  place: number;
  byLanguage: NonNullable<Meaning['byLanguage']>;
}

function readInLanguage(words: readonly OrderWord[], doubtful: readonly Doubtful[], language: number): OrderWord[] {
  const own = [...words];
  for (const { place, byLanguage } of doubtful) {
    const [word, groups] = [own[place], byLanguage[language]];
    if (word !== undefined && groups !== undefined) own[place] = { ...word, groups };
  }
  return own.filter(({ groups }) => groups.length > 0);
}

/** Adds the pieces in groups of a run of joined script; returns the number of words so far. */
function addPieces(
  words: OrderWord[],
  text: string,
  { at, opensClause, isCalled }: Pick<OrderWord, 'at' | 'opensClause' | 'isCalled'>,
): number {
  // Not matchAll: its copy of the large pattern costs more than most runs, which may be of one character.
  PIECE.lastIndex = 0;
  for (let found = PIECE.exec(text); found !== null; found = PIECE.exec(text)) {
    const { 0: piece, index: start } = found;
    words.push({
      at: at + Math.floor(start / PIECE_LENGTH),
      groups: readPieceGroups(piece),
      opensClause: opensClause && start === 0,
      isCalled: isCalled && start + piece.length >= text.length - 1,
    });
  }
  return at + Math.ceil(text.length / PIECE_LENGTH);
}

/** Returns the names of the pieces of folded text, for the training: those whose hashes readOrderSentences looks for. */
export function readPieceNames(folded: string): Set<string> {
  const names = new Set<string>();
  let last: string | null = null;
  for (const [word] of folded.matchAll(/(?:[\p{L}\p{M}\p{N}\u{10000}-\u{10ffff}]|'(?=[\p{L}\p{M}\p{N}]))+/gu)) {
    if (JOINED.test(word)) {
      for (let place = 0; place < word.length; place++) {
        const characters = word.slice(place, place + countTogether(word.charCodeAt(place)));
        if (characters.length === countTogether(word.charCodeAt(place))) names.add(`+${characters}`);
      }
      last = null;
      continue;
    }
    const stem = word.slice(0, STEM_LENGTH);
    names.add(word);
    if (word.length > STEM_LENGTH) names.add(`${stem}~`);
    if (last !== null) names.add(`${last} ${stem}`);
    last = stem;
  }
  return names;
}

const MARK = /[<[{]|###|\w_\w{1,40}\(/;
/** An address that ends that a reader must complete: `?c=`, `?u= plus`. */
const OPEN_END = /:\/\/[^\s"'<>]{3,200}=\)?(?=[\s"'<>.,;]|$)/;

function readFlags({ folded, start, end, signs }: OrderSentence): number {
  if (signs === 0) return 0;
  const text = folded.slice(start, end);
  const hasAddress = (signs & SIGN.at) !== 0 && /[^\s@<>"]{1,64}@[a-z0-9-]{1,63}\.[a-z]/.test(text);
  const hasMark = (signs & SIGN.bracket) !== 0 || ((signs & (SIGN.hash | SIGN.call)) !== 0 && MARK.test(text));
  const hasLink = (signs & SIGN.slash) !== 0 && text.includes('://');
  return (
    (hasAddress ? 1 : 0) |
    (hasLink ? 2 : 0) |
    ((signs & SIGN.question) === 0 ? 0 : 4) |
    (hasMark ? 8 : 0) |
    ((signs & SIGN.quotation) === 0 ? 0 : 16) |
    (hasLink && OPEN_END.test(text) ? 32 : 0)
  );
}

const groupNumber = (name: OrderGroup) => ORDER_GROUPS.indexOf(name);
const [AI, AGENT, PROGRAM, ARTIFICIAL] = [
  groupNumber('ai'),
  groupNumber('agent'),
  groupNumber('program'),
  groupNumber('artificial'),
];

/** Features that were seen in the text at hand: they hold its number. */
const SEEN = new Int32Array(FEATURE_COUNT);
let reading = 0;

/** The features of some sentences; it holds until the next text is read. */
export interface OrderFeatures {
  /** numbers of the features that are no words */
  features: Int32Array;
  count: number;
  /** number of MACHINE_LEVELS */
  level: number;
}

const MAX_FEATURES = 20_000;
const FOUND = new Int32Array(MAX_FEATURES);
/** The groups of the text at hand, each once. */
const PRESENT = new Uint8Array(GROUPS);
let presentCount = 0;
const RESULT: OrderFeatures = { features: FOUND, count: 0, level: 0 };

/** Returns the features of one sentence, or of two that follow each other. */
export function readFeatures(one: OrderSentence, other: OrderSentence | null): OrderFeatures {
  reading = (reading + 1) | 0;
  RESULT.count = 0;
  presentCount = 0;
  addSentence(one, other?.words ?? NO_WORDS);
  const flags = readFlags(one) | (other === null ? 0 : readFlags(other));
  for (let flag = 0; flags >> flag !== 0; flag++) if ((flags & (1 << flag)) !== 0) addFlag(flag);
  addBoth();
  RESULT.level = readLevel();
  return RESULT;
}

function addFlag(flag: number): void {
  see(GROUP_FEATURES + flag);
  const base = GROUP_FEATURES + TEXT_FLAGS.length + flag * GROUPS;
  for (let at = 0; at < presentCount; at++) see(base + (PRESENT[at] ?? 0));
}

function addBoth(): void {
  for (let at = 0; at < presentCount; at++) {
    const group = PRESENT[at] ?? 0;
    if (IS_KEY[group] === 0) continue;
    for (let next = at + 1; next < presentCount; next++) {
      const other = PRESENT[next] ?? 0;
      if (IS_KEY[other] === 1) see(group < other ? featureAt(BOTH, group, other) : featureAt(BOTH, other, group));
    }
  }
}

function see(feature: number): void {
  if (SEEN[feature] === reading || RESULT.count === MAX_FEATURES) return;
  SEEN[feature] = reading;
  FOUND[RESULT.count++] = feature;
}

function addSentence({ words: one, lastAt }: OrderSentence, other: readonly OrderWord[]): void {
  const split = one.length;
  const length = split + other.length;
  const offset = lastAt + 1;
  for (let index = 0; index < length; index++) {
    const word = index < split ? one[index] : other[index - split];
    if (word === undefined || word.groups.length === 0) continue;
    const at = word.at + (index < split ? 0 : offset);
    for (const group of word.groups) {
      const has = featureAt(HAS, group, 0);
      if (SEEN[has] !== reading) PRESENT[presentCount++] = group;
      see(has);
      if (word.at < 2) see(featureAt(FIRST, group, 0));
      if (word.opensClause) see(featureAt(CLAUSE, group, 0));
      if (word.isCalled) see(featureAt(CALLED, group, 0));
    }
    for (let next = index + 1; next < length; next++) {
      const later = next < split ? one[next] : other[next - split];
      if (later === undefined) break;
      const distance = later.at + (next < split ? 0 : offset) - at;
      if (distance > MAX_DISTANCE) break;
      for (const group of word.groups)
        for (const second of later.groups) {
          if (group === second) continue;
          see(featureAt(NEAR, group, second));
          if (distance <= 1) see(featureAt(NEXT, group, second));
        }
    }
  }
}

function readLevel(): number {
  const has = (kind: number, first: number, second: number) => SEEN[featureAt(kind, first, second)] === reading;
  if (
    has(HAS, AI, 0) ||
    has(NEXT, ARTIFICIAL, AGENT) ||
    has(NEXT, ARTIFICIAL, PROGRAM) ||
    has(NEXT, PROGRAM, AGENT) ||
    has(NEXT, AGENT, ARTIFICIAL) ||
    has(NEXT, PROGRAM, ARTIFICIAL)
  )
    return 0;
  return has(HAS, AGENT, 0) || has(HAS, PROGRAM, 0) ? 1 : 2;
}
