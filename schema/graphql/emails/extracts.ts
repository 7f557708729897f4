import type { CalendarEvent } from '../../../core/mime/calendar-event.ts';
import { type Extracts, extractFrom } from '../../../core/mime/extracts.ts';
import { inTurn, withText } from '../../../operations/emails/html-text.ts';
import { builder, enumValues } from '../builder.ts';
import { EmailNode } from '../nodes.ts';
import { loadEmailParts } from './email-content.ts';

/** Extracting from hostile mail takes tens of milliseconds. */
const COST = 50;

const ExtractSource = builder.enumType('ExtractSource', {
  description: 'Part of an email.',
  values: enumValues<Extracts['codes' | 'links'][number]['foundIn'][number]>({
    subject: 'The subject.',
    text: 'The plain-text body.',
    html: 'The HTML body.',
    header: 'The headers.',
  }),
});

const ExtractedCode = builder.objectRef<Extracts['codes'][number]>('ExtractedCode').implement({
  description: 'A likely verification code.',
  isOfDomain: true,
  fields: (t) => ({
    code: t.exposeString('code', { description: 'The code, without spaces between its digits.' }),
    foundIn: t.expose('foundIn', { type: [ExtractSource], description: 'Where the code was found.' }),
    likelihood: t.exposeFloat('likelihood', { description: 'Confidence, from 0 to 1.' }),
  }),
});

const ExtractedLink = builder.objectRef<Extracts['links'][number]>('ExtractedLink').implement({
  description: 'A link in an email.',
  isOfDomain: true,
  fields: (t) => ({
    url: t.field({ type: 'URL', description: 'http, https or mailto URL.', resolve: ({ url }) => url }),
    text: t.exposeString('text', {
      nullable: true,
      description: 'Link text. Null if the text is the URL itself.',
    }),
    foundIn: t.expose('foundIn', { type: [ExtractSource], description: 'Where the link was found.' }),
    isUnsubscribe: t.exposeBoolean('isUnsubscribe', {
      description: 'Whether the link unsubscribes from a mailing list.',
    }),
  }),
});

const EventParty = builder.objectRef<NonNullable<CalendarEvent['organizer']>>('EventParty').implement({
  description: 'The organizer of an event.',
  isOfDomain: true,
  fields: (t) => ({
    name: t.exposeString('name', { nullable: true, description: 'Display name. Null if there is none.' }),
    address: t.exposeString('address', { description: 'Email address, as the sender wrote it.' }),
  }),
});

const EventStatus = builder.enumType('EventStatus', {
  description: 'Status of an event.',
  values: enumValues<NonNullable<CalendarEvent['status']>>({
    confirmed: 'The event takes place.',
    tentative: 'The event may take place.',
    cancelled: 'The event was cancelled.',
  }),
});

const AttendeeStatus = builder.enumType('AttendeeStatus', {
  description: 'Response of an attendee.',
  values: {
    NEEDS_ACTION: { value: 'needs-action', description: 'The attendee has not responded.' },
    ACCEPTED: { value: 'accepted', description: 'The attendee accepted.' },
    DECLINED: { value: 'declined', description: 'The attendee declined.' },
    TENTATIVE: { value: 'tentative', description: 'The attendee may come.' },
    DELEGATED: { value: 'delegated', description: 'The attendee sends another person.' },
  } as const satisfies Record<string, { value: Attendee['status']; description: string }>,
});

type Attendee = CalendarEvent['attendees'][number];

const EventAttendee = builder.objectRef<Attendee>('EventAttendee').implement({
  description: 'An attendee of an event.',
  isOfDomain: true,
  fields: (t) => ({
    name: t.exposeString('name', { nullable: true, description: 'Display name. Null if there is none.' }),
    address: t.exposeString('address', { description: 'Email address, as the sender wrote it.' }),
    status: t.expose('status', { type: AttendeeStatus, description: 'Response of the attendee.' }),
  }),
});

const CalendarEventRef = builder.objectRef<CalendarEvent>('CalendarEvent').implement({
  description: 'The event of an invitation, of a reply to one, or of a cancellation, as its sender wrote it.',
  isOfDomain: true,
  fields: (t) => ({
    method: t.exposeString('method', {
      nullable: true,
      description:
        'What the message does: `REQUEST` invites or updates, `CANCEL` cancels, `REPLY` accepts or declines, `COUNTER` proposes another time. Null if the calendar has no method.',
    }),
    uid: t.exposeString('uid', {
      nullable: true,
      description: 'ID of the event, the same in all messages about it.',
    }),
    sequence: t.exposeInt('sequence', { description: 'Increases with each change of the event.' }),
    status: t.expose('status', { type: EventStatus, nullable: true, description: 'Null if not stated.' }),
    summary: t.exposeString('summary', { description: 'Title. Empty if there is none.' }),
    location: t.exposeString('location', { nullable: true, description: 'Null if there is none.' }),
    start: t.exposeString('start', {
      nullable: true,
      description:
        'Start in UTC, such as `2026-12-01T09:00:00.000Z`. All-day events have a date; events without a time zone have a local time without `Z`.',
    }),
    end: t.exposeString('end', {
      nullable: true,
      description: 'Exclusive end, in the same form as `start`. Null if the event has no end.',
    }),
    timeZone: t.exposeString('timeZone', {
      nullable: true,
      description: 'IANA time zone of `start`, such as `Europe/Berlin`. Null if there is none or it is unknown.',
    }),
    isAllDay: t.exposeBoolean('isAllDay', { description: 'Whether the event lasts whole days.' }),
    organizer: t.expose('organizer', { type: EventParty, nullable: true, description: 'Null if there is none.' }),
    attendees: t.expose('attendees', { type: [EventAttendee], description: 'Attendees, up to 100.' }),
    recurrence: t.exposeString('recurrence', {
      nullable: true,
      description:
        'Recurrence rule (RFC 5545 §3.3.10), such as `FREQ=WEEKLY;BYDAY=MO`. Null if the event happens once.',
    }),
    recurrenceId: t.exposeString('recurrenceId', {
      nullable: true,
      description: 'Start of the occurrence that the message is about. Null for all occurrences.',
    }),
  }),
});

const ExtractsRef = builder.objectRef<Extracts>('Extracts').implement({
  description: 'Codes, links and the event found in an email.',
  isOfDomain: true,
  fields: (t) => ({
    codes: t.expose('codes', { type: [ExtractedCode], description: 'Codes, most likely first, up to 10.' }),
    links: t.expose('links', {
      type: [ExtractedLink],
      description: 'Links, most relevant first and unsubscribe links last, up to 100.',
    }),
    event: t.expose('event', {
      type: CalendarEventRef,
      nullable: true,
      description: 'The event of the first calendar. Null if the email has none.',
    }),
  }),
});

builder.objectFields(EmailNode, (t) => ({
  extracts: t.field({
    type: ExtractsRef,
    description: 'Verification codes, links and the event found in the email.',
    complexity: { field: COST },
    resolve: async ({ id, subject }, _args, context) => {
      const [{ text, headers, attachments }, { html }] = await Promise.all([
        loadEmailParts(context, id, 'text'),
        loadEmailParts(context, id, 'html'),
      ]);
      const { userId } = context.operations;
      const shown = await withText(userId, { text, html });
      return inTurn(userId, () => extractFrom({ subject, text: shown.text, html, headers, attachments }));
    },
  }),
}));
