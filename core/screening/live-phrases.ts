import { readUnits } from './code-units.ts';
import { PHRASES, type Phrase, PROMPT_MARKS } from './prompt-phrases.ts';

/** Runs of three characters are noted by 15 bits. */
const BITS = 15;
const MASK = 2 ** BITS - 1;
const SHIFT = BITS / 3;
const NOTED = new Int32Array(2 ** BITS / 32);

/** Of each phrase, the runs of each text of which a sentence must have one. */
const NEEDED = PHRASES.map(([needs]) => needs.map(runsOf));

/** Phrases of which a text has what they need. */
export interface LivePhrases {
  phrases: readonly Phrase[];
  /** these, behind the marks around prompts */
  withMarks: readonly Phrase[];
}

/**
 * Returns the phrases of which a text may have what they need: most texts lack a run of three letters of most. One pass over the text
 * stands for many.
 */
export function findLivePhrases(folded: string): LivePhrases {
  const units = readUnits(folded);
  const { length } = folded;
  NOTED.fill(0);
  let run = 0;
  for (let at = 0; at < length; at++) {
    run = ((run << SHIFT) ^ (units[at] ?? 0)) & MASK;
    NOTED[run >>> 5] = (NOTED[run >>> 5] ?? 0) | (1 << (run & 31));
  }
  const phrases = PHRASES.filter((_phrase, at) => NEEDED[at]?.some((runs) => runs.every(isNoted)));
  return { phrases, withMarks: [...PROMPT_MARKS, ...phrases] };
}

function isNoted(run: number): boolean {
  return ((NOTED[run >>> 5] ?? 0) & (1 << (run & 31))) !== 0;
}

/** Returns the runs of three characters of a text; none if it is shorter, so that it always counts as had. */
function runsOf(text: string): number[] {
  const runs: number[] = [];
  let run = 0;
  for (let at = 0; at < text.length; at++) {
    run = ((run << SHIFT) ^ text.charCodeAt(at)) & MASK;
    if (at >= 2) runs.push(run);
  }
  return runs;
}
