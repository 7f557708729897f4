import {
  emailMarks,
  foldedTexts,
  MAX_DIFFERENT_WORDS,
  MAX_WORDS,
  PLACE_COUNT,
  PLACES,
  type WordSource,
} from '../email-terms.ts';
import { isAscii, MAX_WORD_LENGTH, wordsOfFolded } from '../search-words.ts';
import { compareDocuments, type SegmentDocument } from './documents.ts';
import { MAX_FREQUENCY, type Postings } from './postings.ts';
import { type EncodedSegment, encodeSegment, type WordEntry } from './segment.ts';
import { addToHash, EMPTY_HASH, UNKNOWN, WordTable } from './word-table.ts';

/** An email to put into a segment. */
export interface SegmentEmail {
  id: string;
  /** created at; milliseconds since 1970 */
  at: number;
  source: WordSource;
}

/** Emails that are read between two pauses. */
const EMAILS_AT_ONCE = 16;
const FIRST_CAPACITY = 4_096;
const NO_POSTING = -1;
const BODY = Math.log2(PLACES.body);
const [LETTER_A, LETTER_Z, DIGIT_0, DIGIT_9] = [0x61, 0x7a, 0x30, 0x39] as const;

interface AddedDocument extends SegmentDocument {
  /** its postings are [firstPosting, endPosting) */
  firstPosting: number;
  endPosting: number;
}

interface SortedPostings {
  /** by slot: where its postings end; they begin where those of the slot before end */
  ends: Int32Array;
  documents: Int32Array;
  frequencies: Uint8Array;
}

/**
 * Makes a segment of emails, which are added in any order. Of an email it keeps numbers only, in few large arrays, and it reads words without
 * making a string of each: the words of a thousand emails would cost the garbage collector more than building does.
 *
 * A word in a place is a *slot*. Each email adds a posting to the slot of each of its words, which are those of `emailTerms`.
 */
export class SegmentBuilder {
  readonly #documents: AddedDocument[] = [];
  readonly #table = new WordTable();
  #wordCount = 0;
  /** of the email that is being added: the words that it may still have, the different ones among them, and its first posting */
  #wordsLeft = 0;
  #differentLeft = 0;
  #firstPosting = 0;
  /** by slot: its last posting */
  #lastPosting = new Int32Array(FIRST_CAPACITY).fill(NO_POSTING);
  #postingCount = 0;
  /** by posting, in the order of the emails */
  #slots = new Int32Array(FIRST_CAPACITY);
  #frequencies = new Uint8Array(FIRST_CAPACITY);

  get size(): number {
    return this.#documents.length;
  }

  /** Words of all emails that were added. */
  get wordCount(): number {
    return this.#wordCount;
  }

