import { createContextCache } from '@pothos/core';
import DataLoader from 'dataloader';
import { downloadPath } from '../../../core/endpoints/download-link.ts';
import type { Priority } from '../../../core/mime/header-fields.ts';
import type { RemovedKind } from '../../../core/mime/reply-text.ts';
import { UserError } from '../../../core/shared/errors.ts';
import type { BodyText } from '../../../core/shared/large-text.ts';
import {
  type ContentPart,
  type EmailParts,
  type EmailSummary,
  loadContentParts,
  type PartSizes,
} from '../../../operations/emails/emails.ts';
import { readRemovedText } from '../../../operations/emails/html-text.ts';
import { builder, enumValues } from '../builder.ts';
import type { GraphContext } from '../context.ts';

const EmailPriority = builder.enumType('EmailPriority', {
  description: 'Priority set by the sender.',
  values: enumValues<Priority>({
    high: 'High priority.',
    normal: 'Normal priority.',
    low: 'Low priority.',
  }),
});

const AttachmentDisposition = builder.enumType('AttachmentDisposition', {
  description: 'How an attachment should be displayed (RFC 2183).',
  values: enumValues<NonNullable<EmailParts['attachments'][number]['contentDisposition']>>({
    attachment: 'As a separate file.',
    inline: 'Inside the text, as an image that the HTML refers to.',
  }),
});

interface Asked {
  emailId: string;
  /** null for the parts that are always small */
  part: ContentPart | null;
}

/**
 * Loads the content of an email; all null and empty if it has none. Only `part` is certain to be loaded, besides the small parts. Requests
 * for many emails are batched, and large parts are read only if requested.
 */
export function loadEmailParts(context: GraphContext, emailId: string, part: ContentPart | null): Promise<EmailParts> {
  return loaderOf(context).load({ emailId, part });
}

/** Loads a body for the result of the operation, which has it as often as this is called. */
export async function loadBody(
  context: GraphContext,
  emailId: string,
  part: 'text' | 'html' | 'cleanedText' | 'cleanedHtml',
): Promise<BodyText | null> {
  const counts = countsOf(context);
  const key = keyOf({ emailId, part });
  counts.set(key, (counts.get(key) ?? 0) + 1);
  return (await loadEmailParts(context, emailId, part))[part];
}

const keyOf = ({ emailId, part }: Asked) => `${part} ${emailId}`;

/** How often the result of an operation has a body that is still to be loaded: by alias, fragment and field. */
const countsOf = createContextCache((_context: GraphContext) => new Map<string, number>());

const loaderOf = createContextCache(
  (context: GraphContext) =>
    new DataLoader<Asked, EmailParts, string>((asked) => loadAll(context, asked), {
      cacheKeyFn: keyOf,
    }),
);

async function loadAll(context: GraphContext, asked: readonly Asked[]): Promise<EmailParts[]> {
  const { reads, bodies } = context;
  const counts = new Map(countsOf(context));
  countsOf(context).clear();
  if (bodies.refusal !== null) throw bodies.refusal;
  const expect = ({ byEmail }: PartSizes) => {
    let bytes = 0;
    for (const [emailId, sizes] of byEmail)
      for (const [part, size] of sizes) bytes += size * (counts.get(keyOf({ emailId, part })) ?? 0);
    bodies.expect(bytes);
  };
  const partsOf = new Map<string, Set<ContentPart>>();
  for (const { emailId, part } of asked) {
    const parts = partsOf.get(emailId) ?? new Set();
    if (part !== null) parts.add(part);
    partsOf.set(emailId, parts);
  }
  // Usually one group: a page requests the same fields of all its emails.
  const groups = Map.groupBy(partsOf, ([, parts]) => [...parts].toSorted().join());
  const found = new Map<string, EmailParts>();
  for (const group of groups.values()) {
    const emailIds = group.map(([emailId]) => emailId);
    const contents = await loadContentParts(reads, emailIds, group[0]?.[1] ?? new Set(), expect).catch(
      (error: unknown) => {
        // Without room for a body, the operation as a whole is refused, instead of running on with holes in its result.
        if (error instanceof UserError) bodies.refuse(error);
        throw error;
      },
    );
    contents.forEach((content, at) => found.set(emailIds[at] ?? '', content ?? EMPTY));
  }
  return asked.map(({ emailId }) => found.get(emailId) ?? EMPTY);
}

const EMPTY: EmailParts = {
  headers: [],
  addresses: { from: null, to: null, cc: null, bcc: null, replyTo: null },
  inReplyTo: [],
  references: [],
  text: null,
  html: null,
  cleanedText: null,
  cleanedHtml: null,
  removedParts: [],
  attachments: [],
  authentication: null,
  injection: null,
  screening: null,
  tags: [],
  priority: null,
  isTruncated: false,
  parseError: null,
};

