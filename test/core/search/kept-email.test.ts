import { expect, test } from 'vitest';
import type { WordSource } from '../../../core/search/email-terms.ts';
import { KeptEmail } from '../../../core/search/kept-email.ts';
import { parseSearch } from '../../../core/search/search-query.ts';
import { withStems } from '../../../core/search/stemmed-search.ts';
import { matchesSource, type WordQuery, wordQuery } from '../../../core/search/word-query.ts';
import { seededRandom } from '../../support/rows/thread-mail.ts';

const WORDS = 'a an ann anna rent rental renting über straße 東京 京都 привет 𐐷𐐷 12 12:30 x.test @ # o’brien'.split(
  ' ',
);
const NOW = new Date('2026-01-01T00:00:00Z');

test.each(Array.from({ length: 60 }, (_, seed) => seed))(
  'an email that is kept matches as its text does, whatever it was asked before %i',
  (seed) => {
    const random = seededRandom(seed + 1);
    const source = someSource(random);
    const kept = new KeptEmail(source);
    for (let count = 0; count < 60; count++) {
      const query = someQuery(random);
      const match = kept.match(query);
      const isPhrase = [...query.wanted, ...query.unwanted].some(({ words }) => words.length > 1);
      const about = JSON.stringify({ source, query });
      if (match === 'unsure') expect(isPhrase, about).toBe(true);
      else expect(match === 'yes', about).toBe(matchesSource(query, source));
    }
  },
);

test('an email that was split into words takes less memory than its text', () => {
  const kept = new KeptEmail({ ...someSource(seededRandom(1)), text: 'again and again '.repeat(500) });
  const before = kept.bytes;
  expect(before).toBeGreaterThan(8_000);
  expect(kept.match(wordQuery(parseSearch('nothing', NOW)))).toBe('no');
  expect(kept.bytes).toBe(before);
  expect(kept.match(wordQuery(parseSearch('again', NOW)))).toBe('yes');
  expect(kept.bytes).toBeLessThan(1_000);
});

function someSource(random: () => number): WordSource {
  const text = (most: number) =>
    Array.from({ length: Math.floor(random() * most) }, () => WORDS[Math.floor(random() * WORDS.length)]).join(' ');
  return {
    subject: text(4),
    fromText: text(3),
    fromAddress: random() < 0.5 ? 'ann@x.test' : '',
    recipientTexts: [text(3), text(3)],
    recipients: ['bob@y.test', text(2)],
    ownAddress: 'own@home.test',
    text: random() < 0.8 ? text(30) : null,
    html: random() < 0.5 ? `<p>${text(9)}</p>` : null,
    hasAttachments: random() < 0.3,
  };
}

function someQuery(random: () => number): WordQuery {
  const pick = (items: readonly string[]) => items[Math.floor(random() * items.length)] ?? '';
  const terms = Array.from({ length: 1 + Math.floor(random() * 3) }, () => {
    const words = Array.from({ length: 1 + Math.floor(random() * random() * 4) }, () => pick(WORDS)).join(' ');
    const operator = pick(['', '', 'from:', 'to:', 'subject:']);
    const one = pick([`${operator}"${words}"`, `${operator}${pick(WORDS)}`, 'domain:x.test', 'has:attachment']);
    return `${random() < 0.25 ? '-' : ''}${one}`;
  });
  const parsed = parseSearch(terms.join(' ').replaceAll(/(from|to|subject):"?[@#]?"?(?= |$)/g, ''), NOW);
  return wordQuery(random() < 0.5 ? parsed : withStems(parsed, (word) => word.replace(/(al|ing|a)$/, '')));
}
