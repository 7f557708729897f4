import { describe, expect, test } from 'vitest';
import { MAX_TEXT_PREVIEW_BYTES, makePreview } from '../../../core/mime/attachment-preview.ts';

const shown = (bytes: Uint8Array) => {
  const preview = makePreview(bytes);
  return preview === null ? null : { ...preview, bytes: Buffer.from(preview.bytes).toString() };
};
const text = (words: string) => ({ contentType: 'text/plain; charset=utf-8', bytes: words, isCut: false });

describe('the preview of a file', () => {
  test.each([
    ['image/png', '\x89PNG\r\n\x1a\n'],
    ['image/jpeg', '\xff\xd8\xff\xe0'],
    ['image/gif', 'GIF89a'],
    ['image/webp', 'RIFF\0\0\0\0WEBP'],
    ['application/pdf', '%PDF-1.7\n'],
  ])('is %s when it begins like one', (contentType, head) => {
    const bytes = Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from([0, 1, 2, 3])]);
    expect(makePreview(bytes)).toEqual({ contentType, bytes, isCut: false });
  });

  test.each([
    ['HTML', '<!doctype html><script>alert(1)</script>'],
    ['SVG', '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'],
    ['a PDF after other bytes', 'x%PDF-1.7'],
    ['CSV', 'a,ä\r\n1,\t2\n'],
    ['nothing', ''],
  ])('is plain text for %s', (_, words) => {
    expect(shown(Buffer.from(words))).toEqual(text(words));
  });

  test('is text in UTF-8, whatever its encoding', () => {
    expect(shown(Buffer.from('Größe', 'latin1'))).toEqual(text('Größe'));
    expect(shown(Buffer.from('\ufeffGröße', 'utf16le'))).toEqual(text('Größe'));
    expect(shown(Buffer.from('\ufeffGröße', 'utf16le').swap16())).toEqual(text('Größe'));
  });

  test('is the beginning of a long text, without half a character', () => {
    const long = `a${'ä'.repeat(MAX_TEXT_PREVIEW_BYTES)}`;
    const preview = shown(Buffer.from(long));
    expect(preview).toMatchObject({ isCut: true });
    expect(long.startsWith(preview?.bytes ?? '-')).toBe(true);
    expect(preview?.bytes.length).toBe(MAX_TEXT_PREVIEW_BYTES / 2);
  });

  test('is null for binary files', () => {
    expect(makePreview(Buffer.from('PK\x03\x04\0\0'))).toBeNull();
    expect(makePreview(Buffer.from('MZ\x90\0'))).toBeNull();
  });
});
