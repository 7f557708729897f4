import { z } from 'zod';
import { linkTo, named, restLiteral, restOnly, usually } from '../../core/shared/field-notes.ts';
import { oneOf } from '../../core/shared/vocabulary.ts';
import { type Capability, defineAction, OF_EMAILS, READ_AS_FIELD } from '../capability/capability.ts';
import { loadTimelines, MAX_TIMELINE, readTimeline } from './timeline.ts';
import { TIMELINE_KINDS } from './timeline-entries.ts';

const entry = z
  .object({
    kind: oneOf(TIMELINE_KINDS, {
      name: 'TimelineKind',
      description: 'Kind of a timeline entry.',
      values: {
        accepted: 'The email was received.',
        repeated: 'The client sent the same message again. It was not stored again.',
        created: 'The email was submitted for sending.',
        authenticated: 'SPF, DKIM and DMARC were checked.',
        screened: 'The scanners for spam and viruses checked the email.',
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
        spam: 'The email was moved to the folder Spam or to quarantine.',
        'not-spam': 'A user marked the email as not spam.',
      },
    }).meta({ description: 'Kind of entry.' }),
    at: z.date().meta({ description: 'When it happened. For attempts and questions, when they started.' }),
    title: z.string().meta({ description: 'Summary in one line.' }),
    detail: z.string().nullable().meta({
      description: 'Details such as the server, the reason or the response. Null if the title says everything.',
    }),
    durationMs: z.number().int().nullable().meta({
      description:
        'Duration of the attempt or question, or time since the previous step, in milliseconds. Null if unknown.',
    }),
    isFailure: z.boolean().meta({ description: 'Whether this entry is a failure.' }),
    nodeId: linkTo('Node', named(z.string().nullable(), { restName: 'about_id' }), 'node').meta({
      description:
        'The delivery, recipient, email, thread, guard rule or endpoint concerned; its ID in REST. Null if there is none.',
    }),
  })
  .meta({ id: 'TimelineEntry', description: 'An entry in the timeline of an email.' });

/** Entries that the cost limit of GraphQL assumes. */
const USUAL_ENTRIES = 10;

export const timelineCapability: Capability = {
  feature: 'Emails',
  what: 'Timeline',
  difference: READ_AS_FIELD,
  ...OF_EMAILS,
  operations: [
    defineAction({
      access: 'read',
      operationId: 'readEmailTimeline',
      summary: 'Retrieve the timeline of an email',
      description:
        'Returns the recorded history of the email, from the SMTP session to the webhook’s response, or from the API request to the last server’s reply, including every attempt and its response.',
      method: 'GET',
      path: '/:id/timeline',
      target: { argument: 'id', argumentDescription: 'ID of the email.' },
      input: z.object({}),
      output: z
        .object({
          object: restLiteral('timeline'),
          emailId: restOnly(z.string()),
          entries: usually(USUAL_ENTRIES, z.array(entry)).meta({
            description: `Entries in chronological order, up to ${MAX_TIMELINE}.`,
          }),
          isCut: z.boolean().meta({ description: 'Whether older entries are missing because there are too many.' }),
        })
        .meta({ id: 'Timeline', description: 'The recorded history of an email.' }),
      errors: [],
      of: { type: 'Email', field: 'timeline', cost: 10, load: loadTimelines },
      run: async (context, _input, emailId) => ({ emailId, ...(await readTimeline(context, emailId)) }),
    }),
  ],
};
