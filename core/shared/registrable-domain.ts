import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';

/** Rules of the Public Suffix List (publicsuffix.org/list), in ASCII: `com`, `*.ck`, `!www.ck`. */
export type PublicSuffixes = ReadonlySet<string>;

/** Parses the text of the list. */
export function readPublicSuffixes(text: string): PublicSuffixes {
  const rules = new Set<string>();
  for (const line of text.split('\n')) {
    const rule = line.split(/\s/, 1)[0] ?? '';
    if (rule !== '' && !rule.startsWith('//')) rules.add(isAscii(rule) ? rule.toLowerCase() : inAscii(rule));
  }
  return rules;
}

function inAscii(rule: string): string {
  const [, mark = '', name = ''] = /^(!|\*\.)?(.*)$/.exec(rule) ?? [];
  return mark + domainToASCII(name);
}

function isAscii(text: string): boolean {
  return /^[\x21-\x7e]*$/.test(text);
}

/**
 * Returns the domain that an organization registered, for a host name in ASCII and lower case: `mail.shop.co.uk` gives `shop.co.uk`. An IP
 * address is returned as it is; null when the name is a public suffix. A last label that the list does not have is a suffix, too.
 */
export function registrableDomain(host: string, suffixes: PublicSuffixes): string | null {
  const name = host.replace(/\.$/, '');
  if (isIP(name.replace(/^\[|\]$/g, '')) !== 0) return name;
  const labels = name.split('.');
  if (labels.some((label) => label === '') || labels.length > MAX_LABELS) return null;
  for (let at = 0; at < labels.length; at++) {
    const suffix = labels.slice(at).join('.');
    if (suffixes.has(`!${suffix}`)) return suffix;
    const isWild = at + 1 < labels.length && suffixes.has(`*.${labels.slice(at + 1).join('.')}`);
    const isLast = at === labels.length - 1;
    if (isLast || isWild || suffixes.has(suffix)) return at === 0 ? null : labels.slice(at - 1).join('.');
  }
  return null;
}

/** Returns whether a host name ends with a label that the list has. */
export function hasKnownSuffix(host: string, suffixes: PublicSuffixes): boolean {
  const last = host.replace(/\.$/, '').split('.').at(-1) ?? '';
  return suffixes.has(last) || suffixes.has(`*.${last}`);
}

const MAX_LABELS = 127;
