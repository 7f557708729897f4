/** A multipart message with defects, and a word of the text of each of its parts. */
export interface RandomMessage {
  raw: Buffer;
  words: string[];
}

const TYPES = [
  'text/plain',
  'text/html',
  'text/calendar; method=CANCEL',
  'text/csv',
  'text/x-foo',
  'image/png',
  'application/ms-tnef',
  'application/pkcs7-mime; smime-type=signed-data',
  'application/pgp-encrypted',
  'message/rfc822',
  'message/partial; id="a"; number=1; total=2',
  'message/external-body; access-type=URL; URL="http://x.test"',
  'message/delivery-status',
  'message/disposition-notification',
  'text/rfc822-headers',
  'text/plain; charset',
  'text/plain;charset="utf-8',
  'TEXT/PLAIN;',
  'plain',
  'multipart',
  '',
];
const ENCODINGS = ['', '7bit', '8BIT;', 'binary', 'none', 'utf-8', 'base64', 'BASE64;', '"base64"', 'base64 (x)'];
const DISPOSITIONS = [
  '',
  '',
  'inline',
  'attachment',
  'attachment; filename=a.b',
  "attachment; filename*=utf-8''%41.txt",
];
const MULTIPARTS = [
  'mixed',
  'alternative',
  'related',
  'report',
  'signed',
  'digest',
  'parallel',
  'appledouble',
  'x-foo',
];
const BOUNDARIES = ['b', '=_x', '----=_Part_1', 'a b', 'bound'];
const LINE_ENDS = ['\n', '\r\n'];

/**
 * Returns a message of nested multiparts: boundaries that begin with the one around them, delimiters with blanks behind them, multiparts
 * without an end, texts right below the fields, odd transfer encodings, preambles and mixed line ends. The same seed gives the same one.
 */
export function makeRandomMessage(seed: number): RandomMessage {
  const words: string[] = [];
  const random = seededRandom(seed);
  const pick = (choices: readonly string[]): string => choices[Math.floor(random() * choices.length)] ?? '';

  function makePart(): string {
    const word = `WORD${words.length}X`;
    words.push(word);
    const [type, encoding, disposition] = [pick(TYPES), pick(ENCODINGS), pick(DISPOSITIONS)];
    const fields = [
      ...(type === '' ? [] : [`Content-Type: ${type}`]),
      ...(encoding === '' ? [] : [`Content-Transfer-Encoding: ${encoding}`]),
      ...(disposition === '' ? [] : [`Content-Disposition: ${disposition}`]),
    ];
    const text = type === 'text/html' ? `<p>${word}</p>` : `one\n${word}\nthree`;
    const content = type === 'message/rfc822' ? `Subject: Inner\n\n${word}` : text;
    const body = /base64/i.test(encoding) ? Buffer.from(content).toString('base64') : content;
    const isDirect = fields.length > 0 && random() < 0.08;
    return [...fields, ...(isDirect ? [] : ['']), body].join('\n');
  }

  function makeMultipart(depth: number, outer: string | null): string {
    const boundary =
      outer === null ? `${pick(BOUNDARIES)}${Math.floor(random() * 90)}` : `${outer}${pick(['1', '-', '='])}`;
    const lines = [`Content-Type: multipart/${pick(MULTIPARTS)}; boundary="${boundary}"`, ''];
    if (random() < 0.3) lines.push('A preamble.');
    for (let left = 1 + Math.floor(random() * 3); left > 0; left--) {
      const isNested = depth > 0 && random() < 0.35;
      lines.push(`--${boundary}${pick(['', '', ' ', '\t'])}`);
      lines.push(isNested ? makeMultipart(depth - 1, random() < 0.5 ? boundary : null) : makePart());
    }
    if (random() < 0.85) lines.push(`--${boundary}--`);
    lines.push('');
    return lines.join('\n');
  }

  const message = `From: ann@x.test\nSubject: Parts\nMIME-Version: 1.0\n${makeMultipart(3, null)}`;
  const lineEnd = random();
  const raw = message.replaceAll('\n', () => (lineEnd < 0.4 ? '\r\n' : lineEnd < 0.6 ? '\n' : pick(LINE_ENDS)));
  return { raw: Buffer.from(raw, 'latin1'), words };
}

/** Returns a function whose results look random, from 0 up to 1 (mulberry32). */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
