/** Returns a function that makes the value at its first call and returns it from then on: for what costs too much at the start of a process. */
export function lazily<T>(make: () => T): () => T {
  let made: { value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}

/** What a search needs of a regular expression. */
export type Pattern = Pick<RegExp, 'test' | 'exec' | 'source'>;

/** Returns the regular expression of a long source, with the flag `u`, compiled at the first test: a start of a process needs none. */
export function compileLater(source: () => string): Pattern {
  const compiled = lazily(() => new RegExp(source(), 'u'));
  return {
    test: (text) => compiled().test(text),
    exec: (text) => compiled().exec(text),
    get source() {
      return compiled().source;
    },
  };
}
