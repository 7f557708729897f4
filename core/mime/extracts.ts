import { Parser } from 'htmlparser2';
import { LinkifyIt } from 'linkify-it';
import { INLINE_ELEMENTS, UNSEEN_ELEMENTS } from '../html/elements.ts';
import { type BodyText, textBeginning } from '../shared/large-text.ts';
import type { Attachment } from './attachment.ts';
import { type CalendarEvent, findEvent } from './calendar-event.ts';
import { type Candidate, findCandidates, type Span } from './code-candidates.ts';
import {
  ENTERS,
  KEYWORDS,
  MAX_OTHER,
  OFFER,
  OTHER_BEFORE,
  OTHER_BEHIND,
  OTHERS,
  SPENT_BEFORE,
  SPENT_BEHIND,
  USED,
} from './code-words.ts';

/** Codes to enter and links to follow, most likely first, and the event of an invitation. */
export interface Extracts {
  codes: ExtractedCode[];
  links: ExtractedLink[];
  /** of its first calendar; null when there is none */
  event: CalendarEvent | null;
}

/** The fields of an email that are searched. */
interface ExtractsInput {
  subject: string;
  text: BodyText | null;
  html: BodyText | null;
  /** lower-case names and their values */
  headers: readonly (readonly [name: string, value: string])[];
  attachments: readonly Pick<Attachment, 'event'>[];
}

/** Maximum characters of HTML that are read. */
const MAX_HTML = 300_000;

/** Extracts codes, links and the event from an email. Never throws; a malformed email gives empty lists. */
export function extractFrom({ subject, text, html, headers, attachments }: ExtractsInput): Extracts {
  const outline = readHtmlOutline(textBeginning(html ?? '', MAX_HTML));
  const readText = textBeginning(text ?? '', MAX_TEXT);
  const listUnsubscribe = headers.find(([name]) => name === 'list-unsubscribe')?.[1] ?? null;
  return {
    codes: extractCodes([
      ['subject', subject],
      ['text', readText],
      ['html', outline.text],
    ]),
    links: extractLinks({ text: readText, outline, listUnsubscribe }),
    event: findEvent(attachments),
  };
}

/** Where something was found. */
type ExtractSource = 'subject' | 'text' | 'html';

/** A probable one-time code. */
interface ExtractedCode {
  /** as it is entered: groups of digits are joined, and a prefix that the form shows, such as `G-`, is left out */
  code: string;
  foundIn: ExtractSource[];
  /** confidence, 0 to 1 */
  likelihood: number;
}

/** Maximum characters read per text, and maximum codes returned. */
const MAX_TEXT = 100_000;
const MAX_CODES = 10;
/** Maximum keywords and candidates considered. */
const MAX_FOUND = 1_000;
/** Maximum distance between a keyword and a code after it, or before it; characters. */
const REACH_BEHIND = 100;
const REACH_BEFORE = 40;
/** Minimum likelihood of a candidate, and how far it may be below the best one. */
const LEAST = 0.35;
const MAX_BEHIND = 0.2;

/** Characters of a sentence before and after a code. */
const MAX_SENTENCE = 120;
/** The end of a sentence: a word for codes behind it that names a number of its own is not about the number before it. */
const SENTENCE_END = /[.!?](?=\s)|[。！？]/u;
const NAMES_NUMBER = /^[^\p{L}\p{N}]{0,4}(?:\p{L}{1,9}[^\p{L}\p{N}]{1,3})?\d/u;
const YEAR_LENGTH = 4;
/** What is between a word for codes and a code right behind it. */
const NAMED = /^\s*(?:[:：=–-]|is|ist|lautet|est|es|è|é)\s*[:：]?\s*$/u;
const DIRECT = /^\W{0,3}(?:\s*\p{L}{1,9}\W{0,3}){0,2}$/u;

