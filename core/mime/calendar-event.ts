import { decodeCharset, storableText } from '../shared/text.ts';
import { wallToInstant } from '../shared/time-zone.ts';
import { type CalendarComponent, type CalendarLine, findLine, readCalendar, readText } from './calendar-lines.ts';
import { findZone, instantByDefinition } from './calendar-zone.ts';

export const EVENT_STATUSES = ['confirmed', 'tentative', 'cancelled'] as const;
export const ATTENDEE_STATUSES = ['needs-action', 'accepted', 'declined', 'tentative', 'delegated'] as const;

/** The event of an invitation, a reply to one, or a cancellation (RFC 5545, RFC 5546). All texts are the sender's. */
export interface CalendarEvent {
  /** upper case, such as `REQUEST`, `REPLY`, `CANCEL` and `COUNTER`; null when it is no scheduling message */
  method: string | null;
  /** the same in all messages about the event; null when missing */
  uid: string | null;
  /** increases with each change of the event */
  sequence: number;
  status: (typeof EVENT_STATUSES)[number] | null;
  /** empty when missing */
  summary: string;
  location: string | null;
  /** `2026-12-01T09:00:00.000Z`; all-day events `2026-12-01`; without any zone `2026-12-01T09:00:00`, local for the attendee */
  start: string | null;
  /** the moment or day after the event, in the same form; null when it is open */
  end: string | null;
  /** IANA name; null when there is none or it is unknown */
  timeZone: string | null;
  isAllDay: boolean;
  organizer: CalendarParty | null;
  /** at most 100 */
  attendees: (CalendarParty & { status: (typeof ATTENDEE_STATUSES)[number] })[];
  /** as written, such as `FREQ=WEEKLY;BYDAY=MO`; null when it happens once */
  recurrence: string | null;
  /** the start of the occurrence that the message is about; null for the whole series */
  recurrenceId: string | null;
}

interface CalendarParty {
  name: string | null;
  address: string;
}

/** Returns the event of an email, which is kept with the calendar that has it; null when there is none. */
export function findEvent(attachments: readonly { event?: CalendarEvent }[]): CalendarEvent | null {
  return attachments.find(({ event }) => event !== undefined)?.event ?? null;
}

const MAX_ATTENDEES = 100;
/** Maximum characters of a text, of an identifier or a rule, and of an address (RFC 5321 §4.5.3.1) or a name. */
const MAX_TEXT = 1_000;
const MAX_IDENTIFIER = 500;
const MAX_PARTY = 320;

/**
 * Reads the event of a calendar: the first one that is a whole series or happens once, else the first occurrence. `method` is that of the
 * Content-Type, for calendars without one. Null when the calendar has no event. Linear, never throws.
 */
export function readCalendarEvent(text: string, method: string | null): CalendarEvent | null {
  const components = readCalendar(text);
  const events = components.filter((each) => each.name === 'VEVENT');
  const event = events.find((each) => findLine(each, 'RECURRENCE-ID') === null) ?? events[0];
  if (event === undefined) return null;
  const calendar = event.parent;
  const stated = (calendar === null ? null : value(calendar, 'METHOD', MAX_IDENTIFIER)) ?? method;
  const upper = stated === null || !/^[\w-]{1,40}$/.test(stated) ? null : stated.toUpperCase();
  const startLine = findLine(event, 'DTSTART');
  const start = startLine === null ? null : readMoment(startLine, components);
  const sequence = Number(value(event, 'SEQUENCE', 10) ?? '0');
  const recurrenceId = findLine(event, 'RECURRENCE-ID');
  return {
    method: upper,
    uid: value(event, 'UID', MAX_IDENTIFIER),
    sequence: Number.isInteger(sequence) && sequence >= 0 && sequence < 2 ** 31 ? sequence : 0,
    status: readStatus(value(event, 'STATUS', 40), upper),
    summary: textValue(event, 'SUMMARY') ?? '',
    location: textValue(event, 'LOCATION'),
    start: start?.text ?? null,
    end: readEnd(event, start, components),
    timeZone: start?.timeZone ?? null,
    isAllDay: start?.isDate ?? false,
    organizer: readParty(findLine(event, 'ORGANIZER')),
    attendees: event.lines
      .filter(({ name }) => name === 'ATTENDEE')
      .slice(0, MAX_ATTENDEES)
      .flatMap((line) => {
        const party = readParty(line);
        return party === null ? [] : [{ ...party, status: readParticipation(line) }];
      }),
    recurrence: value(event, 'RRULE', MAX_IDENTIFIER),
    recurrenceId: recurrenceId === null ? null : (readMoment(recurrenceId, components)?.text ?? null),
  };
}

function value(component: CalendarComponent, name: string, maxLength: number): string | null {
  const text = cut(findLine(component, name)?.value.trim() ?? '', maxLength);
  return text === '' ? null : text;
}

function textValue(component: CalendarComponent, name: string): string | null {
  const line = findLine(component, name);
  const text = cut(readText(line === null ? '' : plainValue(line)), MAX_TEXT);
  return text === '' ? null : text;
}

