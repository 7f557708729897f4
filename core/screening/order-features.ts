import { foldText } from './folded-text.ts';
import { ORDER_WORDS } from './order-lexicon.ts';

export type OrderGroup = keyof typeof ORDER_WORDS;
export const ORDER_GROUPS = Object.keys(ORDER_WORDS) as OrderGroup[];
const GROUPS = ORDER_GROUPS.length;

/** How clearly a text speaks of a machine: a program by name, somebody who may be one, or nobody. */
export const MACHINE_LEVELS = ['named', 'possible', 'none'] as const;

/** Kinds of features of one group, and of two groups. */
export const FEATURE_KINDS = ['has', 'first', 'clause', 'called', 'near', 'next'] as const;
const [HAS, FIRST, CLAUSE, CALLED, NEAR, NEXT] = [0, 1, 2, 3, 4, 5];
/** What is in a text besides words. */
export const TEXT_FLAGS = ['address', 'link', 'question', 'mark', 'quotation'] as const;
export const GROUP_FEATURES = FEATURE_KINDS.length * GROUPS * GROUPS;
/** Number of features that are no words. */
export const FEATURE_COUNT = GROUP_FEATURES + TEXT_FLAGS.length;

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

/** Scripts that write words together, and whose words are found within others. */
const JOINED = /[\u0590-\u06ff\u0900-\u097f\u0e00-\u0e7f\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff]/;
const FIRST_JOINED = 0x590;
/** Characters of a joined script that count as a word. */
const PIECE_LENGTH = 2;
const STEM_KEY = 3;

const EXACT = new Map<string, Set<number>>();
const STEMS = new Map<string, [stem: string, group: number][]>();
const PIECES = new Map<string, Set<number>>();

ORDER_GROUPS.forEach((name, group) => {
  for (const word of foldText(ORDER_WORDS[name]).split(/\s+/)) {
    const plain = word.replace('*', '');
    if (plain === '') continue;
    if (JOINED.test(plain)) add(PIECES, plain, group);
    else if (!word.endsWith('*')) add(EXACT, plain, group);
    else {
      const key = plain.slice(0, STEM_KEY);
      STEMS.set(key, [...(STEMS.get(key) ?? []), [plain, group]]);
    }
  }
});

function add(words: Map<string, Set<number>>, word: string, group: number): void {
  words.set(word, (words.get(word) ?? new Set()).add(group));
}

const PIECE = new RegExp([...PIECES.keys()].toSorted((one, other) => other.length - one.length).join('|'), 'g');
const NO_GROUPS: readonly number[] = [];

/** Groups of words that were looked up; it is emptied when it is full. */
const KNOWN = new Map<string, readonly number[]>();
const MAX_KNOWN = 20_000;
const MAX_WORD = 40;

function readGroups(word: string): readonly number[] {
  const known = KNOWN.get(word);
  if (known !== undefined) return known;
  const groups = new Set(EXACT.get(word));
  for (const [stem, group] of STEMS.get(word.slice(0, STEM_KEY)) ?? []) if (word.startsWith(stem)) groups.add(group);
  const found = groups.size === 0 ? NO_GROUPS : [...groups];
  if (KNOWN.size >= MAX_KNOWN) KNOWN.clear();
  if (word.length <= MAX_WORD) KNOWN.set(word, found);
  return found;
}

/** A word of a sentence, or a part of one in a joined script. */
interface OrderWord {
  text: string;
  /** words before it */
  at: number;
  /** entries before it in a list of all words: two that follow each other are a pair */
  index: number;
  groups: readonly number[];
  /** whether a clause begins with it */
  opensClause: boolean;
  /** whether a colon or a comma follows */
  isCalled: boolean;
}

/** A sentence as the model reads it. */
export interface OrderSentence {
  start: number;
  end: number;
  /** those that the filter let pass */
  words: OrderWord[];
  /** number of all words */
  count: number;
  /** `at` of the last word */
  lastAt: number;
  /** the text that it is a part of */
  folded: string;
}

