import type { Socket } from 'node:net';
import { MAX_BYTES } from '../../schema/messages.ts';

/**
 * Frames on a stream: u32 length of what follows the two lengths, u32 length of the head, the head as JSON, raw octets.
 * Lengths are big-endian. Bytes are neither copied nor encoded on the way out.
 */
export interface FrameChannel {
  /**
   * Sends a frame, or lets it wait while the socket is full; a frame that waits is dropped when `isWanted` says no at its turn.
   */
  send(head: unknown, octets?: Uint8Array, isWanted?: () => boolean): void;
  /** Bytes that wait to be sent. */
  backlogOctets(): number;
}

/** A head holds addresses and trace fields at most; a longer one is a fault of the other side. */
const MAX_HEAD_OCTETS = 4_000_000;
const LENGTHS_OCTETS = 8;
/** Above this much unsent, frames wait here until the socket has drained. */
const HIGH_WATER_OCTETS = 1_048_576;
const NO_OCTETS = new Uint8Array(0);

/** Talks frames on the socket; each frame that comes is given to `take`. A frame that breaks the form destroys the socket with an error. */
export function createFrameChannel(socket: Socket, take: (head: unknown, octets: Uint8Array) => void): FrameChannel {
  let waiting: { head: Buffer; octets: Uint8Array; isWanted: () => boolean }[] = [];
  let waitingOctets = 0;
  let isCorked = false;

  const write = (head: Buffer, octets: Uint8Array) => {
    if (!isCorked) {
      isCorked = true;
      socket.cork();
      // All frames of this turn leave in one system call.
      setImmediate(() => {
        isCorked = false;
        socket.uncork();
      });
    }
    socket.write(head);
    if (octets.byteLength > 0) socket.write(octets);
  };

  socket.on('drain', () => {
    const queue = waiting;
    waiting = [];
    waitingOctets = 0;
    for (const frame of queue) {
      if (socket.writableLength > HIGH_WATER_OCTETS) {
        waiting.push(frame);
        waitingOctets += frame.head.byteLength + frame.octets.byteLength;
      } else if (frame.isWanted()) write(frame.head, frame.octets);
    }
  });
  socket.on(
    'data',
    createFrameReader(take, (reason) => socket.destroy(new Error(reason))),
  );

  return {
    send(head, octets = NO_OCTETS, isWanted = () => true) {
      if (socket.destroyed) return;
      const packed = packHead(head, octets.byteLength);
      if (waiting.length === 0 && socket.writableLength <= HIGH_WATER_OCTETS) return write(packed, octets);
      waiting.push({ head: packed, octets, isWanted });
      waitingOctets += packed.byteLength + octets.byteLength;
    },
    backlogOctets: () => socket.writableLength + waitingOctets,
  };
}

function packHead(head: unknown, sizeOctets: number): Buffer {
  const text = JSON.stringify(head);
  const textOctets = Buffer.byteLength(text);
  const packed = Buffer.allocUnsafe(LENGTHS_OCTETS + textOctets);
  packed.writeUInt32BE(textOctets + sizeOctets, 0);
  packed.writeUInt32BE(textOctets, 4);
  packed.write(text, LENGTHS_OCTETS, 'utf8');
  return packed;
}

/**
 * Cuts a stream of chunks into frames. A frame inside one chunk is given as a view of it; a longer one is gathered
 * into one buffer of its size.
 */
function createFrameReader(take: (head: unknown, octets: Uint8Array) => void, refuse: (reason: string) => void) {
  let rest: Buffer = Buffer.alloc(0);
  let gathering: { frame: Buffer; filled: number; headOctets: number } | null = null;
  let isBroken = false;

  const deliver = (frame: Buffer, headOctets: number) => {
    let head: unknown;
    try {
      head = JSON.parse(frame.toString('utf8', 0, headOctets));
    } catch {
      isBroken = true;
      return refuse('frame with a malformed head');
    }
    take(head, frame.subarray(headOctets));
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
        const copied = data.copy(gathering.frame, gathering.filled, at);
        at += copied;
        gathering.filled += copied;
        if (gathering.filled < gathering.frame.byteLength) return;
        const { frame, headOctets } = gathering;
        gathering = null;
        deliver(frame, headOctets);
        continue;
      }
      if (data.byteLength - at < LENGTHS_OCTETS) {
        rest = Buffer.from(data.subarray(at));
        return;
      }
      const frameOctets = data.readUInt32BE(at);
      const headOctets = data.readUInt32BE(at + 4);
      at += LENGTHS_OCTETS;
      if (headOctets > MAX_HEAD_OCTETS || headOctets > frameOctets || frameOctets - headOctets > MAX_BYTES) {
        isBroken = true;
        return refuse('frame of an impossible length');
      }
      if (data.byteLength - at >= frameOctets) {
        deliver(data.subarray(at, at + frameOctets), headOctets);
        at += frameOctets;
      } else {
        gathering = { frame: Buffer.allocUnsafeSlow(frameOctets), filled: 0, headOctets };
      }
    }
  };
}
