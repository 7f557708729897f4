import { type CalendarEvent } from '../mime/calendar-event.ts';
import { isHeaderText } from './outgoing-headers.ts';

/** How an attendee replies to an invitation. */
export const EVENT_RESPONSES = ['accepted', 'tentative', 'declined'] as const;

export type EventResponse = (typeof EVENT_RESPONSES)[number];

/** Why no reply to an event can be sent. */
export type NoReply = 'no invitation' | 'cancelled' | 'no identifier' | 'no organizer';

/** Returns why no reply to an event can be sent; null: one can. Only a request can be (RFC 5546 §3.2.2). */
export function findReplyFlaw({ method, status, uid, organizer }: CalendarEvent): NoReply | null {
  if (method === 'CANCEL' || status === 'cancelled') return 'cancelled';
  if (method !== 'REQUEST') return 'no invitation';
  if (uid === null) return 'no identifier';
  return organizer === null || !/^[^\s@<>"]+@[^\s@<>"]+$/.test(organizer.address) || !isHeaderText(organizer.address)
    ? 'no organizer'
    : null;
}

/** What a reply says, beside the event. */
export interface EventReply {
  response: EventResponse;
  /** null: none */
  comment: string | null;
  /** who replies */
  attendee: { name: string | null; address: string };
  now: Date;
}

/** Bytes of a line (RFC 5545 §3.1). */
const MAX_LINE_BYTES = 75;

/** Returns the calendar of a reply (RFC 5546 §3.2.3): what the attendee says to the organizer, for the occurrence or the series asked about. */
export function writeEventReply(event: CalendarEvent, { response, comment, attendee, now }: EventReply): string {
  const { uid, sequence, organizer, summary, start, end, recurrenceId } = event;
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Postroom//Postroom//EN',
    'METHOD:REPLY',
    'BEGIN:VEVENT',
    `UID:${oneLine(uid ?? '')}`,
    `DTSTAMP:${compact(now.toISOString())}`,
    `ORGANIZER${nameParameter(organizer?.name ?? null)}:mailto:${oneLine(organizer?.address ?? '')}`,
    `ATTENDEE;PARTSTAT=${response.toUpperCase()}${nameParameter(attendee.name)}:mailto:${oneLine(attendee.address)}`,
    `SEQUENCE:${sequence}`,
    ...(summary === '' ? [] : [`SUMMARY:${escapeText(summary)}`]),
    ...moment('RECURRENCE-ID', recurrenceId),
    ...moment('DTSTART', start),
    ...moment('DTEND', start === null ? null : end),
    ...(comment === null ? [] : [`COMMENT:${escapeText(comment)}`]),
    'END:VEVENT',
    'END:VCALENDAR',
  ];
  return lines.map((line) => `${fold(line)}\r\n`).join('');
}

/** A day, an instant in UTC, or a local time without a zone. */
function moment(name: string, text: string | null): string[] {
  if (text === null) return [];
  return [
    /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${name};VALUE=DATE:${text.replaceAll('-', '')}` : `${name}:${compact(text)}`,
  ];
}

/** `2026-12-01T09:00:00.000Z` as `20261201T090000Z`. */
function compact(text: string): string {
  return text.replace(/\.\d+/, '').replace(/[-:]/g, '');
}

function nameParameter(name: string | null): string {
  const shown = oneLine(name ?? '').replaceAll('"', "'");
  return shown === '' ? '' : `;CN="${shown}"`;
}

function escapeText(text: string): string {
  return oneLine(text.replace(/[\\;,]/g, '\\$&').replace(/\r\n?|\n/g, '\\n'));
}

function oneLine(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\0-\x1f\x7f\u2028\u2029]+/g, ' ')
    .trim();
}

/** Breaks a line, never within a character. */
function fold(line: string): string {
  const pieces: string[] = [];
  let piece = '';
  let bytes = 0;
  for (const character of line) {
    const size = Buffer.byteLength(character);
    if (bytes + size > MAX_LINE_BYTES) {
      pieces.push(piece);
      // The space that continues a line counts.
      piece = ' ';
      bytes = 1;
    }
    piece += character;
    bytes += size;
  }
  return [...pieces, piece].join('\r\n');
}
