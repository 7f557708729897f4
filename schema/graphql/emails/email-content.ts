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
  description: 'An attachment of an email.',
  isOfDomain: true,
  fields: (t) => ({
    filename: t.string({
      description:
        'File name given by the sender, or one derived from the type; never empty. Not safe to use as a path.',
      resolve: ({ attachment }) => attachment.filename,
    }),
    contentType: t.string({
      description: 'Content type given by the sender, such as `application/pdf`.',
      resolve: ({ attachment }) => attachment.contentType,
    }),
    size: t.int({ description: 'Size in bytes, decoded.', resolve: ({ attachment }) => attachment.size }),
    contentId: t.string({
      nullable: true,
      description: 'Content-ID as `<local@host>`; the HTML refers to it as `cid:local@host`. Null if there is none.',
      resolve: ({ attachment }) => attachment.contentId,
    }),
    disposition: t.field({
      type: AttachmentDisposition,
      nullable: true,
      description: 'How the attachment should be displayed. Null if not specified.',
      resolve: ({ attachment }) => attachment.contentDisposition,
    }),
    index: t.int({
      description: 'Position in the email, starting at 0.',
      resolve: ({ attachment }) => attachment.index,
    }),
    downloadUrl: t.field({
      type: 'URL',
      description: 'URL of the file. Requires the same API key.',
      resolve: ({ emailId, attachment }, _args, { operations }) =>
        operations.settings.publicUrl + downloadPath({ emailId, part: attachment.index }),
    }),
  }),
});

const HeaderField = builder.objectRef<{ name: string; value: string }>('HeaderField').implement({
  description: 'A header of an email.',
  isOfDomain: true,
  fields: (t) => ({
    name: t.exposeString('name', { description: 'In lowercase.' }),
    value: t.exposeString('value', { description: 'Decoded, on one line.' }),
  }),
});

/** What only an opened email shows, by the email's id. */
export const EmailContentRef = builder.objectRef<{ emailId: string }>('EmailContent').implement({
  description: 'Bodies and headers of an email. Only the requested fields are read.',
  isOfDomain: true,
  fields: (t) => ({
    text: t.string({
      nullable: true,
      description: 'The plain-text body as received. Null if there is none.',
      resolve: async ({ emailId }, _args, context) => (await loadEmailParts(context, emailId, 'text')).text,
    }),
    html: t.string({
      nullable: true,
      description: 'The HTML body as received. Display it in a sandbox only. Null if there is none.',
      resolve: async ({ emailId }, _args, context) => (await loadEmailParts(context, emailId, 'html')).html,
    }),
    cleanedText: t.string({
      nullable: true,
      description:
        'The text the author typed: the plain-text body without quotes and signature. Null if there is none.',
      resolve: async ({ emailId }, _args, context) =>
        (await loadEmailParts(context, emailId, 'cleanedText')).cleanedText,
    }),
    cleanedHtml: t.string({
      nullable: true,
      description:
        'The HTML body of received mail without anything that can run, load or mislead. Null if there is none or it is too long to sanitize.',
      resolve: async ({ emailId }, _args, context) =>
        (await loadEmailParts(context, emailId, 'cleanedHtml')).cleanedHtml,
    }),
    headers: t.field({
      type: [HeaderField],
      description: 'Headers in the order of the message, up to 1,000.',
      resolve: async ({ emailId }, _args, context) => {
        const { headers } = await loadEmailParts(context, emailId, 'headers');
        return headers.map(([name, value]) => ({ name, value }));
      },
    }),
    inReplyTo: t.stringList({
      description: 'Message-IDs in the In-Reply-To header.',
      resolve: async ({ emailId }, _args, context) => (await loadEmailParts(context, emailId, null)).inReplyTo,
    }),
    references: t.stringList({
      description: 'Message-IDs in the References header, oldest first.',
      resolve: async ({ emailId }, _args, context) => (await loadEmailParts(context, emailId, null)).references,
    }),
    authentication: t.field({
      type: AuthenticationRef,
      nullable: true,
      description: 'Authentication results of the sender. Null if not checked, as for sent mail.',
      resolve: async ({ emailId }, _args, context) =>
        authenticationOf((await loadEmailParts(context, emailId, null)).authentication),
    }),
    priority: t.field({
      type: EmailPriority,
      nullable: true,
      description: 'Priority set by the sender. Null if none is set.',
      resolve: async ({ emailId }, _args, context) => (await loadEmailParts(context, emailId, null)).priority,
    }),
    isTruncated: t.boolean({
      description:
        'Whether parts of the message are missing here because it exceeds a limit. The raw source is complete.',
      resolve: async ({ emailId }, _args, context) => (await loadEmailParts(context, emailId, null)).isTruncated,
    }),
    parseError: t.string({
      nullable: true,
      description: 'Why only the headers could be parsed. Null if everything was parsed. The raw source is complete.',
      resolve: async ({ emailId }, _args, context) => (await loadEmailParts(context, emailId, null)).parseError,
    }),
  }),
});
