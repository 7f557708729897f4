import { type Receipt, readIdempotency } from '../../../operations/sending/idempotency.ts';
import { sendReply } from '../../../operations/sending/replies.ts';
import { sendEmail } from '../../../operations/sending/send-email.ts';
import { refuseCrowds } from '../../shapes/outgoing.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { SuppressedRecipient } from '../client-errors.ts';
import { forgetLoaded } from '../context.ts';
import { EmailNode, ThreadNode } from '../nodes.ts';
import { contentFields, emailFields, idempotencyField, newEmailOf } from './outgoing.ts';

/** Where the key of a request stands, as messages name it. */
const KEY = 'idempotencyKey';

const ReplyAudience = builder.enumType('ReplyAudience', {
  description: 'Whom an answer goes to, where `to` does not say.',
  values: {
    SENDER: { value: 'sender', description: 'Whom the original asks for: its Reply-To, else its sender.' },
    ALL: { value: 'all', description: 'Its other addressees, too, but for yourself.' },
  } as const,
});

const ReplyPayload = builder.objectRef<Receipt>('ReplyToEmailPayload').implement({
  description: 'An answer that was sent or put on the schedule.',
  fields: (t) => ({
    email: t.field({ type: EmailNode, description: 'The answer.', resolve: emailIdOf }),
    originalEmail: t.field({
      type: EmailNode,
      nullable: true,
      description: 'The email that is answered; null: it is gone since.',
      resolve: ({ repliedTo }) => repliedTo?.emailId ?? null,
    }),
    originalThread: t.field({
      type: ThreadNode,
      nullable: true,
      description: 'The thread that is answered; null: the original has none yet.',
      resolve: ({ repliedTo }) => repliedTo?.threadId ?? null,
    }),
  }),
});

builder.mutationFields((t) => ({
  sendEmail: t.fieldWithInput({
    type: EmailNode,
    access: access.send,
    description:
      'Sends an email, or schedules it when it says when. Answers once the email is stored; its recipients tell what becomes of it.',
    errors: { types: [SuppressedRecipient], dataField: { name: 'email' } },
    input: { ...emailFields(t.input), ...idempotencyField(t.input) },
    resolve: async (_root, { input: { idempotencyKey, ...input } }, context) => {
      refuseCrowds(input);
      const idempotency = readIdempotency({ key: idempotencyKey, field: KEY }, 'send', input);
      const { receipt } = await sendEmail(context.operations, newEmailOf(input), idempotency);
      forgetLoaded(context);
      return emailIdOf(receipt);
    },
  }),
  replyToEmail: t.fieldWithInput({
    type: ReplyPayload,
    access: access.send,
    description: 'Answers an email, or the latest message of a thread. The answer joins the thread.',
    errors: { types: [SuppressedRecipient], directResult: true },
    input: {
      id: t.input.id({ required: true, description: 'Id of an email or a thread of yours.' }),
      from: t.input.string({
        required: true,
        description: '`address` or `Name <address>`, of a verified domain of yours.',
      }),
      fromName: t.input.string({ description: 'The sender’s name, where from brings none.' }),
      to: t.input.stringList({ description: 'Instead of whom the original asks for.' }),
      audience: t.input.field({ type: ReplyAudience, description: 'Whom else it goes to; absent: SENDER.' }),
      subject: t.input.string({ description: 'Absent: `Re: ` and the subject of the original.' }),
      ...contentFields(t.input),
      ...idempotencyField(t.input),
    },
    resolve: async (_root, { input: { idempotencyKey, ...input } }, context) => {
      refuseCrowds(input);
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
