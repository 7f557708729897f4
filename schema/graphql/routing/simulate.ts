import type { SimulatedKind } from '../../../core/mime/simulated-mail.ts';
import {
  readSimulatedMessage,
  type SimulatedInbound,
  simulateInbound,
} from '../../../operations/routing/simulate-inbound.ts';
import { readIdempotency } from '../../../operations/sending/idempotency.ts';
import { access } from '../access.ts';
import { builder, enumValues } from '../builder.ts';
import { forgetLoaded } from '../context.ts';
import { EmailNode } from '../nodes.ts';
import { idempotencyField } from '../sending/sending.ts';

const SimulationTemplate = builder.enumType('SimulationTemplate', {
  description: 'A template of a test email.',
  values: enumValues<SimulatedKind | 'bounce'>({
    plain: 'A short question, plain text only.',
    reply: 'A reply to the email in emailId, in its thread.',
    newsletter: 'Text and HTML with links and mailing list headers.',
    attachment: 'A CSV invoice and an inline image.',
    'one-time-code': 'A six-digit code and a verification link.',
    spam: 'The standard test message for spam filters (GTUBE).',
    bounce:
      'A bounce report for the sent email in emailId. It has the same effects as a real one: the recipient bounces and may be suppressed.',
  }),
});

const SimulatedInboundRef = builder.objectRef<SimulatedInbound>('SimulateInboundPayload').implement({
  description: 'Result of a simulated email.',
  fields: (t) => ({
    emailId: t.exposeID('emailId', {
      nullable: true,
      description: 'ID of the new email. Null for a bounce report, which creates none.',
    }),
    email: t.field({
      type: EmailNode,
      nullable: true,
      description: 'The email. Null until it is parsed, and for a bounce report.',
      resolve: ({ emailId }) => emailId,
    }),
    reportedEmail: t.field({
      type: EmailNode,
      nullable: true,
      description: 'The sent email that the report is about. Null if the message is no report.',
      resolve: ({ reportedEmailId }) => reportedEmailId,
    }),
    to: t.exposeString('to', { description: 'The envelope recipient.' }),
  }),
});

builder.mutationField('simulateInbound', (t) =>
  t.fieldWithInput({
    type: SimulatedInboundRef,
    access: access.manage,
    description:
      'Receives a test email as if another server had sent it. It is marked as simulated and is parsed, threaded, routed and delivered like all mail. Pass exactly one of raw, rawBase64 and template.',
    errors: { directResult: true },
    input: {
      raw: t.input.string({
        description: 'A whole message (RFC 5322) in UTF-8. LF and CRLF line endings are accepted.',
      }),
      rawBase64: t.input.string({ description: 'A whole message in base64.' }),
      template: t.input.field({ type: SimulationTemplate, description: 'Template of the message.' }),
      to: t.input.string({
        description:
          'One of your addresses. The default is the address in the conversation for REPLY, and a return address for BOUNCE.',
      }),
      from: t.input.string({
        description:
          'Sender, `address` or `Name <address>`. The default is the From header of the message, or a sample address.',
      }),
      subject: t.input.string({ description: 'Replaces the subject of the template.' }),
      text: t.input.string({ description: 'Replaces the bodies of the template.' }),
      html: t.input.string({ description: 'Replaces the bodies of the template.' }),
      emailId: t.input.id({ description: 'For REPLY and BOUNCE: ID of the email that is answered or bounces.' }),
      recipient: t.input.string({
        description: 'For BOUNCE: the recipient that bounces. The default is the first one.',
      }),
      status: t.input.string({
        description:
          'For BOUNCE: enhanced status code (RFC 3463). Class 5 is permanent, class 4 temporary. The default is 5.1.1.',
      }),
      ...idempotencyField(t.input),
    },
    resolve: async (_root, { input: { idempotencyKey, ...input } }, context) => {
      const idempotency = readIdempotency({ key: idempotencyKey, field: 'idempotencyKey' }, 'simulate', input);
      const simulation = { message: readSimulatedMessage(input), to: input.to ?? null, from: input.from ?? null };
      const simulated = await simulateInbound(context.operations, simulation, idempotency);
      forgetLoaded(context);
      return simulated;
    },
  }),
);
