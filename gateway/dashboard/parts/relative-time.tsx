import { Tooltip } from '@mantine/core';
import { useEffect, useState } from 'react';

const UNITS: [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'long' });
const exact = new Intl.DateTimeFormat('en', { dateStyle: 'full', timeStyle: 'long' });
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

/** Formats an instant such as "in 2 hours" or "now", relative to `now` (milliseconds). */
export function relativeTime(at: string, now: number): string {
  const seconds = Math.round((Date.parse(at) - now) / 1_000);
  const unit = UNITS.find(([, length]) => Math.abs(seconds) >= length);
  return unit === undefined
    ? Math.abs(seconds) < 10
      ? 'now'
      : relative.format(seconds, 'second')
    : relative.format(Math.round(seconds / unit[1]), unit[0]);
}

/** Formats date, time and zone in full. */
export function exactTime(at: string): string {
  return exact.format(new Date(at));
}
