import { loadTimelines, MAX_TIMELINE, type Timeline } from '../../../operations/emails/timeline.ts';
import { type TimelineEntry } from '../../../operations/emails/timeline-entries.ts';
import { builder } from '../builder.ts';
import { loadByOwner } from '../load-by-owner.ts';
import { loadNode } from '../node-kinds.ts';
import { EmailNode } from '../nodes.ts';

const TimelineKind = builder.enumType('TimelineKind', {
  description: 'What happened to an email.',
  values: {
    ACCEPTED: { value: 'accepted', description: 'It came in.' },
    CREATED: { value: 'created', description: 'It was given to be sent, now or later.' },
    AUTHENTICATED: { value: 'authenticated', description: 'SPF, DKIM and DMARC were checked.' },
    PARSED: { value: 'parsed', description: 'It was read, or could not be.' },
    THREADED: { value: 'threaded', description: 'It got its thread.' },
    ASKED: { value: 'asked', description: 'The model of a guard rule was asked about it.' },
    ROUTED: { value: 'routed', description: 'It was decided where it goes.' },
    HELD: { value: 'held', description: 'A guard rule held it back.' },
    RELEASED: { value: 'released', description: 'Somebody let it through.' },
    DELIVERY_REQUESTED: { value: 'delivery-requested', description: 'Somebody had it delivered again.' },
    DELIVERY_ATTEMPT: { value: 'delivery-attempt', description: 'A webhook was tried.' },
    DELIVERY_ENDED: { value: 'delivery-ended', description: 'A delivery was given up without a try.' },
    QUEUED: { value: 'queued', description: 'The time of a scheduled email came.' },
    SENDING_ATTEMPT: { value: 'sending-attempt', description: 'The server of a recipient was asked to take it.' },
    BOUNCED: { value: 'bounced', description: 'A report came back: a recipient did not get it.' },
    GIVEN_UP: { value: 'given-up', description: 'It is not tried any more for a recipient.' },
    COMPLAINED: { value: 'complained', description: 'A recipient reported it as unwanted.' },
    RESCHEDULED: { value: 'rescheduled', description: 'It got another time.' },
    PAUSED: { value: 'paused', description: 'It was paused.' },
    RESUMED: { value: 'resumed', description: 'It was put back on its schedule.' },
    CANCELLED: { value: 'cancelled', description: 'It was cancelled.' },
    READ: { value: 'read', description: 'It was marked as read.' },
    UNREAD: { value: 'unread', description: 'It was marked as unread.' },
    ARCHIVED: { value: 'archived', description: 'It was archived.' },
    UNARCHIVED: { value: 'unarchived', description: 'It was taken out of the archive.' },
    REPROCESSED: { value: 'reprocessed', description: 'It was parsed, threaded or routed again.' },
  } as const,
});

const TimelineEntryRef = builder.objectRef<TimelineEntry>('TimelineEntry').implement({
  description: 'One thing that happened to an email.',
  fields: (t) => ({
    kind: t.expose('kind', { type: TimelineKind, description: 'What happened.' }),
    at: t.expose('at', {
      type: 'DateTime',
      description: 'When: of tries and questions when they began, of all else when it was done.',
    }),
    title: t.exposeString('title', { description: 'What happened, in one line.' }),
    detail: t.exposeString('detail', {
      nullable: true,
      description: 'More of it: who, why, what was answered; null: the title says all.',
    }),
    durationMs: t.exposeInt('durationMs', {
      nullable: true,
      description:
        'Milliseconds that a try or a question took, or that a step was done after the one before; null: unknown.',
    }),
    isFailure: t.exposeBoolean('isFailure', { description: 'Whether something went wrong.' }),
    node: t.field({
      type: builder.nodeInterfaceRef(),
      nullable: true,
      description:
        'What it is about: Delivery, Recipient, Thread, GuardRule or Endpoint; null: nothing that has an id.',
      resolve: ({ nodeId }, _args, context) => (nodeId === null ? null : loadNode(nodeId, context)),
    }),
  }),
});

/** Assumed by the limit on costs. */
const USUAL_ENTRIES = 10;

const TimelineRef = builder.objectRef<Timeline>('Timeline').implement({
  description: 'What happened to an email, as far as it is known; nothing is made up.',
  fields: (t) => ({
    entries: t.field({
      type: [TimelineEntryRef],
      description: `In their order, at most ${MAX_TIMELINE}.`,
      complexity: { field: 1, multiplier: USUAL_ENTRIES },
      resolve: ({ entries }) => entries,
    }),
    isCut: t.exposeBoolean('isCut', { description: 'Whether more happened than is told: then the newest are.' }),
  }),
});

const timelineOf = loadByOwner(({ reads }, emailIds) => loadTimelines(reads, emailIds));

builder.objectField(EmailNode, 'timeline', (t) =>
  t.field({
    type: TimelineRef,
    description:
      'All that happened to it, from the SMTP session to the answer of the webhook, or from the request to the reply of the last server.',
    complexity: 10,
    resolve: ({ id }, _args, context) => timelineOf(context, id, null),
  }),
);
