import { useEffect, useEffectEvent } from 'react';
import { listenForSessionNews } from '../../shell/session-news.ts';
import { auth } from './auth-calls.ts';
import { nextPath } from './next-path.ts';

/**
 * Returns the destination after sign-in, and a function that goes there. A user who is already signed in, or signs in in another tab, goes
 * there immediately.
 */
export function useEntry(): { next: string; enter: () => void } {
  const next = nextPath(window.location.search, window.location.origin);
  // Loads the page again, so that nothing of another user's data stays in this tab.
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
