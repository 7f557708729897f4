/** Where in an email something was found. */
export type ExtractSource = 'subject' | 'text' | 'html';

/** Something that looks like a code to be typed in once. */
export interface ExtractedCode {
  /** as it stands there; digits that stand apart are joined */
  code: string;
  foundIn: ExtractSource[];
  /** 0 to 1: how much speaks for it */
  likelihood: number;
}

/** Characters of each text that are looked at, and the codes that are told. */
const MAX_TEXT = 100_000;
const MAX_CODES = 10;
/** Words and candidates that are looked at. */
const MAX_FOUND = 1_000;
/** How far a word speaks for a code that stands behind it, or before it. Characters. */
const REACH_BEHIND = 100;
const REACH_BEFORE = 40;
/** Below it a candidate is dropped. */
const LEAST = 0.3;

/** Words for such codes; short ones only as words of their own, long ones also as ends of compounds. */
const KEYWORDS =
  /(?<![\p{L}\p{N}])(?:otp|pin|tan|mtan|2fa|mfa|cod|clave|senha|token|mã|parol|hasło|heslo|şifre)(?![\p{L}\p{N}])|(?:passcode|password|passwort|kennwort|codes?|kode[nr]?|kod[uy]?|kód|koodi|código|codigo|codice|mot de passe|contraseña|wachtwoord|lösenord|κωδικός|код|пароль|رمز|קוד|कोड|ओटीपी)(?![\p{L}])|验证码|驗證碼|校验码|动态码|認証|コード|確認番号|인증|코드/giu;
