/** What the spam filter says about a mail. */
export const SPAM_VERDICTS = ['clean', 'suspected', 'spam', 'not_checked'] as const;
export type SpamVerdict = (typeof SPAM_VERDICTS)[number];

/** Whose word a verdict is: the filter's, or that of a user who moved the mail. */
export const SPAM_SOURCES = ['filter', 'user'] as const;

/** A rule of the filter that matched. */
interface SpamSymbol {
  name: string;
  score: number;
  /** the rule in words; empty when the filter has none */
  description: string;
}

/** The stored verdict of one email. Mail without one is `not_checked`. */
export interface SpamCheck {
  verdict: SpamVerdict;
  /** null: not checked */
  score: number | null;
  /** the score from which mail is spam; null: not checked, or the filter does not say */
  required: number | null;
  /** the most important first, at most MAX_SYMBOLS */
  symbols: SpamSymbol[];
  by: (typeof SPAM_SOURCES)[number];
}

/** Returns where an email belongs by what the scanners said; null: with all other mail. */
export function keptApartFor(screening: Screening | null): KeptApart | null {
  if (screening === null) return null;
  if (screening.virus !== null) return 'virus';
  return screening.spam?.verdict === 'spam' ? 'spam' : null;
}

/** Of mail that no filter has seen. */
export const NOT_CHECKED: SpamCheck = {
  verdict: 'not_checked',
  score: null,
  required: null,
  symbols: [],
  by: 'filter',
};

const MAX_SYMBOLS = 25;
const MAX_NAME_LENGTH = 80;
const MAX_DESCRIPTION_LENGTH = 200;

/** A result of the filter, before it is cut to what is stored. */
export interface FilterResult {
  score: number;
  required: number | null;
  /** what the filter advises, such as `add header` or `no action` */
  action: string;
  /** whether the filter ran no rules: for some mail, such as its test message, it decides before */
  isSkipped: boolean;
  symbols: readonly SpamSymbol[];
}

/** Why a received email is kept apart: in the folder Spam, or in quarantine. */
export const KEPT_APART = ['spam', 'virus'] as const;
export type KeptApart = (typeof KEPT_APART)[number];

/** Whether a list has mail that is kept apart beside other mail, or alone. */
export const SPAM_CHOICES = ['include', 'only'] as const;
export type SpamChoice = (typeof SPAM_CHOICES)[number];

/** What is still to be asked of the scanners about an email; `hold`: it is not processed before. */
export const SCREENING_JOBS = ['check', 'hold', 'learn_spam', 'learn_ham'] as const;
export type ScreeningJobKind = (typeof SCREENING_JOBS)[number];

/** What the scanners said about a received email, as it is stored. */
export interface Screening {
  /** null: not checked */
  spam: SpamCheck | null;
  /** name of the virus that was found; null: none was found, or it was not checked */
  virus: string | null;
}

/** Actions of rspamd for mail that belongs in the folder Spam, and for mail that may be spam. */
const SPAM_ACTIONS: ReadonlySet<string> = new Set(['reject', 'discard', 'add header', 'rewrite subject', 'quarantine']);
const SUSPECT_ACTIONS: ReadonlySet<string> = new Set(['greylist', 'soft reject']);

/** Returns what is stored of a result; null: the filter did not look at the mail. */
export function readFilterResult({ score, required, action, isSkipped, symbols }: FilterResult): SpamCheck | null {
  const verdict = SPAM_ACTIONS.has(action) ? 'spam' : SUSPECT_ACTIONS.has(action) ? 'suspected' : 'clean';
  if (isSkipped && verdict === 'clean') return null;
  return {
    verdict,
    score: roundScore(score),
    required: required === null ? null : roundScore(required),
    symbols: symbols
      .filter((symbol) => isSkipped || symbol.score !== 0)
      .toSorted((a, b) => Math.abs(b.score) - Math.abs(a.score) || (a.name < b.name ? -1 : 1))
      .slice(0, MAX_SYMBOLS)
      .map((symbol) => ({
        name: oneLine(symbol.name, MAX_NAME_LENGTH),
        score: roundScore(symbol.score),
        description: oneLine(symbol.description, MAX_DESCRIPTION_LENGTH),
      })),
    by: 'filter',
  };
}

/** Returns the check after a user moved the mail: the score stays what the filter said. */
export function judgedByUser(check: SpamCheck | null, verdict: 'clean' | 'spam'): SpamCheck {
  return { ...(check ?? NOT_CHECKED), verdict, by: 'user' };
}

/** Returns the same with its keys in one order, wherever it comes from: PostgreSQL has another one. Null becomes `not_checked`. */
export function orderedSpamCheck(check: SpamCheck | null): SpamCheck {
  const { verdict, score, required, symbols, by } = check ?? NOT_CHECKED;
  return {
    verdict,
    score,
    required,
    symbols: symbols.map(({ name, score: points, description }) => ({ name, score: points, description })),
    by,
  };
}

const SCORE_DIGITS = 100;

function roundScore(score: number): number {
  return Math.round(score * SCORE_DIGITS) / SCORE_DIGITS;
}

function oneLine(text: string, maxLength: number): string {
  const line = text.replaceAll('\0', '').replace(/\s+/g, ' ').trim();
  return line.length <= maxLength ? line : `${line.slice(0, maxLength - 1).toWellFormed()}…`;
}
