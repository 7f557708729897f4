import { readUnits } from './code-units.ts';
import { HashBits } from './hash-bits.ts';
import { PHRASES, type Phrase, PROMPT_MARKS } from './prompt-phrases.ts';

/** Runs of three characters are noted by 15 bits. */
const BITS = 15;
const MASK = 2 ** BITS - 1;
const SHIFT = BITS / 3;
const NOTED = new HashBits(2 ** BITS);

/** Of each phrase, the runs of each text of which a sentence must have one. */
const NEEDED = PHRASES.map(([needs]) => needs.map(listRuns));

/** Phrases of which a text has what they need. */
export interface LivePhrases {
  phrases: readonly Phrase[];
  /** these, behind the marks around prompts */
  withMarks: readonly Phrase[];
}

/** A part of a text. */
interface Extent {
  start: number;
  end: number;
}

/**
 * Returns the phrases of which some parts of a text may have what they need: most texts lack a run of three letters of most. One pass over
 * the parts covers many.
 */
export function findLivePhrases(folded: string, parts: readonly Extent[]): LivePhrases {
  const units = readUnits(folded);
  NOTED.clear();
  for (const { start, end } of parts) {
    let run = 0;
    for (let at = start; at < end; at++) {
      run = ((run << SHIFT) ^ (units[at] ?? 0)) & MASK;
      NOTED.add(run);
    }
  }
  const phrases = PHRASES.filter((_phrase, at) =>
    NEEDED[at]?.some((runs) => runs.every((each) => NOTED.mayHave(each))),
  );
  return { phrases, withMarks: [...PROMPT_MARKS, ...phrases] };
}

/** Returns the runs of three characters of a text; none if it is shorter, so that it always counts as had. */
function listRuns(text: string): number[] {
  const runs: number[] = [];
  let run = 0;
  for (let at = 0; at < text.length; at++) {
    run = ((run << SHIFT) ^ text.charCodeAt(at)) & MASK;
    if (at >= 2) runs.push(run);
  }
  return runs;
}
