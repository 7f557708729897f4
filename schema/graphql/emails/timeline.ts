import { loadTimelines, MAX_TIMELINE, type Timeline } from '../../../operations/emails/timeline.ts';
import { type TimelineEntry } from '../../../operations/emails/timeline-entries.ts';
import { builder, enumValues } from '../builder.ts';
import { loadByOwner } from '../load-by-owner.ts';
import { loadNode } from '../node-kinds.ts';
import { EmailNode } from '../nodes.ts';

const TimelineKind = builder.enumType('TimelineKind', {
  description: 'Kind of a timeline entry.',
  values: enumValues<TimelineEntry['kind']>({
    accepted: 'The email was received.',
    repeated: 'The client sent the same message again. It was not stored again.',
    created: 'The email was submitted for sending.',
    authenticated: 'SPF, DKIM and DMARC were checked.',
    parsed: 'The email was parsed, or parsing failed.',
    threaded: 'The email was added to its thread.',
    asked: 'The language model of a guard rule was asked.',
    routed: 'The email was routed.',
    held: 'A guard rule held the email.',
    released: 'A user released the email.',
    'delivery-requested': 'A user started another delivery.',
    'delivery-attempt': 'Postroom called a webhook.',
    action: 'A webhook’s response asked for an action.',
    'delivery-ended': 'A delivery failed without an attempt.',
    queued: 'The send time of a scheduled email was reached.',
    'sending-attempt': 'Postroom offered the email to a recipient’s server.',
    bounced: 'A bounce report arrived for a recipient.',
    'given-up': 'Postroom gave up on a recipient.',
    complained: 'A recipient reported the email as spam.',
    'approval-requested': 'The email waits for approval.',
    approved: 'A person or API key approved the email.',
    rejected: 'A person or API key rejected the email, or its time to wait was over.',
    rescheduled: 'The email was rescheduled.',
    paused: 'The email was paused.',
    resumed: 'The email was resumed.',
    cancelled: 'The email was cancelled.',
    read: 'The email was marked as read.',
    unread: 'The email was marked as unread.',
    archived: 'The email was archived.',
    unarchived: 'The email was unarchived.',
    reprocessed: 'The email was reprocessed.',
  }),
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
      description: 'The Delivery, Recipient, Email, Thread, GuardRule or Endpoint concerned. Null if there is none.',
      resolve: ({ nodeId }, _args, context) => (nodeId === null ? null : loadNode(nodeId, context)),
    }),
  }),
});

/** Number of rows that the cost limit assumes. */
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
