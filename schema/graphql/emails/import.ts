import { invalid } from '../../../operations/context.ts';
import {
  type IMPORT_STATUSES,
  type ImportOutcome,
  importEmails,
  MAX_IMPORTED,
} from '../../../operations/emails/import-emails.ts';
import { access } from '../access.ts';
import { builder, enumValues } from '../builder.ts';
import { forgetLoaded } from '../context.ts';
import { EmailNode } from '../nodes.ts';

const ImportStatus = builder.enumType('ImportStatus', {
  description: 'What became of an imported message.',
  values: enumValues<(typeof IMPORT_STATUSES)[number]>({
    imported: 'It was stored.',
    duplicate: 'The address has this message already.',
    refused: 'SMTP would refuse it, too.',
  }),
});

const ImportedMessageInput = builder.inputType('ImportedMessageInput', {
  description: 'A message of another mail system.',
  fields: (t) => ({
    raw: t.string({ required: true, description: 'The message (RFC 5322) in base64, with any line ends.' }),
    isRead: t.boolean({ defaultValue: false, description: 'Whether it was read.' }),
    receivedAt: t.field({
      type: 'DateTime',
      description: 'When it was received, for messages without a valid Date header.',
    }),
  }),
});

const ImportedMessageRef = builder.objectRef<ImportOutcome>('ImportedMessage').implement({
  description: 'The result for one message of an import.',
  fields: (t) => ({
    emailId: t.exposeID('id', { nullable: true, description: 'ID of the email. Null if it was refused.' }),
    email: t.field({
      type: EmailNode,
      nullable: true,
      description: 'The email. Null until it is parsed, and if it was refused.',
      resolve: ({ id }) => id,
    }),
    status: t.expose('status', { type: ImportStatus, description: 'What became of the message.' }),
    reason: t.exposeString('reason', {
      nullable: true,
      description: 'The SMTP reply that refuses it. Null otherwise.',
    }),
  }),
});

builder.mutationField('importEmails', (t) =>
  t.fieldWithInput({
    type: [ImportedMessageRef],
    access: access.manage,
    description:
      'Stores up to 100 messages of another mail system as received mail, with their own dates and read flags. Repeating a request adds nothing.',
    input: {
      address: t.input.string({ required: true, description: 'One of your addresses, which receives the messages.' }),
      isRouted: t.input.boolean({
        defaultValue: false,
        description:
          'Whether guard rules and endpoints get the messages like new mail. By default they are only stored.',
      }),
      messages: t.input.field({
        type: [ImportedMessageInput],
        required: true,
        description: `1 to ${MAX_IMPORTED} messages.`,
      }),
    },
    errors: { dataField: { name: 'messages' } },
    resolve: async (_root, { input: { address, isRouted, messages } }, context) => {
      const outcomes = await importEmails(context.operations, {
        address,
        isRouted: isRouted ?? false,
        messages: messages.map(({ raw, isRead, receivedAt }, index) => ({
          raw: decodeRaw(raw, `messages.${index}.raw`),
          isRead: isRead ?? false,
          receivedAt: receivedAt ?? null,
        })),
      });
      forgetLoaded(context);
      return outcomes;
    },
  }),
);

function decodeRaw(base64: string, field: string): Buffer {
  if (base64 === '' || /[^A-Za-z0-9+/=\s]/.test(base64)) throw invalid('The message must be base64', field);
  return Buffer.from(base64, 'base64');
}
