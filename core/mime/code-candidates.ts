import { CURRENCY } from './code-words.ts';

/** A range of a text. */
export interface Span {
  at: number;
  end: number;
}

/** A word or group of digits that may be a code. */
export interface Candidate {
  code: string;
  at: number;
  end: number;
  /** likelihood by its form alone */
  base: number;
  /** whether it is a code only right behind a word for codes: small letters with digits */
  isLoose: boolean;
  /** whether it is a code only when such a word names it, with no other word between: years, digits with a point, which amounts have, and letters alone */
  needsName: boolean;
}

/** Maximum candidates considered. */
const MAX_CANDIDATES = 1_000;
/** Maximum characters of a line in which long numbers are searched. */
const MAX_LINE = 4_000;
/** Scripts without spaces between words, and Hangul, whose particles follow a number at once: `コードは482913です`. */
const GLUED = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー`;
/** A letter of another script. */
const LETTER = `(?![${GLUED}])\\p{L}`;
/** Words of letters and digits, possibly joined by hyphens. */
const TOKEN = new RegExp(`(?:${LETTER}|\\p{N})+(?:-(?:${LETTER}|\\p{N})+)*`, 'gu');
/** Groups of capitals on a line of their own, as codes of devices are written: `WDJB-MJHT`. */
const LETTERS_APART = /^[^\p{L}\p{N}]*([A-Z]{3,5}(?:-[A-Z]{3,5}){1,3})[^\p{L}\p{N}]*$/u;
const MAX_LETTER_LINE = 60;
/** The same within a line, where only a word for codes right before them makes them one. */
const LETTER_GROUPS = /(?<![\p{L}\p{N}-])[A-Z]{3,5}(?:-[A-Z]{3,5}){1,3}(?![\p{L}\p{N}-])/gu;
const DIGITS_APART = /^[^\p{L}\p{N}]*(\d(?:[ \u00a0]\d){3,9})[^\p{L}\p{N}]*$/u;
/** `123 456`, `1234 5678` and `12 34 56`. */
const DIGITS_HALVED = new RegExp(
  `(?<!${LETTER}|[\\p{N}.,:/+-]|\\p{N} )(?:\\d{3}[ \\u00a0]\\d{3}|\\d{4} \\d{4}|\\d{2} \\d{2} \\d{2})(?![A-Za-z\\p{N}/-]|[.,:]\\p{N}| \\p{N}{2})`,
  'gu',
);
/** `4 7 1 1 2 2` within a line. */
const DIGITS_SPACED = new RegExp(
  `(?<!${LETTER}|[\\p{N}.,:/+-]|\\p{N}[ \\u00a0])\\d(?:[ \\u00a0]\\d){3,7}(?!${LETTER}|[\\p{N}/-]|[.,:]\\p{N}|[ \\u00a0]\\p{N})`,
  'gu',
);
/** `0800 4471` */
const FREE_NUMBER = /^0\d{3} \d{4}$/;
/** `551.207` */
const DIGITS_POINTED = new RegExp(
  `(?<!${LETTER}|[\\p{N}.,:/+€$£¥-]|[€$£¥] )\\d{3}\\.\\d{3}(?![A-Za-z\\p{N}/-]|[.,:]\\p{N})`,
  'gu',
);
/** Groups of digits with hyphens, and digits behind one or two letters that the form of the service shows. */
const DIGIT_GROUPS = /^\d+(?:-\d+)+$/;
const PREFIXED = /^[A-Z]{1,2}-(\d{4,8})$/;
/** Groups of digits with at least nine digits in all: telephone, account and tax numbers. */
const LONG_NUMBER = /[+(]?\d[\d()]*(?:[ \u00a0./-]{1,2}\(?\d[\d()]*){1,8}/g;
const LEAST_LONG_DIGITS = 9;
const YEAR = /^(?:19|20)\d\d$/;
/** Dates of any calendar that counts today's year from 1300 to 2699 (`30-11-2569` in Thailand, `09-09-1405` in Iran), times and spans of years. */
const MOMENT =
  /^(?:\d{1,2}-\d{1,2}-(?:19|20)\d\d|(?:0?[1-9]|[12]\d|3[0-2])-(?:0?[1-9]|1[0-3])-(?:1[3-9]|2[0-6])\d\d|(?:0?[1-9]|1[0-2])-(?:0?[1-9]|[12]\d|3[01])-(?:1[3-9]|2[0-6])\d\d|\d{4}-\d{1,2}-\d{1,2}|(?:19|20)\d\d-\d{3,8}|\d{1,2}h\d{2}|20\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01]))$/i;

/** Returns the words and groups of digits in a text that may be codes, in its order. Takes linear time. */
export function findCandidates(text: string): Candidate[] {
  const candidates: Candidate[] = [];
  let start = 0;
  for (const line of text.split('\n')) {
    if (!/\d/.test(line)) {
      const letters = line.length < MAX_LETTER_LINE ? LETTERS_APART.exec(line)?.[1] : undefined;
      if (letters !== undefined && !isOfWords(letters)) {
        const at = start + line.indexOf(letters);
        candidates.push({ code: letters, at, end: at + letters.length, base: 0.1, isLoose: false, needsName: false });
      } else if (line.includes('-')) {
        for (const { index, 0: code } of line.slice(0, MAX_LINE).matchAll(LETTER_GROUPS)) {
          if (isOfWords(code)) continue;
          const at = start + index;
          candidates.push({ code, at, end: at + code.length, base: 0, isLoose: false, needsName: true });
        }
      }
      start += line.length + 1;
      continue;
    }
    const apart = line.length < 200 ? DIGITS_APART.exec(line)?.[1] : undefined;
    if (apart !== undefined) {
      const at = start + line.indexOf(apart);
      candidates.push({
        code: apart.replace(/\D/g, ''),
        at,
        end: at + apart.length,
        base: 0.45,
        isLoose: false,
        needsName: false,
      });
    } else {
      const isAlone = line.trim().length <= 14;
      const long = longNumbers(line);
      for (const match of line.matchAll(TOKEN)) {
        const base = rateForm(match[0], line, match.index);
        if (base === null || long.some((span) => span.at <= match.index && match.index < span.end)) continue;
        const at = start + match.index;
        candidates.push({
          code: asEntered(match[0]),
          at,
          end: at + match[0].length,
          base: base + (isAlone ? 0.2 : 0),
          isLoose: /[a-z]/.test(match[0]),
          needsName: YEAR.test(match[0]),
        });
      }
      for (const groups of [DIGITS_HALVED, DIGITS_SPACED, DIGITS_POINTED])
        for (const { index, 0: digits } of line.matchAll(groups)) {
          if (long.some((span) => span.at <= index && index < span.end)) continue;
          const isAmount = digits.includes('.');
          if (isAmount && CURRENCY.test(line.slice(index + digits.length, index + digits.length + 12))) continue;
          const at = start + index;
          // Two groups of four are telephone numbers, too.
          const base = digits.length > 7 && digits.length < 10 && digits[4]?.trim() === '' ? 0 : 0.15;
          candidates.push({
            code: digits.replace(/\D/g, ''),
            at,
            end: at + digits.length,
            base,
            isLoose: false,
            needsName: isAmount || FREE_NUMBER.test(digits),
          });
        }
    }
    start += line.length + 1;
    if (candidates.length > MAX_CANDIDATES) break;
  }
  return candidates;
}

/** Whether groups of capitals are words of a shop, such as `SAVE-BIG`: codes of devices have groups of one length, and not in each a vowel. */
function isOfWords(letters: string): boolean {
  const groups = letters.split('-');
  return groups.some(({ length }) => length !== groups[0]?.length) || groups.every((group) => /[AEIOU]/u.test(group));
}

/** Returns a code as the form takes it. */
function asEntered(token: string): string {
  return DIGIT_GROUPS.test(token) ? token.replaceAll('-', '') : (PREFIXED.exec(token)?.[1] ?? token);
}

function longNumbers(line: string): Span[] {
  return [...line.slice(0, MAX_LINE).matchAll(LONG_NUMBER)].flatMap(({ index, 0: number }) =>
    number.replace(/\D/g, '').length < LEAST_LONG_DIGITS ? [] : [{ at: index, end: index + number.length }],
  );
}

/** A clause behind a comma of ASCII in Chinese, Japanese or Korean: `119087,5分钟内有效`. */
const CLAUSE_OF_TIME = /^[,:](?:\p{Script=Han}|\p{N}{1,3} ?(?:分|秒|小时|小時|時間|天|日|분|초|시간))/u;

/** Returns the likelihood by a token's form, 0 when it is a code only next to a keyword; null when it cannot be one. */
function rateForm(token: string, line: string, at: number): number | null {
  if (token.length < 4 || token.length > 14) return null;
  const before = line[at - 1] ?? ' ';
  const after = line[at + token.length] ?? ' ';
  const next = line[at + token.length + 1] ?? ' ';
  // Parts of addresses, amounts, times, versions and phone numbers.
  if (/[@/\\=&?%+$€£¥_~#.,:]/.test(before) && !(before === ':' && /\D/.test(line[at - 2] ?? ' '))) return null;
  const isJoined =
    /[.,:]/.test(after) && /[\p{L}\p{N}]/u.test(next) && !CLAUSE_OF_TIME.test(line.slice(at + token.length));
  if (/[@/\\=&%$€£¥_~]/.test(after) || isJoined) return null;
  if (MOMENT.test(token)) return null;
  // A telephone number: `0800 4471`.
  if (/^0\d{3}$/.test(token) && /^ \d{3}/.test(line.slice(at + token.length, at + token.length + 4))) return null;
  if (/^\d{3,5}$/.test(token) && /(?<!\d)0\d{3} $/.test(line.slice(Math.max(0, at - 6), at))) return null;
  // The begin of an IBAN.
  if (/^[A-Z]{2}\d{2}$/.test(token) && /^ \d{4} \d{4}/.test(line.slice(at + 4, at + 14))) return null;
  if (/^\d+$/.test(token) && CURRENCY.test(line.slice(at + token.length, at + token.length + 12))) return null;
  if (/^\d+$/.test(token)) {
    if (token.length > 8) return null;
    if (YEAR.test(token)) return 0;
    return token.length === 6 ? 0.2 : token.length <= 8 ? 0.1 : 0;
  }
  if (/^\d{3,5}-\d{3,5}$|^\d{2}-\d{2}-\d{2}$|^\d(?:-\d){3,7}$/.test(token)) return 0.15;
  // Codes of parcel lockers: shelf, row and number.
  if (/^\d{1,2}-\d{1,2}-\d{3,5}$/.test(token)) return 0;
  if (/^[\d-]+$/.test(token) || (token.length > 10 && !token.includes('-'))) return null;
  if (/^[a-z]{3,8}-\d{3,6}$/.test(token)) return 0;
  // Capitals and digits, or small letters and digits; not both, like names of files and keys.
  const isCode = /\d/.test(token) && (/^[A-Z0-9]+(?:-[A-Z0-9]+)*$/.test(token) || /^[a-z0-9]+$/.test(token));
  return isCode && (token.match(/\d/g)?.length ?? 0) >= 1 ? 0 : null;
}
