import { Tooltip } from '@mantine/core';
import { useEffect, useState } from 'react';
import { exactTime, relativeTime } from './words.ts';

/** Interval at which the text is updated. Milliseconds. */
const TICK_MS = 20_000;

/** Shows "5 minutes ago", and the exact time on hover and focus. */
export function RelativeTime({ at, prefix = '' }: { at: string; prefix?: string }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = window.setInterval(() => setNow(Date.now()), TICK_MS);
    return () => window.clearInterval(timer);
  }, []);
  return (
    <Tooltip label={exactTime(at)} events={{ hover: true, focus: true, touch: true }}>
      <time dateTime={at}>{prefix + relativeTime(at, now)}</time>
    </Tooltip>
  );
}
