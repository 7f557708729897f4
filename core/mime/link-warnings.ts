import { isIP } from 'node:net';
import { domainToUnicode } from 'node:url';
import { resolveReferences } from '../html/visible-text.ts';
import { hasKnownSuffix, type PublicSuffixes, registrableDomain } from '../shared/registrable-domain.ts';
import { skeleton } from './lookalike.ts';

/** A link that misleads. Host names are in ASCII, where internationalized names begin with `xn--`. */
export interface LinkWarning {
  /** `link_text`: its text names another host than the one that it leads to; `lookalike_host`: the host imitates another name */
  kind: 'link_text' | 'lookalike_host';
  /** the host that a reader believes to see */
  shown: string;
  /** the host that the link leads to */
  actual: string;
}

/** Characters of HTML that are searched for links. */
export const MAX_HTML = 1_000_000;
/** Links that are examined. */
const MAX_LINKS = 10_000;
/** Characters of a link's text; an address is shorter. */
const MAX_TEXT = 2_000;
/** Warnings per message. */
export const MAX_LINK_WARNINGS = 20;

/**
 * Returns the links of an HTML body whose text is or contains a web address on another organization's domain than their target, and those
 * whose host imitates a name in Latin letters; each pair of hosts once. Redirects of mailing services are reported, too: they cannot be
 * told from deception. Linear, never throws.
 */
export function findLinkWarnings(html: string, suffixes: PublicSuffixes): LinkWarning[] {
  const found = new Map<string, LinkWarning>();
  const add = (warning: LinkWarning) => {
    if (found.size < MAX_LINK_WARNINGS) found.set(`${warning.kind} ${warning.shown} ${warning.actual}`, warning);
  };
  for (const { target, text } of readLinks(html.slice(0, MAX_HTML))) {
    const actual = readHost(target);
    if (actual === null) continue;
    const imitated = imitatedHost(actual);
    if (imitated !== null) add({ kind: 'lookalike_host', shown: imitated, actual });
    const shown = shownHost(text, suffixes);
    if (shown !== null && !isSameOrganization(shown, actual, suffixes)) add({ kind: 'link_text', shown, actual });
  }
  return [...found.values()];
}

interface HtmlLink {
  target: string;
  text: string;
}

/** Returns the targets and texts of links; a link within another one ends it, as in browsers. */
function readLinks(html: string): HtmlLink[] {
  const links: HtmlLink[] = [];
  let open: HtmlLink | null = null;
  let at = 0;
  while (at < html.length && links.length < MAX_LINKS) {
    const tag = html.indexOf('<', at);
    const end = tag === -1 ? html.length : tag;
    if (open !== null && open.text.length < MAX_TEXT) open.text += html.slice(at, Math.min(end, at + MAX_TEXT));
    if (tag === -1) break;
    if (html.startsWith('<!--', tag)) {
      const close = html.indexOf('-->', tag + 4);
      at = close === -1 ? html.length : close + 3;
      continue;
    }
    TAG.lastIndex = tag + 1;
    const name = TAG.exec(html);
    if (name === null) {
      if (open !== null) open.text += '<';
      at = tag + 1;
      continue;
    }
    const attributes = readAttributes(html, TAG.lastIndex);
    // A tag that does not end hides what follows.
    if (attributes === null) break;
    at = attributes.end;
    if (name[2]?.toLowerCase() !== 'a') continue;
    open = name[1] === '/' || attributes.href === null ? null : { target: attributes.href, text: '' };
    if (open !== null) links.push(open);
  }
  return links.map(({ target, text }) => ({ target: decoded(target), text: decoded(text) }));
}

const TAG = /(\/?)([a-z][^\s/>]{0,50})/iy;

