import { describe, expect, test } from 'vitest';
import {
  type GivenAttachment,
  MAX_CONTENT_BYTES,
  readOutgoingAttachments,
} from '../../../core/sending/outgoing-attachments.ts';

const given = (over: Partial<GivenAttachment> = {}): GivenAttachment => ({
  filename: 'a.txt',
  content: 'YWJj',
  contentType: null,
  contentId: null,
  ...over,
});
const read = (over: Partial<GivenAttachment>) => readOutgoingAttachments([given(over)], 0);

describe('content is base64', () => {
  test.each([
    ['plain', 'YWJj', 'abc'],
    ['padded', 'YWI=', 'ab'],
    ['without padding', 'YWI', 'ab'],
    ['in lines', 'YW\r\nJj\n', 'abc'],
    ['for URLs', '-_-_', Buffer.from('-_-_', 'base64url').toString('latin1')],
    ['a data: URL', 'data:image/png;base64,YWJj', 'abc'],
    ['a data: URL with a charset', 'data:text/plain;charset=utf-8;base64,YWJj', 'abc'],
    ['of nothing', '', ''],
  ])('%s', (_, content, decoded) => {
    expect(Buffer.from(read({ content }).attachments?.[0]?.content ?? []).toString('latin1')).toBe(decoded);
  });

  test.each([
    ['text', 'Hello, world!'],
    ['a digit too much', 'YWJjZ'],
    ['padding too much', 'YWJj='],
    ['padding within', 'YW=Jj'],
    ['only padding', '='],
    ['a data: URL that is not base64', 'data:text/plain,hello'],
    ['a path', '/etc/passwd.'],
    ['a URL', 'https://x.test/a'],
    ['NUL', 'YW\0Jj'],
    ['digits beyond ASCII', 'YWJｊ'],
  ])('%s is refused', (_, content) => {
    expect(read({ content })).toEqual({ error: 'Attachment a.txt is not valid base64', index: 0 });
  });
});

describe('the type', () => {
  test.each([
    [
      'is the one given',
      { contentType: 'text/calendar; method=REQUEST; charset="utf-8"' },
      'text/calendar; method=REQUEST; charset="utf-8"',
    ],
    ['follows the name', { filename: 'a.PDF' }, 'application/pdf'],
    ['comes from a data: URL', { content: 'data:image/png;base64,YWJj', filename: 'a.txt' }, 'image/png'],
    ['is unknown without both', { filename: null }, 'application/octet-stream'],
  ])('%s', (_, over, type) => {
    expect(read(over).attachments?.[0]?.contentType).toBe(type);
  });

  test.each([
    'text',
    'text/',
    '/plain',
    'text/plain\r\nBcc: a@x.test',
    'text/plain\n',
    'text/pla\0in',
    'text/plain; a',
    'text/plain; a="\n"',
    'text/plain\u2028',
    'text/plain\u0085',
    'multipart/mixed',
    'Multipart/Related; boundary=x',
    'text/plain (comment)',
    `text/${'x'.repeat(255)}`,
  ])('%j is refused', (contentType) => {
    expect(read({ contentType }).error).toBe('Attachment a.txt has an invalid content type');
  });
});

describe('the name', () => {
  test.each([
    ['../../etc/passwd', '.._.._etc_passwd'],
    ['C:\\a.txt', 'C:_a.txt'],
    ['naïve 🎉.txt', 'naïve 🎉.txt'],
    ['', 'attachment-1.bin'],
    [null, 'attachment-1.bin'],
  ])('%j becomes %j', (filename, sent) => {
    expect(read({ filename }).attachments?.[0]?.filename).toBe(sent);
  });

  test.each(['a\r\nBcc: x@y.test', 'a\nb', 'a\0b', 'a\u2028b', 'a\u0085b', 'a\ud800', 'x'.repeat(256)])(
    '%j is refused',
    (filename) => {
      expect(read({ filename }).error).toBe('Attachment 1 has an invalid filename');
    },
  );
});

describe('a program', () => {
  test.each(
    'appx appxbundle bat chm cmd com cpl exe hta img iso jar jnlp js lnk msi msix reg scf scr url vb vbs vhd vhdx wsc xll'.split(
      ' ',
    ),
  )('with the ending %s is refused', (ending) => {
    expect(read({ filename: `Setup.${ending.toUpperCase()}` }).error).toContain('is an executable file');
  });

  test.each(['image.png', 'notes.txt', 'url.pdf', 'a.isolated', 'vb.docx'])('%s is none', (filename) => {
    expect(read({ filename }).error).toBeUndefined();
  });
});

describe('the content id', () => {
  test.each([
    ['logo', '<logo>'],
    ['logo@x.test', '<logo@x.test>'],
    ['<logo@x.test>', '<logo@x.test>'],
    ['', null],
    [null, null],
  ])('%j becomes %j', (contentId, sent) => {
    expect(read({ contentId }).attachments?.[0]?.contentId).toBe(sent);
  });

  test.each(['a b', '<a', 'a>', '<<a>>', 'a"', 'a\r\nBcc: x', 'ü', 'a\u2028', 'x'.repeat(129)])(
    '%j is refused',
    (contentId) => {
      expect(read({ contentId }).error).toBe('Attachment a.txt has an invalid content_id');
    },
  );

  test('must be unique', () => {
    const twice = readOutgoingAttachments(
      [given({ contentId: 'a' }), given({ filename: 'b.txt', contentId: '<a>' })],
      0,
    );
    expect(twice).toEqual({ error: 'Attachment b.txt has the content_id of another attachment', index: 1 });
  });
});

describe('attachments and bodies together', () => {
  const content = Buffer.alloc(MAX_CONTENT_BYTES - 10).toString('base64');

  test('may have up to 10 MiB', () => {
    expect(readOutgoingAttachments([given({ content })], 10).attachments).toHaveLength(1);
  });

  test('are rejected one byte above, with the attachment’s name', () => {
    expect(readOutgoingAttachments([given({ filename: 'b.bin', content })], 11)).toEqual({
      error: 'Attachment b.bin makes the message larger than 10485760 bytes',
      index: 0,
    });
  });

  test('may be at most 20', () => {
    expect(
      readOutgoingAttachments(
        Array.from({ length: 20 }, () => given()),
        0,
      ).attachments,
    ).toHaveLength(20);
    expect(
      readOutgoingAttachments(
        Array.from({ length: 21 }, () => given()),
        0,
      ).index,
    ).toBeNull();
  });
});
