import { MAX_EXCERPT_LENGTH } from './screened-mail.ts';
import type { Survey } from './survey-text.ts';

/**
 * Work on the sentences of one mail, in units of about 0.1 µs: all of it takes less than half a second. Honest mail of a million characters in
 * each body takes half of it.
 */
const MAX_WORK = 5_000_000;
/** A character, besides what it is part of. */
const PER_CHARACTER = 0.8;
const PER_SENTENCE = 6;
const PER_TOKEN = 20;
/** Two words with a meaning in one sentence, which may have to do with each other. */
const PER_PAIR = 0.002;

/**
 * What is left of the work that the screening of one mail may take. It counts what there is to read and not time, so that the same mail gets
 * the same verdict.
 */
export class Effort {
  #left = MAX_WORK;
  #rest: string | null = null;

  /** the beginning of the first text that was left out; null: nothing was */
  get rest(): string | null {
    return this.#rest;
  }

  /** whether something was left out, so that nothing more is read */
  get isSpent(): boolean {
    return this.#rest !== null;
  }

  /** Notes that a text is left out. */
  spend(rest: string): void {
    this.#left = 0;
    this.#rest ??= rest.slice(0, 2 * MAX_EXCERPT_LENGTH);
  }

  /** Takes the work on a survey and returns it; without its last sentences, and nothing is left, if they are too much. */
  take(survey: Survey): Survey {
    const { sentences, tokens, folded } = survey;
    let start = 0;
    for (const [at, { end, firstToken }] of sentences.entries()) {
      const count = (sentences[at + 1]?.firstToken ?? tokens.length) - firstToken;
      this.#left -= PER_SENTENCE + (end - start) * PER_CHARACTER + count * (PER_TOKEN + count * PER_PAIR);
      if (this.#left < 0) {
        this.spend(folded.slice(start, start + 2 * MAX_EXCERPT_LENGTH));
        return survey.first(at);
      }
      start = end;
    }
    return survey;
  }
}
