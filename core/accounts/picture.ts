/** Bytes of a picture of a person. */
export const MAX_PICTURE_BYTES = 262_144;
/** Pixels of each side of a picture of a person. */
export const MAX_PICTURE_SIDE = 1_024;
/** Types that browsers show, and that can contain no scripts. */
export const PICTURE_TYPES = ['image/jpeg', 'image/png', 'image/webp'] as const;
export type PictureType = (typeof PICTURE_TYPES)[number];

/** A picture of a person, with nothing but what is needed to show it. */
export interface Picture {
  mediaType: PictureType;
  bytes: Uint8Array;
}

/** `type`: it is no JPEG, PNG or WebP; `damaged`: it is one that ends early or breaks the rules of its format; `animated`; `large`: too many pixels. */
export type PictureFault = 'type' | 'damaged' | 'animated' | 'large';

/** Returns the path of the picture of a person on this service; null without one. Another picture has another version, and so another path. */
export function picturePath(personId: string, version: string | null): string | null {
  return version === null ? null : `/api/e2/members/${encodeURIComponent(personId)}/picture?v=${version}`;
}

/**
 * Returns a picture by its bytes, whatever its name says: only the parts that show it are copied, so that of what a camera or a program wrote
 * into it (EXIF with the place, XMP, comments) only the orientation of a JPEG is left, and nothing of another file behind it or in a part of its
 * own. Tables and pixels are copied as they are, and can hold any bytes. Returns the fault if it cannot be shown.
 */
export function readPicture(bytes: Uint8Array): Picture | PictureFault {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const format = FORMATS.find(({ begins }) => begins(file));
  if (format === undefined) return 'type';
  const parts: Buffer[] = [];
  const found = format.copy(file, (part) => void parts.push(part));
  if (typeof found === 'string') return found;
  const [width, height] = found;
  if (width === 0 || height === 0) return 'damaged';
  if (width > MAX_PICTURE_SIDE || height > MAX_PICTURE_SIDE) return 'large';
  return { mediaType: format.mediaType, bytes: format.finish?.(Buffer.concat(parts)) ?? Buffer.concat(parts) };
}

interface Format {
  mediaType: PictureType;
  begins: (file: Buffer) => boolean;
  /** copies what shows the picture; returns its width and height in pixels, or why it cannot be shown */
  copy: (file: Buffer, keep: (part: Buffer) => void) => [width: number, height: number] | PictureFault;
  finish?: (copied: Buffer) => Buffer;
}

const PNG_SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
/** Chunks of a PNG that show it (W3C PNG §11); none of them is compressed but the pixels. */
const PNG_KEPT = new Set(['IHDR', 'PLTE', 'tRNS', 'gAMA', 'sRGB', 'IDAT', 'IEND']);
const IHDR_BYTES = 13;
/** Of a chunk of a PNG beside its data: length, type and checksum. Bytes. */
const PNG_FRAME = 12;
const RIFF_HEADER = 12;
/** Chunks of a WebP that show it (RFC 9649 §2.7). */
const WEBP_KEPT = new Set(['VP8 ', 'VP8L', 'VP8X', 'ALPH']);
const VP8X_BYTES = 10;
/** The flag in the header of an extended WebP that says that it has transparency. */
const WEBP_ALPHA = 0x10;

