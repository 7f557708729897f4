import { useEffect, useState } from 'react';

/** Update interval of relative times. Milliseconds. */
const TICK_MS = 20_000;

/** Returns the current time in milliseconds, the same for all rows of a list. A change of `news` updates it. */
export function useNow(news: unknown): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    setNow(Date.now());
    const timer = window.setInterval(() => setNow(Date.now()), TICK_MS);
    return () => window.clearInterval(timer);
  }, [news]);
  return now;
}
