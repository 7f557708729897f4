import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
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
