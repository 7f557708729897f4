import { useEffect, useEffectEvent } from 'react';
import { listenForSessionEnd } from '../client.ts';
import { auth } from '../pages/sign-in/auth-calls.ts';
import { listenForSessionNews } from './session-news.ts';
import { leave } from './sign-out.ts';

/** Interval at which visible pages keep the session alive. Milliseconds. */
const KEEP_ALIVE_MS = 300_000;

/**
 * Keeps the session of a user alive while the page is visible, leaves when another tab signs out, and reloads the page
 * when another user signs in in this browser.
 */
export function useSessionWatch({
  userId,
  onEnd,
  onSignIn,
}: {
  userId: string;
  /** called when the session has ended */
  onEnd: () => void;
  /** called when the same user signs in in another tab */
  onSignIn: () => void;
}): void {
  const ended = useEffectEvent(onEnd);
  const isUser = useEffectEvent((id: string) => {
    if (id === userId) return onSignIn();
    window.location.reload();
  });
  useEffect(() => {
    let lookedAt = 0;
    const look = async () => {
      if (document.visibilityState === 'hidden' || Date.now() - lookedAt < KEEP_ALIVE_MS) return;
      lookedAt = Date.now();
      const { answer, problem } = await auth.session();
      if (answer !== null) isUser(answer.user.id);
      else if (problem === null) ended();
    };
    void look();
    const timer = window.setInterval(() => void look(), KEEP_ALIVE_MS);
    const onVisible = () => void look();
    document.addEventListener('visibilitychange', onVisible);
    const ends = [
      listenForSessionEnd(() => ended()),
      listenForSessionNews((news) => (news.kind === 'signed-out' ? leave() : isUser(news.userId))),
    ];
    return () => {
      window.clearInterval(timer);
      document.removeEventListener('visibilitychange', onVisible);
      for (const end of ends) end();
    };
  }, []);
}
