import { CONCEPT, type Concept } from './concept.ts';
import type { Token } from './tokens.ts';

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

/** Returns where the sentences of a text end: behind a mark before white space, behind a mark of East Asia, or at a blank line. */
function findEnds(text: string): number[] {
  const ends: number[] = [];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x3002 || code === 0xff01 || code === 0xff1f) ends.push(at + 1);
    else if (code === 0x2e || code === 0x21 || code === 0x3f || code === 0x964 || code === 0x61f) {
      let next = at + 1;
      while (isClosing(text.charCodeAt(next))) next++;
      if (next >= text.length || text.charCodeAt(next) <= 0x20) ends.push(next);
      at = next - 1;
    } else if (code === 0x0a) {
      let next = at + 1;
      while (isIndent(text.charCodeAt(next))) next++;
      if (text.charCodeAt(next) === 0x0a) ends.push(next);
      at = next - 1;
    }
  }
  if (ends.at(-1) !== text.length) ends.push(text.length);
  return ends;
}

/** Further marks, brackets and quotation marks after the mark of an end. */
function isClosing(code: number): boolean {
  return (
    code === 0x2e || code === 0x21 || code === 0x3f || code === 0x22 || code === 0x27 || code === 0x29 || code === 0x5d
  );
}

function isIndent(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0d || code === 0x3e;
}

/** Splits text at the ends of its sentences. */
export function splitSentences(text: string): string[] {
  const ends = findEnds(text);
  return ends.map((end, at) => text.slice(ends[at - 1] ?? 0, end));
}

/** Returns the sentences of folded text with the tokens in them. */
export function readSentences(folded: string, tokens: readonly Token[]): Sentence[] {
  const hasQuotes = /["`]/.test(folded);
  let start = 0;
  let next = 0;
  let isInQuotes = false;
  return findEnds(folded).map((end) => {
    const text = folded.slice(start, end);
    const from = next;
    let mask = 0;
    for (; next < tokens.length && (tokens[next]?.start ?? end) < end; next++) mask |= tokens[next]?.mask ?? 0;
    const sentence = { text, start, end, tokens: from === next ? NONE : tokens.slice(from, next), mask, isInQuotes };
    if (hasQuotes) {
      const marks = text.match(/["`]/g)?.length ?? 0;
      // A paragraph ends a quotation that nothing closes.
      isInQuotes = text.endsWith('\n') || folded.charCodeAt(end) === 0x0a ? false : (marks % 2 === 1) !== isInQuotes;
    }
    start = end;
    return sentence;
  });
}

const NONE: readonly Token[] = [];

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
