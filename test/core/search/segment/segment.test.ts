import { describe, expect, test } from 'vitest';
import { emailTerms, PLACES } from '../../../../core/search/email-terms.ts';
import { parseSearch } from '../../../../core/search/search-query.ts';
import { openBlock } from '../../../../core/search/segment/block.ts';
import { SegmentBuilder, type SegmentEmail } from '../../../../core/search/segment/build-segment.ts';
import { DamagedSegment } from '../../../../core/search/segment/bytes.ts';
import { compareDocuments } from '../../../../core/search/segment/documents.ts';
import { matchSegment, neededBlocks } from '../../../../core/search/segment/match-segment.ts';
import { mergeSegments, readDocuments, type SegmentParts } from '../../../../core/search/segment/merge-segments.ts';
import { listPostings } from '../../../../core/search/segment/postings.ts';
import {
  decodeHead,
  type EncodedSegment,
  MAX_SEGMENT_DOCUMENTS,
  readBlock,
} from '../../../../core/search/segment/segment.ts';
import { matchesTerms, type WordQuery, wordQuery } from '../../../../core/search/word-query.ts';
import { seededRandom } from '../../../support/rows/thread-mail.ts';

const WORDS =
  'a an ann anna annalise b ba bar rent rental über straße 東京 京都 привет 𐐷𐐷 𐐷𐐸 12 12:30 x.test @ # o’brien'.split(
    ' ',
  );

describe('a segment finds exactly the defined matches', () => {
  test.each(Array.from({ length: 40 }, (_, seed) => seed))('for random emails and searches %i', (seed) => {
    const random = seededRandom(seed + 1);
    const emails = someEmails(random, 1 + Math.floor(random() * 150));
    const segment = finish(buildSegment(emails));
    for (let count = 0; count < 40; count++) {
      const query = someQuery(random);
      expect(matching(segment, emails, query), JSON.stringify(query)).toEqual(expected(emails, query));
    }
  });

  test.each(Array.from({ length: 30 }, (_, seed) => seed))('after a merge of others %i', (seed) => {
    const random = seededRandom(seed + 1001);
    const groups = Array.from({ length: 1 + Math.floor(random() * 5) }, (_, group) =>
      someEmails(random, 1 + Math.floor(random() * 60), `g${group}`),
    );
    const gone = new Set(groups.flat().flatMap(({ id }) => (random() < 0.3 ? [id] : [])));
    const stays = groups.flat().filter(({ id }) => !gone.has(id));
    const merged = finish(
      mergeSegments(
        groups.map((emails) => finish(buildSegment(emails))),
        (_, id) => gone.has(id),
      ),
    );
    if (stays.length === 0) return expect(merged).toBeNull();
    // The same bytes as if it had been built at once, so the words of the others are gone.
    const built = finish(buildSegment(stays));
    expect(merged).toEqual(built);
    expect(readDocuments(built).map(({ id }) => id)).toEqual(stays.toSorted(compareDocuments).map(({ id }) => id));
    for (let count = 0; count < 20; count++) {
      const query = someQuery(random);
      expect(matching(built, stays, query)).toEqual(expected(stays, query));
    }
  });

  test('for words of every email and of many blocks, by whole words and prefixes', () => {
    const emails = Array.from({ length: 3_000 }, (_, at) =>
      email(`e${at}`, at, `everywhere ${at % 2 === 0 ? 'even' : 'odd'} w${at} ${'filler'.repeat(3)}${at % 700}`),
    );
    const segment = finish(buildSegment(emails));
    expect(segment.blocks.length).toBeGreaterThan(1);
    for (const text of [
      'everywhere',
      'ev',
      '"everywhere"',
      'even',
      'odd even',
      'w29',
      '"w2999"',
      'everywhere -odd',
      '-w1',
      'f',
    ])
      expect(matching(segment, emails, wordQuery(parseSearch(text, new Date())))).toEqual(
        expected(emails, wordQuery(parseSearch(text, new Date()))),
      );
  });

  test('a segment holds exactly the words of its emails, with how often each has them in a place', () => {
    const random = seededRandom(77);
    const many = (count: number, vocabulary: number) =>
      Array.from({ length: count }, () => `v${Math.floor(random() * vocabulary).toString(36)}`).join(' ');
    const texts = [
      `${'x'.repeat(64)} ${'x'.repeat(65)} ${'x'.repeat(200)}y end`,
      `${'x'.repeat(64)} ${'x'.repeat(65)} 𐐷${'é'.repeat(64)} ${'y'.repeat(63)}𐐷𐐷 end`,
      'one-two_three4 5.6.7 o’brien STRASSE straße',
      many(900, 5_000),
      many(4_000, 30_000),
      `${many(4_000, 900)} é`,
      'a '.repeat(16_200),
      `${'é '.repeat(16_100)}last`,
      ...Array.from({ length: 40 }, () => many(200, 3_000)),
    ];
    const emails = texts.map((text, at) => email(`e${at}`, at, text));
    emails.push(...someEmails(random, 20, 's').map((one) => ({ ...one, at: texts.length + one.at })));
    expect(postingsIn(finish(buildSegment(emails)))).toEqual(readPostings(emails));
  });

  test('a segment without emails, or with too many, is refused', () => {
    expect(() => finish(buildSegment([]))).toThrow(RangeError);
    const one = email('e', 0, '');
    expect(() => finish(buildSegment(Array.from({ length: MAX_SEGMENT_DOCUMENTS + 1 }, () => one)))).toThrow(
      RangeError,
    );
  });
});

