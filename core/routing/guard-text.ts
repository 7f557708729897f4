import { canonicalDomainName } from '../domains/domain-name.ts';

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
