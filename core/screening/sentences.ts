import { CONCEPT, type Concept, type Token } from './concepts.ts';

/** A sentence of folded text with its words that mean something. */
export interface Sentence {
  text: string;
  start: number;
  end: number;
  tokens: readonly Token[];
  /** concepts of all tokens */
  mask: number;
  /** whether it begins within quotation marks */
  isInQuotes: boolean;
}

/** The end of a sentence: a mark before white space, a mark of East Asia, or a blank line. */
const END = /[.!?\u0964\u061f]+["')\]]*(?=\s|$)|[\u3002\uff01\uff1f]|\n[ \t>]*\n/g;

/** Splits text at the ends of its sentences. */
export function splitSentences(text: string): string[] {
  const sentences: string[] = [];
  let from = 0;
  for (const { 0: mark, index } of text.matchAll(END)) {
    sentences.push(text.slice(from, index + mark.length));
    from = index + mark.length;
  }
  sentences.push(text.slice(from));
  return sentences;
}

/** Returns the sentences of folded text with the tokens in them. */
export function readSentences(folded: string, tokens: readonly Token[]): Sentence[] {
  let start = 0;
  let next = 0;
  let isInQuotes = false;
  return splitSentences(folded).map((text) => {
    const end = start + text.length;
    const from = next;
    while (next < tokens.length && (tokens[next]?.start ?? end) < end) next++;
    const own = tokens.slice(from, next);
    const sentence = { text, start, end, tokens: own, mask: maskOf(own), isInQuotes };
    const marks = text.match(/["`]/g)?.length ?? 0;
    // A paragraph ends a quotation that nothing closes.
    isInQuotes = /\n[ \t>]*\n$/.test(text) ? false : marks % 2 === 1 ? !isInQuotes : isInQuotes;
    start = end;
    return sentence;
  });
}

function maskOf(tokens: readonly Token[]): number {
  return tokens.reduce((mask, token) => mask | token.mask, 0);
}

/** Returns whether all the concepts are there. */
export function hasAll(mask: number, ...concepts: readonly Concept[]): boolean {
  return concepts.every((concept) => (mask & CONCEPT[concept]) !== 0);
}

export function hasAny(mask: number, ...concepts: readonly Concept[]): boolean {
  return concepts.some((concept) => (mask & CONCEPT[concept]) !== 0);
}

/** Returns whether a place in a sentence is within quotation marks. */
export function isQuoted({ text, isInQuotes }: Sentence, from: number, to: number): boolean {
  const before = text.slice(0, from).match(/["`]/g)?.length ?? 0;
  const isOpen = (before % 2 === 1) !== isInQuotes;
  return isOpen && (/["`]/.test(text.slice(to)) || before > 0 || isInQuotes);
}
