/** Returns a function that calls `load` at its first call and returns the same result from then on. A failure is not kept: the next call tries again. */
export function loadOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | null = null;
  return () => {
    if (loaded !== null) return loaded;
    const loading = load();
    loaded = loading;
    loading.catch(() => {
      loaded = null;
    });
    return loading;
  };
}
