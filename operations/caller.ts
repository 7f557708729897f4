/** The client that waits for a long-running operation. */
export interface Caller {
  /** how the request was authenticated; null: by a signed link, or not at all */
  readonly via: 'session' | 'key' | null;
  /** when the session of the request was started, by a password, passkey or link; null: there is none */
  readonly signedInAt: Date | null;
  /** aborted when the response has been sent or the connection has ended */
  readonly gone: AbortSignal;
  /** Returns whether the session or key is still valid. Throws when PostgreSQL is unreachable. */
  isAllowed(): Promise<boolean>;
  /** Closes the connection immediately. */
  hangUp(): void;
}
