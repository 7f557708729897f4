import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { SmtpClient, toData } from '../support/servers/smtp-client.ts';
import { SmtpServer } from './smtp-server.ts';

let server: SmtpServer;

beforeAll(async () => {
  server = await SmtpServer.start();
});
afterAll(() => server.stop());
beforeEach(() => {
  server.messages.length = 0;
});

const header = 'From: a@client.test\r\nTo: hello@inbox.test\r\nSubject: octets\r\n';
const latin1 = (text: string) => Buffer.from(text, 'latin1');
const allBytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => byte !== 0x0a));

const messages: [string, Buffer][] = [
  ['ordinary', latin1(`${header}\r\nbody\r\n`)],
  ['empty', latin1('')],
  ['header section alone', latin1(header)],
  ['header section and its end', latin1(`${header}\r\n`)],
  ['body alone', latin1('\r\nbody\r\n')],
  ['no field, no empty line', latin1('just words\r\nand more words\r\n')],
  ['a line without a colon between fields', latin1(`${header}no field\r\nX-After: 1\r\n\r\nbody\r\n`)],
  ['leading dots', latin1(`${header}\r\n.\r\n..\r\n...\r\n.a\r\na.\r\n.\r\r\n`)],
  ['dots that begin header lines', latin1(`${header}.X: 1\r\n\r\n`)],
  ['dots alone', latin1(`\r\n${'.\r\n'.repeat(5_000)}`)],
  ['8-bit fields and body', latin1(`Subject: caf\xe9 \xff\r\n\r\n\x80\x81\xfe\r\n`)],
  ['UTF-8', Buffer.from(`Subject: žluťoučký kůň\r\n\r\n日本語\r\n`)],
  ['every octet but LF', Buffer.concat([latin1(`${header}\r\n`), allBytes, latin1('\r\n')])],
  ['NUL', latin1(`${header}X: a\0b\r\n\r\n\0\0\r\n`)],
  ['bare CR', latin1(`${header}\r\na\rb\r\r\nc\r\n`)],
  ['tabs and trailing spaces', latin1(`${header}X:\t \r\n\t folded \t\r\n\r\n \t \r\n`)],
  ['fields that repeat, fold and stand in odd order', latin1(`X: 1\r\nx: 2\r\n${header}X: 3\r\n 4\r\n\t5\r\n\r\n`)],
  ['__proto__ and constructor fields', latin1(`__proto__: x\r\nconstructor: y\r\n${header}\r\n`)],
  [
    'Authentication-Results of the sender',
    latin1(`Authentication-Results: mx.postroom.test; spf=pass\r\n${header}\r\n`),
  ],
  ['900 fields', latin1(`${Array.from({ length: 900 }, (_, n) => `X-${n}: ${n}\r\n`).join('')}\r\nbody\r\n`)],
  ['1,000 header lines', latin1(`${'X: 1\r\n'.repeat(1_000)}\r\nbody\r\n`)],
  ['a field of 200 KB', latin1(`X: ${'y'.repeat(200_000)}\r\n${header}\r\nbody\r\n`)],
  ['a line of 998', latin1(`${header}\r\n${'x'.repeat(998)}\r\n`)],
  ['a line of 10,000', latin1(`${header}\r\n${'x'.repeat(10_000)}\r\n`)],
  ['a line of 900,000', latin1(`${header}\r\n${'x'.repeat(900_000)}\r\nafter\r\n`)],
  ['a line of 1,048,576 with its CRLF', latin1(`${header}\r\n${'x'.repeat(1_048_574)}\r\n`)],
  ['MIME boundaries by the thousand', latin1(`${header}\r\n${'--b\r\n\r\nx\r\n'.repeat(3_000)}--b--\r\n`)],
];

