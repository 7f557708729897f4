import { expect, test } from 'vitest';
import { MAX_PICTURE_SIDE, picturePath, readPicture } from '../../../core/accounts/picture.ts';
import { JPEG_PICTURE, LOSSLESS_PICTURE, makePng, pngChunk, WEBP_PICTURE } from '../../support/mail/pictures.ts';

const PICTURES = {
  'image/jpeg': JPEG_PICTURE,
  'image/webp': WEBP_PICTURE,
  'image/webp ': LOSSLESS_PICTURE,
  'image/png': makePng(8, 6),
};
const SECRET = 'GPS 52.5200 13.4050';
const SCRIPT = Buffer.from('<script>alert(document.domain)</script>');

/** A segment of a JPEG. */
const segment = (marker: number, data: Buffer) =>
  Buffer.concat([Buffer.from([0xff, marker, (data.length + 2) >> 8, (data.length + 2) & 0xff]), data]);
/** A chunk of a WebP. */
const chunk = (type: string, data: Buffer) => {
  const head = Buffer.alloc(8);
  head.write(type, 'latin1');
  head.writeUInt32LE(data.length, 4);
  return Buffer.concat([head, data, Buffer.alloc(data.length % 2)]);
};
const inWebp = (...chunks: Buffer[]) => {
  const file = Buffer.concat([Buffer.from('RIFF\0\0\0\0WEBP', 'latin1'), ...chunks]);
  file.writeUInt32LE(file.length - 8, 4);
  return file;
};
const read = (bytes: Uint8Array) => {
  const picture = readPicture(bytes);
  if (typeof picture === 'string') throw new Error(picture);
  return picture;
};

test.each(Object.entries(PICTURES))('keeps a picture of type %s, and changes it once only', (type, bytes) => {
  const { mediaType, bytes: kept } = read(bytes);
  expect(mediaType).toBe(type.trim());
  expect(kept.length).toBeLessThanOrEqual(bytes.length);
  expect(Buffer.from(read(kept).bytes).equals(Buffer.from(kept))).toBe(true);
});

test('drops what a camera wrote into a picture, and its color profile', () => {
  const secret = Buffer.from(SECRET);
  const tagged = [
    Buffer.concat([
      JPEG_PICTURE.subarray(0, 2),
      segment(0xe1, Buffer.concat([Buffer.from('Exif\0\0'), secret])),
      segment(0xfe, secret),
      segment(0xe0, Buffer.concat([Buffer.from('JFXX\0'), secret])),
      JPEG_PICTURE.subarray(2),
    ]),
    inWebp(WEBP_PICTURE.subarray(12), chunk('EXIF', secret), chunk('XMP ', secret)),
    makePng(
      8,
      6,
      pngChunk('tEXt', secret),
      pngChunk('eXIf', secret),
      pngChunk('zTXt', secret),
      pngChunk('iCCP', secret),
    ),
  ];
  for (const bytes of tagged) {
    const kept = Buffer.from(read(bytes).bytes);
    expect(kept.includes(SECRET)).toBe(false);
    expect(kept.includes('ICC')).toBe(false);
  }
});

test.each([
  ['II', '49492a000800000002000f0103000100000041000000120103000100000006000000000000004750532035322e35323030'],
  ['MM', '4d4d002a0000000800010112000300000001000600000000000000004750532035322e35323030'],
])('keeps of the EXIF of a JPEG only which way up it is shown (%s)', (_order, tiff) => {
  const exif = Buffer.concat([Buffer.from('Exif\0\0'), Buffer.from(tiff, 'hex')]);
  const tagged = Buffer.concat([JPEG_PICTURE.subarray(0, 2), segment(0xe1, exif), JPEG_PICTURE.subarray(2)]);
  const kept = Buffer.from(read(tagged).bytes);
  const only = segment(0xe1, Buffer.from('4578696600004d4d002a00000008000101120003000000010006000000000000', 'hex'));
  expect(kept.subarray(2, 2 + only.length)).toEqual(only);
  expect(kept.indexOf('Exif', only.length)).toBe(-1);
  expect(kept.includes('GPS')).toBe(false);
  expect(Buffer.from(read(kept).bytes).equals(kept)).toBe(true);
});

test('drops EXIF that is damaged or says nothing of the orientation', () => {
  const tiffs = [
    '',
    '4949',
    '49492a00ffffffff',
    '4d4d002a00000008ffff',
    '4d4d002a0000000800010112000300000001000900000000',
  ];
  for (const tiff of tiffs) {
    const exif = Buffer.concat([Buffer.from('Exif\0\0'), Buffer.from(tiff, 'hex')]);
    const tagged = Buffer.concat([JPEG_PICTURE.subarray(0, 2), segment(0xe1, exif), JPEG_PICTURE.subarray(2)]);
    expect(read(tagged).bytes).toEqual(read(JPEG_PICTURE).bytes);
  }
});

