import 'pg';

declare module 'pg' {
  /** What the driver takes and its published types leave out. */
  interface QueryConfig<I> {
    /** milliseconds until the driver gives the query up, instead of the pool's own limit */
    query_timeout?: number;
  }
}
