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

/** Between two looks whether a client that follows something still may: with the age of cached credentials, it ends within 5 s. Milliseconds. */
const LOOK_MS = 2_000;

/**
 * Follows something until its signal is aborted: when the connection ends, and within seconds of the end of the rights of the client, also where
 * nothing happens. Nothing is yielded after that. Throws what `follow` throws.
 */
export function whileAllowed<Item>(
  caller: Caller,
  follow: (signal: AbortSignal) => AsyncIterable<Item>,
): AsyncIterable<Item> {
  const refused = new AbortController();
  const followed = follow(AbortSignal.any([caller.gone, refused.signal]));
  return read();

  async function* read(): AsyncGenerator<Item, void> {
    const look = setInterval(() => {
      // While PostgreSQL is unreachable, the stream stays as it is.
      caller.isAllowed().then(
        (isAllowed) => isAllowed || refused.abort(),
        () => undefined,
      );
    }, LOOK_MS).unref();
    try {
      for await (const item of followed) {
        if (refused.signal.aborted || !(await caller.isAllowed())) return;
        yield item;
      }
    } finally {
      clearInterval(look);
    }
  }
}
