import { useEffect, useEffectEvent, useRef } from 'react';
import { type AnyVariables, type CombinedError, type TypedDocumentNode, useQuery } from 'urql';
import { type LiveKind, useLive } from './live-context.tsx';
import type { LiveEvent } from './live-events.ts';

export interface LiveQueryOptions<Data, Variables extends AnyVariables> {
  query: TypedDocumentNode<Data, Variables>;
  /** absent for a query without any */
  variables?: Variables;
  /** events that may change the result; `all`: any; absent: none */
  kinds?: readonly LiveKind[] | 'all';
  /** filters events, for example by email; absent: all events of these kinds */
  concerns?: (event: LiveEvent) => boolean;
  /** events of which several come at once, so that the reload after the first one waits for the others */
  joins?: readonly LiveKind[];
  /** types that the result may not contain yet, so that a mutation of one reloads it, such as `['Domain']` */
  types?: string[];
  isPaused?: boolean;
  /** the cache has the result of a moment ago: it is not asked for again */
  isFresh?: boolean;
  /** time for which events are collected; absent: 400 ms */
  gatherMs?: number;
}

export interface LiveQuery<Data> {
  /** last result, also while it is being reloaded; undefined before the first */
  data: Data | undefined;
  error: CombinedError | undefined;
  /** no result yet */
  isLoading: boolean;
  refresh: () => void;
}

/** Minimum time between two reloads. The first event reloads at once. Milliseconds. */
const GATHER_MS = 400;

/** Runs a query, and again after events that may change its result. */
export function useLiveQuery<Data, Variables extends AnyVariables>(
  options: LiveQueryOptions<Data, Variables>,
): LiveQuery<Data> {
  const {
    query,
    variables = {},
    kinds = [],
    concerns,
    joins,
    types,
    isPaused = false,
    isFresh = false,
    gatherMs = GATHER_MS,
  } = options;
  const context = useRef({ additionalTypenames: types ?? [] });
  const [{ data, error, fetching, stale }, execute] = useQuery<Data, Variables>({
    query,
    variables: variables as Variables,
    pause: isPaused,
    requestPolicy: isFresh ? 'cache-first' : 'cache-and-network',
    context: context.current,
  });
  const refresh = useEffectEvent(() => {
    if (!isPaused) execute({ ...context.current, requestPolicy: 'network-only' });
  });
  const gathering = useRef<{ timer: number; isWanted: boolean } | null>(null);
  const refreshSoon = (isJoined = false) => {
    if (gathering.current !== null) {
      gathering.current.isWanted = true;
      return;
    }
    if (!isJoined) refresh();
    const timer = window.setTimeout(() => {
      const isWanted = gathering.current?.isWanted ?? false;
      gathering.current = null;
      if (isWanted) refreshSoon();
    }, gatherMs);
    gathering.current = { timer, isWanted: isJoined };
  };
  useEffect(() => () => window.clearTimeout(gathering.current?.timer), []);
  useLive(kinds, (event) => {
    if (event === null || concerns === undefined || concerns(event))
      refreshSoon(event !== null && joins?.includes(event.kind) === true);
  });
  return {
    data,
    error,
    isLoading: data === undefined && error === undefined && (fetching || stale || isPaused),
    refresh: () => refreshSoon(),
  };
}
