import { z } from 'zod';
import { graphqlOnly, graphqlText, inRest, linkTo, required, restOnly } from '../../core/shared/field-notes.ts';
import { oneOf } from '../../core/shared/vocabulary.ts';
import { type Capability, defineAction } from '../capability/capability.ts';
import { addresses, addressList, content, findAlias, newEmailShape, readNewEmail, sender } from './email-input.ts';
import { forwardEmail } from './forward-email.ts';
import type { Receipt } from './idempotency.ts';
import { sendReply } from './replies.ts';
import { sendEmail } from './send-email.ts';

const optional = z.string().nullish();

/** What sending one email returns to GraphQL. REST has fields for several clients, made from the receipt (gateway/rest/sending). */
export const sentEmail = z.object({ emailId: linkTo('Email', graphqlOnly(z.string())) });

/** Returns the receipt of one email with what GraphQL links to. */
export function linkReceipt(receipt: Receipt) {
  const [email] = receipt.emails;
  if (email === undefined) throw new Error('a receipt without an email');
  return { ...receipt, emailId: email.id };
}

const target = { argument: 'id', argumentDescription: 'ID of the email to forward.' } as const;

export const sendingOptions = {
  access: 'send',
  method: 'POST',
  isMail: true,
  graphqlErrors: ['SuppressedRecipient'],
  errors: [403, 409],
} as const;

const frame = { feature: 'Sending', tag: 'Emails', path: '/emails', restCase: 'snake' } as const;

export const sendCapability: Capability = {
  ...frame,
  what: 'Send an email',
  byHand: { mcp: ['send_email'] },
  operations: [
    defineAction({
      ...sendingOptions,
      operationId: 'sendEmail',
      field: 'sendEmail',
      summary: 'Send an email',
      description:
        'Sends an email, or schedules it if `scheduled_at` is set, which returns 201. Responds as soon as the email is stored; retrieve the email to see its delivery status. The domain of `from` must be one of your verified domains.',
      graphqlDescription:
        'Sends an email, or schedules it if scheduledAt is set. Returns as soon as the email is stored; query its recipients for their delivery status.',
      path: '',
      input: newEmailShape,
      inputName: 'SendEmail',
      example: [
        {
          from: 'Support <support@example.com>',
          to: ['ada@example.org'],
          subject: 'Your order',
          html: '<p>It is on its way.</p>',
          text: 'It is on its way.',
          attachments: [{ filename: 'receipt.txt', content: 'VHdvIHBlYXJz', contentType: 'text/plain' }],
          tags: [{ name: 'kind', value: 'order' }],
          metadata: { order: 4711 },
        },
        {
          from: 'support@example.com',
          to: 'ada@example.org',
          subject: 'A reminder',
          text: 'Tomorrow is the day.',
          scheduledAt: 'tomorrow at 9am',
          timezone: 'Europe/Berlin',
        },
      ],
      output: sentEmail,
      payloadField: 'email',
      idempotencyOperation: 'send',
      run: async (context, input, _id, idempotency) =>
        linkReceipt((await sendEmail(context, readNewEmail(input), idempotency)).receipt),
    }),
  ],
};

export const replyShape = z
  .object({
    from: sender,
    fromName: graphqlText(optional, 'Sender name, if from does not include one.').meta({
      description: 'Sender name, if `from` does not include one.',
    }),
    fromNameAlias: findAlias('fromName', optional),
    to: addressList(
      'Recipients, instead of those of the original.',
      addresses.nullish().meta({ description: 'The default is the sender of the original.' }),
    ),
    subject: graphqlText(optional, 'Subject. The default is `Re: ` and the subject of the original.').meta({
      description: 'The default is `Re: ` and the subject of the original.',
    }),
    replyAll: restOnly(z.boolean().nullish()).meta({
      description: 'Whether to also reply to the other recipients of the original.',
    }),
    replyAllAlias: findAlias('replyAll', z.boolean().nullish()),
    includeOriginal: graphqlText(
      z.boolean().nullish(),
      'Whether the original is quoted below the reply. Needs the scope read. The default is false.',
    ).meta({ description: 'Whether the original is quoted below the reply. Needs the scope `read`.' }),
    includeOriginalAlias: findAlias('includeOriginal', z.boolean().nullish()),
    audience: graphqlOnly(
      oneOf(['sender', 'all'], {
        name: 'ReplyAudience',
        description: 'Recipients of a reply if `to` is omitted.',
        values: {
          sender: 'The Reply-To addresses of the original, or else its sender.',
          all: 'Also the other recipients of the original, except your own addresses.',
        },
      }).nullish(),
    ).meta({ description: 'Recipients of the reply if to is omitted. The default is SENDER.' }),
    ...content,
  })
  .meta({ required: ['from'] });

