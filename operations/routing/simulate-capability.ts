import { z } from 'zod';
import { SIMULATED_KINDS } from '../../core/mime/simulated-mail.ts';
import { graphqlOnly, linkTo, restLiteral, restOnly } from '../../core/shared/field-notes.ts';
import { oneOf } from '../../core/shared/vocabulary.ts';
import { type Capability, defineAction, OF_EMAILS } from '../capability/capability.ts';
import { readSimulatedMessage, simulateInbound } from './simulate-inbound.ts';

const given = z.string().nullish();
const bodies = { description: 'Replaces the bodies of the template.' };

export const simulateCapability: Capability = {
  feature: 'Emails',
  what: 'Simulate received mail',
  ...OF_EMAILS,
  operations: [
    defineAction({
      access: 'endpoints',
      operationId: 'simulateInbound',
      field: 'simulateInbound',
      summary: 'Receive a test email',
      description:
        'Receives a test email as if another server had sent it. It is marked as simulated and is parsed, threaded, routed and delivered like all mail. Pass exactly one of a raw message, a raw message in base64, and a template.',
      method: 'POST',
      path: '/simulate',
      input: z
        .object({
          raw: given.meta({ description: 'A whole message (RFC 5322) in UTF-8, with any line ends.' }),
          rawBase64: given.meta({ description: 'A whole message in base64.' }),
          template: oneOf([...SIMULATED_KINDS, 'bounce'], {
            name: 'SimulationTemplate',
            description: 'A template of a test email.',
            values: {
              plain: 'A short question, plain text only.',
              reply: 'A reply to the email in emailId, in its thread.',
              newsletter: 'Text and HTML with links and mailing list headers.',
              attachment: 'A CSV invoice and an inline image.',
              'one-time-code': 'A six-digit code and a verification link.',
              spam: 'The standard test message for spam filters (GTUBE).',
              bounce:
                'A bounce report for the sent email in emailId. It has the same effects as a real one: the recipient bounces and may be suppressed.',
            },
          })
            .nullish()
            .meta({
              description:
                'A sample message. `reply` replies to the named email; `bounce` reports that the named sent email cannot be delivered, and has the same effects as a real report.',
            }),
          to: given.meta({
            description:
              'One of your addresses. The default is the address in the conversation for `reply`, and a return address for `bounce`.',
          }),
          from: given.meta({
            description:
              'Sender, `address` or `Name <address>`. The default is the From header of the message, or a sample address.',
          }),
          subject: given.meta({ description: 'Replaces the subject of the template.' }),
          text: given.meta(bodies),
          html: given.meta(bodies),
          emailId: given.meta({
            description: 'Of `reply` and `bounce`: ID of the email that is replied to or bounces.',
          }),
          recipient: given.meta({
            description: 'Of `bounce`: the recipient that bounces. The default is the first one.',
          }),
          status: given.meta({
            description:
              'Of `bounce`: enhanced status code (RFC 3463). Class 5 is permanent, class 4 temporary. The default is 5.1.1.',
          }),
        })
        .meta({ description: 'Exactly one of `raw`, `raw_base64` and `template` is required.' }),
      inputName: 'SimulateInbound',
      example: [
        { template: 'one-time-code', to: 'hello@inbox.test' },
        { template: 'reply', emailId: 'em_019aa3c1b2d47e1f8a0b3c4d5e6f7a8b', text: 'Thank you.' },
      ],
      idempotencyOperation: 'simulate',
      output: z
        .object({
          object: restLiteral('simulated_email'),
          id: restOnly(z.string().nullable()).meta({ description: 'ID of the new email. Null for a bounce report.' }),
          emailId: graphqlOnly(z.string().nullable()).meta({
            description: 'ID of the new email. Null for a bounce report, which creates none.',
          }),
          email: linkTo('Email', graphqlOnly(z.string().nullable()), 'email').meta({
            description: 'The email. Null until it is parsed, and for a bounce report.',
          }),
          reportedEmailId: linkTo('Email', z.string().nullable(), 'reportedEmail').meta({
            description: 'The sent email that the report is about; its ID in REST. Null if the message is no report.',
          }),
          to: z.string().meta({ description: 'The envelope recipient.' }),
        })
        .meta({ id: 'SimulatedEmail', description: 'Result of a simulated email.' }),
      errors: [],
      async run(context, input, _id, idempotency) {
        const { to = null, from = null } = input;
        const simulation = { message: readSimulatedMessage(input), to, from };
        const { emailId, ...done } = await simulateInbound(context, simulation, idempotency);
        return { ...done, id: emailId, emailId, email: emailId };
      },
    }),
  ],
};
