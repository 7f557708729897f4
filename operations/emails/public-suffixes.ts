import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { domainToUnicode } from 'node:url';
import type { TopLevelDomains } from '../../core/sending/text-links.ts';
import { type PublicSuffixes, readPublicSuffixes } from '../../core/shared/registrable-domain.ts';

const require = createRequire(import.meta.url);
let loaded: PublicSuffixes | null = null;

/**
 * Returns the Public Suffix List. It is that of haraka-tld, which the SMTP server contains: its code is not used here, because it logs to the
 * console and downloads new lists. Read once, when first needed: 14 ms.
 */
export function publicSuffixes(): PublicSuffixes {
  loaded ??= readPublicSuffixes(readFileSync(require.resolve('haraka-tld/etc/public-suffix-list'), 'utf8'));
  return loaded;
}

let topLevel: TopLevelDomains | null = null;

/** Returns all top-level domains: those of IANA's list in haraka-tld, and of the Public Suffix List. Read once, when first needed. */
export function topLevelDomains(): TopLevelDomains {
  topLevel ??= readTopLevel();
  return topLevel;
}

function readTopLevel(): TopLevelDomains {
  const listed = readFileSync(require.resolve('haraka-tld/etc/top-level-tlds'), 'utf8')
    .split('\n')
    .filter((line) => /^[\w-]+$/.test(line))
    .map((line) => line.toLowerCase());
  const suffixes = [...publicSuffixes()].map((rule) => rule.slice(rule.lastIndexOf('.') + 1).replace(/^!/, ''));
  return new Set(
    [...listed, ...suffixes].flatMap((name) => (name.startsWith('xn--') ? [name, domainToUnicode(name)] : name)),
  );
}