/** What words may be known, by their hashes: a word of mail that no model knows costs nothing but reading it. */
export class WordFilter {
  readonly #words = new Uint8Array(HASHES);
  /** their first letters, up to FILTERED_STEM */
  readonly #stems = new Uint8Array(HASHES);

  constructor(vocabulary: Iterable<string>) {
    for (const words of [vocabulary, EXACT.keys()]) for (const word of words) this.#words[hashText(word)] = 1;
    for (const stems of STEMS.values())
      for (const [stem] of stems) this.#stems[hashText(stem.slice(0, FILTERED_STEM))] = 1;
  }

  /** Whether a word may be known, by the hashes of its first three, four and five letters and of all. */
  mayKnow(three: number, four: number, five: number, whole: number): boolean {
    const stems = this.#stems;
    return this.#words[whole] === 1 || stems[five] === 1 || stems[four] === 1 || stems[three] === 1;
  }
}

const FILTERED_STEM = 5;
const HASHES = 65_536;

function nextHash(hash: number, code: number): number {
  return (hash * 31 + code) & (HASHES - 1);
}

function hashText(text: string): number {
  let hash = 0;
  for (let at = 0; at < text.length; at++) hash = nextHash(hash, text.charCodeAt(at));
  return hash;
}

const LETTER = 1;
const STOP = 2;
const WIDE_STOP = 4;
const BREAK = 8;
const CALL = 16;
const KINDS = new Uint8Array(65_536);
for (let code = 0; code < KINDS.length; code++) {
  const isLetter = code >= 0xd800 && code < 0xe000 ? true : /[\p{L}\p{M}\p{N}_]/u.test(String.fromCharCode(code));
  if (isLetter) KINDS[code] = LETTER;
}
for (const [kind, characters] of [
  [STOP, '.!?\u061f\u0964'],
  [WIDE_STOP, '\u3002\uff01\uff1f'],
  [BREAK, ',:;.!?\u2013\u2014-()[]"{}<>/*#\uff0c\uff1a\uff1b\u3001\u3002\uff08\uff09\u300c\u300d\u060c'],
  [CALL, ':,!\uff1a\uff0c'],
] as const)
  for (const character of characters) {
    const code = character.charCodeAt(0);
    KINDS[code] = (KINDS[code] ?? 0) | kind;
  }

const LINE_FEED = 10;
const SPACE = 32;
const APOSTROPHE = 39;

/** Returns the sentences of folded text with their words, or those that the filter lets pass. One pass, linear. */
export function readOrderSentences(folded: string, filter: WordFilter | null = null): OrderSentence[] {
  const sentences: OrderSentence[] = [];
  const { length } = folded;
  let words: OrderWord[] = [];
  let start = 0;
  let at = 0;
  let lastAt = 0;
  let count = 0;
  let lineStart = 0;
  let opensClause = true;
  const finish = (end: number) => {
    if (count > 0) sentences.push({ start, end, words, count, lastAt, folded });
    if (words.length > 0) words = [];
    start = end;
    at = 0;
    lastAt = 0;
    count = 0;
    opensClause = true;
  };
  for (let index = 0; index < length; ) {
    const code = folded.charCodeAt(index);
    const kind = KINDS[code] ?? 0;
    if ((kind & LETTER) !== 0) {
      const from = index;
      let codes = 0;
      let hash = 0;
      let [three, four, five] = [0, 0, 0];
      while (index < length && isWordAt(folded, index)) {
        const letter = folded.charCodeAt(index++);
        codes |= letter;
        hash = nextHash(hash, letter);
        if (index - from === 3) three = hash;
        else if (index - from === 4) four = hash;
        else if (index - from === FILTERED_STEM) five = hash;
      }
      if (at >= MAX_WORDS) finish(from);
      if (codes < FIRST_JOINED && filter !== null && !filter.mayKnow(three, four, five, hash)) {
        lastAt = at++;
        count++;
      } else {
        const after = KINDS[folded.charCodeAt(index)] ?? 0;
        const before = words.length;
        const isCalled = (after & CALL) !== 0;
        at = addWord(words, folded.slice(from, index), { at, index: count, opensClause, isCalled }, codes);
        lastAt = words.at(-1)?.at ?? lastAt;
        count += words.length - before;
      }
      opensClause = false;
      continue;
    }
    if ((kind & BREAK) !== 0) opensClause = true;
    index++;
    if ((kind & WIDE_STOP) !== 0) finish(index);
    else if ((kind & STOP) !== 0 && (index === length || folded.charCodeAt(index) <= SPACE)) finish(index);
    else if (code === LINE_FEED) {
      const isWrapped = index - lineStart > MIN_WRAPPED && folded.charCodeAt(index) > SPACE;
      if (!isWrapped) finish(index);
      lineStart = index;
    }
  }
  finish(length);
  return sentences;
}

