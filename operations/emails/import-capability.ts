import { z } from 'zod';
import { defaultIfNull, graphqlOnly, linkTo, named, nameType, restOnly } from '../../core/shared/field-notes.ts';
import { oneOf } from '../../core/shared/vocabulary.ts';
import { type Capability, defineAction, OF_EMAILS } from '../capability/capability.ts';
import { invalid } from '../context.ts';
import { IMPORT_STATUSES, importEmails, MAX_IMPORTED } from './import-emails.ts';

export const importInput = z.object({
  address: z.string().meta({ description: 'One of your addresses, which receives the messages.' }),
  isRouted: defaultIfNull(named(z.boolean().default(false), { restName: 'webhooks' })).meta({
    description: 'Whether guard rules and endpoints get the messages like new mail. By default they are only stored.',
  }),
  messages: z
    .array(
      nameType(
        z.object({
          raw: z.string().meta({ description: 'The message (RFC 5322) in base64, with any line ends.' }),
          isRead: defaultIfNull(z.boolean().default(false)).meta({ description: 'Whether it was read.' }),
          receivedAt: z.date().nullish().meta({
            description: 'When it was received, for messages without a valid Date header.',
          }),
        }),
        { input: 'ImportedMessageInput', description: 'A message of another mail system.' },
      ),
    )
    .meta({ description: `1 to ${MAX_IMPORTED} messages.` }),
});

const imported = nameType(
  z.object({
    id: restOnly(z.string().nullable()).meta({ description: 'ID of the email. Null if it was refused.' }),
    emailId: graphqlOnly(z.string().nullable()).meta({ description: 'ID of the email. Null if it was refused.' }),
    email: linkTo('Email', graphqlOnly(z.string().nullable()), 'email').meta({
      description: 'The email. Null until it is parsed, and if it was refused.',
    }),
    status: oneOf(IMPORT_STATUSES, {
      name: 'ImportStatus',
      description: 'What became of an imported message.',
      values: {
        imported: 'It was stored.',
        duplicate: 'The address has this message already.',
        refused: 'SMTP would refuse it, too.',
      },
    }).meta({
      description:
        'What became of the message. `duplicate`: the address has this message already. `refused`: SMTP would refuse it, too.',
    }),
    reason: z.string().nullable().meta({ description: 'The SMTP reply that refuses it. Null otherwise.' }),
  }),
  { type: 'ImportedMessage', description: 'The result for one message of an import.' },
);

export const importCapability: Capability = {
  feature: 'Emails',
  what: 'Import emails',
  ...OF_EMAILS,
  operations: [
    defineAction({
      access: 'imports',
      operationId: 'importEmails',
      field: 'importEmails',
      summary: 'Import emails',
      description:
        'Stores up to 100 messages of another mail system as received mail, with their own dates and read flags. Repeating a request adds nothing. The program `postroom import` reads mbox files and Maildirs.',
      method: 'POST',
      path: '/import',
      input: importInput,
      inputName: 'ImportEmails',
      example: {
        address: 'hello@example.com',
        messages: [{ raw: 'RnJvbTogYWRhQGV4YW1wbGUub3JnDQpTdWJqZWN0OiBIaQ0KDQpIZWxsbw0K', isRead: true }],
      },
      output: z.array(imported),
      payloadField: 'messages',
      errors: [404, 503],
      async run(context, { address, isRouted, messages }) {
        const outcomes = await importEmails(context, {
          address,
          isRouted,
          messages: messages.map(({ raw, isRead, receivedAt = null }, index) => ({
            raw: decodeRaw(raw, `messages.${index}.raw`),
            isRead,
            receivedAt,
          })),
        });
        return outcomes.map((outcome) => ({ ...outcome, emailId: outcome.id, email: outcome.id }));
      },
    }),
  ],
};

function decodeRaw(base64: string, field: string): Buffer {
  if (base64 === '' || !isBase64(base64)) throw invalid('The message must be base64', field);
  return Buffer.from(base64, 'base64');
}

/** One pass: the usual pattern keeps a state for each group of a message of megabytes. */
export function isBase64(text: string): boolean {
  return !/[^A-Za-z0-9+/=\s]/.test(text);
}