const FORMATS: readonly Format[] = [
  {
    mediaType: 'image/png',
    begins: (file) => file.subarray(0, PNG_SIGNATURE.length).equals(PNG_SIGNATURE),
    copy(file, keep) {
      keep(PNG_SIGNATURE);
      let sides: [number, number] | null = null;
      let hasPixels = false;
      for (let at = PNG_SIGNATURE.length; at + PNG_FRAME <= file.length; ) {
        const length = file.readUInt32BE(at);
        const type = file.toString('latin1', at + 4, at + 8);
        const end = at + PNG_FRAME + length;
        // The header comes first, and once.
        if (end > file.length || (type === 'IHDR') !== (sides === null)) return 'damaged';
        if (type === 'acTL') return 'animated';
        if (type === 'IHDR') {
          if (length !== IHDR_BYTES) return 'damaged';
          sides = [file.readUInt32BE(at + 8), file.readUInt32BE(at + 12)];
        }
        if (type === 'IDAT') hasPixels = true;
        if (PNG_KEPT.has(type)) keep(file.subarray(at, end));
        if (type === 'IEND') return hasPixels && length === 0 && sides !== null ? sides : 'damaged';
        at = end;
      }
      return 'damaged';
    },
  },
  {
    mediaType: 'image/jpeg',
    begins: (file) => file.length > 3 && file.readUInt16BE(0) === 0xffd8 && file[2] === 0xff,
    copy(file, keep) {
      keep(file.subarray(0, 2));
      let sides: [number, number] | null = null;
      let hasPixels = false;
      let isTurned = false;
      for (let at = 2; at + 2 <= file.length; ) {
        if (file[at] !== 0xff) return 'damaged';
        const marker = file[at + 1] ?? 0;
        // A marker may be filled up with bytes before it (T.81 §B.1.1.2).
        if (marker === 0xff) {
          at += 1;
          continue;
        }
        if (marker === 0xd9) {
          keep(file.subarray(at, at + 2));
          return hasPixels && sides !== null ? sides : 'damaged';
        }
        if (at + 4 > file.length) return 'damaged';
        const end = at + 2 + file.readUInt16BE(at + 2);
        if (end < at + 4 || end > file.length) return 'damaged';
        if (isJpegFrame(marker)) {
          if (sides !== null || end < at + 9) return 'damaged';
          sides = [file.readUInt16BE(at + 7), file.readUInt16BE(at + 5)];
        }
        const orientation = isTurned || marker !== 0xe1 ? null : readOrientation(file.subarray(at + 4, end));
        if (orientation !== null) {
          keep(makeOrientation(orientation));
          isTurned = true;
        } else if (isJpegKept(marker, file.subarray(at + 4, end))) keep(file.subarray(at, end));
        else if (marker < 0xe0 || (marker > 0xef && marker !== 0xfe)) return 'damaged';
        at = end;
        if (marker !== 0xda) continue;
        hasPixels = true;
        at = findJpegMarker(file, end);
        keep(file.subarray(end, at));
      }
      return 'damaged';
    },
  },
  {
    mediaType: 'image/webp',
    begins: (file) => file.toString('latin1', 0, 4) === 'RIFF' && file.toString('latin1', 8, RIFF_HEADER) === 'WEBP',
    copy(file, keep) {
      keep(Buffer.from(file.subarray(0, RIFF_HEADER)));
      let sides: [number, number] | null = null;
      let canvas: [number, number] | null = null;
      const last = Math.min(file.length, 8 + file.readUInt32LE(4));
      for (let at = RIFF_HEADER; at + 8 <= last; ) {
        const type = file.toString('latin1', at, at + 4);
        const length = file.readUInt32LE(at + 4);
        const end = at + 8 + length + (length % 2);
        if (end > last) return 'damaged';
        const data = file.subarray(at + 8, at + 8 + length);
        if (type === 'ANIM' || type === 'ANMF') return 'animated';
        const isFrame = type === 'VP8 ' || type === 'VP8L';
        if (type === 'VP8X') {
          if (at !== RIFF_HEADER || length !== VP8X_BYTES) return 'damaged';
          canvas = [data.readUIntLE(4, 3) + 1, data.readUIntLE(7, 3) + 1];
        } else if (isFrame) {
          const frame = type === 'VP8 ' ? readVp8(data) : readVp8l(data);
          if (frame === null || sides !== null) return 'damaged';
          sides = frame;
        }
        if (WEBP_KEPT.has(type)) {
          const chunk = Buffer.from(file.subarray(at, end));
          if (type === 'VP8X') chunk[8] = (chunk[8] ?? 0) & WEBP_ALPHA;
          keep(chunk);
        }
        at = end;
      }
      if (sides === null || (canvas !== null && canvas.join() !== sides.join())) return 'damaged';
      return sides;
    },
    finish(copied) {
      copied.writeUInt32LE(copied.length - 8, 4);
      return copied;
    },
  },
];

