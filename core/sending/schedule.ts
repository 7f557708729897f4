import * as chrono from 'chrono-node/en';
import { DAY_MS } from '../shared/durations.ts';
import { isTimeZone, offsetMs, wallToInstant } from '../shared/time-zone.ts';

/** Why a send time is rejected. */
export type ScheduleRefusal = 'unknown time zone' | 'unreadable' | 'too soon' | 'too late';

/** The send time, or why it is rejected. `readings` are ISO 8601 with the zone's offset. */
export type Schedule =
  | { at: Date; refusal: null }
  | { at: null; refusal: ScheduleRefusal }
  | { at: null; refusal: 'ambiguous'; readings: [monthFirst: string, dayFirst: string] };

/** Limits of a send time, from now; milliseconds. */
const EARLIEST_MS = 60_000;
const LATEST_MS = 366 * DAY_MS;

/**
 * Parses ISO 8601 in extended or basic form (with any offset; without one it is local time in the zone) or an English phrase ("tomorrow
 * at 9am", "in 2 hours"). Dates with dots (`05.06.2027`) have the day first. Dates with slashes or hyphens (`05/06/2027`) are rejected
 * when day and month could be swapped. The whole text must be understood. The time must be between a minute and a year ahead. A local
 * time in a DST gap moves forward by the gap; in an overlap it is the first of the two. `timeZone` is an IANA name.
 */
export function readSchedule(text: string, timeZone: string, now: Date): Schedule {
  if (!isTimeZone(timeZone)) return { at: null, refusal: 'unknown time zone' };
  const written = text.trim();
  const iso = ISO.exec(written);
  if (iso !== null) return checkBounds(readIso(iso, timeZone), now);
  const [monthFirst, dayFirst] = (['month first', 'day first'] as const).map((order) =>
    readPhrase(nameNumericDates(written, order), timeZone, now),
  );
  if (monthFirst != null && dayFirst != null && monthFirst.getTime() !== dayFirst.getTime()) {
    const readings: [string, string] = [isoIn(monthFirst, timeZone), isoIn(dayFirst, timeZone)];
    return { at: null, refusal: 'ambiguous', readings };
  }
  return checkBounds(monthFirst ?? dayFirst ?? null, now);
}

function checkBounds(at: Date | null, now: Date): Schedule {
  if (at === null) return { at: null, refusal: 'unreadable' };
  const ahead = at.getTime() - now.getTime();
  if (ahead < EARLIEST_MS) return { at: null, refusal: 'too soon' };
  if (ahead > LATEST_MS) return { at: null, refusal: 'too late' };
  return { at, refusal: null };
}

/** ISO 8601, extended or basic (without hyphens and colons); 24:00 is the end of its day. */
const ISO =
  /^(\d{4})(-?)(\d{2})\2(\d{2})(?:(?:T|\s(?=\d{2}:?\d{2}))(\d{2})(?:(:?)(\d{2})(?:\6(\d{2})(?:[.,](\d{1,9}))?)?)?)?\s?(Z|[+-]\d{2}(?::?\d{2})?)?$/i;

function readIso(match: RegExpExecArray, timeZone: string): Date | null {
  const [, year = '', , month = '', day = '', hour = '00', , minute = '00', second = '00', fraction = '0', zone] =
    match;
  const date = `${year}-${month}-${day}`;
  const millisecond = fraction.slice(0, 3).padEnd(3, '0');
  const midnight = wallToInstant(`${date}T00:00:00`, 'UTC');
  if (midnight === null) return null;
  const isEndOfDay = hour === '24' && Number(minute + second + fraction) === 0;
  const wall = isEndOfDay
    ? new Date(midnight.getTime() + DAY_MS).toISOString().slice(0, -1)
    : `${date}T${hour}:${minute}:${second}.${millisecond}`;
  if (zone === undefined) return wallToInstant(wall, timeZone);
  const utc = wallToInstant(wall, 'UTC');
  if (utc === null || zone.toUpperCase() === 'Z') return utc;
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(3).replace(':', ''))];
  if (hours > 23 || minutes > 59) return null;
  return new Date(utc.getTime() - (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000);
}

/** Three numbers with dots, slashes or hyphens, or two with a slash. */
const NUMERIC_DATE = /(?<!\d|\d[./-])(\d{1,2})([./-])(\d{1,2})(?:([./-])(\d{4}|\d{2})|(?<=\/\d{1,2}))(?!\d)/g;
/** Placeholder of a numeric date that does not exist; no phrase contains it. */
const NO_DATE = '?';

/**
 * Makes numeric dates of a phrase unambiguous: `05.06.2027` becomes 2027-06-05, `5/6` becomes 5 June or May 6. With slashes or hyphens a
 * number above 12 can only be the day; with dots the first number is always the day.
 */
function nameNumericDates(text: string, order: 'day first' | 'month first'): string {
  return text.replace(
    NUMERIC_DATE,
    (_, first: string, separator: string, second: string, next?: string, year?: string) => {
      const isDotted = separator === '.' && next === '.';
      const isDayFirst = isDotted || Number(first) > 12 || (order === 'day first' && Number(second) <= 12);
      const [day, month] = isDayFirst ? [first, second] : [second, first];
      const name = MONTHS[Number(month) - 1];
      if (name === undefined) return NO_DATE;
      if (year === undefined) return `${Number(day)} ${name}`;
      return `${year.padStart(4, '20')}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
    },
  );
}

const MONTHS = 'January February March April May June July August September October November December'.split(' ');

function readPhrase(text: string, timeZone: string, now: Date): Date | null {
  const reference = { instant: now, timezone: offsetMs(timeZone, now.getTime()) / 60_000 };
  const [result] = chrono.parse(text, reference, { forwardDate: true });
  if (result === undefined || result.text.length !== text.length || result.end != null) return null;
  const { start } = result;
  const tags = start.tags();
  // "in 2 hours" and "9am PST" are instants already; everything else is a local time, which a single offset cannot convert.
  const isRelativeInstant = tags.has('result/relativeDateAndTime');
  if (isRelativeInstant || start.isCertain('timezoneOffset')) return start.date();
  const part = (name: chrono.Component, width = 2) => String(start.get(name) ?? 0).padStart(width, '0');
  const wall = `${part('year', 4)}-${part('month')}-${part('day')}T${part('hour')}:${part('minute')}:${part('second')}`;
  return wallToInstant(wall, timeZone);
}

/** The instant in ISO 8601 to the second, with the offset that the zone has then. */
function isoIn(instant: Date, timeZone: string): string {
  const offset = offsetMs(timeZone, instant.getTime());
  const wall = new Date(instant.getTime() + offset).toISOString().slice(0, 19);
  if (offset === 0) return `${wall}Z`;
  const minutes = Math.abs(Math.round(offset / 60_000));
  const part = (value: number) => String(value).padStart(2, '0');
  return `${wall}${offset < 0 ? '-' : '+'}${part(Math.floor(minutes / 60))}:${part(minutes % 60)}`;
}