/** Returns the codes in the texts of an email, most likely first. Takes linear time. */
function extractCodes(texts: readonly (readonly [source: ExtractSource, text: string])[]): ExtractedCode[] {
  const found = new Map<string, ExtractedCode>();
  // `Your code` may be in the subject only.
  const isAboutCodes = texts.some(([source, text]) => source === 'subject' && findSpans(text, KEYWORDS).length > 0);
  const asksForAction = texts.some(([source, text]) => source === 'subject' && ACTION.test(text));
  for (const [source, whole] of texts) {
    const text = asciiDigits(whole.slice(0, MAX_TEXT));
    const candidates = findCandidates(text);
    if (candidates.length === 0) continue;
    const named = findSpans(text, KEYWORDS);
    const verbs = findSpans(text, ENTERS);
    const isAsked = isAboutCodes || asksForAction || named.length > 0 || verbs.length > 0;
    if (!isAsked && !candidates.some(isLikelyAlone)) continue;
    const others = [...findSpans(text, OTHERS), ...findOtherCodes(text, named)].toSorted((a, b) => a.end - b.end);
    const keywords = named.filter((word) => !others.some((other) => other.at <= word.at && other.end >= word.end));
    for (const candidate of candidates) {
      const likelihood = rateCandidate(candidate, {
        text,
        keywords,
        verbs,
        others,
        isAboutCodes,
        asksForAction,
      });
      if (likelihood < LEAST) continue;
      const known = found.get(candidate.code);
      if (known === undefined) found.set(candidate.code, { code: candidate.code, foundIn: [source], likelihood });
      else {
        if (!known.foundIn.includes(source)) known.foundIn.push(source);
        known.likelihood = Math.max(known.likelihood, likelihood);
      }
    }
  }
  const codes = [...found.values()].toSorted((a, b) => b.likelihood - a.likelihood).slice(0, MAX_CODES);
  const best = codes[0]?.likelihood ?? 0;
  return codes.filter(({ likelihood }) => likelihood > best - MAX_BEHIND);
}

/** Whether a candidate may be a code without a word for codes or for entering one: by its form, or behind {@link USED}. */
function isLikelyAlone({ code, base }: Candidate): boolean {
  return base + SIX_DIGITS >= LEAST || LONG_DIGITS.test(code);
}

/** Digits of other scripts, such as Arabic and Bengali, as ASCII: that is what forms accept. The length stays. */
function asciiDigits(text: string): string {
  return text.replace(/(?!\d)\p{Nd}/gu, (digit) => {
    const zero = digit.length === 1 ? ZEROS.findLast((one) => one <= digit) : undefined;
    return zero === undefined ? digit : String(digit.charCodeAt(0) - zero.charCodeAt(0));
  });
}

/** The zeros of the scripts whose digits are one code unit; the others follow them. */
const ZEROS = Array.from(
  '\u0660\u06f0\u07c0\u0966\u09e6\u0a66\u0ae6\u0b66\u0be6\u0c66\u0ce6\u0d66\u0de6\u0e50\u0ed0\u0f20\u1040\u1090' +
    '\u17e0\u1810\u1946\u19d0\u1a80\u1a90\u1b50\u1bb0\u1c40\u1c50\ua620\ua8d0\ua900\ua9d0\ua9f0\uaa50\uabf0\uff10',
);

function findSpans(text: string, pattern: RegExp): Span[] {
  const spans: Span[] = [];
  for (const { index, 0: word } of text.matchAll(pattern)) {
    spans.push({ at: index, end: index + word.length });
    if (spans.length === MAX_FOUND) break;
  }
  return spans;
}

/** Returns the words for codes that are of goods, customers, errors and the like, with what says so: `product code`, `code postal`. */
function findOtherCodes(text: string, named: readonly Span[]): Span[] {
  return named.flatMap(({ at, end }) => {
    if (OTHER_BEFORE.test(text.slice(Math.max(0, at - MAX_OTHER), at))) return [{ at, end }];
    const word = text.slice(at, end + MAX_OTHER);
    const behind = OTHER_BEHIND.exec(word);
    return behind === null || behind[0].length <= end - at ? [] : [{ at, end: at + behind[0].length }];
  });
}

