import { expect, test } from 'vitest';
import { readParts } from '../../../core/mime/message-parts.ts';
import { parseMessage } from '../../../core/mime/parse-message.ts';

const HEAD = 'From: joe@x.test\r\nContent-Type: multipart/mixed; boundary="b"\r\n\r\n';

/** The encoded bodies of the parts. */
async function bodiesOf(message: string): Promise<string[]> {
  const { leaves } = await readParts(Buffer.from(message, 'latin1'));
  return leaves.map(({ start, length }) => message.slice(start, start + length));
}

test('the line end before a delimiter belongs to the delimiter', async () => {
  const first = 'one\r\n\r\n-- \r\n--bb\r\n--no\r\na --b\r\n--b--x\r\n';
  const text = `${HEAD}preamble\r\n--b\r\n\r\n${first}\r\n--b\r\n\r\ntwo\nthree\n--b--\r\nepilogue\r\n`;
  expect(await bodiesOf(text)).toEqual([first, 'two\nthree']);
});

test('a delimiter that follows a bare carriage return ends a part', async () => {
  expect(await bodiesOf(`${HEAD}--b\r\n\r\none\r\n\r--b\r\n\r\ntwo\r\n--b--\r\n`)).toEqual(['one', 'two']);
});

test('a part without an end lasts to the end of the message', async () => {
  expect(await bodiesOf(`${HEAD}--b\r\n\r\none\r\n\r\n`)).toEqual(['one\r\n\r\n']);
  expect(await bodiesOf(`${HEAD}--b\r\n\r\none\r\ntwo`)).toEqual(['one\r\ntwo']);
  expect(await bodiesOf(`${HEAD}--b\r\n\r\none\r\n--b--`)).toEqual(['one']);
});

test('long bodies and long runs of delimiter-like lines are read like short ones', async () => {
  const long = `${'x'.repeat(200_000)}\r\n`.repeat(3);
  const dashes = '--not-it\r\n'.repeat(10_000);
  expect(await bodiesOf(`${HEAD}--b\r\n\r\n${long}\r\n--b\r\n\r\n${dashes}\r\n--b--\r\n`)).toEqual([long, dashes]);
});

test('the body of a message without parts is everything after its header section', async () => {
  expect(await bodiesOf('From: joe@x.test\r\n\r\n--b\r\nHello.\r\n--b--\r\n')).toEqual(['--b\r\nHello.\r\n--b--\r\n']);
  expect(await bodiesOf('From: joe@x.test\n\nHello.')).toEqual(['Hello.']);
  expect(await bodiesOf('From: joe@x.test\r\n')).toEqual(['']);
});

test('a header section that ends at a delimiter does not hide a second From field', async () => {
  const message =
    'From: a@x.test\r\nContent-Type: multipart/mixed; boundary=b\r\n--b\r\nFrom: b@y.test\r\n\r\nHello.\r\n--b--\r\n';
  const { addresses, hasSeveralFromFields } = await parseMessage(Buffer.from(message));
  expect(addresses.from?.text).toBe('a@x.test');
  expect(hasSeveralFromFields).toBe(true);
});

test('a delimiter at the end of the message begins no part with text', async () => {
  expect(await bodiesOf(`${HEAD}--b\r\n\r\none\r\n--b\r\n`)).toEqual(['one', '']);
});
