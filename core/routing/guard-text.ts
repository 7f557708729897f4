import { canonicalDomainName } from '../domains/domain-name.ts';
import { sanitizeHtmlBody } from '../html/sanitize-html-body.ts';

/** Characters that rules look at of one text; more than the parts of a mail that are read for them have together. */
const MAX_FOLDED_LENGTH = 300_000;

/**
 * The text as rules compare it: compatibility characters as their plain ones, without case (Unicode §3.13 D147, as near as JavaScript
 * comes), without characters that do not show, white space as one space. Letters of other scripts that look alike stay different.
 */
export function foldText(text: string): string {
  return (
    text
      .slice(0, MAX_FOLDED_LENGTH)
      .normalize('NFKC')
      // Some characters stand for eighteen.
      .slice(0, MAX_FOLDED_LENGTH)
      .replace(/\p{Default_Ignorable_Code_Point}+/gu, '')
      // Upper case first: that makes ß and ss, and both small sigmas, one.
      .toUpperCase()
      .toLowerCase()
      .replaceAll('ς', 'σ')
      .normalize('NFKC')
      .replace(/\s+/g, ' ')
      .trim()
  );
}

/** An address as rules compare it: lower case, its domain in A-labels where it is one. */
export function foldAddress(address: string): string {
  const lower = address.trim().normalize('NFC').toLowerCase();
  const at = lower.lastIndexOf('@');
  const domain = at < 0 ? null : canonicalDomainName(lower.slice(at + 1));
  return domain === null ? lower : `${lower.slice(0, at)}@${domain}`;
}

/** The domain of a folded address; null when it has none. */
export function domainOfAddress(folded: string): string | null {
  const at = folded.lastIndexOf('@');
  return at < 0 ? null : folded.slice(at + 1);
}

/** The text that HTML shows, or most of it where the HTML is too complex; tags within words do not part them. */
export function textOfHtml(html: string): string {
  return (
    (sanitizeHtmlBody(html) ?? html)
      // The name is taken whole: one that could give letters back would be tried at every length, in quadratic time.
      .replace(/<(\/?[a-z0-9]*)(?![a-z0-9])[^<>]*(?:>|$)/gi, (_, tag: string) =>
        INLINE_ELEMENTS.has(tag.replace('/', '').toLowerCase()) ? '' : ' ',
      )
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&quot;', '"')
      .replaceAll('&amp;', '&')
  );
}

const INLINE_ELEMENTS = new Set(
  'a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd mark q s samp small span strike strong sub sup tt u var wbr'.split(
    ' ',
  ),
);
