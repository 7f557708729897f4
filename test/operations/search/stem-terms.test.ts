import { describe, expect, test } from 'vitest';
import { parseSearch } from '../../../core/search/search-query.ts';
import { splitWords } from '../../../core/search/search-words.ts';
import { findStem, STEM_LANGUAGES, type StemLanguage } from '../../../core/search/word-stem.ts';
import { loadStemmer, stemTerms } from '../../../operations/search/stem-terms.ts';

const NOW = new Date('2026-01-01T00:00:00Z');

/** Forms of one word, and a word that is none of them. */
const FORMS: Record<StemLanguage, [forms: string, other: string]> = {
  danish: ['regning regninger regningen', 'regnvejr'],
  dutch: ['rekening rekeningen', 'rekenkamer'],
  english: ['invoice invoices invoicing invoiced', 'invoke'],
  finnish: ['lasku laskut laskun', 'lasi'],
  french: ['facture factures facturer', 'facteur'],
  german: ['Rechnung Rechnungen', 'Rechner'],
  hungarian: ['számla számlák', 'számol'],
  italian: ['fattura fatture', 'fattore'],
  norwegian: ['regning regninger', 'regnvær'],
  portuguese: ['fatura faturas', 'fato'],
  romanian: ['factură facturi', 'fapt'],
  russian: ['счета счетами', 'счастье'],
  spanish: ['factura facturas', 'factor'],
  swedish: ['faktura fakturor', 'faktum'],
};

describe.each(STEM_LANGUAGES)('in %s', (language) => {
  const [forms, other] = FORMS[language];

  test('a word finds its forms, as mail has them without accents, and no other word', async () => {
    const stemmer = await loadStemmer(language);
    const words = splitWords(forms);
    for (const word of words) {
      const stem = findStem(word, stemmer);
      expect(
        words.filter((form) => form.startsWith(stem?.start ?? '-') && stem?.has(form)),
        word,
      ).toEqual(words);
      expect(
        splitWords(other).filter((one) => stem?.has(one)),
        word,
      ).toEqual([]);
    }
  });

  test('any text has a stem or none', async () => {
    const stemmer = await loadStemmer(language);
    for (const word of ['a', '東', '𐐷𐐷𐐷𐐷', '\ufffd', '0'.repeat(64), 'constructor', '__proto__', 'ïïïï', 'x\u0300'])
      expect(() => findStem(word, stemmer)?.has(word), word).not.toThrow();
  });
});

test('only single words outside quotes have a stem, and neither names nor parts of an address', async () => {
  const terms = await stemTerms(
    parseSearch('invoicing "invoicing" subject:invoicing -invoicing from:invoicing to:invoicing a.invoicing', NOW),
    'english',
  );
  expect(terms.map((term) => term.kind === 'words' && term.stem?.start)).toEqual([
    'invoi',
    undefined,
    'invoi',
    'invoi',
    undefined,
    undefined,
    undefined,
  ]);
});

test('a search without a language stays as it is', async () => {
  const terms = parseSearch('invoicing', NOW);
  expect(await stemTerms(terms, undefined)).toBe(terms);
});

test('words that have too little in common with their stem have none', async () => {
  const stemmer = await loadStemmer('english');
  expect(['is', 'as', 'dying'].map((word) => findStem(word, stemmer))).toEqual([null, null, null]);
});
