import { expect, test } from 'vitest';
import { readParts } from '../../../core/mime/message-parts.ts';
import { parseMessage } from '../../../core/mime/parse-message.ts';

const HEAD = 'From: joe@x.test\r\nContent-Type: multipart/mixed; boundary="b"\r\n\r\n';

/** The encoded bodies of the parts. */
async function listBodies(message: string): Promise<string[]> {
  const { leaves } = await readParts(Buffer.from(message, 'latin1'));
  return leaves.map(({ start, length }) => message.slice(start, start + length));
}

test('the line end before a delimiter belongs to the delimiter', async () => {
  const first = 'one\r\n\r\n-- \r\n--bb\r\n--no\r\na --b\r\n--b--x\r\n';
  const text = `${HEAD}preamble\r\n--b\r\n\r\n${first}\r\n--b\r\n\r\ntwo\nthree\n--b--\r\nepilogue\r\n`;
  expect(await listBodies(text)).toEqual([first, 'two\nthree']);
});

test('a delimiter that follows a bare carriage return ends a part', async () => {
  expect(await listBodies(`${HEAD}--b\r\n\r\none\r\n\r--b\r\n\r\ntwo\r\n--b--\r\n`)).toEqual(['one', 'two']);
});

test('a part without an end lasts to the end of the message', async () => {
  expect(await listBodies(`${HEAD}--b\r\n\r\none\r\n\r\n`)).toEqual(['one\r\n\r\n']);
  expect(await listBodies(`${HEAD}--b\r\n\r\none\r\ntwo`)).toEqual(['one\r\ntwo']);
  expect(await listBodies(`${HEAD}--b\r\n\r\none\r\n--b--`)).toEqual(['one']);
});

test('long bodies and long runs of delimiter-like lines are read like short ones', async () => {
  const long = `${'x'.repeat(200_000)}\r\n`.repeat(3);
  const dashes = '--not-it\r\n'.repeat(10_000);
  expect(await listBodies(`${HEAD}--b\r\n\r\n${long}\r\n--b\r\n\r\n${dashes}\r\n--b--\r\n`)).toEqual([long, dashes]);
});

test('the body of a message without parts is everything after its header section', async () => {
  expect(await listBodies('From: joe@x.test\r\n\r\n--b\r\nHello.\r\n--b--\r\n')).toEqual([
    '--b\r\nHello.\r\n--b--\r\n',
  ]);
  expect(await listBodies('From: joe@x.test\n\nHello.')).toEqual(['Hello.']);
  expect(await listBodies('From: joe@x.test\r\n')).toEqual(['']);
});

test('a header section that ends at a delimiter does not hide a second From field', async () => {
  const message =
    'From: a@x.test\r\nContent-Type: multipart/mixed; boundary=b\r\n--b\r\nFrom: b@y.test\r\n\r\nHello.\r\n--b--\r\n';
  const { addresses, hasSeveralFromFields } = await parseMessage(Buffer.from(message));
  expect(addresses.from?.text).toBe('a@x.test');
  expect(hasSeveralFromFields).toBe(true);
});

test('a delimiter at the end of the message begins no part with text', async () => {
  expect(await listBodies(`${HEAD}--b\r\n\r\none\r\n--b\r\n`)).toEqual(['one', '']);
});

const field = 'X-Report: checked by the\r\nMail scanner of our company\r\n';

test.each([
  ['base64', 'text/plain', Buffer.from('Dear Ann, your invoice is ready.').toString('base64')],
  ['base64', 'text/html', Buffer.from('<p>Dear Ann</p>').toString('base64')],
  ['quoted-printable', 'text/plain', 'Dear Ann, =E2=82=AC 5'],
  ['7bit', 'text/html', '<p>Dear Ann, your invoice is ready.</p>'],
])('a field that is folded badly is no text of a message in %s and %s', async (encoding, type, body) => {
  const head = `From: joe@x.test\r\nContent-Type: ${type}\r\nContent-Transfer-Encoding: ${encoding}\r\n${field}`;
  expect(await listBodies(`${head}\r\n${body}`)).toEqual([body]);
});

test.each([
  ['the rest of a field', 'Subject: a very long subject that\r\nwas folded by a bad program\r\n'],
  ['a line with a field behind it', `Subject: a\r\n${field}List-Id: x\r\n`],
])('%s is no text of a plain message', async (_name, fields) => {
  expect(await listBodies(`From: joe@x.test\r\n${fields}\r\nBody text.`)).toEqual(['Body text.']);
});

test('a text right below the fields is the text of a plain message', async () => {
  const body = 'Hello Ann this is my text\r\nmore of it here\r\n\r\nSecond paragraph.';
  expect(await listBodies(`From: joe@x.test\r\nSubject: a\r\n${body}`)).toEqual([body]);
});

/** The decoded text of a message whose multipart states quoted-printable and whose part does not. */
async function inheritedText(text: string): Promise<string | null> {
  const head = HEAD.replace('\r\n\r\n', '\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n');
  return (await parseMessage(Buffer.from(`${head}--b\r\n\r\n${text}\r\n--b--\r\n`, 'latin1'))).textBody;
}

test.each([
  'link http://x.test/?id=12345',
  'Total=100 EUR',
  'a,b=20',
  'x=10\r\ny=20',
  'see ?ref=ABCD',
  'a =3D b and ?id=12345',
  'Gr=C3=BC=C3=9Fe, Total=100 EUR',
  'sum =\r\n5',
])('%j is not taken for quoted-printable', async (text) => {
  expect(await inheritedText(text)).toBe(text.replaceAll('\r\n', '\n'));
});

test.each([
  ['Gr=C3=BC=C3=9Fe', 'Grüße'],
  ['see ?id=3D12345', 'see ?id=12345'],
  [`${'word '.repeat(12)}=\r\nand more`, `${'word '.repeat(12)}and more`],
  ['a =3D b=20\r\n=46rom me=0D\r\n=2E', 'a = b \nFrom me\n.'],
])('%j is taken for quoted-printable', async (text, decoded) => {
  expect(await inheritedText(text)).toBe(decoded);
});

test('a file is not taken for quoted-printable', async () => {
  const head = HEAD.replace('\r\n\r\n', '\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n');
  for (const fields of [
    'Content-Type: text/csv; name=a.csv',
    'Content-Type: text/csv',
    'Content-Disposition: attachment',
  ]) {
    const { leaves } = await readParts(Buffer.from(`${head}--b\r\n${fields}\r\n\r\na=3D1,b=20\r\n--b--\r\n`));
    expect(leaves.map(({ transferEncoding }) => transferEncoding)).toEqual(['7bit']);
  }
});
