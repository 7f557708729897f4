import type { Socket } from 'node:net';
import { MAX_BYTES } from '../../schema/messages.ts';

/**
 * Frames on a stream: u32 length of what follows the two lengths, u32 length of the head, the head as JSON, raw bytes.
 * Lengths are big-endian. Bytes are neither copied nor encoded on the way out.
 */
export interface FrameChannel {
  /** Sends a frame, or queues it while the socket is full. A queued frame is dropped if `isWanted` returns false when its turn comes. */
  send(head: unknown, bytes?: Uint8Array, isWanted?: () => boolean): void;
  /** Bytes waiting to be sent. */
  backlogBytes(): number;
}

/** A head holds addresses and trace fields at most; a longer one is a fault of the peer. */
const MAX_HEAD_BYTES = 4_000_000;
const LENGTHS_BYTES = 8;
/** Above this many unsent bytes, frames are queued until the socket has drained. */
const HIGH_WATER_BYTES = 1_048_576;
const NO_BYTES = new Uint8Array(0);

/** Sends and receives frames on the socket; `take` gets each frame received. A malformed frame destroys the socket with an error. */
export function createFrameChannel(socket: Socket, take: (head: unknown, bytes: Uint8Array) => void): FrameChannel {
  let waiting: { head: Buffer; bytes: Uint8Array; isWanted: () => boolean }[] = [];
  let waitingBytes = 0;
  let isCorked = false;

  const write = (head: Buffer, bytes: Uint8Array) => {
    if (!isCorked) {
      isCorked = true;
      socket.cork();
      // All frames of this turn of the event loop leave in one system call.
      setImmediate(() => {
        isCorked = false;
        socket.uncork();
      });
    }
    socket.write(head);
    if (bytes.byteLength > 0) socket.write(bytes);
  };

  socket.on('drain', () => {
    const queue = waiting;
    waiting = [];
    waitingBytes = 0;
    for (const frame of queue) {
      if (socket.writableLength > HIGH_WATER_BYTES) {
        waiting.push(frame);
        waitingBytes += frame.head.byteLength + frame.bytes.byteLength;
      } else if (frame.isWanted()) write(frame.head, frame.bytes);
    }
  });
  socket.on(
    'data',
    createFrameReader(take, (reason) => socket.destroy(new Error(reason))),
  );

  return {
    send(head, bytes = NO_BYTES, isWanted = () => true) {
      if (socket.destroyed) return;
      const packed = packHead(head, bytes.byteLength);
      if (waiting.length === 0 && socket.writableLength <= HIGH_WATER_BYTES) return write(packed, bytes);
      waiting.push({ head: packed, bytes, isWanted });
      waitingBytes += packed.byteLength + bytes.byteLength;
    },
    backlogBytes: () => socket.writableLength + waitingBytes,
  };
}

function packHead(head: unknown, sizeBytes: number): Buffer {
  const text = JSON.stringify(head);
  const textBytes = Buffer.byteLength(text);
  const packed = Buffer.allocUnsafe(LENGTHS_BYTES + textBytes);
  packed.writeUInt32BE(textBytes + sizeBytes, 0);
  packed.writeUInt32BE(textBytes, 4);
  packed.write(text, LENGTHS_BYTES, 'utf8');
  return packed;
}

/** A frame that comes in several chunks. Its head and its bytes have a buffer each, so that keeping the bytes takes no copy. */
interface Gathered {
  head: Buffer;
  bytes: Buffer;
  /** of both */
  filled: number;
}

/** Cuts a stream of chunks into frames. A frame inside one chunk is passed on as views of it; a longer one is copied once. */
function createFrameReader(take: (head: unknown, bytes: Uint8Array) => void, refuse: (reason: string) => void) {
  let rest: Buffer = Buffer.alloc(0);
  let gathering: Gathered | null = null;
  let isBroken = false;

  const deliver = (text: Buffer, bytes: Buffer) => {
    let head: unknown;
    try {
      head = JSON.parse(text.toString('utf8'));
    } catch {
      isBroken = true;
      return refuse('frame with a malformed head');
    }
    take(head, bytes);
  };

  return (chunk: Buffer) => {
    let data = chunk;
    if (rest.byteLength > 0) {
      data = Buffer.concat([rest, chunk]);
      rest = Buffer.alloc(0);
    }
    let at = 0;
    while (at < data.byteLength && !isBroken) {
      if (gathering) {
        at = gather(gathering, data, at);
        const { head, bytes, filled } = gathering;
        if (filled < head.byteLength + bytes.byteLength) return;
        gathering = null;
        deliver(head, bytes);
        continue;
      }
      if (data.byteLength - at < LENGTHS_BYTES) {
        rest = Buffer.from(data.subarray(at));
        return;
      }
      const frameBytes = data.readUInt32BE(at);
      const headBytes = data.readUInt32BE(at + 4);
      at += LENGTHS_BYTES;
      if (headBytes > MAX_HEAD_BYTES || headBytes > frameBytes || frameBytes - headBytes > MAX_BYTES) {
        isBroken = true;
        return refuse('frame of an impossible length');
      }
      if (data.byteLength - at >= frameBytes) {
        deliver(data.subarray(at, at + headBytes), data.subarray(at + headBytes, at + frameBytes));
        at += frameBytes;
      } else {
        gathering = {
          head: Buffer.allocUnsafeSlow(headBytes),
          bytes: Buffer.allocUnsafeSlow(frameBytes - headBytes),
          filled: 0,
        };
      }
    }
  };
}

/** Copies what belongs to the frame from that position on; returns the position after it. */
function gather(frame: Gathered, data: Buffer, from: number): number {
  const { head, bytes } = frame;
  let at = from;
  if (frame.filled < head.byteLength) {
    const copied = data.copy(head, frame.filled, at);
    at += copied;
    frame.filled += copied;
  }
  if (frame.filled >= head.byteLength) {
    const copied = data.copy(bytes, frame.filled - head.byteLength, at);
    at += copied;
    frame.filled += copied;
  }
  return at;
}
