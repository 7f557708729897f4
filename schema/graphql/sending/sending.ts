import { type Receipt, readIdempotency } from '../../../operations/sending/idempotency.ts';
import { sendReply } from '../../../operations/sending/replies.ts';
import { sendEmail } from '../../../operations/sending/send-email.ts';
import { limitEntries } from '../../shapes/outgoing.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { SuppressedRecipient } from '../client-errors.ts';
import { forgetLoaded } from '../context.ts';
import { EmailNode, ThreadNode } from '../nodes.ts';
import { contentFields, emailFields, idempotencyField, newEmailOf } from './outgoing.ts';

/** Where the key of a request stands, as messages name it. */
const KEY = 'idempotencyKey';

const ReplyAudience = builder.enumType('ReplyAudience', {
  description: 'Recipients of a reply if `to` is omitted.',
  values: {
    SENDER: { value: 'sender', description: 'The Reply-To addresses of the original, or else its sender.' },
    ALL: { value: 'all', description: 'Also the other recipients of the original, except your own addresses.' },
  } as const,
});

const ReplyPayload = builder.objectRef<Receipt>('ReplyToEmailPayload').implement({
  description: 'A reply that was sent or scheduled.',
  fields: (t) => ({
    email: t.field({ type: EmailNode, description: 'The reply.', resolve: emailIdOf }),
    originalEmail: t.field({
      type: EmailNode,
      nullable: true,
      description: 'The email that was answered. Null if it was deleted in the meantime.',
      resolve: ({ repliedTo }) => repliedTo?.emailId ?? null,
    }),
    originalThread: t.field({
      type: ThreadNode,
      nullable: true,
      description: 'The thread that was answered. Null if the original has none yet.',
      resolve: ({ repliedTo }) => repliedTo?.threadId ?? null,
    }),
  }),
});

builder.mutationFields((t) => ({
  sendEmail: t.fieldWithInput({
    type: EmailNode,
    access: access.send,
    description:
      'Sends an email, or schedules it if scheduledAt is set. Returns as soon as the email is stored; query its recipients for their delivery status.',
    errors: { types: [SuppressedRecipient], dataField: { name: 'email' } },
    input: { ...emailFields(t.input), ...idempotencyField(t.input) },
    resolve: async (_root, { input: { idempotencyKey, ...input } }, context) => {
      limitEntries(input);
      const idempotency = readIdempotency({ key: idempotencyKey, field: KEY }, 'send', input);
      const { receipt } = await sendEmail(context.operations, newEmailOf(input), idempotency);
      forgetLoaded(context);
      return emailIdOf(receipt);
    },
  }),
  replyToEmail: t.fieldWithInput({
    type: ReplyPayload,
    access: access.send,
    description: 'Replies to an email or to the latest message of a thread. The reply joins the thread.',
    errors: { types: [SuppressedRecipient], directResult: true },
    input: {
      id: t.input.id({ required: true, description: 'ID of an email or a thread.' }),
      from: t.input.string({
        required: true,
        description: '`address` or `Name <address>`, on one of your verified domains.',
      }),
      fromName: t.input.string({ description: 'Sender name, if from does not include one.' }),
      to: t.input.stringList({ description: 'Recipients, instead of those of the original.' }),
      audience: t.input.field({
        type: ReplyAudience,
        description: 'Recipients of the reply if to is omitted. The default is SENDER.',
      }),
      subject: t.input.string({ description: 'Subject. The default is `Re: ` and the subject of the original.' }),
      ...contentFields(t.input),
      ...idempotencyField(t.input),
    },
    resolve: async (_root, { input: { idempotencyKey, ...input } }, context) => {
      limitEntries(input);
      const { id, fromName, audience } = input;
      const idempotency = readIdempotency({ key: idempotencyKey, field: KEY }, 'reply', input);
      const wish = { ...newEmailOf(input), fromName, audience: audience ?? undefined };
      const { receipt } = await sendReply(context.operations, id, wish, idempotency);
      forgetLoaded(context);
      return receipt;
    },
  }),
}));

function emailIdOf(receipt: Receipt): string {
  const [email] = receipt.emails;
  if (email === undefined) throw new Error('a receipt without an email');
  return email.id;
}