/** Phrases and words for numbers that are something else. */
const OTHERS =
  /(?:zip|post(?:al)?|promo|discount|coupon|voucher|gift|error|area|country|source|qr|dress|bar|status)[ -]?codes?|(?:^|[^\p{L}])(?:order|invoice|ticket|case|ref(?:erence)?|account|phone|tel|fax|call|order no|bestellung|rechnung|kunden(?:nummer)?|commande|facture|pedido|factura|p\.?o\.? box|suite|copyright|rfc|issue)(?![\p{L}])|[©#№$€£¥]/giu;
/** Words of letters and digits, parts of which hyphens join, with what touches them. */
const TOKEN = /[\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)*/gu;
const DIGITS_APART = /^[^\p{L}\p{N}]*(\d(?:[ \u00a0]\d){3,9})[^\p{L}\p{N}]*$/u;
const DIGITS_HALVED = /(?<![\p{L}\p{N}.,:/+-])\d{3} \d{3}(?![\p{L}\p{N}/-]|[.,:]\p{N})/gu;

interface Candidate {
  code: string;
  at: number;
  end: number;
  /** how much its own form says */
  base: number;
}

/** The codes in the texts of an email, likeliest first. Takes time in proportion to the texts. */
export function extractCodes(texts: readonly (readonly [source: ExtractSource, text: string])[]): ExtractedCode[] {
  const found = new Map<string, ExtractedCode>();
  // `Your code` may stand in the subject alone.
  const isAboutCodes = texts.some(([source, text]) => source === 'subject' && spansOf(text, KEYWORDS).length > 0);
  for (const [source, whole] of texts) {
    const text = whole.slice(0, MAX_TEXT);
    const others = spansOf(text, OTHERS);
    const keywords = spansOf(text, KEYWORDS).filter(
      (word) => !others.some((other) => other.at <= word.at && other.end >= word.end),
    );
    for (const candidate of candidatesOf(text)) {
      const likelihood = likelihoodOf(candidate, keywords, others, isAboutCodes);
      if (likelihood < LEAST) continue;
      const known = found.get(candidate.code);
      if (known === undefined) found.set(candidate.code, { code: candidate.code, foundIn: [source], likelihood });
      else {
        if (!known.foundIn.includes(source)) known.foundIn.push(source);
        known.likelihood = Math.max(known.likelihood, likelihood);
      }
    }
  }
  return [...found.values()].toSorted((a, b) => b.likelihood - a.likelihood).slice(0, MAX_CODES);
}

function spansOf(text: string, pattern: RegExp): Span[] {
  const spans: Span[] = [];
  for (const { index, 0: word } of text.matchAll(pattern)) {
    spans.push({ at: index, end: index + word.length });
    if (spans.length === MAX_FOUND) break;
  }
  return spans;
}

function candidatesOf(text: string): Candidate[] {
  const candidates: Candidate[] = [];
  let start = 0;
  for (const line of text.split('\n')) {
    if (!/\d/.test(line)) {
      start += line.length + 1;
      continue;
    }
    const apart = line.length < 200 ? DIGITS_APART.exec(line)?.[1] : undefined;
    if (apart !== undefined) {
      const at = start + line.indexOf(apart);
      candidates.push({ code: apart.replace(/\D/g, ''), at, end: at + apart.length, base: 0.45 });
    } else {
      const isAlone = line.trim().length <= 14;
      for (const match of line.matchAll(TOKEN)) {
        const base = baseOf(match[0], line, match.index);
        if (base === null) continue;
        const at = start + match.index;
        candidates.push({ code: match[0], at, end: at + match[0].length, base: base + (isAlone ? 0.2 : 0) });
      }
      for (const { index, 0: halves } of line.matchAll(DIGITS_HALVED)) {
        const at = start + index;
        candidates.push({ code: halves.replace(' ', ''), at, end: at + halves.length, base: 0.15 });
      }
    }
    start += line.length + 1;
    if (candidates.length > MAX_FOUND) break;
  }
  return candidates;
}

/** What the form of a token says, 0 when it is a code only beside a word for it; null: it is none. */
function baseOf(token: string, line: string, at: number): number | null {
  if (token.length < 4 || token.length > 14) return null;
  const before = line[at - 1] ?? ' ';
  const after = line[at + token.length] ?? ' ';
  const next = line[at + token.length + 1] ?? ' ';
  // Parts of addresses, amounts, times, versions, numbers of telephones.
  if (/[@/\\=&?%+$€£¥_~#.,:]/.test(before) && !(before === ':' && /\D/.test(line[at - 2] ?? ' '))) return null;
  if (/[@/\\=&%$€£¥_~]/.test(after) || (/[.,:]/.test(after) && /[\p{L}\p{N}]/u.test(next))) return null;
  if (/^\d+$/.test(token)) {
    if (token.length > 10) return null;
    if (/^(?:19|20)\d\d$/.test(token)) return 0;
    return token.length === 6 ? 0.2 : token.length <= 8 ? 0.1 : 0;
  }
  if (/^\d{3,5}-\d{3,5}$/.test(token)) return 0.15;
  // Of capitals and digits, or small letters and digits; never of both, as names of files and keys are.
  const isCode = /\d/.test(token) && (/^[A-Z0-9]+(?:-[A-Z0-9]+)*$/.test(token) || /^[a-z0-9]+$/.test(token));
  return isCode && (token.match(/\d/g)?.length ?? 0) >= 1 ? 0 : null;
}

function likelihoodOf(
  { at, end, base }: Candidate,
  keywords: readonly Span[],
  others: readonly Span[],
  isAboutCodes: boolean,
): number {
  const keyword = nearness(at, end, keywords);
  const other = nearness(at, end, others);
  const beside = keyword > 0 ? 0.35 + 0.45 * keyword : isAboutCodes && base > 0 ? 0.15 : 0;
  const against = other > keyword ? 0.6 : other > 0 ? 0.1 : 0;
  return Math.round(100 * Math.max(0, Math.min(1, base + beside - against))) / 100;
}

interface Span {
  at: number;
  end: number;
}

/** 1 for a span that touches, 0 where none is within reach. Spans are in their order. */
function nearness(at: number, end: number, spans: readonly Span[]): number {
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((spans[middle]?.at ?? 0) < at) low = middle + 1;
    else high = middle;
  }
  const [former, latter] = [spans[low - 1], spans[low]];
  const behind = former === undefined ? 0 : 1 - (at - former.end) / REACH_BEHIND;
  const before = latter === undefined ? 0 : 1 - (latter.at - end) / REACH_BEFORE;
  return Math.max(0, Math.min(1, behind), Math.min(1, before));
}
