import type { SimulatedKind } from '../../../core/mime/simulated-mail.ts';
import { invalid } from '../../../operations/context.ts';
import {
  type SimulatedInbound,
  type SimulationWish,
  simulateInbound,
} from '../../../operations/routing/simulate-inbound.ts';
import { readIdempotency } from '../../../operations/sending/idempotency.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { forgetLoaded } from '../context.ts';
import { EmailNode } from '../nodes.ts';
import { idempotencyField } from '../sending/outgoing.ts';

const SimulationTemplate = builder.enumType('SimulationTemplate', {
  description: 'Mail that is made for you, to try things out with.',
  values: {
    PLAIN: { value: 'plain', description: 'A short question, text alone.' },
    REPLY: { value: 'reply', description: 'An answer to the email of emailId, in its thread.' },
    NEWSLETTER: { value: 'newsletter', description: 'Text and HTML with links, and the fields of a mailing list.' },
    ATTACHMENT: { value: 'attachment', description: 'An invoice as CSV, and a picture within the text.' },
    ONE_TIME_CODE: { value: 'one-time-code', description: 'A code of six digits, and a link to verify it.' },
    SPAM: { value: 'spam', description: 'What filters take for unsolicited mail by agreement (GTUBE).' },
    BOUNCE: {
      value: 'bounce',
      description:
        'A report of another server on the sent email of emailId: the recipient bounces, as if it were real, and its address may be suppressed.',
    },
  } as const,
});

const SimulatedInboundRef = builder.objectRef<SimulatedInbound>('SimulateInboundPayload').implement({
  description: 'A mail that came in as a test.',
  fields: (t) => ({
    emailId: t.exposeID('emailId', {
      nullable: true,
      description: 'Id of the email that it becomes; null: it is a report, and becomes none.',
    }),
    email: t.field({
      type: EmailNode,
      nullable: true,
      description: 'The email; null: it is not parsed yet, or it is a report.',
      resolve: ({ emailId }) => emailId,
    }),
    reportedEmail: t.field({
      type: EmailNode,
      nullable: true,
      description: 'The sent email that a report is about; null: it is no report.',
      resolve: ({ reportedEmailId }) => reportedEmailId,
    }),
    to: t.exposeString('to', { description: 'The recipient of the envelope.' }),
  }),
});

builder.mutationField('simulateInbound', (t) =>
  t.fieldWithInput({
    type: SimulatedInboundRef,
    access: access.manage,
    description:
      'Lets a mail come in as if another server handed it over, marked as a test: it is parsed, threaded, routed and delivered as all mail. Give one of raw, rawBase64 and template.',
    errors: { directResult: true },
    input: {
      raw: t.input.string({ description: 'A whole message (RFC 5322), in UTF-8; line ends of either kind.' }),
      rawBase64: t.input.string({ description: 'The same as octets in base64.' }),
      template: t.input.field({ type: SimulationTemplate, description: 'A mail that is made for you.' }),
      to: t.input.string({
        description:
          'An address of yours; absent: for REPLY the address that the conversation came to, for BOUNCE a return address.',
      }),
      from: t.input.string({
        description:
          '`address` or `Name <address>` that it seems to come from; absent: the From field of the message, or a sample.',
      }),
      subject: t.input.string({ description: 'Instead of that of the template.' }),
      text: t.input.string({ description: 'Instead of the bodies of the template.' }),
      html: t.input.string({ description: 'Instead of the bodies of the template.' }),
      emailId: t.input.id({ description: 'Of REPLY and BOUNCE: the email that is answered, or that bounces.' }),
      recipient: t.input.string({ description: 'Of BOUNCE: the recipient who bounces; absent: the first.' }),
      status: t.input.string({
        description:
          'Of BOUNCE: the code of the trouble (RFC 3463); of class 5 for good, of class 4 for now. Absent: 5.1.1.',
      }),
      ...idempotencyField(t.input),
    },
    resolve: async (_root, { input: { idempotencyKey, ...input } }, context) => {
      const idempotency = readIdempotency({ key: idempotencyKey, field: 'idempotencyKey' }, 'simulate', input);
      const wish = { message: messageOf(input), to: input.to ?? null, from: input.from ?? null };
      const simulated = await simulateInbound(context.operations, wish, idempotency);
      forgetLoaded(context);
      return simulated;
    },
  }),
);

interface Given {
  raw?: string | null | undefined;
  rawBase64?: string | null | undefined;
  template?: SimulatedKind | 'bounce' | null | undefined;
  subject?: string | null | undefined;
  text?: string | null | undefined;
  html?: string | null | undefined;
  emailId?: string | null | undefined;
  recipient?: string | null | undefined;
  status?: string | null | undefined;
}

function messageOf(given: Given): SimulationWish['message'] {
  const { template } = given;
  const isRaw = given.raw != null || given.rawBase64 != null;
  if ([given.raw, given.rawBase64, template].filter((one) => one != null).length !== 1)
    throw invalid('Give exactly one of raw, rawBase64 and template', 'template');
  if (isRaw || template == null) return { raw: given.raw ?? octetsOf(given.rawBase64 ?? '') };
  const content = { subject: given.subject ?? null, text: given.text ?? null, html: given.html ?? null };
  if (template !== 'reply' && template !== 'bounce') return { template, ...content };
  const { emailId } = given;
  if (emailId == null) throw invalid('emailId is required: the email that is answered, or that bounces', 'emailId');
  if (template === 'reply') return { template, emailId, ...content };
  return { template, emailId, recipient: given.recipient ?? null, status: given.status ?? '5.1.1' };
}

function octetsOf(base64: string): Buffer {
  if (!/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(base64)) throw invalid('rawBase64 must be base64', 'rawBase64');
  return Buffer.from(base64, 'base64');
}
