import { useEffect, useState } from 'react';

/** How often relative times are looked at again. Milliseconds. */
const TICK_MS = 20_000;

/** The time in milliseconds, for all rows of a list alike; `news` has it looked at when that changes. */
export function useNow(news: unknown): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    setNow(Date.now());
    const timer = window.setInterval(() => setNow(Date.now()), TICK_MS);
    return () => window.clearInterval(timer);
  }, [news]);
  return now;
}
