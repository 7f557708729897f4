import { Client, cacheExchange, fetchExchange, mapExchange } from '@urql/core';
import { INSUFFICIENT_ROLE } from '../../core/accounts/key-rights.ts';
import { OTHER_WORKSPACE, SECOND_FACTOR_REQUIRED, WORKSPACE_HEADER } from '../../core/accounts/session-refusals.ts';

/** Path of the GraphQL API, on the same origin so that the session cookie is sent. */
export const GRAPHQL_URL = '/graphql';

/**
 * Why the session serves the page no more: it has `ended`, lacks a `second-factor` that the workspace requires now, is in an `other-workspace`
 * that another tab opened, or has another `role` there.
 */
export type SessionChange = 'ended' | 'second-factor' | 'other-workspace' | 'role';

type Listener = (change: SessionChange) => void;
const listeners = new Set<Listener>();

/** Calls the listener when a response tells a change of the session. Returns a function that removes the listener. */
export function listenForSessionChange(listener: Listener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Reports what a response told about the session: its status and the codes of its errors. Returns whether it serves the page no more. */
export function reportSession(status: number | undefined, reasons: readonly unknown[] = []): boolean {
  const change =
    status === UNAUTHORIZED
      ? 'ended'
      : reasons.map((reason) => CHANGES[String(reason)]).find((each) => each !== undefined);
  if (change !== undefined) for (const listener of listeners) listener(change);
  return change !== undefined && change !== 'role';
}

const UNAUTHORIZED = 401;
const CHANGES: Record<string, SessionChange> = {
  [SECOND_FACTOR_REQUIRED]: 'second-factor',
  [OTHER_WORKSPACE]: 'other-workspace',
  [INSUFFICIENT_ROLE]: 'role',
};

/** The workspace that the page shows; null before it is known, and on pages of no workspace. */
let shownWorkspace: string | null = null;

/** Names the workspace that the page shows. What another tab switches to gets nothing of it. */
export function showWorkspace(id: string): void {
  shownWorkspace = id;
}

/** Returns the header by which requests say which workspace the page shows. */
export function workspaceHeaders(): Record<string, string> {
  return shownWorkspace === null ? {} : { [WORKSPACE_HEADER]: shownWorkspace };
}

declare global {
  interface Window {
    /** responses to what first-requests-plugin.ts sent, by the body of the request */
    postroomFirstRequests?: Map<string, Promise<Response>>;
  }
}

/** How long after the page began to load its first responses are taken for what it shows. Milliseconds. */
const FIRST_REQUESTS_MS = 20_000;

const MAX_LAST = 16_000; // characters; browsers take 64 KiB of requests that outlive their page

/** Sends a request, unless the page sent it as it loaded: then returns that response, once. */
const sendQuery: typeof fetch = (input, init) => {
  if (performance.now() > FIRST_REQUESTS_MS) window.postroomFirstRequests?.clear();
  const sent = typeof init?.body === 'string' ? window.postroomFirstRequests?.get(init.body) : undefined;
  // What is changed as the page is left is changed to its end.
  const isLast = document.visibilityState === 'hidden' && typeof init?.body === 'string' && init.body.length < MAX_LAST;
  if (sent === undefined) return fetch(input, isLast ? { ...init, keepalive: true } : init);
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

const noteSession = mapExchange({
  onResult(result) {
    const { error } = result;
    if (error === undefined) return;
    // What was sent along with a request that failed is of the same session.
    window.postroomFirstRequests?.clear();
    const reasons = error.graphQLErrors.map(({ extensions }) => extensions['reason']);
    reportSession((error.response as Response | undefined)?.status, reasons);
    // GraphQL says null where all of it failed.
    return { ...result, data: (result.data as unknown) ?? undefined };
  },
});
const SHARED = {
  url: GRAPHQL_URL,
  preferGetMethod: false,
  fetch: sendQuery,
  fetchOptions: () => ({ credentials: 'same-origin' as const, headers: workspaceHeaders() }),
} as const;

/** GraphQL client of the signed-in user. Results are cached by document until a mutation changes one of their types. */
export const client = new Client({ ...SHARED, exchanges: [keepShown, cacheExchange, noteSession, fetchExchange] });

/** Queries without a cache: a list that is scrolled for long would otherwise keep every page in memory. */
export const freshClient = new Client({
  ...SHARED,
  requestPolicy: 'network-only',
  exchanges: [noteSession, fetchExchange],
});
