import { unpackSmall } from '../../../db/packed-message.ts';

/** Columns of raw_message, as `MESSAGE_COLUMNS` selects them. */
export interface MessageColumns {
  packed: Buffer;
  sha256: Buffer;
  size_bytes: number;
}

/** Columns of the table `m` that a test reads a message from. */
export const MESSAGE_COLUMNS = 'm.packed, m.sha256, m.size_bytes';

/** Returns the message of a row. Throws when its bytes are damaged. */
export function readStoredMessage({ packed, sha256, size_bytes: sizeBytes }: MessageColumns): Buffer {
  const bytes = unpackSmall({ packed, sha256, sizeBytes });
  if (bytes === null) throw new Error('the stored bytes do not match their sha256');
  return bytes;
}
