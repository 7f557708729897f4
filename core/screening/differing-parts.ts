import { visibleText } from '../html/visible-text.ts';
import { tokensIn } from './read-instructions.ts';
import { CONCEPT } from './concepts.ts';
import { foldText } from './folded-text.ts';

/** What the text of a mail says and its HTML does not. */
export interface Difference {
  excerpt: string;
  why: string;
}

const MAX_COMPARED = 200_000;
const IBAN = /\b[a-z]{2}\d{2}(?: ?[a-z0-9]{4}){3,7}(?: ?[a-z0-9]{1,3})?\b/g;
const EMAIL = /[^\s@<>()[\]"',;:]{1,64}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,5}/g;
const MONEY = /(?:[$€£¥]|\b(?:usd|eur|gbp|chf))\s?(\d[\d.,' ]{0,15}\d|\d)|(\d[\d.,' ]{0,15}\d|\d)\s?(?:[$€£¥]|(?:usd|eur|gbp|chf|euros?|dollars?)\b)/g;
/** A text that stands for a part that a program cannot show. */
const STAND_IN = /html|browser|view (?:this|it|online)|web ?version|mime|online ansehen|navegador|navigateur/;
const MIN_WORDS = 8;
/** Share of the words of the text that its HTML has when they say the same. */
const SAME_SHARE = 0.35;

/** Returns how the text asks for something else than the HTML; null: it does not. Linear. */
export function findDifference(text: string, html: string): Difference | null {
  const plain = foldText(text.slice(0, MAX_COMPARED));
  const shown = foldText(visibleText(html.slice(0, MAX_COMPARED), MAX_COMPARED));
  const all = `${shown} ${foldText(html.slice(0, MAX_COMPARED))}`;
  for (const [pattern, name] of [
    [IBAN, 'account'],
    [EMAIL, 'address'],
    [MONEY, 'amount'],
  ] as const) {
    const [ours, theirs] = [valuesOf(plain, pattern, name), valuesOf(shown, pattern, name)];
    const onlyText = [...ours].filter((value) => !theirs.has(value) && (name === 'amount' || !all.includes(value)));
    const onlyHtml = [...theirs].filter((value) => !ours.has(value));
    if (onlyText.length > 0 && onlyHtml.length > 0 && ours.size === theirs.size && ours.size <= MAX_VALUES)
      return {
        excerpt: `${onlyText[0]} / ${onlyHtml[0]}`,
        why: `the text and the HTML name a different ${name}`,
      };
  }
  const own = wordsOf(plain);
  if (own.size < MIN_WORDS || STAND_IN.test(plain) || wordsOf(shown).size < MIN_WORDS) return null;
  const words = wordsOf(all);
  const missing = [...own].filter((word) => !words.has(word));
  if (own.size - missing.length >= own.size * SAME_SHARE) return null;
  const mask = tokensIn(plain).reduce((sum, token) => sum | token.mask, 0);
  const asks = (mask & (CONCEPT.send | CONCEPT.pay | CONCEPT.act)) !== 0;
  return asks ? { excerpt: text, why: 'the text asks for something that the HTML does not say' } : null;
}

const MAX_VALUES = 3;

function valuesOf(text: string, pattern: RegExp, name: 'account' | 'address' | 'amount'): Set<string> {
  return new Set(
    [...text.matchAll(pattern)].map(([whole, before, after]) =>
      name === 'amount' ? amountOf(before ?? after ?? whole) : whole.replaceAll(' ', ''),
    ),
  );
}

/** Returns a number without the marks of its thousands and without cents that are zero. */
function amountOf(digits: string): string {
  const [, whole = '', cents = ''] = /^(.*?)(?:[.,](\d{2}))?$/.exec(digits.trim()) ?? [];
  return `${whole.replace(/\D/g, '').replace(/^0+/, '')}${cents === '' || cents === '00' ? '' : `.${cents}`}`;
}

function wordsOf(text: string): Set<string> {
  return new Set(text.match(/[\p{L}\p{N}]{3,}/gu));
}
