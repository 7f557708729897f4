/** Returns a function that makes the value at its first call and returns it from then on: for what costs too much at the start of a process. */
export function lazily<T>(make: () => T): () => T {
  let made: { value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}