function rateCandidate(
  { code, at, end, base, isLoose, needsName }: Candidate,
  { text, keywords, verbs, others, isAboutCodes, asksForAction }: Surroundings,
): number {
  if (/\p{L}/u.test(code) && OFFER.test(sentenceAt(text, at, end))) return 0;
  const keyword = nearness({ at, end }, keywords, text);
  const previous = before(at, keywords);
  const between = previous === null || at - previous.end > MAX_DIRECT ? null : text.slice(previous.end, at);
  const isEntered =
    (isAboutCodes || asksForAction || !/^\d{1,5}$/.test(code)) && isEnteredHere({ code, at, end }, verbs, text);
  const isAnnounced =
    asksForAction &&
    /^\d{5,8}$/.test(code) &&
    ANNOUNCED.test(text.slice(Math.max(0, at - MAX_DIRECT), at)) &&
    ANNOUNCED_END.test(text.slice(end, end + 4));
  // `Codice di verifica: 482.913`; a year needs the word itself.
  const isNamed =
    between !== null &&
    (NAMED.test(between) ||
      (IS_LETTERS.test(code) && needsName && between.trim() === '') ||
      (needsName && code.length > YEAR_LENGTH && INTRODUCED.test(between)));
  const isDirect = isNamed || (between !== null && !needsName && DIRECT.test(between)) || isEntered;
  if ((isLoose || needsName) && !(IS_LETTERS.test(code) ? isNamed : isDirect)) return 0;
  // Another label before the number, in the same paragraph: `order 4711`.
  const label = before(at, others);
  const distance = label === null ? REACH_BEHIND : at - label.end;
  const isLabeled = distance < REACH_BEHIND && !text.slice(at - distance, at).includes('\n\n');
  const behind = text.slice(at - distance, at);
  const isSpent = OWN_NUMBER.test(behind) || (CURRENCY_SIGN.test(text[at - distance - 1] ?? '') && AMOUNT.test(behind));
  const other = isLabeled && !isSpent ? 1 - distance / REACH_BEHIND : 0;
  if (isLabeled && !isSpent && distance <= LABEL_REACH && (label?.end ?? 0) > (previous?.end ?? 0)) return 0;
  const near = Math.max(keyword, isEntered ? ENTERED : 0);
  const beside = near > 0 ? 0.35 + 0.45 * near : isAnnounced ? ANNOUNCED_WEIGHT : isAboutCodes && base > 0 ? 0.15 : 0;
  const against = (other > keyword ? 0.6 : other > 0 ? 0.1 : 0) + (isSpentCode({ at, end }, text) ? OUTLIVED : 0);
  const shape = /^\d{6}$/.test(code) ? SIX_DIGITS : 0;
  return Math.round(100 * Math.max(0, Math.min(1, base + beside + shape + (isDirect ? 0.1 : 0) - against))) / 100;
}

/** The label has a number of its own: `for the account ending 8842: 317706`. */
const OWN_NUMBER = /^[^\p{L}\p{N}]{0,3}\d{2,12}\s{0,2}[:：]\s{0,3}$/u;
const CURRENCY_SIGN = /[$€£¥]/;
/** `$1,250.00 to Ann is 904177` */
const AMOUNT = /^\s?\d[\d.,]{0,12} \p{L}/u;
/** `Here is your key: 884 102` in mail about signing in. */
const ANNOUNCED = /\p{L}[^\p{L}\p{N}]{0,2}[:：]\s{0,3}$/u;
const ANNOUNCED_END = /^\s{0,2}(?:[.,;!。]|\n|$)/u;
/** What the usual number of digits counts. */
const SIX_DIGITS = 0.05;
function isSpentCode({ at, end }: Span, text: string): boolean {
  return (
    SPENT_BEFORE.test(text.slice(Math.max(0, at - REACH_BEFORE), at)) ||
    SPENT_BEHIND.test(text.slice(end, end + REACH_BEFORE))
  );
}