/** Returns whether a marker of a JPEG begins a frame of a kind that browsers show: baseline, extended or progressive (T.81 §B.1.1.3). */
function isJpegFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xc2;
}

/** Returns whether a segment shows the picture: tables, frames and scans, and how colors are stored (JFIF without a small picture, Adobe). */
function isJpegKept(marker: number, data: Buffer): boolean {
  if (marker === 0xe0) return data.length === 14 && data.toString('latin1', 0, 5) === 'JFIF\0';
  if (marker === 0xee) return data.length === 12 && data.toString('latin1', 0, 5) === 'Adobe';
  return isJpegFrame(marker) || [0xc4, 0xda, 0xdb, 0xdd].includes(marker);
}

const EXIF_SIGNATURE = 'Exif\0\0';
const ORIENTATION_TAG = 0x0112;
/** Type of an entry of EXIF: a number of 16 bits. */
const SHORT = 3;
/** Bytes of an entry of EXIF. */
const EXIF_ENTRY = 12;

/** Returns how a viewer has to turn or mirror the picture, 2 to 8, of the first directory of EXIF (Exif 2.32 §4.6.4); null: not, or no EXIF. */
function readOrientation(data: Buffer): number | null {
  if (data.toString('latin1', 0, EXIF_SIGNATURE.length) !== EXIF_SIGNATURE) return null;
  const tiff = data.subarray(EXIF_SIGNATURE.length);
  const isLittle = tiff.toString('latin1', 0, 2) === 'II';
  const short = (at: number) => (at + 2 > tiff.length ? 0 : isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
  const first = tiff.length < 8 ? 0 : isLittle ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4);
  for (let entry = 0; entry < short(first); entry++) {
    const at = first + 2 + entry * EXIF_ENTRY;
    if (at + EXIF_ENTRY > tiff.length) return null;
    const value = short(at + 8);
    if (short(at) === ORIENTATION_TAG) return short(at + 2) === SHORT && value >= 2 && value <= 8 ? value : null;
  }
  return null;
}

/** Returns a segment of EXIF that has nothing but the orientation. */
function makeOrientation(orientation: number): Buffer {
  const tiff = Buffer.from('4d4d002a00000008000101120003000000010000000000000000', 'hex');
  tiff.writeUInt16BE(orientation, 18);
  const head = Buffer.from([0xff, 0xe1, 0, 2 + EXIF_SIGNATURE.length + tiff.length]);
  return Buffer.concat([head, Buffer.from(EXIF_SIGNATURE, 'latin1'), tiff]);
}

/** Returns where the pixels of a scan end: at a marker that is none of their own (T.81 §B.1.1.2), or at the end of the file. */
function findJpegMarker(file: Buffer, from: number): number {
  for (let at = file.indexOf(0xff, from); at !== -1; at = file.indexOf(0xff, at + 1)) {
    const next = file[at + 1];
    if (next !== undefined && next !== 0 && next !== 0xff && (next < 0xd0 || next > 0xd7)) return at;
  }
  return file.length;
}

/** Returns the sides in the header of a key frame (RFC 6386 §9.1); null when it is none. */
function readVp8(data: Buffer): [number, number] | null {
  if (data.length < 10 || ((data[0] ?? 1) & 1) !== 0 || data.readUIntBE(3, 3) !== 0x9d012a) return null;
  return [data.readUInt16LE(6) & 0x3fff, data.readUInt16LE(8) & 0x3fff];
}

/** Returns the sides in the header of a lossless picture (RFC 9649 §3.4); null when it is none. */
function readVp8l(data: Buffer): [number, number] | null {
  if (data.length < 5 || data[0] !== 0x2f) return null;
  const bits = data.readUInt32LE(1);
  return [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1];
}