/** Returns the reply of an input. Throws validation. */
export function readReply(input: z.output<typeof replyShape>) {
  const isToAll = input.replyAll ?? input.replyAllAlias;
  return {
    ...readNewEmail(input),
    fromName: input.fromName ?? input.fromNameAlias,
    includesOriginal: input.includeOriginal ?? input.includeOriginalAlias ?? false,
    audience: input.audience ?? (isToAll === true ? ('all' as const) : ('sender' as const)),
  };
}

export const replyCapability: Capability = {
  ...frame,
  what: 'Reply',
  byHand: { mcp: ['reply_to_email'] },
  operations: [
    defineAction({
      ...sendingOptions,
      operationId: 'replyToEmail',
      field: 'replyToEmail',
      summary: 'Reply to an email or a thread',
      description:
        'Replies to an email, or to the latest message of a thread. By default the reply goes to the addresses that the original asks for. It joins the thread.',
      graphqlDescription: 'Replies to an email or to the latest message of a thread. The reply joins the thread.',
      path: '/:id/reply',
      target: { argument: 'id', argumentDescription: 'ID of an email or a thread.' },
      input: replyShape,
      inputName: 'ReplyToEmail',
      example: { from: 'Support <support@example.com>', text: 'It is on its way.', replyAll: true },
      output: z
        .object({
          emailId: linkTo('Email', z.string()).meta({ description: 'The reply.' }),
          originalEmailId: linkTo('Email', z.string().nullable()).meta({
            description: 'The email that was answered. Null if it was deleted in the meantime.',
          }),
          originalThreadId: linkTo('Thread', z.string().nullable()).meta({
            description: 'The thread that was answered. Null if the original has none yet.',
          }),
        })
        .meta({ description: 'A reply that was sent or scheduled.' }),
      idempotencyOperation: 'reply',
      async run(context, input, id, idempotency) {
        const { receipt } = await sendReply(context, id, readReply(input), idempotency);
        const { repliedTo } = receipt;
        return {
          ...linkReceipt(receipt),
          originalEmailId: repliedTo?.emailId ?? null,
          originalThreadId: repliedTo?.threadId ?? null,
        };
      },
    }),
  ],
};

const { attachments: _, claimToken, ...forwardedContent } = content;

const forwardShape = z
  .object({
    from: sender,
    to: required(addressList('Recipients, each `address` or `Name <address>`.')),
    subject: graphqlText(optional, 'Subject. The default is `Fwd: ` and the subject of the original.').meta({
      description: 'The default is `Fwd: ` and the subject of the original.',
    }),
    ...forwardedContent,
    claimToken: restOnly(claimToken),
    text: optional.meta({ description: 'Text above the original. The default is none.' }),
    html: graphqlText(
      optional,
      'HTML above the original. By default it is created from text, if the original has HTML.',
    ).meta({
      description: 'HTML above the original. By default it is created from `text`, if the original has HTML.',
    }),
    withAttachments: graphqlText(
      inRest(
        z.boolean().nullish(),
        z.boolean().default(true).meta({ description: 'Whether to include the attachments.' }),
      ),
      'Whether to include the attachments. The default is true.',
    ),
  })
  .meta({ required: ['from', 'to'] });

export const forwardCapability: Capability = {
  ...frame,
  what: 'Forward',
  byHand: { mcp: ['forward_email'] },
  operations: [
    defineAction({
      ...sendingOptions,
      access: 'sendAndRead',
      operationId: 'forwardEmail',
      field: 'forwardEmail',
      summary: 'Forward an email',
      description:
        'Forwards a received or sent email, as mail programs do: a new email that quotes the original and starts its own thread.',
      path: '/:id/forward',
      target,
      input: forwardShape,
      inputName: 'ForwardEmail',
      example: { from: 'support@example.com', to: 'ada@example.org', text: 'For your information.' },
      output: sentEmail,
      payloadField: 'email',
      idempotencyOperation: 'forward',
      async run(context, input, id, idempotency) {
        const { attachments: _none, ...email } = readNewEmail(input);
        const attachments = input.withAttachments === false ? ('none' as const) : ('all' as const);
        return {
          ...linkReceipt((await forwardEmail(context, id, { ...email, attachments }, idempotency)).receipt),
          forwardedId: id,
        };
      },
    }),
  ],
};
