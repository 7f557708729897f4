import { createClient } from 'graphql-sse';
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { useClient } from 'urql';
import { GRAPHQL_URL } from '../../client.ts';
import { graphql, type ResultOf } from '../../graphql.ts';
import { useRight } from '../../shell/viewer.ts';
import { useTeam } from './use-team.ts';

const SET = graphql(`
  mutation InboxSetPresence($input: SetThreadPresenceInput!) {
    setThreadPresence(input: $input) {
      __typename
      ... on SetThreadPresencePayload { present { personId name state isYou } }
      ... on Error { message code }
    }
  }
`);

const FOLLOWED = graphql(`
  subscription InboxPresence($threadId: ID!) { threadPresence(threadId: $threadId) { personId name state isYou } }
`);

/** The text is sent; the parsed document provides the types. */
const FOLLOWED_TEXT = `subscription InboxPresence($threadId: ID!) {
  threadPresence(threadId: $threadId) { personId name state isYou }
}`;

export type Present = ResultOf<typeof FOLLOWED>['threadPresence'][number];

/** The presence ends after a minute unless it is renewed. Milliseconds. */
const RENEW_MS = 25_000;
/** Milliseconds until a lost subscription is opened again. */
const RETRY_MS = 10_000;

/** Shows others that the person reads or replies to a conversation while the page is visible; returns who else does. */
export function usePresence(threadId: string, isReplying: boolean): Present[] {
  const client = useClient();
  const { isTeam } = useTeam();
  const isOn = useRight('notes') && isTeam;
  const [present, setPresent] = useState<Present[]>([]);
  const doing = useRef<'READING' | 'REPLYING'>('READING');
  doing.current = isReplying ? 'REPLYING' : 'READING';
  // One request at a time, so that none overtakes another.
  const sent = useRef<Promise<unknown>>(Promise.resolve());
  const tell = useEffectEvent((id: string, isGone: boolean) => {
    const state = isGone ? 'GONE' : doing.current;
    sent.current = sent.current.then(() => client.mutation(SET, { input: { threadId: id, state } }).toPromise());
  });
  useEffect(() => {
    if (!isOn) return;
    const renew = () => document.visibilityState === 'visible' && tell(threadId, false);
    const change = () => tell(threadId, document.visibilityState !== 'visible');
    const timer = window.setInterval(renew, RENEW_MS);
    document.addEventListener('visibilitychange', change);
    return () => {
      window.clearInterval(timer);
      document.removeEventListener('visibilitychange', change);
      tell(threadId, true);
    };
  }, [isOn, threadId]);
  useEffect(() => {
    if (isOn && document.visibilityState === 'visible') tell(threadId, false);
  }, [isOn, threadId, isReplying]);

  useEffect(() => {
    if (!isOn) return;
    const ending = new AbortController();
    void follow(threadId, ending.signal, setPresent);
    return () => {
      ending.abort();
      setPresent([]);
    };
  }, [isOn, threadId]);
  return present.filter(({ isYou }) => !isYou);
}

/** Subscribes, and again after the subscription was lost, until the signal is aborted. */
async function follow(threadId: string, signal: AbortSignal, show: (present: Present[]) => void): Promise<void> {
  while (!signal.aborted) {
    const sse = createClient({ url: GRAPHQL_URL, credentials: 'same-origin', retryAttempts: 0 });
    const results = sse.iterate<{ threadPresence: Present[] }>({ query: FOLLOWED_TEXT, variables: { threadId } });
    const stop = () => sse.dispose();
    signal.addEventListener('abort', stop, { once: true });
    try {
      for await (const { data } of results) if (data) show(data.threadPresence);
    } catch {
      // Who is present is shown again when the subscription is.
    }
    signal.removeEventListener('abort', stop);
    sse.dispose();
    // oxlint-disable-next-line typescript/no-unnecessary-condition -- may be aborted while results are read
    if (!signal.aborted) await new Promise((resolve) => void setTimeout(resolve, RETRY_MS));
  }
}
