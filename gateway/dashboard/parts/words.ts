/** Returns a number with its noun: "1 email", "2,040 emails", "3 addresses". */
export function counted(count: number, one: string, several = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : several}`;
}

/** The service counts rows up to this number. */
const MAX_COUNTED = 100_000;

/** Returns such a count with its noun: "3 emails", "100,000 or more emails". */
export function countedAtLeast(count: number, one: string, several?: string): string {
  return counted(count, one, several).replace(' ', count >= MAX_COUNTED ? ' or more ' : ' ');
}

/** Returns a number as every page shows it: "2,040". */
export function formatCount(count: number): string {
  return count.toLocaleString('en');
}

/**
 * Units with their length and the time from which they are used. Seconds. A unit that is coarse begins at two of it, since "next week" is
 * said of what is in 9 days, and "yesterday" of what was the day before that.
 */
const UNITS: [unit: Intl.RelativeTimeFormatUnit, length: number, from: number][] = [
  ['year', 31_536_000, 63_072_000],
  ['month', 2_592_000, 7_776_000],
  ['week', 604_800, 1_814_400],
  ['day', 86_400, 172_800],
  ['hour', 3_600, 3_600],
  ['minute', 60, 60],
];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'long' });
const exact = new Intl.DateTimeFormat('en', { dateStyle: 'full', timeStyle: 'long' });

/** Formats an instant such as "in 2 hours" or "now", relative to `now` (milliseconds). */
export function relativeTime(at: string, now: number): string {
  const seconds = Math.round((Date.parse(at) - now) / 1_000);
  const unit = UNITS.find(([, , from]) => Math.abs(seconds) >= from);
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
