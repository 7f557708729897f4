/** A file in a tar archive. */
export interface TarEntry {
  /** path with `/`, at most 100 bytes of ASCII */
  path: string;
  sizeBytes: number;
  modifiedAt: Date;
}

const BLOCK_BYTES = 512;

/** Two empty blocks, which end an archive. */
export const TAR_END = Buffer.alloc(2 * BLOCK_BYTES);

/** Returns the header before the bytes of a file (POSIX.1-1988, ustar). Files are readable only by their owner. */
export function tarHeader({ path, sizeBytes, modifiedAt }: TarEntry): Buffer {
  const header = Buffer.alloc(BLOCK_BYTES);
  const octal = (value: number, offset: number, digits: number) =>
    header.write(value.toString(8).padStart(digits, '0'), offset, 'ascii');
  if (Buffer.byteLength(path) > 100) throw new Error(`the path ${path} is too long for a tar archive`);
  header.write(path, 0, 'ascii');
  octal(0o600, 100, 7);
  octal(0, 108, 7);
  octal(0, 116, 7);
  octal(sizeBytes, 124, 11);
  octal(Math.floor(modifiedAt.getTime() / 1_000), 136, 11);
  header.write('0ustar', 156, 'ascii');
  header.write('00', 263, 'ascii');
  // The sum is of the header with spaces in its own place.
  header.fill(' ', 148, 156);
  octal(
    header.reduce((sum, byte) => sum + byte, 0),
    148,
    6,
  );
  header[154] = 0;
  return header;
}

/** Returns what fills the last block of a file. */
export function tarPadding(sizeBytes: number): Buffer {
  return Buffer.alloc((BLOCK_BYTES - (sizeBytes % BLOCK_BYTES)) % BLOCK_BYTES);
}
