import { type EmailTerms, PLACE_COUNT, PLACES } from '../email-terms.ts';
import { compareDocuments, type SegmentDocument } from './documents.ts';
import { MAX_FREQUENCY } from './postings.ts';
import { type EncodedSegment, encodeSegment, type WordEntry } from './segment.ts';

/** An email to put into a segment. */
export interface TermsOfEmail {
  id: string;
  at: number;
  terms: EmailTerms;
}

interface GrowingPostings {
  documents: number[];
  frequencies: number[];
}

/** The postings of a word that is in no place yet. */
const NOWHERE: readonly null[] = Array.from({ length: PLACE_COUNT }, () => null);

/** Emails that are read between two pauses. */
const EMAILS_AT_ONCE = 16;

/** Makes a segment of emails, in steps (encodeSegment). */
export function* buildSegment(emails: readonly TermsOfEmail[]): Generator<void, EncodedSegment> {
  const sorted = emails.toSorted(compareDocuments);
  const words = new Map<string, (GrowingPostings | null)[]>();
  const documents: SegmentDocument[] = [];
  for (const [number, { id, at, terms }] of sorted.entries()) {
    if (number % EMAILS_AT_ONCE === EMAILS_AT_ONCE - 1) yield;
    let length = 0;
    for (const text of terms.texts) {
      length += text.words.length;
      const place = Math.log2(text.place);
      for (const word of text.words) if (word !== '') addWord(words, word, place, number);
    }
    for (const mark of terms.marks) addWord(words, mark, Math.log2(PLACES.body), number);
    documents.push({ id, at, length });
  }
  return yield* encodeSegment(documents, inOrder(words));
}

function addWord(words: Map<string, (GrowingPostings | null)[]>, word: string, place: number, number: number): void {
  let entry = words.get(word);
  if (entry === undefined) words.set(word, (entry = [...NOWHERE]));
  const postings = entry[place] ?? (entry[place] = { documents: [], frequencies: [] });
  const last = postings.documents.length - 1;
  if (postings.documents[last] === number)
    postings.frequencies[last] = Math.min(MAX_FREQUENCY, (postings.frequencies[last] ?? 0) + 1);
  else {
    postings.documents.push(number);
    postings.frequencies.push(1);
  }
}

function* inOrder(words: ReadonlyMap<string, WordEntry['postings']>): Generator<WordEntry> {
  // By UTF-16 units, as strings are compared.
  for (const word of [...words.keys()].sort()) yield { word, postings: words.get(word) ?? [] };
}
