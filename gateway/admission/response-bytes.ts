import { UserError } from '../../core/shared/errors.ts';
import { createTurns } from '../../core/shared/turns.ts';
import { chargeResults } from '../../db/connection/result-charge.ts';
import type { ResponseRoom } from '../../operations/response-room.ts';
import { type ByteLimits, createByteLedger } from './byte-ledger.ts';
import { tightenHeap } from './heap-growth.ts';

/** The largest email has about 15 MB, of which a response shows up to four forms. Bytes. @limit */
export const RESPONSE_BYTES: ByteLimits = { perAccount: 48_000_000, perProcess: 80_000_000 };
/** Bytes that are loaded one request at a time, because their copies in the driver of PostgreSQL take several times as much for a moment. */
const LARGE_LOAD = 1_000_000;
/** Bytes of responses from which on garbage is collected early. */
const TIGHT_FROM_BYTES = 8_000_000;
/** The reason of an error of a response that has no room now. */
const RESPONSES_IN_PROGRESS = 'RESPONSES_IN_PROGRESS';
/** Seconds. */
const RETRY_AFTER_SECONDS = 5;

/** The side of a request that its room depends on. */
interface RoomOwner {
  /** empty before admission */
  workspaceId: string;
}

/** The connection that takes the response. */
interface RoomReceiver {
  /** whether the response has ended, or its connection is closed */
  closed: boolean;
  destroyed: boolean;
  once(event: 'close', listener: () => void): unknown;
}

/** Counts the bytes of responses that are in the memory of this gateway: what was loaded for them, and what waits for the network. */
export interface ResponseBytes {
  limits: ByteLimits;
  /** Returns the room of a request. It costs nothing until something is taken. */
  open(owner: RoomOwner, receiver: RoomReceiver): RequestRoom;
  /** Returns the bytes in memory now: of an account, or of all. */
  count(workspaceId?: string): number;
}

/** The room of one request; see ResponseRoom. */
export interface RequestRoom extends ResponseRoom {
  /** bytes that are taken now */
  readonly bytes: number;
  /** Changes what is taken: what was loaded has become this many bytes. Throws as take does. */
  resize(bytes: number): void;
  /** Runs the handler of the request. Results of its queries are counted as they arrive, beyond the first 256 KB of each connection. */
  run<T>(handler: () => T): T;
}

export function countResponseBytes(limits: ByteLimits = RESPONSE_BYTES): ResponseBytes {
  const ledger = createByteLedger(limits);
  const turns = createTurns();

  function open(owner: RoomOwner, receiver: RoomReceiver): RequestRoom {
    let workspaceId: string | null = null;
    let taken = 0;
    let isClosed = false;

    function resize(bytes: number): void {
      const more = bytes - taken;
      if (more > 0) {
        // `close` is emitted once, and does not return what is taken after it.
        if (isClosed || receiver.closed || receiver.destroyed)
          throw new UserError('unavailable', 'The connection is closed');
        if (bytes > limits.perAccount) throw tooLarge(bytes, limits.perAccount);
        const result = ledger.take(workspaceId ?? owner.workspaceId, more);
        if (result === 'account-full') throw accountFull();
        if (result === 'process-full') throw processFull();
        if (ledger.count() >= TIGHT_FROM_BYTES) tightenHeap();
        if (workspaceId === null) {
          workspaceId = owner.workspaceId;
          receiver.once('close', () => {
            resize(0);
            isClosed = true;
          });
        }
      } else if (workspaceId !== null) ledger.giveBack(workspaceId, -more);
      taken = workspaceId === null ? 0 : bytes;
    }

    const room: RequestRoom = {
      get bytes() {
        return taken;
      },
      resize,
      take: (bytes) => resize(taken + bytes),
      async load(bytes, load) {
        resize(taken + bytes);
        return room.loadTaken(bytes, load);
      },
      async loadTaken(bytes, load) {
        const paid = () => chargeResults(null, load);
        if (bytes < LARGE_LOAD) return paid();
        return turns.run(owner.workspaceId, () => {
          if (receiver.closed || receiver.destroyed) throw new UserError('unavailable', 'The connection is closed');
          return paid();
        });
      },
      async borrow(work) {
        const before = taken;
        try {
          return await work();
        } finally {
          if (taken > before) resize(before);
        }
      },
      giveBack: () => resize(0),
      run: (handler) => chargeResults(room, handler, owner.workspaceId),
    };
    return room;
  }

  return { limits, open, count: (workspaceId) => ledger.count(workspaceId) };
}

const megabytes = (bytes: number) => Math.ceil(bytes / 1_000_000);

function tooLarge(bytes: number, most: number): UserError {
  return new UserError(
    'validation',
    `The response has more than ${megabytes(bytes)} MB, and the limit is ${megabytes(most)} MB. Request fewer emails or fewer fields, or download the raw messages.`,
    { name: 'validation_error', reason: 'RESPONSE_TOO_LARGE' },
  );
}

function accountFull(): UserError {
  return new UserError(
    'unavailable',
    'Too many large responses of this account are in progress. Read them to their end, or try again later.',
    { retryAfterSeconds: RETRY_AFTER_SECONDS, reason: RESPONSES_IN_PROGRESS },
  );
}

function processFull(): UserError {
  return new UserError('unavailable', 'Too many large responses are in progress. Please try again later.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    reason: RESPONSES_IN_PROGRESS,
  });
}
