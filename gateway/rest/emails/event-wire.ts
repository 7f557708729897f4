import type { CalendarEvent } from '../../../core/mime/calendar-event.ts';
import { calendarEvent } from '../../../operations/emails/finding-shapes.ts';
import { makeWriter, wireOutput } from '../capability-shapes.ts';

/** The event of an invitation. */
export const eventBody = wireOutput(calendarEvent, 'snake');

const write = makeWriter(calendarEvent, 'snake');

/** Converts the event of an email. */
export function eventBodyOf(event: CalendarEvent | null): Record<string, unknown> | null {
  return event === null ? null : (write?.(event) as Record<string, unknown>);
}
