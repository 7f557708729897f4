import { z } from 'zod';
import { ATTENDEE_STATUSES, type CalendarEvent, EVENT_STATUSES } from '../../../core/mime/calendar-event.ts';

const party = z.object({ name: z.string().nullable(), address: z.string() });
const moment = z.string().nullable();

/** The event of an invitation. */
export const eventBody = z
  .object({
    method: z.string().nullable().meta({
      description:
        'What the message does: `REQUEST` invites or updates, `CANCEL` cancels, `REPLY` accepts or declines, `COUNTER` proposes another time. Null if the calendar has no method.',
    }),
    uid: z.string().nullable().meta({ description: 'ID of the event, the same in all messages about it.' }),
    sequence: z.int().meta({ description: 'Increases with each change of the event.' }),
    status: z.enum(EVENT_STATUSES).nullable(),
    summary: z.string(),
    location: z.string().nullable(),
    start: moment.meta({
      description:
        'Start in UTC, such as `2026-12-01T09:00:00.000Z`. All-day events have a date; events without a time zone have a local time without `Z`.',
    }),
    end: moment.meta({ description: 'Exclusive end, in the same form as `start`. Null if the event has no end.' }),
    time_zone: z.string().nullable().meta({ description: 'IANA time zone of `start`, such as `Europe/Berlin`.' }),
    is_all_day: z.boolean(),
    organizer: party.nullable(),
    attendees: z
      .array(party.extend({ status: z.enum(ATTENDEE_STATUSES) }))
      .meta({ description: 'Up to 100 attendees.' }),
    recurrence: z.string().nullable().meta({
      description:
        'Recurrence rule (RFC 5545 §3.3.10), such as `FREQ=WEEKLY;BYDAY=MO`. Null if the event happens once.',
    }),
    recurrence_id: moment.meta({
      description: 'Start of the occurrence that the message is about. Null for all occurrences.',
    }),
  })
  .meta({
    id: 'CalendarEvent',
    description: 'The event of an invitation, of a reply to one, or of a cancellation, as its sender wrote it.',
  });

/** Converts the event of an email. */
export function eventBodyOf(event: CalendarEvent | null): z.infer<typeof eventBody> | null {
  if (event === null) return null;
  const { timeZone, isAllDay, recurrenceId, ...rest } = event;
  return { ...rest, time_zone: timeZone, is_all_day: isAllDay, recurrence_id: recurrenceId };
}
