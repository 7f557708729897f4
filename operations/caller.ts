/** Who waits for an answer, for operations that outlast a usual request. */
export interface Caller {
  /** what the request was let in by; null: by a signed link, or it was not */
  readonly via: 'session' | 'key' | null;
  /** aborted when nobody waits any more: the answer is out, or the connection has ended */
  readonly gone: AbortSignal;
  /** Whether what the request was let in by still opens anything. Throws when PostgreSQL is away. */
  isAllowed(): Promise<boolean>;
  /** Ends the connection at once. */
  hangUp(): void;
}