  /** Adds emails in steps, so that the caller can do other work in between. Ends early once they have that many words. */
  *addAll(emails: readonly SegmentEmail[], maxWords = Number.POSITIVE_INFINITY): Generator<void, void> {
    for (const [at, email] of emails.entries()) {
      if (this.#wordCount >= maxWords) return;
      if (at % EMAILS_AT_ONCE === EMAILS_AT_ONCE - 1) yield;
      this.#add(email);
    }
  }

  /** Makes the segment, in steps (encodeSegment). */
  *finish(): Generator<void, EncodedSegment> {
    const documents = this.#documents.toSorted(compareDocuments);
    return yield* encodeSegment(documents, this.#listWords(documents));
  }

  #add({ id, at, source }: SegmentEmail): void {
    this.#firstPosting = this.#postingCount;
    this.#wordsLeft = MAX_WORDS;
    this.#differentLeft = MAX_DIFFERENT_WORDS;
    for (const [place, text] of foldedTexts(source)) {
      const bit = Math.log2(place);
      if (isAscii(text)) this.#addAsciiText(text, bit);
      else this.#addText(text, bit);
    }
    const length = MAX_WORDS - this.#wordsLeft;
    this.#wordCount += length;
    for (const mark of emailMarks(source)) {
      const hash = hashWord(mark);
      const number = this.#table.find(mark, 0, mark.length, hash);
      this.#addPosting(number === UNKNOWN ? this.#addNumber(mark, 0, mark.length, hash) : number, BODY);
    }
    this.#documents.push({ id, at, length, firstPosting: this.#firstPosting, endPosting: this.#postingCount });
  }

  /** Adds the words of a folded text as wordsOfFolded finds them. */
  #addAsciiText(text: string, place: number): void {
    const { length } = text;
    let hash = EMPTY_HASH;
    let start = 0;
    for (let at = 0; at <= length; at++) {
      const unit = at === length ? 0 : text.charCodeAt(at);
      if ((unit >= LETTER_A && unit <= LETTER_Z) || (unit >= DIGIT_0 && unit <= DIGIT_9)) {
        if (at - start < MAX_WORD_LENGTH) hash = addToHash(hash, unit);
      } else {
        if (at > start) {
          if (this.#wordsLeft === 0) return;
          this.#wordsLeft--;
          this.#addWord(text, start, Math.min(at, start + MAX_WORD_LENGTH), hash, place);
          hash = EMPTY_HASH;
        }
        start = at + 1;
      }
    }
  }

  #addText(text: string, place: number): void {
    for (const word of wordsOfFolded(text)) {
      if (this.#wordsLeft === 0) return;
      this.#wordsLeft--;
      this.#addWord(word, 0, word.length, hashWord(word), place);
    }
  }

  /** Adds the word text[start, end), unless the email has too many different ones. */
  #addWord(text: string, start: number, end: number, hash: number, place: number): void {
    let number = this.#table.find(text, start, end, hash);
    if (number === UNKNOWN || !this.#isInEmail(number)) {
      if (this.#differentLeft === 0) return;
      this.#differentLeft--;
      if (number === UNKNOWN) number = this.#addNumber(text, start, end, hash);
    }
    this.#addPosting(number, place);
  }

  #isInEmail(number: number): boolean {
    const first = number * PLACE_COUNT;
    for (let slot = first; slot < first + PLACE_COUNT; slot++)
      if ((this.#lastPosting[slot] ?? NO_POSTING) >= this.#firstPosting) return true;
    return false;
  }

  #addNumber(text: string, start: number, end: number, hash: number): number {
    const number = this.#table.add(text, start, end, hash);
    if ((number + 1) * PLACE_COUNT > this.#lastPosting.length)
      this.#lastPosting = doubled(this.#lastPosting, NO_POSTING);
    return number;
  }

  #addPosting(number: number, place: number): void {
    const slot = number * PLACE_COUNT + place;
    const last = this.#lastPosting[slot] ?? NO_POSTING;
    if (last >= this.#firstPosting) {
      // The email has the word there already.
      const frequency = this.#frequencies[last] ?? 0;
      if (frequency < MAX_FREQUENCY) this.#frequencies[last] = frequency + 1;
      return;
    }
    const posting = this.#postingCount++;
    if (posting === this.#slots.length) {
      this.#slots = doubled(this.#slots, 0);
      const frequencies = new Uint8Array(this.#slots.length);
      frequencies.set(this.#frequencies);
      this.#frequencies = frequencies;
    }
    this.#slots[posting] = slot;
    this.#frequencies[posting] = 1;
    this.#lastPosting[slot] = posting;
  }

  /** Returns the words in order, by UTF-16 units as strings are compared, with their postings. */
  *#listWords(documents: readonly AddedDocument[]): Generator<WordEntry> {
    const sorted = this.#sortPostings(documents);
    const { words } = this.#table;
    const numbers = [...words.keys()].sort((one, other) => compareWords(words[one] ?? '', words[other] ?? ''));
    const { ends, documents: sortedDocuments, frequencies } = sorted;
    const lists = Array.from({ length: PLACE_COUNT }, () => ({
      documents: sortedDocuments,
      frequencies,
      start: 0,
      end: 0,
    }));
    const entry = { word: '', postings: lists.map((list): Postings | null => list) };
    for (const number of numbers) {
      entry.word = words[number] ?? '';
      for (let place = 0; place < PLACE_COUNT; place++) {
        const list = lists[place];
        if (list === undefined) continue;
        list.start = ends[number * PLACE_COUNT + place] ?? 0;
        list.end = ends[number * PLACE_COUNT + place + 1] ?? 0;
        entry.postings[place] = list.start === list.end ? null : list;
      }
      yield entry;
    }
  }

  /** Sorts the postings by slot, counting, and within a slot by document. No generator does this: V8 does not optimize its loops while they run. */
  #sortPostings(documents: readonly AddedDocument[]): SortedPostings {
    const slotCount = this.#table.size * PLACE_COUNT;
    const slots = this.#slots;
    const added = this.#frequencies;
    const ends = new Int32Array(slotCount + 1);
    for (let posting = 0; posting < this.#postingCount; posting++) {
      const next = (slots[posting] ?? 0) + 1;
      ends[next] = (ends[next] ?? 0) + 1;
    }
    for (let slot = 0; slot < slotCount; slot++) ends[slot + 1] = (ends[slot + 1] ?? 0) + (ends[slot] ?? 0);
    const next = ends.slice();
    const numbers = new Int32Array(this.#postingCount);
    const frequencies = new Uint8Array(this.#postingCount);
    for (const [number, { firstPosting, endPosting }] of documents.entries())
      for (let posting = firstPosting; posting < endPosting; posting++) {
        const slot = slots[posting] ?? 0;
        const at = next[slot] ?? 0;
        next[slot] = at + 1;
        numbers[at] = number;
        frequencies[at] = added[posting] ?? 0;
      }
    return { ends, documents: numbers, frequencies };
  }
}

function hashWord(word: string): number {
  let hash = EMPTY_HASH;
  for (let at = 0; at < word.length; at++) hash = addToHash(hash, word.charCodeAt(at));
  return hash;
}

function compareWords(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

function doubled(array: Int32Array<ArrayBuffer>, filled: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(2 * array.length).fill(filled, array.length);
  larger.set(array);
  return larger;
}
