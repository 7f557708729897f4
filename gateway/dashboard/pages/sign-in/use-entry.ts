import { useEffect, useEffectEvent } from 'react';
import { useLocation } from 'wouter';
import { listenForSessionNews } from '../../shell/session-news.ts';
import { auth } from './auth-calls.ts';
import { nextPath } from './next-path.ts';

/** Where the pages before signing in lead to, and the way there. Whoever is signed in already, or in another tab, goes there at once. */
export function useEntry(): { next: string; enter: () => void } {
  const [, navigate] = useLocation();
  const next = nextPath(window.location.search, window.location.origin);
  const enter = useEffectEvent(() => navigate(next, { replace: true }));
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
  return { next, enter: () => navigate(next, { replace: true }) };
}