describe('damage is detected', () => {
  const emails = someEmails(seededRandom(5), 100);
  const segment = finish(buildSegment(emails));
  const read = (parts: SegmentParts) => {
    readDocuments(parts);
    for (const block of parts.blocks) openBlock(block);
  };

  test.each(['head', 'ids', 'table', 'blocks'] as const)('of any bit of the %s', (part) => {
    const bytes = part === 'blocks' ? segment.blocks[0] : segment[part];
    for (let at = 0; at < (bytes?.length ?? 0); at += 1 + Math.floor((bytes?.length ?? 0) / 200)) {
      const damaged = Buffer.from(bytes ?? []);
      damaged[at] = (damaged[at] ?? 0) ^ (1 << (at % 8));
      const parts = part === 'blocks' ? { ...segment, blocks: [damaged] } : { ...segment, [part]: damaged };
      expect(() => read(parts), `${part} ${at}`).toThrow(DamagedSegment);
    }
  });

  test.each(['head', 'ids', 'table', 'blocks'] as const)('of a %s that is cut off', (part) => {
    const bytes = part === 'blocks' ? segment.blocks[0] : segment[part];
    for (const length of [0, 1, 3, 4, 5, (bytes?.length ?? 0) - 1]) {
      const cut = bytes?.subarray(0, length) ?? Buffer.alloc(0);
      const parts = part === 'blocks' ? { ...segment, blocks: [cut] } : { ...segment, [part]: cut };
      expect(() => read(parts), `${part} ${length}`).toThrow(DamagedSegment);
    }
  });
});

