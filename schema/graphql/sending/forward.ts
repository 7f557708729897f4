import { forwardEmail } from '../../../operations/sending/forward-email.ts';
import { readIdempotency } from '../../../operations/sending/idempotency.ts';
import { limitEntries } from '../../shapes/outgoing.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { SuppressedRecipient } from '../client-errors.ts';
import { forgetLoaded } from '../context.ts';
import { EmailNode } from '../nodes.ts';
import { contentFields, idempotencyField, newEmailOf } from './outgoing.ts';

builder.mutationField('forwardEmail', (t) => {
  const { attachments: _, ...fields } = contentFields(t.input);
  return t.fieldWithInput({
    type: EmailNode,
    access: access.send,
    description:
      'Forwards a received or sent email, as mail programs do: a new email that quotes the original and starts its own thread.',
    errors: { types: [SuppressedRecipient], dataField: { name: 'email' } },
    input: {
      id: t.input.id({ required: true, description: 'ID of the email to forward.' }),
      from: t.input.string({
        required: true,
        description: '`address` or `Name <address>`, on one of your verified domains.',
      }),
      to: t.input.stringList({ required: true, description: 'Recipients, each `address` or `Name <address>`.' }),
      subject: t.input.string({ description: 'Subject. The default is `Fwd: ` and the subject of the original.' }),
      ...fields,
      text: t.input.string({ description: 'Text above the original. The default is none.' }),
      html: t.input.string({
        description: 'HTML above the original. By default it is created from text, if the original has HTML.',
      }),
      withAttachments: t.input.boolean({ description: 'Whether to include the attachments. The default is true.' }),
      ...idempotencyField(t.input),
    },
    resolve: async (_root, { input: { idempotencyKey, ...input } }, context) => {
      limitEntries(input);
      const idempotency = readIdempotency({ key: idempotencyKey, field: 'idempotencyKey' }, 'forward', input);
      const { attachments: __, ...email } = newEmailOf(input);
      const attachments = input.withAttachments === false ? ('none' as const) : ('all' as const);
      const { receipt } = await forwardEmail(context.operations, input.id, { ...email, attachments }, idempotency);
      forgetLoaded(context);
      const [sent] = receipt.emails;
      if (sent === undefined) throw new Error('a receipt without an email');
      return sent.id;
    },
  });
});