test('drops another file behind or before the pixels of a picture', () => {
  const zip = Buffer.from('PK\x03\x04 <?php system($_GET[0]); ?>', 'latin1');
  for (const bytes of Object.values(PICTURES)) {
    const kept = Buffer.from(read(Buffer.concat([bytes, SCRIPT, zip])).bytes);
    expect([kept.includes('<script'), kept.includes('PK\x03\x04')]).toEqual([false, false]);
  }
  const kept = Buffer.from(read(makePng(8, 6, pngChunk('scRt', SCRIPT))).bytes);
  expect(kept.includes('<script')).toBe(false);
});

test.each([
  ['SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')],
  ['HTML', Buffer.from('<!doctype html><script>alert(1)</script>')],
  ['HTML behind a mark', Buffer.from('\ufeff<!doctype html>')],
  ['GIF', Buffer.from('GIF89a/*<script>*/', 'latin1')],
  ['BMP', Buffer.from('BM\0\0\0\0\0\0\0\0', 'latin1')],
  ['AVIF', Buffer.from('\0\0\0\x1cftypavif', 'latin1')],
  ['PDF', Buffer.from('%PDF-1.7')],
  ['text', Buffer.from('picture')],
  ['an empty file', Buffer.alloc(0)],
])('rejects %s', (_name, bytes) => {
  expect(readPicture(bytes)).toBe('type');
});

test('rejects an animation', () => {
  expect(readPicture(makePng(8, 6, pngChunk('acTL', Buffer.alloc(8))))).toBe('animated');
  expect(readPicture(inWebp(WEBP_PICTURE.subarray(12), chunk('ANIM', Buffer.alloc(6))))).toBe('animated');
});

test('rejects more pixels than the limit, and none, whatever the extended header says', () => {
  const max = MAX_PICTURE_SIDE;
  expect(readPicture(makePng(max, max))).toMatchObject({ mediaType: 'image/png' });
  expect(readPicture(makePng(max + 1, 1))).toBe('large');
  expect(readPicture(makePng(1, max + 1))).toBe('large');
  expect(readPicture(makePng(0xffff_ffff, 1))).toBe('large');
  expect(readPicture(makePng(0, 6))).toBe('damaged');
  const jpeg = Buffer.from(JPEG_PICTURE);
  jpeg.writeUInt16BE(max + 1, jpeg.indexOf(Buffer.from([0xff, 0xc0])) + 5);
  expect(readPicture(jpeg)).toBe('large');
  const webp = Buffer.from(WEBP_PICTURE);
  webp.writeUIntLE(max, 24, 3);
  expect(readPicture(webp)).toBe('damaged');
  const frame = Buffer.from(webp);
  frame.writeUInt16LE(max + 1, frame.indexOf(Buffer.from([0x9d, 0x01, 0x2a])) + 3);
  expect(readPicture(frame)).toBe('large');
});

test('rejects a picture with two headers, without pixels, or of a kind that browsers do not show', () => {
  const png = makePng(8, 6);
  expect(readPicture(Buffer.concat([png.subarray(0, 33), png.subarray(8)]))).toBe('damaged');
  const [start, end] = [png.subarray(0, 33), pngChunk('IEND', Buffer.alloc(0))];
  expect(readPicture(Buffer.concat([start, end]))).toBe('damaged');
  const at = JPEG_PICTURE.indexOf(Buffer.from([0xff, 0xc0]));
  const frame = JPEG_PICTURE.subarray(at, at + 2 + JPEG_PICTURE.readUInt16BE(at + 2));
  expect(readPicture(Buffer.concat([JPEG_PICTURE.subarray(0, at), frame, JPEG_PICTURE.subarray(at)]))).toBe('damaged');
  const lossless = Buffer.from(JPEG_PICTURE);
  lossless[at + 1] = 0xc3;
  expect(readPicture(lossless)).toBe('damaged');
});

test('never throws, and never takes a picture that ends early', () => {
  for (const bytes of Object.values(PICTURES)) {
    // A WebP may end with a byte of padding.
    for (let length = 0; length < bytes.length - 1; length++)
      expect(typeof readPicture(bytes.subarray(0, length))).toBe('string');
    for (let at = 0; at < bytes.length; at++)
      for (const value of [0, 1, 0x7f, 0xff]) {
        const changed = Buffer.from(bytes);
        changed[at] = value;
        const picture = readPicture(changed);
        if (typeof picture !== 'string') expect(picture.bytes.length).toBeLessThanOrEqual(bytes.length);
      }
  }
});

test('has another path for another picture, and no path for none', () => {
  expect(picturePath('usr_1', '0123456789abcdef')).toBe('/api/e2/members/usr_1/picture?v=0123456789abcdef');
  expect(picturePath('usr_1', null)).toBeNull();
});
