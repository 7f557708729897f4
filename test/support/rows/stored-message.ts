import { unpackSmall } from '../../../db/packed-message.ts';

/** Columns of raw_message, as `MESSAGE_COLUMNS` selects them. */
export interface MessageColumns {
  octets: Buffer;
  sha256: Buffer;
  size_octets: number;
}

/** Columns of the table `m` that a test reads a message from. */
export const MESSAGE_COLUMNS = 'm.octets, m.sha256, m.size_octets';

/** Returns the message of a row. Throws when its bytes are damaged. */
export function readStoredMessage({ octets, sha256, size_octets: sizeBytes }: MessageColumns): Buffer {
  const bytes = unpackSmall({ octets, sha256, sizeBytes });
  if (bytes === null) throw new Error('the stored bytes do not match their sha256');
  return bytes;
}
