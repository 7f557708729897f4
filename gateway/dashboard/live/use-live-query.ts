import { useEffect, useEffectEvent, useRef } from 'react';
import { type AnyVariables, type CombinedError, type TypedDocumentNode, useQuery } from 'urql';
import { type LiveKind, useLive } from './live-context.tsx';
import type { LiveEvent } from './live-events.ts';

export interface LiveQueryOptions<Data, Variables extends AnyVariables> {
  query: TypedDocumentNode<Data, Variables>;
  variables: Variables;
  /** events after which the answer may be another; `all`: any */
  kinds: readonly LiveKind[] | 'all';
  /** narrows them, for instance to one email; absent: every event of these kinds */
  concerns?: (event: LiveEvent) => boolean;
  /** types of which the answer may be empty now, so that a mutation of one has it read again; as `['Domain']` */
  types?: string[];
  isPaused?: boolean;
  /** how long a crowd of events is gathered; absent: 400 ms */
  gatherMs?: number;
}

export interface LiveQuery<Data> {
  /** the last answer, while another is read too; undefined before the first */
  data: Data | undefined;
  error: CombinedError | undefined;
  /** nothing to show yet */
  isLoading: boolean;
  refresh: () => void;
}

/** Answers of a crowd of events are read once in this time; the first at once. Milliseconds. */
const GATHER_MS = 400;

/** Asks the graph, and again when something happened that the answer depends on. */
export function useLiveQuery<Data, Variables extends AnyVariables>(
  options: LiveQueryOptions<Data, Variables>,
): LiveQuery<Data> {
  const { query, variables, kinds, concerns, types, isPaused = false, gatherMs = GATHER_MS } = options;
  const context = useRef({ additionalTypenames: types ?? [] });
  const [{ data, error, fetching, stale }, execute] = useQuery<Data, Variables>({
    query,
    variables,
    pause: isPaused,
    requestPolicy: 'cache-and-network',
    context: context.current,
  });
  const refresh = useEffectEvent(() => {
    if (!isPaused) execute({ ...context.current, requestPolicy: 'network-only' });
  });
  const gathering = useRef<{ timer: number; isWanted: boolean } | null>(null);
  const refreshSoon = () => {
    if (gathering.current !== null) {
      gathering.current.isWanted = true;
      return;
    }
    refresh();
    const timer = window.setTimeout(() => {
      const isWanted = gathering.current?.isWanted ?? false;
      gathering.current = null;
      if (isWanted) refreshSoon();
    }, gatherMs);
    gathering.current = { timer, isWanted: false };
  };
  useEffect(() => () => window.clearTimeout(gathering.current?.timer), []);
  useLive(kinds, (event) => {
    if (event === null || concerns === undefined || concerns(event)) refreshSoon();
  });
  return {
    data,
    error,
    isLoading: data === undefined && error === undefined && (fetching || stale || isPaused),
    refresh: refreshSoon,
  };
}
