import { forwardEmail } from '../../../operations/sending/forward-email.ts';
import { readIdempotency } from '../../../operations/sending/idempotency.ts';
import { refuseCrowds } from '../../shapes/outgoing.ts';
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
      'Sends a received or sent email on to others, as mail programs do: a new email that quotes it, and joins no thread of it.',
    errors: { types: [SuppressedRecipient], dataField: { name: 'email' } },
    input: {
      id: t.input.id({ required: true, description: 'Id of the email that is sent on.' }),
      from: t.input.string({
        required: true,
        description: '`address` or `Name <address>`, of a verified domain of yours.',
      }),
      to: t.input.stringList({ required: true, description: 'Addressees, each `address` or `Name <address>`.' }),
      subject: t.input.string({ description: 'Absent: `Fwd: ` and the subject of the original.' }),
      ...fields,
      text: t.input.string({ description: 'Stands above the original; absent: nothing does.' }),
      html: t.input.string({ description: 'The same as HTML; absent: made of the text, where the original has HTML.' }),
      withAttachments: t.input.boolean({ description: 'Whether its files go with it; absent: they do.' }),
      ...idempotencyField(t.input),
    },
    resolve: async (_root, { input: { idempotencyKey, ...input } }, context) => {
      refuseCrowds(input);
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