/** What it counts that a code is said to be an old one: another one comes first, an only one stays. */
const OUTLIVED = 0.3;
/** What it counts, and what a word for entering counts of a word for codes. */
const ANNOUNCED_WEIGHT = 0.3;
const ENTERED = 0.4;

/** Whether a text asks to enter what is there: `Enter KQ7-RM2`, `KQ7-RM2 girin`. */
function isEnteredHere({ code, at, end }: Span & { code: string }, verbs: readonly Span[], text: string): boolean {
  const verb = before(at, verbs);
  if (verb !== null && at - verb.end <= MAX_DIRECT && DIRECT.test(text.slice(verb.end, at))) return true;
  if (verb !== null && at - verb.end <= MAX_INTRODUCTION && INTRODUCED.test(text.slice(verb.end, at))) return true;
  if (LONG_DIGITS.test(code) && USED.test(text.slice(Math.max(0, at - MAX_DIRECT), at))) return true;
  const next = verbs.find((span) => span.at >= end);
  return (
    next !== undefined &&
    next.at - end <= MAX_DIRECT &&
    /^[^\p{L}\p{N}]*(?:\p{L}{1,9}\s?)?$/u.test(text.slice(end, next.at))
  );
}

function sentenceAt(text: string, at: number, end: number): string {
  const head =
    text
      .slice(Math.max(0, at - MAX_SENTENCE), at)
      .split(/[.!?](?=\s)|[。！？\n]/u)
      .at(-1) ?? '';
  const tail = text.slice(end, end + MAX_SENTENCE).split(/[.!?](?=\s|$)|[。！？\n]/u, 1)[0] ?? '';
  return head + tail;
}

/** Where the candidates of a text are. */
interface Surroundings {
  text: string;
  keywords: readonly Span[];
  /** words that ask to enter something */
  verbs: readonly Span[];
  others: readonly Span[];
  isAboutCodes: boolean;
  /** whether the subject asks to confirm or to sign in */
  asksForAction: boolean;
}

/** Maximum characters between a word for codes and a code that is named by it, and between another label and its number. */
const MAX_DIRECT = 24;
const LABEL_REACH = 25;

const IS_LETTERS = /^[A-Z-]+$/;
const LONG_DIGITS = /^\d{5,8}$/;
/** `Copy this into the app:` */
const INTRODUCED = /^[^.!?。\p{N}]*[:：]\s*$/u;
const MAX_INTRODUCTION = 48;

/** The last span that ends before the position; null if there is none. Spans are sorted. */
function before(at: number, spans: readonly Span[]): Span | null {
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((spans[middle]?.end ?? 0) <= at) low = middle + 1;
    else high = middle;
  }
  return spans[low - 1] ?? null;
}

/** Returns 1 for an adjacent span, falling to 0 at the maximum distance. Spans are sorted. One behind the end of a sentence that names another number is not near. */
function nearness({ at, end }: Span, spans: readonly Span[], text: string): number {
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((spans[middle]?.at ?? 0) < at) low = middle + 1;
    else high = middle;
  }
  const [previous, next] = [spans[low - 1], spans[low]];
  const isFar = previous === undefined || isSentencesBehind(text.slice(Math.max(previous.end, at - REACH_BEHIND), at));
  const behind = isFar ? 0 : 1 - (at - previous.end) / REACH_BEHIND;
  const isApart =
    next !== undefined &&
    SENTENCE_END.test(text.slice(end, Math.min(next.at, end + REACH_BEFORE))) &&
    NAMES_NUMBER.test(text.slice(next.end, next.end + REACH_BEFORE));
  const before = next === undefined || isApart ? 0 : 1 - (next.at - end) / REACH_BEFORE;
  return Math.max(0, Math.min(1, behind), Math.min(1, before));
}