function isWordAt(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return (
    ((KINDS[code] ?? 0) & LETTER) !== 0 ||
    (code === APOSTROPHE && ((KINDS[text.charCodeAt(index + 1)] ?? 0) & LETTER) !== 0)
  );
}

/** Adds a word, or the pieces of a run of joined script; returns the number of words so far. */
function addWord(
  words: OrderWord[],
  text: string,
  { at, index, opensClause, isCalled }: Pick<OrderWord, 'at' | 'index' | 'opensClause' | 'isCalled'>,
  codes: number,
): number {
  if (codes < FIRST_JOINED || !JOINED.test(text)) {
    words.push({ text, at, index, groups: readGroups(text), opensClause, isCalled });
    return at + 1;
  }
  let pieces = 0;
  for (const { 0: piece, index: start } of text.matchAll(PIECE))
    words.push({
      text: piece,
      at: at + Math.floor(start / PIECE_LENGTH),
      index: index + pieces++,
      groups: [...(PIECES.get(piece) ?? NO_GROUPS)],
      opensClause: opensClause && start === 0,
      isCalled: isCalled && start + piece.length >= text.length - 1,
    });
  return at + Math.ceil(text.length / PIECE_LENGTH);
}

const MARK = /[<[{]|###|\w_\w{1,40}\(/;

function readFlags({ folded, start, end }: OrderSentence): number {
  const text = folded.slice(start, end);
  const hasAddress = text.includes('@') && /[^\s@<>"]{1,64}@[a-z0-9-]{1,63}\.[a-z]/.test(text);
  return (
    (hasAddress ? 1 : 0) |
    (text.includes('://') ? 2 : 0) |
    (text.includes('?') ? 4 : 0) |
    (MARK.test(text) ? 8 : 0) |
    (text.includes('"') ? 16 : 0)
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
const RESULT: OrderFeatures = { features: FOUND, count: 0, level: 0 };

/** Returns the features of one sentence, or of two that follow each other. */
export function readFeatures(one: OrderSentence, other: OrderSentence | null): OrderFeatures {
  reading = (reading + 1) | 0;
  RESULT.count = 0;
  addSentence(one, other?.words ?? NO_WORDS);
  const flags = readFlags(one) | (other === null ? 0 : readFlags(other));
  TEXT_FLAGS.forEach((_name, flag) => {
    if ((flags & (1 << flag)) !== 0) see(GROUP_FEATURES + flag);
  });
  RESULT.level = readLevel();
  return RESULT;
}

const NO_WORDS: readonly OrderWord[] = [];

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
      see(featureAt(HAS, group, 0));
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

/** Returns the words of some sentences and their pairs, as the model names them. */
export function readWordFeatures(one: OrderSentence, other: OrderSentence | null): Set<string> {
  const found = new Set<string>();
  let last = '';
  for (const words of [one.words, other?.words ?? NO_WORDS])
    for (const { text } of words) {
      found.add(text);
      if (last !== '') found.add(`${last} ${text}`);
      last = text;
    }
  return found;
}
