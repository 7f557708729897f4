import { unfold } from './header-fields.ts';

/**
 * Parses a Date field (RFC 5322 §3.3, §4.3, and what mail programs write instead, ISO 8601 among it); null when it is not a date. A
 * missing or unknown zone means UTC, and years of two or three digits are counted from 1900 or 2000 (RFC 5322 §4.3). Days and times that
 * do not exist are no dates. Never throws.
 */
export function parseDate(raw: string): Date | null {
  const value = withoutComments(unfold(raw).slice(0, MAX_LENGTH)).replace(/\s+/g, ' ').trim();
  const day = readDay(value);
  if (day === null) return null;
  const time = readTime(value.replace(day.matched, ' '));
  if (time === null) return null;
  const { hours, minutes, seconds, milliseconds, zoneMinutes } = time;
  const date = new Date(0);
  date.setUTCFullYear(day.year, day.month, day.day);
  // 60 is a leap second.
  date.setUTCHours(hours, minutes - zoneMinutes, seconds, milliseconds);
  const year = date.getUTCFullYear();
  return year >= 1 && year <= 9999 ? date : null;
}

const MAX_LENGTH = 100;
/** How the months begin, also as programs write them in the language of their user. */
const MONTHS = [
  'jan ene gen sty янв',
  'feb fév fev lut фев',
  'mar mär maer mrt мар',
  'apr avr abr kwi апр',
  'may mai mei maj mag май мая',
  'jun juin giu cze июн',
  'jul juil lug lip июл',
  'aug aoû aou ago sie авг',
  'sep set wrz сен',
  'oct okt ott out paź paz окт',
  'nov лис ноя',
  'dec déc dez dic des gru дек',
].map((names) => names.split(' '));
const MONTH = `(${MONTHS.flat().join('|')})\\p{L}*`;

function findMonth(name = ''): number {
  return MONTHS.findIndex((names) => names.includes(name.toLowerCase()));
}

interface Day {
  year: number;
  month: number;
  day: number;
  /** what was read */
  matched: string;
}

/** `9 Nov 2026` and `09-Nov-26`; `Nov 9, 2026`; `Nov 9 10:00:00 PST 2026` (asctime); `2026-11-09`. */
const DAY_FIRST = new RegExp(
  String.raw`(?<![\d:])(\d{1,2})(?:st|nd|rd|th|\.)?[ ,-]*${MONTH}[ ,.-]*(\d{2,5})(?![\d:])`,
  'iu',
);
const MONTH_FIRST = new RegExp(String.raw`${MONTH}[ .]+(\d{1,2})(?:st|nd|rd|th)?,? +(\d{4})(?![\d:])`, 'iu');
const YEAR_LAST = new RegExp(String.raw`${MONTH} +(\d{1,2}) +(?=\d{1,2}:\d{2}.* (\d{4})(?: |$))`, 'iu');
const NUMERIC = /^(?:[a-z]{3},? )?(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?=[T ]|$)T?/i;
/** `3.11.2026`, `Tue, 03 11 2026`. With slashes, either may be the month. */
const NUMERIC_LAST = /^(?:\p{L}{2,12}\.?,? )?(\d{1,2})([. ])(\d{1,2})\2(\d{4})(?=[ ,]|$)/u;

function readDay(value: string): Day | null {
  const first = DAY_FIRST.exec(value);
  if (first !== null) return toDay(first[3], findMonth(first[2]), first[1], first[0]);
  const second = MONTH_FIRST.exec(value) ?? YEAR_LAST.exec(value);
  if (second !== null) return toDay(second[3], findMonth(second[1]), second[2], second[0]);
  const last = NUMERIC_LAST.exec(value);
  if (last !== null) return toDay(last[4], Number(last[3]) - 1, last[1], last[0]);
  const numeric = NUMERIC.exec(value);
  return numeric === null ? null : toDay(numeric[1], Number(numeric[2]) - 1, numeric[3], numeric[0]);
}

function toDay(digits = '', month: number, dayDigits = '', matched: string): Day | null {
  const [number, day] = [Number(digits), Number(dayDigits)];
  const year =
    digits.length === 2 ? (number < 50 ? 2000 : 1900) + number : digits.length === 3 ? 1900 + number : number;
  if (year > 9999 || month < 0 || month > 11 || day < 1) return null;
  const daysInMonth = new Date(Date.UTC(2000 + (year % 400), month + 1, 0)).getUTCDate();
  return day > daysInMonth ? null : { year, month, day, matched };
}

interface Time {
  hours: number;
  minutes: number;
  seconds: number;
  milliseconds: number;
  zoneMinutes: number;
}

/** `10:00:05`, `10.00.05`, `10:00 PM`, `1000`. */
const TIME = /(?<!\d)(\d{1,2})[:.](\d{1,2})(?:[:.](\d{1,2}))?(?:[.,](\d{1,9}))?(?: ?([ap])\.?m\.?(?![a-z]))?/i;

/** Reads the time and zone; midnight in UTC when there is no time. Null when there is no such time. */
function readTime(value: string): Time | null {
  const found = TIME.exec(value);
  if (found === null) return { hours: 0, minutes: 0, seconds: 0, milliseconds: 0, zoneMinutes: readZone(value) };
  const [matched, hour = '', minute = '', second = '0', fraction = '', half = ''] = found;
  const [given, minutes, seconds] = [Number(hour), Number(minute), Number(second)];
  const isAfternoon = half.toLowerCase() === 'p';
  const hours = half === '' || given > 12 ? given : (given % 12) + (isAfternoon ? 12 : 0);
  const isMidnight = hours === 24 && minutes === 0 && seconds === 0;
  if ((hours > 23 && !isMidnight) || minutes > 59 || seconds > 60) return null;
  const milliseconds = Number(fraction.padEnd(3, '0').slice(0, 3));
  return { hours, minutes, seconds, milliseconds, zoneMinutes: readZone(value.slice(found.index + matched.length)) };
}

/** Zones of RFC 5322 §4.3, in hours. All others mean UTC, because letters mean different zones in different countries. */
const ZONES = new Map([
  ['edt', -4],
  ['est', -5],
  ['cdt', -5],
  ['cst', -6],
  ['mdt', -6],
  ['mst', -7],
  ['pdt', -7],
  ['pst', -8],
]);

function readZone(text: string): number {
  const offset = /(?:^|[^\d-])([+-])(\d{1,2}):?(\d{2})?(?!\d)/.exec(text);
  if (offset !== null) {
    const [, sign, hours = '', minutes = '0'] = offset;
    const amount = Number(hours) * 60 + Number(minutes);
    return amount > 24 * 60 ? 0 : sign === '-' ? -amount : amount;
  }
  const name = /[a-z]{3}/i.exec(text)?.[0].toLowerCase() ?? '';
  return (ZONES.get(name) ?? 0) * 60;
}

/** Comments may be nested (RFC 5322 §3.2.2). */
function withoutComments(text: string): string {
  if (!text.includes('(')) return text;
  let depth = 0;
  let rest = '';
  for (const character of text) {
    if (character === '(') depth++;
    else if (character === ')') depth = Math.max(0, depth - 1);
    else if (depth === 0) rest += character;
  }
  return depth === 0 ? rest : text.slice(0, text.indexOf('('));
}
