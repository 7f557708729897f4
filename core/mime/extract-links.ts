import LinkifyIt from 'linkify-it';
import type { HtmlOutline } from '../html/html-outline.ts';

/** A link in an email. */
export interface ExtractedLink {
  /** http, https or mailto */
  url: string;
  /** what is clicked; null where the URL itself stands in the text */
  text: string | null;
  foundIn: ('text' | 'html' | 'header')[];
  /** ends a subscription */
  isUnsubscribe: boolean;
}

/** Characters of the plain text and of one of its lines that are looked at, and of a URL. */
const MAX_TEXT = 100_000;
const MAX_LINE = 4_000;
const MAX_URL = 8_000;
const MAX_LINKS = 100;

const UNSUBSCRIBE =
  /unsubscri|opt[-_ ]?out|abmeld|abbestell|désabonn|desabonn|désinscri|darse de baja|cancelar (?:la )?suscripci|descadastr|disiscri|annulla (?:l.)?iscrizione|afmeld|uitschrijv|wypis|odhl[aá]s|avregistr|отпис|配信停止|退订|退訂|取消订阅|수신\s?거부|manage[-_ ]preferences|email[-_ ]preferences/i;
/** What mail of the kind that is waited for asks to do. */
const ACTION =
  /verif|confirm|activat|reset|magic|sign[-_ ]?in|log[-_ ]?in|accept|invit|join|complete|continue|bestätig|aktivier|zurücksetz|anmelden|einlad|vérifi|activer|réinitialis|connexion|verificar|activar|restablecer|iniciar sesi|attiva|accedi|bevestig|activeer|potwierd|aktywuj|подтверд|активир|войти|確認|認証|验证|确认|登录|인증|확인/i;
const ASIDE =
  /privacy|terms|imprint|impressum|datenschutz|help|support|contact|facebook|twitter|instagram|linkedin|youtube|view (?:in|online)/i;

const finder = new LinkifyIt({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false }).add('ftp:', null).add('//', null);

/**
 * The links of an email, likeliest to be meant first, those that unsubscribe last; `listUnsubscribe` is the value of that header field
 * (RFC 2369 §3.2), null when there is none. Takes time in proportion to what it is given.
 */
export function extractLinks({
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
  return [...found.values()].toSorted((a, b) => weightOf(b) - weightOf(a)).slice(0, MAX_LINKS);
}

/** Pieces of lines: the finder is not linear in the length of what it is given. */
function* linesOf(text: string): Generator<string> {
  for (const line of text.slice(0, MAX_TEXT).split('\n')) if (line.includes(':')) yield line.slice(0, MAX_LINE);
}

function readUrl(raw: string): string | null {
  const text = raw.trim();
  if (text.length > MAX_URL || !/^(?:https?|mailto):/i.test(text)) return null;
  return URL.parse(text)?.href ?? null;
}

function weightOf({ url, text, isUnsubscribe, foundIn }: ExtractedLink): number {
  if (isUnsubscribe) return -10;
  const words = `${text ?? ''} ${url}`;
  return (
    (ACTION.test(words) ? 4 : 0) +
    // What only this mail has: a token.
    (/[A-Za-z0-9_-]{16}/.test(url.slice(8)) ? 1 : 0) +
    (foundIn.length > 1 ? 0.5 : 0) -
    (ASIDE.test(words) ? 3 : 0) -
    (url.startsWith('mailto:') ? 2 : 0)
  );
}
