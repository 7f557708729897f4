import MailComposer from 'nodemailer/lib/mail-composer';
import { expect, test } from 'vitest';
import { writeMime } from '../../../core/mime/write-mime.ts';

const words = (count: number, word: string) => Array.from({ length: count }, () => word).join(' ');
const binary = Buffer.from(Array.from({ length: 5_000 }, (_, at) => (at * 31) % 256));

const texts = {
  absent: undefined,
  plain: 'Hello,\r\nbye.\r\n',
  'without an end of line': 'Hello',
  'in long lines': words(80, 'long'),
  'in long lines of words without end': 'x'.repeat(3_000),
  'with umlauts': `Grüße\r\n${words(60, 'größer')}\r\n`,
  'mostly beyond ASCII': '日本語の文章です。\r\n'.repeat(40),
  'with spaces at line ends': `a \r\n${words(40, 'b')} \r\n \r\n`,
  'that begins with dots and dashes': '..\r\n--\r\n.\r\n',
};
const htmls = { absent: undefined, plain: '<p>Hello</p>', 'in one long line': `<p>${words(400, 'größer')}</p>` };
const attachments = {
  none: [],
  one: [{ filename: 'a.bin', content: binary }],
  'inline, text and a message': [
    { filename: 'b.png', cid: 'b@x', contentDisposition: 'inline' as const, content: binary.subarray(0, 57) },
    { filename: 'größe.txt', contentType: 'text/plain', content: Buffer.from(words(100, 'größer')) },
    { contentType: 'message/rfc822', content: Buffer.from('Subject: x\r\n\r\nbody\r\n') },
    { filename: 'empty.txt', content: Buffer.alloc(0) },
  ],
};

for (const [textName, text] of Object.entries(texts)) {
  test(`gives the octets of nodemailer's own streams for a text ${textName}`, async () => {
    for (const html of Object.values(htmls)) {
      for (const files of Object.values(attachments)) {
        const compiled = () =>
          new MailComposer({
            messageId: '<a@own.test>',
            date: new Date('2026-11-20T20:05:06Z'),
            from: 'ann@own.test',
            to: 'bob@x.test',
            subject: 'Größe',
            baseBoundary: 'abc',
            ...(text === undefined ? {} : { text }),
            ...(html === undefined ? {} : { html }),
            attachments: files,
          }).compile();
        expect(writeMime(compiled()).toString('latin1')).toBe((await compiled().build()).toString('latin1'));
      }
    }
  });
}

test('refuses content that would have to be read from elsewhere', () => {
  const message = new MailComposer({ text: 'a', attachments: [{ path: '/etc/hostname' }] }).compile();
  expect(() => writeMime(message)).toThrow('no string');
});
