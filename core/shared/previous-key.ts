const previousKeys = new WeakMap<Uint8Array, Uint8Array>();

/**
 * Keeps the key that `key` replaces (SECRET_KEY_PREVIOUS): what was encrypted or signed with it still counts, as long as the process runs.
 * Returns `key`.
 */
export function keepPreviousKey(key: Uint8Array, previous: Uint8Array | null): Uint8Array {
  if (previous !== null) previousKeys.set(key, previous);
  return key;
}

/** Returns the keys with which something may be encrypted or signed: the key, then the one that it replaces, if there is one. */
export function acceptedKeys(key: Uint8Array): [current: Uint8Array, ...previous: Uint8Array[]] {
  const previous = previousKeys.get(key);
  return previous === undefined ? [key] : [key, previous];
}

/** Returns the key as one that replaces none. */
export function withoutPreviousKey(key: Uint8Array): Uint8Array {
  return Uint8Array.from(key);
}

/** Derives a key from SECRET_KEY, and keeps beside it the one that follows from the previous SECRET_KEY. */
export function deriveKeys(secretKey: Uint8Array, derive: (secretKey: Uint8Array) => Uint8Array): Uint8Array {
  const [current, previous] = acceptedKeys(secretKey);
  return keepPreviousKey(derive(current), previous === undefined ? null : derive(previous));
}
