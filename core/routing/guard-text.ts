import { canonicalDomainName } from '../domains/domain-name.ts';

/** Maximum characters of a text; more than all the parts of a message that rules read. */
const MAX_FOLDED_LENGTH = 300_000;

/**
 * Returns the text in the form that rules compare: compatibility characters replaced, case folded (Unicode §3.13 D147, as near as
 * JavaScript comes), invisible characters removed, white space collapsed. Letters of other scripts that look alike stay different.
 */
export function foldText(text: string): string {
  return (
    text
      .slice(0, MAX_FOLDED_LENGTH)
      .normalize('NFKC')
      // Some characters expand to eighteen.
      .slice(0, MAX_FOLDED_LENGTH)
      .replace(/\p{Default_Ignorable_Code_Point}+/gu, '')
      // Upper case first, so that ß equals ss and both small sigmas are equal.
      .toUpperCase()
      .toLowerCase()
      .replaceAll('ς', 'σ')
      .normalize('NFKC')
      .replace(/\s+/g, ' ')
      .trim()
  );
}

/** Returns an address in the form that rules compare: lower case, with its domain in A-labels if it is valid. */
export function foldAddress(address: string): string {
  const lower = address.trim().normalize('NFC').toLowerCase();
  const at = lower.lastIndexOf('@');
  const domain = at < 0 ? null : canonicalDomainName(lower.slice(at + 1));
  return domain === null ? lower : `${lower.slice(0, at)}@${domain}`;
}

/** Returns the domain of a folded address; null when it has none. */
export function domainOfAddress(folded: string): string | null {
  const at = folded.lastIndexOf('@');
  return at < 0 ? null : folded.slice(at + 1);
}