/** Lines of word, place, email and frequency. */
function readPostings(emails: readonly SegmentEmail[]): string[] {
  const counts = new Map<string, number>();
  const add = (id: string, place: number, word: string) => {
    const key = `${word} ${Math.log2(place)} ${id}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  };
  for (const { id, source } of emails) {
    const { texts, marks } = emailTerms(source);
    for (const { place, words } of texts) for (const word of words) if (word !== '') add(id, place, word);
    for (const mark of marks) add(id, PLACES.body, mark);
  }
  return [...counts].map(([key, count]) => `${key} ${Math.min(count, 255)}`).toSorted();
}

function postingsIn(segment: EncodedSegment): string[] {
  const documents = readDocuments(segment);
  const lines: string[] = [];
  for (const block of segment.blocks)
    for (const { word, postings } of readBlock(openBlock(block)))
      for (const [place, found] of postings.entries()) {
        if (found === null) continue;
        for (const [at, document] of listPostings(found, segment.count).entries())
          lines.push(`${word} ${place} ${documents[document]?.id} ${found.frequencies?.[at] ?? 1}`);
      }
  return lines.toSorted();
}

function* buildSegment(emails: readonly SegmentEmail[]): Generator<void, EncodedSegment> {
  const builder = new SegmentBuilder();
  yield* builder.addAll(emails);
  return yield* builder.finish();
}

function someEmails(random: () => number, count: number, prefix = 'e'): SegmentEmail[] {
  const text = (most: number) =>
    Array.from({ length: Math.floor(random() * most) }, () => WORDS[Math.floor(random() * WORDS.length)]).join(' ');
  return Array.from({ length: count }, (_, at) => ({
    id: `${prefix}_${String(at).padStart(1 + Math.floor(random() * 3), '0')}`,
    at: Math.floor(random() * 50) * 86_400_000,
    source: {
      subject: text(4),
      fromText: text(3),
      fromAddress: random() < 0.5 ? 'ann@x.test' : '',
      recipientTexts: [text(3), text(3)],
      recipients: ['bob@y.test', text(2)],
      ownAddress: 'own@home.test',
      text: random() < 0.8 ? text(30) : null,
      html: random() < 0.5 ? `<p>${text(9)}</p>` : null,
      hasAttachments: random() < 0.3,
    },
  }));
}

function email(id: string, at: number, text: string): SegmentEmail {
  const none = { subject: '', fromText: '', fromAddress: '', recipientTexts: [], recipients: [], ownAddress: '' };
  return { id, at, source: { ...none, text, html: null, hasAttachments: false } };
}

function someQuery(random: () => number): WordQuery {
  const pick = (items: readonly string[]) => items[Math.floor(random() * items.length)] ?? '';
  const terms = Array.from({ length: 1 + Math.floor(random() * 3) }, () => {
    const words = Array.from({ length: 1 + Math.floor(random() * random() * 4) }, () => pick(WORDS)).join(' ');
    const operator = pick(['', '', 'from:', 'to:', 'subject:']);
    const one = pick([
      `${operator}"${words}"`,
      `${operator}${pick(WORDS)}`,
      'domain:x.test',
      'has:attachment',
      'from:ann@x.test',
    ]);
    return `${random() < 0.25 ? '-' : ''}${one}`;
  });
  try {
    return wordQuery(parseSearch(terms.join(' '), new Date()));
  } catch {
    return wordQuery(parseSearch('a', new Date()));
  }
}

function expected(emails: readonly SegmentEmail[], query: WordQuery): string[] {
  return emails
    .filter(({ source }) => matchesTerms(query, emailTerms(source)))
    .toSorted(compareDocuments)
    .map(({ id }) => id);
}

function matching(segment: EncodedSegment, emails: readonly SegmentEmail[], query: WordQuery): string[] {
  const { firstWords, count } = decodeHead(segment.head);
  const needed = neededBlocks(firstWords, query);
  const open = {
    count,
    firstWords,
    block(number: number) {
      expect(needed.has(number)).toBe(true);
      return openBlock(segment.blocks[number] ?? Buffer.alloc(0));
    },
  };
  const matches = finish(matchSegment(open, query));
  const byId = new Map(emails.map((one) => [one.id, one]));
  const documents = readDocuments(segment);
  const ids: string[] = [];
  for (let at = matches.found.next(0); at !== -1; at = matches.found.next(at + 1)) {
    const one = byId.get(documents[at]?.id ?? '');
    if (one === undefined) throw new Error('unknown');
    if (matches.unsure?.has(at) !== true || matchesTerms(query, emailTerms(one.source))) ids.push(one.id);
  }
  const backwards: string[] = [];
  for (let at = matches.found.previous(count - 1); at !== -1; at = matches.found.previous(at - 1))
    backwards.push(documents[at]?.id ?? '');
  expect(backwards).toHaveLength(matches.found.count);
  return ids;
}

function finish<T>(steps: Generator<void, T>): T {
  for (;;) {
    const { value, done } = steps.next();
    if (done === true) return value;
  }
}
