import { DAY_MS } from '../shared/durations.ts';
import { isTimeZone, wallToInstant } from '../shared/time-zone.ts';
import { type CalendarComponent, findLine } from './calendar-lines.ts';
import { findWindowsZone } from './windows-zones.ts';

const MAX_NAME_LENGTH = 200;

/**
 * Returns the IANA zone that a TZID means: an IANA name, also behind the path of a program (`/x.example/Europe/Berlin`), a name of Windows,
 * or what the zone's definition calls it. Null when it is unknown.
 */
export function findZone(id: string, components: readonly CalendarComponent[]): string | null {
  if (id.length > MAX_NAME_LENGTH) return null;
  const zone = findDefinition(id, components);
  const names = [id, zone === null ? '' : (findLine(zone, 'X-LIC-LOCATION')?.value.trim() ?? '')];
  for (const name of names) {
    const path = /[A-Za-z_]+\/[\w+-]+(?:\/[\w+-]+)?$/.exec(name)?.[0] ?? '';
    for (const candidate of [name, path, path.slice(path.indexOf('/') + 1)]) {
      if (/^[A-Za-z]/.test(candidate) && isTimeZone(candidate)) return canonicalZone(candidate);
      const windows = findWindowsZone(candidate);
      if (windows !== null) return canonicalZone(windows);
    }
  }
  return null;
}

/** Spelled as the runtime does, so that caches by zone stay small; names that moved have their usual one. */
function canonicalZone(name: string): string {
  const zone = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  return RENAMED.get(zone) ?? zone;
}

const RENAMED = new Map([
  ['Asia/Calcutta', 'Asia/Kolkata'],
  ['Asia/Katmandu', 'Asia/Kathmandu'],
  ['Asia/Rangoon', 'Asia/Yangon'],
  ['Asia/Saigon', 'Asia/Ho_Chi_Minh'],
  ['Europe/Kiev', 'Europe/Kyiv'],
  ['America/Buenos_Aires', 'America/Argentina/Buenos_Aires'],
  ['America/Indianapolis', 'America/Indiana/Indianapolis'],
  ['America/Godthab', 'America/Nuuk'],
  ['Etc/UTC', 'UTC'],
  ['Etc/GMT', 'UTC'],
]);

/** Returns the instant of a local time (`YYYY-MM-DDTHH:MM:SS`) by the rules of a VTIMEZONE; null when it has none. */
export function instantByDefinition(wall: string, id: string, components: readonly CalendarComponent[]): Date | null {
  const zone = findDefinition(id, components);
  const instant = wallToInstant(wall, 'UTC');
  if (zone === null || instant === null) return null;
  let best: { onset: number; offset: number } | null = null;
  for (const rule of components) {
    if (rule.parent !== zone || (rule.name !== 'STANDARD' && rule.name !== 'DAYLIGHT')) continue;
    const offset = readOffset(findLine(rule, 'TZOFFSETTO')?.value ?? '');
    const onset = lastOnset(rule, instant);
    if (offset === null) continue;
    // Before the first rule begins, any of them is as good.
    if (best === null || (onset ?? Number.NEGATIVE_INFINITY) > best.onset)
      best = { onset: onset ?? Number.NEGATIVE_INFINITY, offset };
  }
  return best === null ? null : new Date(instant.getTime() - best.offset);
}

function findDefinition(id: string, components: readonly CalendarComponent[]): CalendarComponent | null {
  return components.find((each) => each.name === 'VTIMEZONE' && findLine(each, 'TZID')?.value.trim() === id) ?? null;
}

function readOffset(value: string): number | null {
  const [, sign, hours = '0', minutes = '0', seconds = '0'] = /^([+-])(\d{2})(\d{2})(\d{2})?/.exec(value.trim()) ?? [];
  if (sign === undefined) return null;
  const amount = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000;
  return sign === '-' ? -amount : amount;
}

const DAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'];

/** Returns when the rule last began before the local time, as if it was in UTC; null when it had not begun. */
function lastOnset(rule: CalendarComponent, wall: Date): number | null {
  const start = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})/.exec(findLine(rule, 'DTSTART')?.value.trim() ?? '');
  if (start === null) return null;
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = start.slice(1).map(Number);
  const first = Date.UTC(year, month - 1, day, hour, minute, second);
  const repeat = findLine(rule, 'RRULE')?.value.toUpperCase() ?? '';
  const [, which = '', weekday = ''] = /BYDAY=(-?\d)([A-Z]{2})/.exec(repeat) ?? [];
  const inMonth = Number(/BYMONTH=(\d{1,2})/.exec(repeat)?.[1] ?? month) - 1;
  const candidates = [first, ...readDates(rule)];
  if (weekday !== '')
    for (const each of [wall.getUTCFullYear() - 1, wall.getUTCFullYear()])
      candidates.push(nthWeekday(each, inMonth, Number(which), DAYS.indexOf(weekday)) + (first % DAY_MS));
  const begun = candidates.filter((at) => at >= first && at <= wall.getTime());
  return begun.length === 0 ? null : Math.max(...begun);
}

/** Returns when the rule begins again on further dates, as if they were in UTC. */
function readDates(rule: CalendarComponent): number[] {
  return rule.lines
    .filter(({ name }) => name === 'RDATE')
    .slice(0, MAX_DATES)
    .flatMap(({ value }) => value.split(',').slice(0, MAX_DATES))
    .flatMap((date) => {
      const found = /^\s*(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})/.exec(date);
      const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = found?.slice(1).map(Number) ?? [];
      return found === null ? [] : [Date.UTC(year, month - 1, day, hour, minute, second)];
    });
}

const MAX_DATES = 100;

/** Returns midnight of the n-th weekday of a month; negative numbers count from its end. */
function nthWeekday(year: number, month: number, which: number, weekday: number): number {
  if (which < 0) {
    const last = new Date(Date.UTC(year, month + 1, 0));
    const back = (last.getUTCDay() - weekday + 7) % 7;
    return last.getTime() - (back + (-which - 1) * 7) * DAY_MS;
  }
  const first = new Date(Date.UTC(year, month, 1));
  const ahead = (weekday - first.getUTCDay() + 7) % 7;
  return first.getTime() + (ahead + (which - 1) * 7) * DAY_MS;
}
