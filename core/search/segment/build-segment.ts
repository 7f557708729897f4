import { type EmailTerms, PLACE_COUNT, PLACES } from '../email-terms.ts';
import { compareDocuments, type SegmentDocument } from './documents.ts';
import { MAX_FREQUENCY, type Postings } from './postings.ts';
import { type EncodedSegment, encodeSegment, type WordEntry } from './segment.ts';

/** An email to put into a segment. */
export interface TermsOfEmail {
  id: string;
  at: number;
  terms: EmailTerms;
}

/** Emails that are read between two pauses. */
const EMAILS_AT_ONCE = 16;
const FIRST_CAPACITY = 4_096;
const NO_POSTING = -1;
const BODY = Math.log2(PLACES.body);

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
 * Makes a segment of emails, which are added in any order. Of an email it keeps numbers only, in few large arrays: the words of a thousand
 * emails, each a string, would cost the garbage collector more than building does.
 *
 * A word in a place is a *slot*. Each email adds a posting to the slot of each of its words.
 */
export class SegmentBuilder {
  readonly #documents: AddedDocument[] = [];
  /** numbers of words */
  readonly #words = new Map<string, number>();
  /** by slot: its last posting */
  #lastPosting = new Int32Array(FIRST_CAPACITY).fill(NO_POSTING);
  #postingCount = 0;
  /** by posting, in the order of the emails */
  #slots = new Int32Array(FIRST_CAPACITY);
  #frequencies = new Uint8Array(FIRST_CAPACITY);

  get size(): number {
    return this.#documents.length;
  }

  /** Adds emails in steps, so that the caller can do other work in between. */
  *addAll(emails: readonly TermsOfEmail[]): Generator<void, void> {
    for (const [at, email] of emails.entries()) {
      if (at % EMAILS_AT_ONCE === EMAILS_AT_ONCE - 1) yield;
      this.#add(email);
    }
  }

  /** Makes the segment, in steps (encodeSegment). */
  *finish(): Generator<void, EncodedSegment> {
    const documents = this.#documents.toSorted(compareDocuments);
    return yield* encodeSegment(documents, this.#listWords(documents));
  }

  #add({ id, at, terms }: TermsOfEmail): void {
    const firstPosting = this.#postingCount;
    let length = 0;
    for (const { place, words } of terms.texts) {
      length += words.length;
      const bit = Math.log2(place);
      for (const word of words) if (word !== '') this.#addWord(word, bit, firstPosting);
    }
    for (const mark of terms.marks) this.#addWord(mark, BODY, firstPosting);
    this.#documents.push({ id, at, length, firstPosting, endPosting: this.#postingCount });
  }

  #addWord(word: string, place: number, firstPosting: number): void {
    let number = this.#words.get(word);
    if (number === undefined) {
      number = this.#words.size;
      this.#words.set(word, number);
      if ((number + 1) * PLACE_COUNT > this.#lastPosting.length)
        this.#lastPosting = doubled(this.#lastPosting, NO_POSTING);
    }
    const slot = number * PLACE_COUNT + place;
    const last = this.#lastPosting[slot] ?? NO_POSTING;
    if (last >= firstPosting) {
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
    for (const word of [...this.#words.keys()].sort()) yield { word, postings: this.#postingsOf(word, sorted) };
  }

  #postingsOf(word: string, { ends, documents, frequencies }: SortedPostings): (Postings | null)[] {
    const first = (this.#words.get(word) ?? 0) * PLACE_COUNT;
    const postings: (Postings | null)[] = [];
    for (let slot = first; slot < first + PLACE_COUNT; slot++) {
      const start = ends[slot] ?? 0;
      const end = ends[slot + 1] ?? 0;
      postings.push(start === end ? null : { documents, frequencies, start, end });
    }
    return postings;
  }

  /** Sorts the postings by slot, counting, and within a slot by document. No generator does this: V8 does not optimize its loops while they run. */
  #sortPostings(documents: readonly AddedDocument[]): SortedPostings {
    const slotCount = this.#words.size * PLACE_COUNT;
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

function doubled(array: Int32Array<ArrayBuffer>, filled: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(2 * array.length).fill(filled, array.length);
  larger.set(array);
  return larger;
}
