/**
 * Memory for the response of a request. The gateway counts it per account and per process (gateway/admission/response-bytes.ts); what is
 * taken is given back when the connection has the response, or is closed.
 */
export interface ResponseRoom {
  /** Takes room for bytes that are about to be loaded. Throws unavailable if there is none now, validation if there never is. */
  take(bytes: number): void;
  /**
   * Takes room for bytes, and then loads them. Large ones are loaded one request at a time, so do not hold a connection to the database
   * meanwhile. Throws what take and `load` throw.
   */
  load<T>(bytes: number, load: () => Promise<T>): Promise<T>;
  /** Like load, with room that was taken before. */
  loadTaken<T>(bytes: number, load: () => Promise<T>): Promise<T>;
  /**
   * Runs work that takes room, and gives it back when the work ends: its result is small, or counted otherwise. Such works run one after
   * the other.
   */
  borrow<T>(work: () => Promise<T>): Promise<T>;
  /** Gives back all room, of a stream whose last part has been sent. */
  giveBack(): void;
}

/** For work that no client waits for, and whose process has its own limits. */
export const UNBOUNDED_ROOM: ResponseRoom = {
  take: () => undefined,
  load: (_bytes, load) => load(),
  loadTaken: (_bytes, load) => load(),
  borrow: (work) => work(),
  giveBack: () => undefined,
};
