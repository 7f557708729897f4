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

declare global {
  interface Window {
    /** responses to what first-requests-plugin.ts sent, by the body of the request */
    postroomFirstRequests?: Map<string, Promise<Response>>;
  }
}

/** How long after the page began to load its first responses are taken for what it shows. Milliseconds. */
const FIRST_REQUESTS_MS = 20_000;

/** Sends a request, unless the page sent it as it loaded: then returns that response, once. */
const sendQuery: typeof fetch = (input, init) => {
  if (performance.now() > FIRST_REQUESTS_MS) window.postroomFirstRequests?.clear();
  const sent = typeof init?.body === 'string' ? window.postroomFirstRequests?.get(init.body) : undefined;
  if (sent === undefined) return fetch(input, init);
  window.postroomFirstRequests?.delete(init?.body as string);
  return sent;
};

/** What the queries of the page returned last, by the key of their operation. */
const shown = new Map<number, unknown>();

/** Gives a query that failed what it returned before: a reload that fails takes nothing from the page, nor what is being typed there. */
const keepShown = mapExchange({
  onOperation({ kind, key }) {
    if (kind === 'teardown') shown.delete(key);
  },
  onResult(result) {
    const { operation, error } = result;
    const data: unknown = result.data;
    if (operation.kind !== 'query') return;
    if (data != null) shown.set(operation.key, data);
    else if (error !== undefined && shown.has(operation.key)) return { ...result, data: shown.get(operation.key) };
  },
});

const UNAUTHORIZED = 401;

const noteSessionEnd = mapExchange({
  onResult({ error }) {
    // What was sent along with a request that failed is of the same session.
    if (error !== undefined) window.postroomFirstRequests?.clear();
    if ((error?.response as Response | undefined)?.status === UNAUTHORIZED) endSession();
  },
});
const SHARED = {
  url: GRAPHQL_URL,
  preferGetMethod: false,
  fetch: sendQuery,
  fetchOptions: { credentials: 'same-origin' },
} as const;

/** GraphQL client of the signed-in user. Results are cached by document until a mutation changes one of their types. */
export const client = new Client({
  ...SHARED,
  exchanges: [keepShown, cacheExchange, noteSessionEnd, fetchExchange],
});

/** Queries without a cache: a list that is scrolled for long would otherwise keep every page in memory. */
export const freshClient = new Client({
  ...SHARED,
  requestPolicy: 'network-only',
  exchanges: [noteSessionEnd, fetchExchange],
});
