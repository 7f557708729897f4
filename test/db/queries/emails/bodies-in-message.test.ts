import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { parseMessage } from '../../../../core/mime/parse-message.ts';
import { packMessage } from '../../../../db/packed-message.ts';
import { type Bodies, placeBodies, readPlaced } from '../../../../db/queries/emails/bodies-in-message.ts';
import { hasCorpora, readEmlMessages } from '../../../support/mail/corpora.ts';

const NONE: Bodies = { text_body: null, html_body: null, cleaned_text: null, cleaned_html: null };

/** Stores the bodies of a message and reads them again. */
async function storeAndRead(message: Buffer, bodies: Bodies) {
  const packed = await packMessage(message);
  const { bodies: beside, places } = placeBodies({ message, packed }, bodies);
  return { beside, places, read: readPlaced({ ...beside, body_places: places, placed_message: packed }) };
}

const header = 'From: Ann <ann@elsewhere.test>\r\nSubject: Hello\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n';
const lines = (count: number, line = 'Grüße, and a line of text') =>
  Array.from({ length: count }, (_, n) => `${line} ${n}`).join('\n');
const wire = (body: string) => Buffer.from(header + body.replaceAll(/\r?\n/g, '\r\n'));

test('a body that lies in the message is stored as its place, and read as it was', async () => {
  const body = lines(40);
  const { beside, places, read } = await storeAndRead(wire(`${body}\n`), { ...NONE, text_body: body });
  expect(beside).toEqual(NONE);
  expect(places?.[2]).toBe(Buffer.byteLength(body));
  expect(read).toEqual({ ...NONE, text_body: body });
});

test('a body with the line ends of the message, as sent mail may have, keeps them', async () => {
  const body = lines(40).replaceAll('\n', '\r\n');
  const bodies = { ...NONE, text_body: body, html_body: lines(40) };
  const { beside, places, read } = await storeAndRead(wire(`${body}\n`), bodies);
  expect(beside).toEqual(NONE);
  expect([places?.[2], places?.[5]]).toEqual([Buffer.byteLength(body), Buffer.byteLength(lines(40))]);
  expect(read).toEqual(bodies);
});

test('several bodies of a message have a place each', async () => {
  const [text, html] = [lines(30), `<p>${lines(30)}</p>`];
  const bodies = { text_body: text, html_body: html, cleaned_text: lines(20), cleaned_html: `${html}<br>` };
  const { beside, read } = await storeAndRead(wire(`${text}\n--b\n${html}\n`), bodies);
  expect(beside).toEqual({ ...NONE, cleaned_html: bodies.cleaned_html });
  expect(read).toEqual(bodies);
});

test.each([
  ['does not lie in the message', 'Hello', lines(40)],
  ['is short', 'Hello\n', 'Hello'],
  ['has two kinds of line ends', lines(40), lines(40).replaceAll('\n', '\r\n').replace('\r', '')],
  ['begins with blanks', ' '.repeat(200), ' '.repeat(200)],
  ['has half a surrogate pair', lines(40), `${lines(40)}\ud800`],
  ['is in a large message', `${lines(40)}\n${lines(2_000)}`, lines(40)],
])('a body that %s is stored beside the message', async (_name, content, body) => {
  const { beside, places, read } = await storeAndRead(wire(content), { ...NONE, text_body: body });
  expect([beside.text_body, places, read.text_body]).toEqual([body, null, body]);
});

test('a message that is not packed keeps its bodies beside it', async () => {
  const body = randomBytes(2_000)
    .toString('latin1')
    .replaceAll(/[\r\n]/g, 'x');
  const message = Buffer.concat([randomBytes(20_000), Buffer.from(body)]);
  expect((await storeAndRead(message, { ...NONE, text_body: body })).places).toBeNull();
});

test('bodies of a damaged message are missing, and others are there', async () => {
  const body = lines(40);
  const message = wire(body);
  const packed = await packMessage(message);
  const { places } = placeBodies({ message, packed }, { ...NONE, text_body: body });
  const row = { ...NONE, html_body: '<p>Hello</p>', body_places: places };
  const damaged = Buffer.from(packed.map((byte, at) => (at === packed.length - 6 ? byte ^ 1 : byte)));
  expect(readPlaced({ ...row, placed_message: damaged })).toEqual({ ...NONE, html_body: '<p>Hello</p>' });
  expect(readPlaced({ ...row, placed_message: null })).toEqual({ ...NONE, html_body: '<p>Hello</p>' });
});

test('random bodies are read as they were, wherever their lines repeat', async () => {
  for (let n = 0; n < 300; n++) {
    const alphabet = ['a', 'b', n % 2 === 0 ? '\n' : '\r\n', 'ü', '\u{1f600}', '\ufeff', ' ', '=\n'];
    const random = (length: number) =>
      Array.from({ length }, () => alphabet[Math.floor(Math.random() * alphabet.length)]).join('');
    const content = random(400).repeat(2);
    const start = Math.floor(Math.random() * 300);
    const part = content.slice(start, start + 200).toWellFormed();
    const bodies = { ...NONE, text_body: content, html_body: part, cleaned_text: random(120) };
    expect((await storeAndRead(wire(content), bodies)).read).toEqual(bodies);
  }
});

test.runIf(hasCorpora)('the bodies of every message of the corpora are read as they were', async () => {
  let placed = 0;
  for (const { bytes, file } of await readEmlMessages()) {
    const message = Buffer.from(bytes.toString('latin1').replaceAll(/\r?\n/g, '\r\n'), 'latin1');
    const parsed = await parseMessage(message);
    const bodies = {
      text_body: parsed.textBody,
      html_body: parsed.htmlBody,
      cleaned_text: parsed.cleanedText,
      cleaned_html: parsed.cleanedHtml,
    };
    const { places, read } = await storeAndRead(message, bodies);
    expect(read, file).toEqual(bodies);
    if (places !== null) placed++;
  }
  expect(placed).toBeGreaterThan(100);
});
