import type { ServerResponse } from 'node:http';

export interface ReaderLimits {
  /** time in which a client must take `leastBytes` of a response that waits for it; milliseconds */
  windowMs: number;
  leastBytes: number;
}

/** A client that takes less than 4 KB/s for 30 s keeps a response in memory that others need room for. */
export const READER_LIMITS: ReaderLimits = { windowMs: 30_000, leastBytes: 131_072 };

/** Disconnects the client of a large response, or of a stream, when it does not read what waits for it. Call it once the response begins. */
export function disconnectSlowReader(
  raw: ServerResponse,
  { windowMs, leastBytes }: ReaderLimits = READER_LIMITS,
): void {
  let seen = takenBytes(raw);
  let wasBehind = isBehind(raw);
  const timer = setInterval(() => {
    const taken = takenBytes(raw);
    // A client that has read everything so far waits for the gateway, such as that of a stream of events.
    if (isBehind(raw) && wasBehind && taken - seen < leastBytes) raw.destroy();
    wasBehind = isBehind(raw);
    seen = taken;
  }, windowMs).unref();
  raw.once('close', () => clearInterval(timer));
}

/** Returns the bytes that the system has taken for the network. */
function takenBytes({ socket }: ServerResponse): number {
  return socket === null ? 0 : socket.bytesWritten - socket.writableLength;
}

function isBehind({ socket, writableLength }: ServerResponse): boolean {
  return (socket?.writableLength ?? 0) + writableLength > 0;
}
