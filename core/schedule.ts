import * as chrono from 'chrono-node/en';

/** Why a schedule cannot be taken; see decisions.md and wire facts for the texts on the wire. */
export type ScheduleRefusal = 'unknown time zone' | 'unreadable' | 'too soon' | 'too late';

/** The instant at which to send, or why there is none. */
export type Schedule = { at: Date; refusal: null } | { at: null; refusal: ScheduleRefusal };

/** Bounds of a schedule, ahead of now; milliseconds. */
const EARLIEST_MS = 60_000;
const LATEST_MS = 366 * 86_400_000;
const DAY_MS = 86_400_000;

/**
 * Reads ISO 8601 (any offset; without one the wall clock of the zone) or an English phrase ("tomorrow at 9am", "in 2 hours").
 * The whole text must be understood. At least a minute and at most a year ahead. A wall clock within a DST gap moves forward by
 * the gap; within an overlap it is the first of the two. `timeZone` is an IANA name.
 */
export function readSchedule(text: string, timeZone: string, now: Date): Schedule {
  if (!isTimeZone(timeZone)) return { at: null, refusal: 'unknown time zone' };
  const at = readIso(text.trim(), timeZone) ?? readPhrase(text.trim(), timeZone, now);
  if (at === null) return { at: null, refusal: 'unreadable' };
  const ahead = at.getTime() - now.getTime();
  if (ahead < EARLIEST_MS) return { at: null, refusal: 'too soon' };
  if (ahead > LATEST_MS) return { at: null, refusal: 'too late' };
  return { at, refusal: null };
}

/** Whether the runtime knows the IANA zone. */
export function isTimeZone(timeZone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/**
 * The instant of a wall clock (`YYYY-MM-DDTHH:MM:SS[.mmm]`) in a zone. In a gap the offset before it holds (RFC 5545 §3.3.5), which
 * moves the clock forward by the gap; in an overlap the first instant is taken. Null when the text is no date.
 */
export function wallToInstant(wall: string, timeZone: string): Date | null {
  const asUtc = Date.parse(`${wall}Z`);
  // Date.parse takes the 30th of February for the 2nd of March.
  if (Number.isNaN(asUtc) || !new Date(asUtc).toISOString().startsWith(wall.slice(0, 10))) return null;
  const before = offsetMs(timeZone, asUtc - DAY_MS);
  const after = offsetMs(timeZone, asUtc + DAY_MS);
  for (const offset of [before, after])
    if (offsetMs(timeZone, asUtc - offset) === offset) return new Date(asUtc - offset);
  return new Date(asUtc - before);
}

const ISO = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(?::(\d{2})(\.\d{1,9})?)?)?\s?(Z|[+-]\d{2}:?\d{2})?$/i;

function readIso(text: string, timeZone: string): Date | null {
  const match = ISO.exec(text);
  if (match === null) return null;
  const [, date = '', time = '00:00', seconds = '00', fraction = '', zone] = match;
  const wall = `${date}T${time}:${seconds}${fraction.slice(0, 4)}`;
  if (zone === undefined) return wallToInstant(wall, timeZone);
  const utc = wallToInstant(wall, 'UTC');
  if (utc === null || zone.toUpperCase() === 'Z') return utc;
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(-2))];
  if (hours > 23 || minutes > 59) return null;
  return new Date(utc.getTime() - (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000);
}

function readPhrase(text: string, timeZone: string, now: Date): Date | null {
  const reference = { instant: now, timezone: offsetMs(timeZone, now.getTime()) / 60_000 };
  const [result] = chrono.parse(text, reference, { forwardDate: true });
  if (result === undefined || result.text.length !== text.length || result.end != null) return null;
  const { start } = result;
  const tags = start.tags();
  // "in 2 hours" and "9am PST" are instants already; all else is a wall clock, which one offset cannot turn into an instant.
  const isRelativeInstant = tags.has('result/relativeDateAndTime');
  if (isRelativeInstant || start.isCertain('timezoneOffset')) return start.date();
  const part = (name: chrono.Component, width = 2) => String(start.get(name) ?? 0).padStart(width, '0');
  const wall = `${part('year', 4)}-${part('month')}-${part('day')}T${part('hour')}:${part('minute')}:${part('second')}`;
  return wallToInstant(wall, timeZone);
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** How far the zone's clock is ahead of UTC at that instant; milliseconds. */
function offsetMs(timeZone: string, instant: number): number {
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
