import { useEffect, useEffectEvent } from 'react';
import { listenForSessionNews } from '../../shell/session-news.ts';
import { auth } from './auth-calls.ts';
import { nextPath } from './next-path.ts';

/** Where the pages before signing in lead to, and the way there. Whoever is signed in already, or in another tab, goes there at once. */
export function useEntry(): { next: string; enter: () => void } {
  const next = nextPath(window.location.search, window.location.origin);
  // Loaded anew: nothing that somebody else read in this tab is left.
  const go = () => window.location.replace(next);
  const enter = useEffectEvent(go);
  useEffect(() => {
    let isGone = false;
    void auth.session().then(({ answer }) => {
      if (answer !== null && !isGone) enter();
    });
    const end = listenForSessionNews((news) => {
      if (news.kind === 'signed-in') enter();
    });
    return () => {
      isGone = true;
      end();
    };
  }, []);
  return { next, enter: go };
}