interface NamedAddress {
  /** a function if the name must be loaded from the content of the email */
  name: string | null | ((context: GraphContext) => Promise<string | null>);
  address: string;
}

export const Mailbox = builder.objectRef<NamedAddress>('Mailbox').implement({
  description: 'An email address with an optional display name (RFC 5322 §3.4).',
  isOfDomain: true,
  fields: (t) => ({
    name: t.string({
      nullable: true,
      description: 'Display name, decoded. Null if there is none.',
      resolve: ({ name }, _args, context) => (typeof name === 'function' ? name(context) : name),
    }),
    address: t.exposeString('address', {
      description:
        '`ada@example.org`. In received mail this is what the sender wrote, which may not be a valid address.',
    }),
  }),
});

/** Returns the mailboxes of To or Cc. Their names are loaded only if requested. */
export function mailboxesOf(email: EmailSummary, field: 'to' | 'cc'): NamedAddress[] {
  return email[field].map((address, at) => ({
    address,
    async name(context) {
      const { addresses } = await loadEmailParts(context, email.id, null);
      const mailbox = addresses[field]?.addresses[at];
      return mailbox?.address === address ? mailbox.name : null;
    },
  }));
}

/** Loads the mailboxes of a header that is not part of an `EmailSummary`. */
export async function readMailboxes(
  context: GraphContext,
  email: EmailSummary,
  field: 'bcc' | 'replyTo',
): Promise<NamedAddress[]> {
  const { addresses } = await loadEmailParts(context, email.id, null);
  return addresses[field]?.addresses ?? [];
}

/** An attachment and the ID of its email. */
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

const RemovedPartKind = builder.enumType('RemovedPartKind', {
  description: 'What a removed part of a text is.',
  values: enumValues<RemovedKind>({
    quote: 'Quoted or forwarded mail, and the lines that introduce it.',
    signature: 'A signature, a note of the mail program, or a disclaimer.',
  }),
});

const RemovedPart = builder.objectRef<EmailParts['removedParts'][number]>('RemovedPart').implement({
  description: 'A part of the body that the cleaned body does not contain.',
  isOfDomain: true,
  fields: (t) => ({
    kind: t.expose('kind', { type: RemovedPartKind, description: 'What the part is.' }),
    start: t.exposeInt('start', {
      description:
        'Offset of its first character in `text`, or in `html` of an email without text. In UTF-16 code units.',
    }),
    end: t.exposeInt('end', { description: 'Offset after its last character.' }),
  }),
});

async function readRemoved(context: GraphContext, emailId: string, kind: RemovedKind): Promise<BodyText | null> {
  const { text, removedParts } = await loadEmailParts(context, emailId, 'text');
  const html = text === null && removedParts.length > 0 ? (await loadEmailParts(context, emailId, 'html')).html : null;
  return readRemovedText(context.operations.userId, { text, html }, { removed: removedParts, kind });
}

export const EmailContentRef = builder.objectRef<{ emailId: string }>('EmailContent').implement({
  description: 'Bodies and headers of an email. Only the requested fields are read.',
  isOfDomain: true,
  fields: (t) => ({
    text: t.string({
      nullable: true,
      description: 'The plain-text body as received. Null if there is none.',
      resolve: ({ emailId }, _args, context) => loadBody(context, emailId, 'text'),
    }),
    html: t.string({
      nullable: true,
      description: 'The HTML body as received. Display it in a sandbox only. Null if there is none.',
      resolve: ({ emailId }, _args, context) => loadBody(context, emailId, 'html'),
    }),
    cleanedText: t.string({
      nullable: true,
      description:
        'The text the author typed: the plain-text body without quotes and signature. Null if there is none.',
      resolve: ({ emailId }, _args, context) => loadBody(context, emailId, 'cleanedText'),
    }),
    quotedText: t.string({
      nullable: true,
      description: 'The quoted mail that the cleaned body does not contain, as text. Null if there is none.',
      resolve: ({ emailId }, _args, context) => readRemoved(context, emailId, 'quote'),
    }),
    signature: t.string({
      nullable: true,
      description: 'The signature that the cleaned body does not contain, as text. Null if there is none.',
      resolve: ({ emailId }, _args, context) => readRemoved(context, emailId, 'signature'),
    }),
    removedParts: t.field({
      type: [RemovedPart],
      description:
        'Where `text`, or `html` of an email without text, has quoted mail and signatures that the cleaned body does not contain. In order.',
      resolve: async ({ emailId }, _args, context) => (await loadEmailParts(context, emailId, null)).removedParts,
    }),
    cleanedHtml: t.string({
      nullable: true,
      description:
        'The HTML body of received mail without quotes, signature and anything that can run, load or mislead. Null if there is none or it is too long to sanitize.',
      resolve: ({ emailId }, _args, context) => loadBody(context, emailId, 'cleanedHtml'),
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
