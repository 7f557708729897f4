import { type PublicSuffixes, registrableDomain } from '../shared/registrable-domain.ts';
import { CONCEPT } from './concept.ts';
import type { Survey } from './survey-text.ts';

/** What the text of a mail says and its HTML does not. */
export interface Difference {
  excerpt: string;
  why: string;
}

/** Folded texts of one mail. */
export interface ComparedParts {
  text: Survey;
  /** all text of the HTML */
  html: Survey;
  /** the HTML as source, for the addresses in it */
  source: string;
  /** returns the Public Suffix List, which is only read for addresses that differ; absent: hosts of one domain differ as any others */
  readSuffixes?: (() => PublicSuffixes) | undefined;
}

const IBAN = /\b[a-z]{2}\d{2}(?: ?[a-z0-9]{4}){3,7}(?: ?[a-z0-9]{1,3})?\b/g;
const MONEY =
  /(?:[$€£¥]|\b(?:usd|eur|gbp|chf))\s?(\d[\d.,' ]{0,15}\d|\d)|(?<![\d.,]|\d )(\d{1,3}(?:[ \u00a0\u202f]\d{3}){1,4}(?:[.,]\d{2})?|\d[\d.,']{0,15}\d|\d)\s?(?:[$€£¥]|(?:usd|eur|gbp|chf|euros?|dollars?)\b)/g;
/** A text that replaces a part that a program cannot show. */
const STAND_IN = /html|browser|view (?:this|it|online)|web ?version|mime|online ansehen|navegador|navigateur/;
const MIN_WORDS = 8;
/** Share of the words of the text that its HTML has when they say the same. */
const SAME_SHARE = 0.35;
/** Accounts, addresses or amounts of a part that are compared. */
const MAX_VALUES = 3;

/** Returns how the text asks for something else than the HTML; null: it does not. Linear. */
export function findDifference({
  text: { folded: text, mask },
  html: { folded: html },
  source,
  readSuffixes,
}: ComparedParts): Difference | null {
  const named = findOtherValue(text, html, { source, readSuffixes });
  if (named !== null) return named;
  if (STAND_IN.test(text)) return null;
  const missing = readWords(text);
  const count = missing.size;
  if (count < MIN_WORDS) return null;
  let shown = 0;
  for (const word of eachWord(html)) {
    shown++;
    missing.delete(word);
  }
  if (shown < MIN_WORDS || count - missing.size >= count * SAME_SHARE) return null;
  for (const word of eachWord(source)) missing.delete(word);
  if (count - missing.size >= count * SAME_SHARE) return null;
  return (mask & (CONCEPT.send | CONCEPT.pay | CONCEPT.act)) === 0
    ? null
    : { excerpt: text, why: 'the text asks for something that the HTML does not say' };
}

function findOtherValue(
  text: string,
  html: string,
  { source, readSuffixes }: Pick<ComparedParts, 'source' | 'readSuffixes'>,
): Difference | null {
  for (const [name, read] of [
    ['account', accountsIn],
    ['address', addressesIn],
    ['amount', amountsIn],
  ] as const) {
    const ours = read(text);
    if (ours.size === 0 || ours.size > MAX_VALUES) continue;
    const theirs = read(html);
    if (ours.size !== theirs.size) continue;
    const onlyText = [...ours].filter((value) => !theirs.has(value) && (name === 'amount' || !source.includes(value)));
    const onlyHtml = [...theirs].filter((value) => !ours.has(value));
    if (
      onlyText.length > 0 &&
      onlyHtml.length > 0 &&
      !onlyText.every((value) => onlyHtml.some((other) => isOfSameDomain(value, other, readSuffixes)))
    )
      return { excerpt: `${onlyText[0]} / ${onlyHtml[0]}`, why: `the text and the HTML name a different ${name}` };
  }
  return null;
}

/** Returns whether two addresses have one local part, at hosts of one registered domain: lists and archives rewrite hosts. */
function isOfSameDomain(one: string, other: string, readSuffixes: ComparedParts['readSuffixes']): boolean {
  const [local = '', host] = one.split('@');
  const [otherLocal, otherHost] = other.split('@');
  if (host === undefined || otherHost === undefined || local !== otherLocal || readSuffixes === undefined) return false;
  const domain = registrableDomain(host, readSuffixes());
  return domain !== null && domain === registrableDomain(otherHost, readSuffixes()) && !OF_TENANTS.has(domain);
}

/** Domains of mail below which each customer has a name, and which the Public Suffix List does not have. */
const OF_TENANTS: ReadonlySet<string> = new Set(['onmicrosoft.com', 'onmicrosoft.us', 'onmschina.cn']);

function accountsIn(text: string): Set<string> {
  return new Set([...text.matchAll(IBAN)].map(([account]) => account.replaceAll(' ', '')));
}

const LOCAL_PART = /[^\s@<>()[\]"',;:]{1,64}$/;
const DOMAIN = /^[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,5}/;

function addressesIn(text: string): Set<string> {
  const addresses = new Set<string>();
  for (let at = text.indexOf('@'); at !== -1 && addresses.size <= MAX_VALUES; at = text.indexOf('@', at + 1)) {
    const local = LOCAL_PART.exec(text.slice(Math.max(0, at - 64), at))?.[0];
    const domain = DOMAIN.exec(text.slice(at + 1, at + 254))?.[0];
    if (local !== undefined && domain !== undefined) addresses.add(`${local}@${domain}`);
  }
  return addresses;
}

function amountsIn(text: string): Set<string> {
  if (!/[$€£¥]|usd|eur|gbp|chf|dollar/.test(text)) return new Set();
  return new Set([...text.matchAll(MONEY)].map(([, before, after]) => plainAmount(before ?? after ?? '')));
}

/** Returns a number without the marks of its thousands and without cents that are zero. */
function plainAmount(digits: string): string {
  const [, whole = '', cents = ''] = /^(.*?)(?:[.,](\d{2}))?$/.exec(digits.trim()) ?? [];
  return `${whole.replace(/\D/g, '').replace(/^0+/, '')}${cents === '' || cents === '00' ? '' : `.${cents}`}`;
}

function readWords(text: string): Set<string> {
  return new Set(eachWord(text));
}

/** Words of at least three letters or digits. */
function* eachWord(text: string): Generator<string> {
  let start = 0;
  for (let at = 0; at <= text.length; at++) {
    const code = at === text.length ? 0 : text.charCodeAt(at);
    if ((code >= 97 && code <= 122) || (code >= 48 && code <= 57) || (code > 0xbf && (code < 0x2000 || code > 0x206f)))
      continue;
    if (at - start >= 3) yield text.slice(start, at);
    start = at + 1;
  }
}
