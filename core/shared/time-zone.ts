import { LRUCache } from 'lru-cache';
import { DAY_MS } from './durations.ts';

/** Returns whether the runtime knows the IANA zone. */
export function isTimeZone(timeZone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/**
 * Converts a local time (`YYYY-MM-DDTHH:MM:SS[.mmm]`) in a zone to an instant. In a gap the offset before it applies (RFC 5545 §3.3.5),
 * which moves the time forward by the gap; in an overlap the first instant is used. Null when the text is not a date.
 */
export function wallToInstant(wall: string, timeZone: string): Date | null {
  const asUtc = Date.parse(`${wall}Z`);
  // Date.parse accepts February 30 as March 2.
  if (Number.isNaN(asUtc) || !new Date(asUtc).toISOString().startsWith(wall.slice(0, 10))) return null;
  const before = offsetMs(timeZone, asUtc - DAY_MS);
  const after = offsetMs(timeZone, asUtc + DAY_MS);
  for (const offset of [before, after])
    if (offsetMs(timeZone, asUtc - offset) === offset) return new Date(asUtc - offset);
  return new Date(asUtc - before);
}

/** More than the zones that an account uses, and fewer than the spellings of their names. */
const MAX_FORMATS = 100;
const formats = new LRUCache<string, Intl.DateTimeFormat>({ max: MAX_FORMATS });

/** How far the zone's clock is ahead of UTC at that instant; milliseconds. */
export function offsetMs(timeZone: string, instant: number): number {
  let format = formats.get(timeZone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    formats.set(timeZone, format);
  }
  const fields = new Map(format.formatToParts(instant).map((part) => [part.type, Number(part.value)]));
  const of = (type: Intl.DateTimeFormatPartTypes) => fields.get(type) ?? 0;
  const wall = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'));
  return wall - Math.floor(instant / 1000) * 1000;
}
