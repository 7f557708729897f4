import { describe, expect, test } from 'vitest';
import { attachmentFilename, decodeAttachment, toTransferEncoding } from '../../../core/mime/attachment.ts';

const decode = (text: string, encoding: Parameters<typeof decodeAttachment>[1]) =>
  Buffer.from(decodeAttachment(Buffer.from(text, 'latin1'), encoding)).toString('latin1');

describe('decodes a part from', () => {
  test.each([
    ['base64', 'aGVs\r\nbG8=\r\n', 'hello'],
    ['base64', 'aGVsbG8', 'hello'],
    ['base64', 'aGV!*s bG8=', 'hello'],
    ['base64', 'aGVsbG8=trailing words', 'hello'],
    ['base64', '=aGVsbG8=', 'hello'],
    ['base64', '', ''],
    ['base64', '====', ''],
    ['quoted-printable', 'J=FCrgen=\r\n is', 'J\xfcrgen is'],
    ['quoted-printable', 'a=3d=3D=  \r\nb', 'a==b'],
    ['quoted-printable', 'a=\nb', 'ab'],
    ['quoted-printable', 'a=XYb=', 'a=XYb'],
    ['quoted-printable', 'space \r\nkept=20\r\n', 'space \r\nkept \r\n'],
    ['7bit', 'a=3D', 'a=3D'],
    ['8bit', '\xfc', '\xfc'],
    ['binary', '\0\r', '\0\r'],
    ['uuencode', 'begin 644 a.txt\r\n#0V%T\r\n`\r\nend\r\n', 'Cat'],
    ['uuencode', 'no beginning', 'no beginning'],
    ['uuencode', 'begin 644 a\n\n', ''],
  ] as const)('%s %j to %j', (encoding, encoded, decoded) => {
    expect(decode(encoded, encoding)).toBe(decoded);
  });
});

test('decodes the bytes of a slice, without those around it', () => {
  const raw = Buffer.from('xxaGVsbG8=yy');
  expect(Buffer.from(decodeAttachment(raw.subarray(2, 10), 'base64')).toString()).toBe('hello');
});

test.each([
  ['BASE64', 'base64'],
  ['Quoted-Printable', 'quoted-printable'],
  ['x-uuencode', 'uuencode'],
  ['', '7bit'],
  ['x-unknown', 'binary'],
  ['__proto__', 'binary'],
])('the transfer encoding %j is %s', (value, encoding) => {
  expect(toTransferEncoding(value)).toBe(encoding);
});

describe('the file name', () => {
  test.each([
    ['report.pdf', 'report.pdf'],
    ['../../etc/passwd', '.._.._etc_passwd'],
    ['..\\windows', '.._windows'],
    ['C:\\x.txt', 'C:_x.txt'],
    ['/etc/passwd', '_etc_passwd'],
    ['a\r\nb\0.txt', 'a__b_.txt'],
    ['invoice\u202efdp.exe', 'invoice_fdp.exe'],
    ['say "hi".txt', 'say "hi".txt'],
    ['.signature', '.signature'],
    ['..', 'attachment-3.pdf'],
    ['/', 'attachment-3.pdf'],
    ['', 'attachment-3.pdf'],
    [null, 'attachment-3.pdf'],
    ['u\u0308.txt', 'ü.txt'],
    [' a  b ', 'a b'],
    ['__proto__', '__proto__'],
    [`${'x'.repeat(300)}.docx`, `${'x'.repeat(195)}.docx`],
    ['😀'.repeat(200), '😀'.repeat(100)],
  ])('%j is listed as %j', (given, listed) => {
    expect(attachmentFilename(given, 'application/pdf', 2)).toBe(listed);
  });

  test('of a message without one is message-N.eml', () => {
    expect(attachmentFilename(null, 'message/rfc822', 0)).toBe('message-1.eml');
    expect(attachmentFilename(null, 'image/png', 4)).toBe('attachment-5.png');
    expect(attachmentFilename(null, 'x-odd/thing', 0)).toMatch(/^attachment-1\.\w+$/);
  });
});
