import { createHash } from 'node:crypto';

/**
 * Text as people write: words of a language of 30,000, of which few come often and most seldom (Zipf); about that many bytes, ASCII, in
 * lines of at most 72 characters with CRLF between them, so that no encoding changes it. Distinct each time.
 */
export function naturalText(sizeBytes: number): string {
  const words: string[] = [];
  for (let size = 0, column = 0; size < sizeBytes; ) {
    // The inverse of Zipf's distribution: the rank grows exponentially in a uniform number.
    const word = syllables(Math.floor(VOCABULARY ** Math.random()));
    size += word.length + 1;
    column += word.length + 1;
    const isEnd = column > LINE_LENGTH;
    words.push(isEnd ? `${word}.\r\n` : `${word} `);
    if (isEnd) column = 0;
  }
  return words.join('').slice(0, sizeBytes).trimEnd();
}

const LINE_LENGTH = 60;
const VOCABULARY = 30_000;
const SYLLABLES = 'an be co de el fi ga ho in ju ka le mi no or pa re si to un va wo ex ys'.split(' ');

function syllables(rank: number): string {
  let word = '';
  for (let rest = rank; word === '' || rest > 0; rest = Math.floor(rest / SYLLABLES.length))
    word += SYLLABLES[rest % SYLLABLES.length];
  return word;
}

/** sha256 of a body without the line ends at its end, in base64: the same before and after a journey. */
export function bodyDigest(body: string): string {
  return createHash('sha256').update(body.trimEnd()).digest('base64');
}

/** The subject that message number n of a round bears all the way, so that a sink knows it again. */
export function makeSubject(tag: string, n: number): string {
  return `Message ${tag}.${n}`;
}

/** What makeSubject was given; null of any other subject. */
export function readSubject(subject: string): { tag: string; n: number } | null {
  const [, tag, n] = /^Message (\w+)\.(\d+)$/.exec(subject) ?? [];
  return tag === undefined ? null : { tag, n: Number(n) };
}

/** Every message has a recipient of its own at the sink's domain. */
export function makeRecipient(n: number): string {
  return `person${n}@${SINK_DOMAIN}`;
}

export const SINK_DOMAIN = 'sink.test';
/** Author of all messages, at a domain that Postroom and the pool sign for. */
export const AUTHOR = { text: 'Bench <sender@bench.test>', address: 'sender@bench.test', domain: 'bench.test' };
