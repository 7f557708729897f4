import { Client, cacheExchange, fetchExchange, mapExchange } from '@urql/core';

/** Path of the GraphQL API, on the same origin so that the session cookie is sent. */
export const GRAPHQL_URL = '/graphql';

type Listener = () => void;
const onSessionEnd = new Set<Listener>();

/** Calls the listener when the session ends. Returns a function that removes the listener. */
export function listenForSessionEnd(listener: Listener): () => void {
  onSessionEnd.add(listener);
  return () => void onSessionEnd.delete(listener);
}

/** Reports that the session has ended: a response had status 401. */
export function endSession(): void {
  for (const listener of onSessionEnd) listener();
}

/** GraphQL client of the signed-in user. Results are cached by document until a mutation changes one of their types. */
export const client = new Client({
  url: GRAPHQL_URL,
  preferGetMethod: false,
  fetchOptions: { credentials: 'same-origin' },
  exchanges: [
    cacheExchange,
    mapExchange({
      onResult(result) {
        const response = result.error?.response as Response | undefined;
        if (response?.status === 401) endSession();
      },
    }),
    fetchExchange,
  ],
});