/** Whether another sentence is between a word for codes and a number in the same line. */
function isSentencesBehind(between: string): boolean {
  return !between.includes('\n') && between.split(SENTENCE_END).length > MAX_SENTENCES_BETWEEN;
}

/** Pieces of two sentences. */
const MAX_SENTENCES_BETWEEN = 2;

/** A link in an email. */
interface ExtractedLink {
  /** http, https or mailto */
  url: string;
  /** the link's text; null for a URL in plain text */
  text: string | null;
  foundIn: ('text' | 'html' | 'header')[];
  /** whether it unsubscribes */
  isUnsubscribe: boolean;
}

/** Maximum characters of a line of plain text, and of a URL. */
const MAX_LINE = 4_000;
const MAX_URL = 8_000;
const MAX_LINKS = 100;

const UNSUBSCRIBE =
  /unsubscri|opt[-_ ]?out|abmeld|abbestell|désabonn|desabonn|désinscri|darse de baja|cancelar (?:la )?suscripci|descadastr|disiscri|annulla (?:l.)?iscrizione|afmeld|uitschrijv|wypis|odhl[aá]s|avregistr|отпис|配信停止|退订|退訂|取消订阅|수신\s?거부|manage[-_ ]preferences|email[-_ ]preferences/i;
/** Actions that such emails ask for. */
const ACTION =
  /verif|confirm|activat|reset|magic|sign[-_ ]?in|log[-_ ]?in|accept|invit|join|complete|continue|bestätig|aktivier|zurücksetz|anmelden|einlad|vérifi|activer|réinitialis|connexion|verificar|activar|restablecer|iniciar sesi|attiva|accedi|bevestig|activeer|bekräft|bekræft|bekreft|vahvista|doğrula|etkinleştir|sıfırla|επιβεβαί|επαλήθ|reimposta|conferma|redefinir|wachtwoord|återställ|nulstil|potwierd|aktywuj|подтверд|активир|войти|確認|認証|验证|确认|登录|重置|激活|驗證|登入|再設定|재설정|로그인|potvr[dzď]|(?<!\p{L})acc?[eè]s{0,2}o?(?!\p{L})|inlog|aanmeld|autenti[ck]|autor[iy][zs]|uwierzytel|přihl[aá]s|přihlášen|prihl[aá]s|belép|bejelentkez|giriş|вход|вхід|авториз|כניסה|دخول|登陆|本人|xác (?:minh|nhận)|đặt lại|تأكيد|إعادة تعيين|אימות|איפוס|인증|확인/iu;
const ASIDE =
  /privacy|terms|imprint|impressum|datenschutz|help|support|contact|facebook|twitter|instagram|linkedin|youtube|view (?:in|online)/i;

const finder = new LinkifyIt({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false, urlAuth: true })
  .add('ftp:', null)
  .add('//', null);

/**
 * Returns the links of an email, most likely first, unsubscribe links last; `listUnsubscribe` is the value of that header field (RFC 2369
 * §3.2), null when missing. Takes linear time.
 */
function extractLinks({
  text,
  outline,
  listUnsubscribe,
}: {
  text: string;
  outline: HtmlOutline;
  listUnsubscribe: string | null;
}): ExtractedLink[] {
  const found = new Map<string, ExtractedLink>();
  const add = (raw: string, words: string | null, source: ExtractedLink['foundIn'][number]) => {
    const url = readUrl(raw);
    if (url === null) return;
    const isUnsubscribe = source === 'header' || UNSUBSCRIBE.test(words ?? '') || UNSUBSCRIBE.test(url);
    const known = found.get(url);
    if (known === undefined) found.set(url, { url, text: words, foundIn: [source], isUnsubscribe });
    else {
      if (!known.foundIn.includes(source)) known.foundIn.push(source);
      known.text ??= words;
      known.isUnsubscribe ||= isUnsubscribe;
    }
  };
  for (const link of outline.links) add(link.href, link.text === '' ? null : link.text, 'html');
  for (const line of linesOf(text)) for (const { url } of finder.match(line) ?? []) add(url, null, 'text');
  for (const [, url = ''] of (listUnsubscribe ?? '').slice(0, MAX_URL).matchAll(/<([^<>]+)>/g))
    add(url, null, 'header');
  return [...found.values()].toSorted((a, b) => rateLink(b) - rateLink(a)).slice(0, MAX_LINKS);
}

