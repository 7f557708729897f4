import { Client, fetchExchange, mapExchange } from '@urql/core';
import { endSession, GRAPHQL_URL, sendQuery } from '../../client.ts';

const UNAUTHORIZED = 401;

/** Queries without a cache: a list that is scrolled for long would otherwise keep every page in memory. */
export const freshClient = new Client({
  url: GRAPHQL_URL,
  preferGetMethod: false,
  requestPolicy: 'network-only',
  fetch: sendQuery,
  fetchOptions: { credentials: 'same-origin' },
  exchanges: [
    mapExchange({
      onResult(result) {
        if ((result.error?.response as Response | undefined)?.status === UNAUTHORIZED) endSession();
      },
    }),
    fetchExchange,
  ],
});
