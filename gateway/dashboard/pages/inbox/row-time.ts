import { useEffect, useState } from 'react';

const clock = new Intl.DateTimeFormat('en', { hour: 'numeric', minute: '2-digit' });
const dayOfYear = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric' });
const day = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', year: 'numeric' });
const short = new Intl.DateTimeFormat('en', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  hour: 'numeric',
  minute: '2-digit',
});
const exact = new Intl.DateTimeFormat('en', { dateStyle: 'full', timeStyle: 'short' });

/** Times of a message: the sender's, null if it gave none, and when the service received or sent it. */
type MessageTimes = { date: string | null; createdAt: string };

/** Formats a time for a row: the hour if it is on the same day as `now` (milliseconds), the date otherwise. */
export function rowTime(at: string, now: number): string {
  const [then, today] = [new Date(at), new Date(now)];
  if (then.toDateString() === today.toDateString()) return clock.format(then);
  return then.getFullYear() === today.getFullYear() ? dayOfYear.format(then) : day.format(then);
}

/** Returns both times in full. */
export function timesInFull(times: MessageTimes, isReceived: boolean): string {
  const { date, createdAt } = times;
  const stored = `${isReceived ? 'Received' : 'Sent'} ${exact.format(new Date(createdAt))}`;
  return date === null || !isReceived ? stored : `Dated ${exact.format(new Date(date))}. ${stored}`;
}

/** Formats day and time, such as "Mon, Nov 30, 9:00 AM". */
export function shortTime(at: string): string {
  return short.format(new Date(at));
}

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
