import { Client, cacheExchange, fetchExchange, mapExchange } from '@urql/core';

/** Where the graph is; same origin, so that the session's cookie goes along. */
export const GRAPHQL_URL = '/graphql';

type Listener = () => void;
const onSessionEnd = new Set<Listener>();

/** Tells whoever wants to know that the service no longer knows this browser; answers how to stop listening. */
export function listenForSessionEnd(listener: Listener): () => void {
  onSessionEnd.add(listener);
  return () => void onSessionEnd.delete(listener);
}

/** Says that the session is over: an answer had status 401. */
export function endSession(): void {
  for (const listener of onSessionEnd) listener();
}

/** Asks the graph as whoever is signed in. Answers are kept by document and thrown away when a mutation touches one of their types. */
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