/** vCalendar 1.0 of old telephones: `SUMMARY;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:Gr=C3=BC=C3=9Fe`. */
function plainValue({ parameters, value }: CalendarLine): string {
  if (!/^quoted-printable$/i.test(parameters.get('ENCODING') ?? '')) return value;
  const bytes = value
    .slice(0, MAX_ENCODED)
    .replace(/=([\dA-F]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
  return decodeCharset(Buffer.from(bytes, 'latin1'), parameters.get('CHARSET') ?? 'utf-8');
}

/** Characters of an encoded text of {@link MAX_TEXT} characters. */
const MAX_ENCODED = 12 * MAX_TEXT;

function cut(text: string, maxLength: number): string {
  return storableText(text.length > maxLength ? text.slice(0, maxLength).toWellFormed() : text);
}

/** A cancellation need not say so in the status of the event (RFC 5546 §3.2.5). */
function readStatus(text: string | null, method: string | null): CalendarEvent['status'] {
  const lower = text?.toLowerCase() ?? (method === 'CANCEL' ? 'cancelled' : '');
  return EVENT_STATUSES.find((status) => status === lower) ?? null;
}

function readParty(line: CalendarLine | null): CalendarParty | null {
  if (line === null) return null;
  const uri = line.value.trim();
  const written = /^mailto:/i.test(uri) ? uri.slice('mailto:'.length) : (line.parameters.get('EMAIL') ?? uri);
  const address = cut(/^[^?]*/.exec(written)?.[0].trim() ?? '', MAX_PARTY);
  const name = cut(readText(line.parameters.get('CN') ?? ''), MAX_PARTY);
  return address === '' ? null : { name: name === '' || name === address ? null : name, address };
}

function readParticipation({ parameters }: CalendarLine): CalendarEvent['attendees'][number]['status'] {
  const lower = parameters.get('PARTSTAT')?.toLowerCase();
  return ATTENDEE_STATUSES.find((status) => status === lower) ?? 'needs-action';
}

/** A day, an instant, or a local time without a zone. */
interface Moment {
  text: string;
  isDate: boolean;
  timeZone: string | null;
  /** local time without a zone: `YYYY-MM-DDTHH:MM:SS`; `YYYY-MM-DD` for a day */
  wall: string;
  /** converts another local time of the same zone */
  toText(wall: string): string;
}

const MOMENT = /^(\d{4})-?(\d{2})-?(\d{2})(?:T(\d{2}):?(\d{2}):?(\d{2})?(Z)?)?$/i;

function readMoment(line: CalendarLine, components: readonly CalendarComponent[]): Moment | null {
  const [, year, month = '', day = '', hour, minute = '', second = '00', isUtc] = MOMENT.exec(line.value.trim()) ?? [];
  if (year === undefined) return null;
  const date = `${year}-${month}-${day}`;
  if (wallToInstant(`${date}T00:00:00`, 'UTC') === null) return null;
  if (hour === undefined) return { text: date, isDate: true, timeZone: null, wall: date, toText: (wall) => wall };
  // A leap second is the second before it.
  const wall = `${date}T${hour}:${minute}:${second === '60' ? '59' : second}`;
  if (wallToInstant(wall, 'UTC') === null) return null;
  const id = line.parameters.get('TZID')?.trim() ?? '';
  const timeZone = isUtc === undefined ? (id === '' ? null : findZone(id, components)) : 'UTC';
  const toText = (local: string) => {
    const instant = timeZone === null ? instantByDefinition(local, id, components) : wallToInstant(local, timeZone);
    return instant?.toISOString() ?? local;
  };
  return { text: toText(wall), isDate: false, timeZone, wall, toText };
}

const DURATION = /^([+-]?)P(?:(\d{1,4})W)?(?:(\d{1,5})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,7})M)?(?:(\d{1,9})S)?)?$/i;

/** Returns the end, which may be given as a duration (RFC 5545 §3.6.1); a day without an end is one day long. */
function readEnd(
  event: CalendarComponent,
  start: Moment | null,
  components: readonly CalendarComponent[],
): string | null {
  const endLine = findLine(event, 'DTEND');
  const end = endLine === null ? null : readMoment(endLine, components);
  if (end !== null || start === null) return end?.text ?? null;
  const duration = DURATION.exec(findLine(event, 'DURATION')?.value.trim() ?? '');
  if (duration === null) return start.isDate ? addDays(start.wall, 1) : null;
  const [, sign = '', ...numbers] = duration;
  const [weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = numbers.map((digits: string | undefined) =>
    Number(digits ?? 0),
  );
  if (sign === '-') return null;
  // Days keep the time of the clock, hours do not (RFC 5545 §3.3.6).
  const shifted = start.toText(addDays(start.wall, weeks * 7 + days));
  const milliseconds = ((hours * 60 + minutes) * 60 + seconds) * 1_000;
  if (start.isDate || milliseconds === 0) return shifted;
  const isInstant = shifted.endsWith('Z');
  const later = Date.parse(isInstant ? shifted : `${shifted}Z`) + milliseconds;
  if (!(later < LAST_MS)) return null;
  return new Date(later).toISOString().slice(0, isInstant ? 24 : 19);
}

const LAST_MS = Date.UTC(10_000);

/** Adds days to a day or a local time. */
function addDays(wall: string, days: number): string {
  const date = new Date(`${wall.slice(0, 10)}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() + days);
  return date.toISOString().slice(0, 10) + wall.slice(10);
}
