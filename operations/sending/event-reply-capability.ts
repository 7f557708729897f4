import { z } from 'zod';
import { EVENT_RESPONSES } from '../../core/sending/event-reply.ts';
import { linkTo } from '../../core/shared/field-notes.ts';
import { oneOf } from '../../core/shared/vocabulary.ts';
import { type Capability, defineAction, OF_EMAILS } from '../capability/capability.ts';
import { text } from '../capability/field-shapes.ts';
import { replyToEvent } from './reply-to-event.ts';

const response = oneOf(EVENT_RESPONSES, {
  name: 'InvitationResponse',
  description: 'How an attendee answers an invitation.',
  values: {
    accepted: 'The attendee will come.',
    tentative: 'The attendee may come.',
    declined: 'The attendee will not come.',
  },
});

/** Characters. */
const MAX_COMMENT = 1_000;
const MAX_MAILBOX = 640;

export const eventReplyCapability: Capability = {
  feature: 'Sending',
  what: 'Answer an invitation',
  ...OF_EMAILS,
  operations: [
    defineAction({
      access: 'sendAndRead',
      method: 'POST',
      operationId: 'replyToEvent',
      field: 'replyToEvent',
      summary: 'Answer an invitation',
      description:
        'Accepts or declines the event of an email: the organizer gets a mail with an iTIP reply (RFC 5546), which calendars understand. `extracts.event` has the event. A conflict if the email has no invitation, or if the event was cancelled.',
      tool: {
        name: 'reply_to_event',
        description: 'Accepts or declines the invitation in an email; the organizer gets a reply.',
        words: { response: '', comment: 'For the organizer.', from: 'Default: the address that was invited.' },
      },
      path: '/:id/event-reply',
      target: { argument: 'emailId', argumentDescription: 'ID of the email with the invitation.' },
      input: z.object({
        response: response.meta({ description: 'The answer.' }),
        comment: text.max(MAX_COMMENT).nullish().meta({ description: 'Text for the organizer.' }),
        from: text
          .max(MAX_MAILBOX)
          .nullish()
          .meta({ description: 'Mailbox that replies. The default is the address that received the invitation.' }),
      }),
      inputName: 'ReplyToEvent',
      example: { response: 'accepted', comment: 'See you there' },
      output: z
        .object({
          emailId: linkTo('Email', z.string()).meta({ description: 'The invitation.' }),
          replyId: linkTo('Email', z.string(), 'reply').meta({ description: 'The reply that is sent.' }),
          organizer: z.string().meta({ description: 'Address that gets the reply.' }),
          response: response.meta({ description: 'The answer.' }),
        })
        .meta({ id: 'AnsweredEvent', description: 'An invitation that was answered.' }),
      errors: [403, 409],
      idempotencyOperation: 'event-reply',
      run: (context, input, emailId, idempotency) => replyToEvent(context, emailId, input, idempotency),
    }),
  ],
};
