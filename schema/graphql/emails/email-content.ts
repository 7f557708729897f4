import { downloadPath } from '../../../core/endpoints/download-link.ts';
import type { EmailParts } from '../../../operations/emails/emails.ts';
import { builder } from '../builder.ts';
import { AuthenticationRef, authenticationOf } from './authentication.ts';
import { AttachmentDisposition, EmailPriority } from './email-enums.ts';
import { loadEmailParts } from './email-parts.ts';

/** An attachment with the email that it is of. */
export interface AttachmentOf {
  emailId: string;
  attachment: EmailParts['attachments'][number];
}

export const Attachment = builder.objectRef<AttachmentOf>('Attachment').implement({
  description: 'A file in an email.',
  isOfDomain: true,
  fields: (t) => ({
    filename: t.string({
      description: 'As the sender named it, or a name by its type; never empty. Unsafe as a path.',
      resolve: ({ attachment }) => attachment.filename,
    }),
    contentType: t.string({
      description: 'Type and subtype as the sender tells them, `application/pdf`.',
      resolve: ({ attachment }) => attachment.contentType,
    }),
    size: t.int({ description: 'Octets, decoded.', resolve: ({ attachment }) => attachment.size }),
    contentId: t.string({
      nullable: true,
      description: 'In the form `<local@host>`, which the HTML names as `cid:local@host`; null: it has none.',
      resolve: ({ attachment }) => attachment.contentId,
    }),
    disposition: t.field({
      type: AttachmentDisposition,
      nullable: true,
      description: 'How it asks to be shown; null: it does not say.',
      resolve: ({ attachment }) => attachment.contentDisposition,
    }),
    index: t.int({ description: 'Its place in the email, from 0.', resolve: ({ attachment }) => attachment.index }),
    downloadUrl: t.field({
      type: 'URL',
      description: 'Answers the octets to the same API key.',
      resolve: ({ emailId, attachment }, _args, { operations }) =>
        operations.settings.publicUrl + downloadPath({ emailId, part: attachment.index }),
    }),
  }),
});

const HeaderField = builder.objectRef<{ name: string; value: string }>('HeaderField').implement({
  description: 'A field of a header section.',
  isOfDomain: true,
  fields: (t) => ({
    name: t.exposeString('name', { description: 'In lower case.' }),
    value: t.exposeString('value', { description: 'Decoded, on one line.' }),
  }),
});

/** What only an opened email shows, by the email's id. */
export const EmailContentRef = builder.objectRef<{ emailId: string }>('EmailContent').implement({
  description: 'The bodies and the header section of an email. Only what is asked for is read.',
  isOfDomain: true,
  fields: (t) => ({
    text: t.string({
      nullable: true,
      description: 'The plain-text body as it came; null: there is none.',
      resolve: async ({ emailId }, _args, context) => (await loadEmailParts(context, emailId, 'text')).text,
    }),
    html: t.string({
      nullable: true,
      description: 'The HTML body as it came, unsafe to show outside of a sandbox; null: there is none.',
      resolve: async ({ emailId }, _args, context) => (await loadEmailParts(context, emailId, 'html')).html,
    }),
    cleanedText: t.string({
      nullable: true,
      description: 'What its author typed: the plain-text body without quoted mail and signature; null: there is none.',
      resolve: async ({ emailId }, _args, context) =>
        (await loadEmailParts(context, emailId, 'cleanedText')).cleanedText,
    }),
    cleanedHtml: t.string({
      nullable: true,
      description:
        'The HTML body of received mail without what could run, load or mislead; null: there is none, or it is too long to be cleaned.',
      resolve: async ({ emailId }, _args, context) =>
        (await loadEmailParts(context, emailId, 'cleanedHtml')).cleanedHtml,
    }),
    headers: t.field({
      type: [HeaderField],
      description: 'The header section in the order of the message, at most 1,000 fields.',
      resolve: async ({ emailId }, _args, context) => {
        const { headers } = await loadEmailParts(context, emailId, 'headers');
        return headers.map(([name, value]) => ({ name, value }));
      },
    }),
    inReplyTo: t.stringList({
      description: 'Message-IDs that the email says it answers.',
      resolve: async ({ emailId }, _args, context) => (await loadEmailParts(context, emailId, null)).inReplyTo,
    }),
    references: t.stringList({
      description: 'Message-IDs of the conversation before it, the first one first.',
      resolve: async ({ emailId }, _args, context) => (await loadEmailParts(context, emailId, null)).references,
    }),
    authentication: t.field({
      type: AuthenticationRef,
      nullable: true,
      description: 'Where it came from, as far as can be proved; null: not checked, as of sent mail.',
      resolve: async ({ emailId }, _args, context) =>
        authenticationOf((await loadEmailParts(context, emailId, null)).authentication),
    }),
    priority: t.field({
      type: EmailPriority,
      nullable: true,
      description: 'How urgent the sender calls it; null: it does not say.',
      resolve: async ({ emailId }, _args, context) => (await loadEmailParts(context, emailId, null)).priority,
    }),
    isTruncated: t.boolean({
      description: 'Whether not all of the message is shown, as it has too much of it. The octets are whole.',
      resolve: async ({ emailId }, _args, context) => (await loadEmailParts(context, emailId, null)).isTruncated,
    }),
    parseError: t.string({
      nullable: true,
      description: 'Why no more than its header section could be read; null: all was read. The octets are whole.',
      resolve: async ({ emailId }, _args, context) => (await loadEmailParts(context, emailId, null)).parseError,
    }),
  }),
});
