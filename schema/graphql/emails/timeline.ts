import { loadTimelines, MAX_TIMELINE, type Timeline } from '../../../operations/emails/timeline.ts';
import { type TimelineEntry } from '../../../operations/emails/timeline-entries.ts';
import { builder } from '../builder.ts';
import { loadByOwner } from '../load-by-owner.ts';
import { loadNode } from '../node-kinds.ts';
import { EmailNode } from '../nodes.ts';

const TimelineKind = builder.enumType('TimelineKind', {
  description: 'Kind of a timeline entry.',
  values: {
    ACCEPTED: { value: 'accepted', description: 'The email was received.' },
    CREATED: { value: 'created', description: 'The email was submitted for sending.' },
    AUTHENTICATED: { value: 'authenticated', description: 'SPF, DKIM and DMARC were checked.' },
    PARSED: { value: 'parsed', description: 'The email was parsed, or parsing failed.' },
    THREADED: { value: 'threaded', description: 'The email was added to its thread.' },
    ASKED: { value: 'asked', description: 'The language model of a guard rule was asked.' },
    ROUTED: { value: 'routed', description: 'The email was routed.' },
    HELD: { value: 'held', description: 'A guard rule held the email.' },
    RELEASED: { value: 'released', description: 'A user released the email.' },
    DELIVERY_REQUESTED: { value: 'delivery-requested', description: 'A user started another delivery.' },
    DELIVERY_ATTEMPT: { value: 'delivery-attempt', description: 'Postroom called a webhook.' },
    DELIVERY_ENDED: { value: 'delivery-ended', description: 'A delivery failed without an attempt.' },
    QUEUED: { value: 'queued', description: 'The send time of a scheduled email was reached.' },
    SENDING_ATTEMPT: { value: 'sending-attempt', description: 'Postroom offered the email to a recipient’s server.' },
    BOUNCED: { value: 'bounced', description: 'A bounce report arrived for a recipient.' },
    GIVEN_UP: { value: 'given-up', description: 'Postroom gave up on a recipient.' },
    COMPLAINED: { value: 'complained', description: 'A recipient reported the email as spam.' },
    RESCHEDULED: { value: 'rescheduled', description: 'The email was rescheduled.' },
    PAUSED: { value: 'paused', description: 'The email was paused.' },
    RESUMED: { value: 'resumed', description: 'The email was resumed.' },
    CANCELLED: { value: 'cancelled', description: 'The email was cancelled.' },
    READ: { value: 'read', description: 'The email was marked as read.' },
    UNREAD: { value: 'unread', description: 'The email was marked as unread.' },
    ARCHIVED: { value: 'archived', description: 'The email was archived.' },
    UNARCHIVED: { value: 'unarchived', description: 'The email was unarchived.' },
    REPROCESSED: { value: 'reprocessed', description: 'The email was reprocessed.' },
  } as const,
});

const TimelineEntryRef = builder.objectRef<TimelineEntry>('TimelineEntry').implement({
  description: 'An entry in the timeline of an email.',
  fields: (t) => ({
    kind: t.expose('kind', { type: TimelineKind, description: 'Kind of entry.' }),
    at: t.expose('at', {
      type: 'DateTime',
      description: 'When it happened. For attempts and questions, when they started.',
    }),
    title: t.exposeString('title', { description: 'Summary in one line.' }),
    detail: t.exposeString('detail', {
      nullable: true,
      description: 'Details such as the server, the reason or the response. Null if the title says everything.',
    }),
    durationMs: t.exposeInt('durationMs', {
      nullable: true,
      description:
        'Duration of the attempt or question, or time since the previous step, in milliseconds. Null if unknown.',
    }),
    isFailure: t.exposeBoolean('isFailure', { description: 'Whether this entry is a failure.' }),
    node: t.field({
      type: builder.nodeInterfaceRef(),
      nullable: true,
      description: 'The Delivery, Recipient, Thread, GuardRule or Endpoint concerned. Null if there is none.',
      resolve: ({ nodeId }, _args, context) => (nodeId === null ? null : loadNode(nodeId, context)),
    }),
  }),
});

/** Assumed by the limit on costs. */
const USUAL_ENTRIES = 10;

const TimelineRef = builder.objectRef<Timeline>('Timeline').implement({
  description: 'The recorded history of an email.',
  fields: (t) => ({
    entries: t.field({
      type: [TimelineEntryRef],
      description: `Entries in chronological order, up to ${MAX_TIMELINE}.`,
      complexity: { field: 1, multiplier: USUAL_ENTRIES },
      resolve: ({ entries }) => entries,
    }),
    isCut: t.exposeBoolean('isCut', { description: 'Whether older entries are missing because there are too many.' }),
  }),
});

const timelineOf = loadByOwner(({ reads }, emailIds) => loadTimelines(reads, emailIds));

builder.objectField(EmailNode, 'timeline', (t) =>
  t.field({
    type: TimelineRef,
    description:
      'History of the email, from the SMTP session to the webhook’s response, or from the API request to the last server’s reply.',
    complexity: 10,
    resolve: ({ id }, _args, context) => timelineOf(context, id, null),
  }),
);