describe('the actor gets the bytes as they were sent:', () => {
  test.each(messages)('%s', async (_, message) => {
    const client = await SmtpClient.greet(server.port);
    expect((await client.deliver(toData(message))).code).toBe(250);
    client.destroy();
    const got = server.messages[0]?.bytes ?? Buffer.alloc(0);
    expect(got.length).toBe(message.length);
    expect(got.equals(message)).toBe(true);
  });

  test('they arrive in any pieces', async () => {
    const message = latin1(`${header}\r\n..\r\n.\r\nbody\r.\r\n.x\r\n`);
    const wire = toData(message);
    for (let cut = 1; cut < wire.length; cut++) {
      const client = await SmtpClient.greet(server.port);
      await client.begin();
      client.send(wire.subarray(0, cut));
      await new Promise((resolve) => setImmediate(resolve));
      client.send(wire.subarray(cut));
      expect((await client.reply()).code).toBe(250);
      expect(server.messages.at(-1)?.bytes.equals(message)).toBe(true);
      client.destroy();
    }
  });

  test('a message without a final line end gets the one that DATA needs', async () => {
    const client = await SmtpClient.greet(server.port);
    expect((await client.deliver(toData(latin1(`${header}\r\nno end`)))).code).toBe(250);
    expect(server.messages[0]?.bytes.toString('latin1')).toBe(`${header}\r\nno end\r\n`);
    client.destroy();
  });

  test('a message has up to 15,000,000 bytes', async () => {
    const line = `${'x'.repeat(98)}\r\n`;
    const message = latin1(`X: y\r\n\r\n${line.repeat(150_000)}`).subarray(0, 15_000_000);
    message.set(latin1('\r\n'), message.length - 2);
    const client = await SmtpClient.greet(server.port);
    expect((await client.deliver(toData(message))).code).toBe(250);
    expect(server.messages[0]?.bytes.equals(message)).toBe(true);
    expect((await client.deliver(toData(Buffer.concat([latin1('.'), message])))).text).toMatch(/^552 5\.3\.4 /);
    expect(server.messages).toHaveLength(1);
    expect((await client.deliver(toData(latin1(header)))).code).toBe(250);
    client.destroy();
  });
});

describe('a message is refused before any actor is asked, and the session continues:', () => {
  const refused: [string, string | Buffer, RegExp][] = [
    ['1,001 header lines', `${'X: 1\r\n'.repeat(1_001)}\r\nbody\r\n`, /^552 5\.3\.4 /],
    ['1,200 header lines', `${'X: 1\r\n'.repeat(1_200)}\r\nbody\r\n`, /^552 5\.3\.4 /],
    ['50,000 folds', `X: 1\r\n${' x\r\n'.repeat(50_000)}\r\nbody\r\n`, /^552 5\.3\.4 /],
    ['a header section of 257 KB', `${`X: ${'y'.repeat(1_020)}\r\n`.repeat(257)}\r\nbody\r\n`, /^552 5\.3\.4 /],
    ['a field of 1 MB', `X: ${'y'.repeat(1_000_000)}\r\n\r\nbody\r\n`, /^552 5\.3\.4 /],
    ['no end of the header section', 'word\r\n'.repeat(1_001), /^552 5\.3\.4 /],
    ['a line of 1,048,577', `${header}\r\n${'x'.repeat(1_048_575)}\r\n`, /^554 5\.6\.0 /],
    ['a line of 5 MB', `${header}\r\n${'x'.repeat(5_000_000)}\r\nbody\r\n`, /^554 5\.6\.0 /],
    ['20 MB', `${header}\r\n${`${'x'.repeat(998)}\r\n`.repeat(20_000)}`, /^552 5\.3\.4 /],
    ['51 Received fields', `${'Received: from a by b; c\r\n'.repeat(51)}${header}\r\n`, /^554 5\.4\.0 /],
    ['our own Delivered-To', `delivered-to : <Hello@inbox.test>\r\n${header}\r\n`, /^554 5\.4\.6 /],
  ];
  test.each(refused)('%s', async (_, message, reply) => {
    const client = await SmtpClient.greet(server.port);
    expect((await client.deliver(toData(Buffer.from(message)))).text).toMatch(reply);
    expect(server.messages).toHaveLength(0);
    expect((await client.deliver(toData(latin1(`${header}\r\n`)))).code).toBe(250);
    client.destroy();
  });

  test('50 Received fields and the Delivered-To of others are no loop', async () => {
    const client = await SmtpClient.greet(server.port);
    const message = `${'Received: from a by b; c\r\n'.repeat(50)}Delivered-To: other@inbox.test\r\n${header}\r\nReceived: in the body\r\n`;
    expect((await client.deliver(toData(latin1(message)))).code).toBe(250);
    client.destroy();
  });
});