/** Returns where a tag ends, and the first `href` in it, undecoded; null when the tag does not end. */
function readAttributes(html: string, from: number): { end: number; href: string | null } | null {
  let href: string | null = null;
  for (let at = from; at < html.length; ) {
    if (html[at] === '>') return { end: at + 1, href };
    ATTRIBUTE.lastIndex = at;
    const found = ATTRIBUTE.exec(html);
    if (found === null) {
      at++;
      continue;
    }
    const { name = '', quote = '', plain = '' } = found.groups ?? {};
    at = ATTRIBUTE.lastIndex;
    const close = quote === '' ? at : html.indexOf(quote, at);
    if (close === -1) return null;
    if (name.toLowerCase() === 'href') href ??= quote === '' ? plain : html.slice(at, close);
    if (quote !== '') at = close + 1;
  }
  return null;
}

/** A name, and what begins its value: a quotation mark, or the value itself. */
const ATTRIBUTE = /(?<name>[^\s/>=][^\s/>=]*)(?:\s*=\s*(?:(?<quote>["'])|(?<plain>[^\s>"'][^\s>]*))?)?/y;

function decoded(text: string): string {
  const named = text.replace(
    /&(period|colon|sol|commat|Tab|NewLine|shy);/g,
    (whole, name: string) => MARKS[name] ?? whole,
  );
  return resolveReferences(named);
}

/** References that belong into an address, which visible text hardly has. */
const MARKS: Readonly<Record<string, string>> = {
  period: '.',
  colon: ':',
  sol: '/',
  commat: '@',
  Tab: '\t',
  NewLine: '\n',
  shy: '\u00ad',
};

/** Returns the host of a web address in ASCII; null for other addresses. */
function readHost(address: string): string | null {
  // Browsers ignore white space around an address, and tabs and line ends within it.
  const text = address.trim();
  const url = URL.parse(text.startsWith('//') ? `https:${text}` : text);
  if (url === null || !/^https?:$/.test(url.protocol)) return null;
  return url.hostname.replace(/\.$/, '') || null;
}

/**
 * Returns the host that a link's text names; null if it names none. A host without `http://` or `www.` counts only if it is the whole text,
 * and not if it may be a file name.
 */
function shownHost(text: string, suffixes: PublicSuffixes): string | null {
  // Invisible characters are removed, which could divide a name.
  const visible = text.replace(/[\u00ad\u200b-\u200f\u2060\ufeff]/g, '').trim();
  const written = /(?:https?:\/\/|\bwww\.)[^\s<>"']{1,500}/i.exec(visible)?.[0];
  if (written !== undefined) return readHost(/^http/i.test(written) ? written : `https://${written}`);
  if (!/^[^\s@/?#]{1,253}(?:[/?#]\S*)?$/.test(visible) || !visible.includes('.')) return null;
  const host = readHost(`https://${visible}`);
  if (
    host === null ||
    isIP(host) !== 0 ||
    !hasKnownSuffix(host, suffixes) ||
    registrableDomain(host, suffixes) === null
  )
    return null;
  const isPath = /[/?#]/.test(visible);
  return !isPath && FILE_NAME.test(host) ? null : host;
}

/** Suffixes that are also endings of file names, and of names such as `ASP.NET`. */
const FILE_NAME = /^[^.]+\.(?:ai|app|bz|cc|do|in|md|mov|net|pl|pm|ps|py|rs|sh|so|st|zip)$/;

function isSameOrganization(one: string, other: string, suffixes: PublicSuffixes): boolean {
  const [first, second] = [registrableDomain(one, suffixes) ?? one, registrableDomain(other, suffixes) ?? other];
  return first === second;
}

/** Returns the name in Latin letters that an internationalized one looks like; null if it looks like none. */
function imitatedHost(host: string): string | null {
  if (!host.includes('xn--')) return null;
  const shown = domainToUnicode(host);
  // Accents alone are an honest name.
  if (!/[^\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}]/u.test(shown)) return null;
  const likeness = skeleton(shown);
  return /^[\x21-\x7e]+$/.test(likeness) ? likeness : null;
}
