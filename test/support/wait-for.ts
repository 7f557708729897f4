import { vi } from 'vitest';

/** For hangs; vitest's own is a second. Milliseconds. */
const LIMIT_MS = 120_000;

/** Resolves with what `check` returns once it no longer throws; rejects with its last error after 120 s. */
export function waitFor<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: LIMIT_MS, interval: 20 });
}