/** Splits lines into pieces, because the link search is not linear. */
function* linesOf(text: string): Generator<string> {
  for (const line of text.split('\n')) if (line.includes(':')) yield line.slice(0, MAX_LINE);
}

function readUrl(raw: string): string | null {
  const text = raw.trim();
  if (text.length > MAX_URL || !/^(?:https?|mailto):/i.test(text)) return null;
  return URL.parse(text)?.href ?? null;
}

function rateLink({ url, text, isUnsubscribe, foundIn }: ExtractedLink): number {
  if (isUnsubscribe) return -10;
  const words = `${text ?? ''} ${url}`;
  return (
    (ACTION.test(words) ? 4 : 0) +
    // A token that is specific to this email.
    (/[A-Za-z0-9_-]{16}/.test(url.slice(8)) ? 1 : 0) +
    (foundIn.length > 1 ? 0.5 : 0) -
    (ASIDE.test(words) ? 3 : 0) -
    (url.startsWith('mailto:') ? 2 : 0)
  );
}

/** The visible text and the links of an HTML body, approximately. */
interface HtmlOutline {
  /** the visible text, each block on its own line */
  text: string;
  links: { href: string; text: string }[];
}

/** Maximum characters of a link's text. */
const MAX_LINK_TEXT = 200;
const MAX_OUTLINE_LINKS = 2_000;
/** Maximum nesting; deeper elements are ignored. The parser's time grows with the depth. */
const MAX_DEPTH = 500;

/** Reads an HTML body in one pass; never throws. */
function readHtmlOutline(html: string): HtmlOutline {
  const pieces: string[] = [];
  const links: HtmlOutline['links'] = [];
  let unseen = 0;
  let depth = 0;
  let link: { href: string; text: string } | null = null;

  const part = (by: ' ' | '\n') => {
    if (pieces.at(-1) !== '\n') pieces.push(by);
  };
  const endLink = () => {
    if (link !== null && links.length < MAX_OUTLINE_LINKS) links.push({ ...link, text: shortened(link.text) });
    link = null;
  };
  const parser = new Parser({
    onopentag(name, attributes) {
      if (++depth > MAX_DEPTH) return parser.pause();
      if (UNSEEN_ELEMENTS.has(name)) unseen++;
      if (!INLINE_ELEMENTS.has(name)) part(name === 'td' || name === 'th' ? ' ' : '\n');
      if (name === 'a' || name === 'area') {
        endLink();
        if (attributes['href'] !== undefined)
          link = { href: attributes['href'], text: attributes['aria-label'] ?? attributes['title'] ?? '' };
        if (link !== null && name === 'a') link.text = '';
      } else if (name === 'img' && link !== null) addText(link, ` ${attributes['alt'] ?? ''} `);
    },
    ontext(text) {
      if (unseen > 0) return;
      pieces.push(text.replace(/[\r\n\t]+/g, ' '));
      if (link !== null) addText(link, text);
    },
    onclosetag(name) {
      depth--;
      if (UNSEEN_ELEMENTS.has(name) && unseen > 0) unseen--;
      if (name === 'a' || name === 'area') endLink();
      else if (!INLINE_ELEMENTS.has(name) && name !== 'td' && name !== 'th') part('\n');
    },
  });
  parser.end(html);
  endLink();
  return { text: pieces.join(''), links };
}

function addText(link: { text: string }, text: string): void {
  if (link.text.length < 4 * MAX_LINK_TEXT) link.text += text.slice(0, MAX_LINK_TEXT);
}

function shortened(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, MAX_LINK_TEXT);
}
