/** The window of the request limit. Milliseconds. */
const WINDOW_MS = 1_000;

/** Runs a sequence of requests until it fits into one window of the request limit, on however slow a machine; returns its result. */
export async function inOneWindow<T>(sequence: () => Promise<T>, windowMs = WINDOW_MS): Promise<T> {
  for (;;) {
    const startedAt = performance.now();
    const result = await sequence();
    if (performance.now() - startedAt < windowMs) return result;
  }
}
