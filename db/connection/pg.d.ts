import 'pg';

declare module 'pg' {
  /** Options that the published types omit. */
  interface QueryConfig<I> {
    /** time limit of the query on the client, instead of the pool's; milliseconds */
    query_timeout?: number;
  }
}
