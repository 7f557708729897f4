import { createContextCache } from '@pothos/core';
import DataLoader from 'dataloader';
import { downloadPath } from '../../../core/endpoints/download-link.ts';
import type { RemovedKind } from '../../../core/mime/reply-text.ts';
import { UserError } from '../../../core/shared/errors.ts';
import { findTypeName } from '../../../core/shared/field-notes.ts';
import type { BodyText } from '../../../core/shared/large-text.ts';
import type { Fields } from '../../../operations/capability/capability.ts';
import { attachmentShape, contentShape, mailboxShape } from '../../../operations/emails/content-shapes.ts';
import {
  type ContentPart,
  type EmailParts,
  type EmailSummary,
  loadContentParts,
  type PartSizes,
} from '../../../operations/emails/emails.ts';
import { readRemovedText } from '../../../operations/emails/html-text.ts';
import { builder } from '../builder.ts';
import { addOutputType, describe, objectFields } from '../capability-shapes.ts';
import type { GraphContext } from '../context.ts';

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
  const key = makeKey({ emailId, part });
  counts.set(key, (counts.get(key) ?? 0) + 1);
  return (await loadEmailParts(context, emailId, part))[part];
}

const makeKey = ({ emailId, part }: Asked) => `${part} ${emailId}`;

/** How often the result of an operation has a body that is still to be loaded: by alias, fragment and field. */
const countsOf = createContextCache((_context: GraphContext) => new Map<string, number>());

const loaderOf = createContextCache(
  (context: GraphContext) =>
    new DataLoader<Asked, EmailParts, string>((asked) => loadAll(context, asked), {
      cacheKeyFn: makeKey,
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
      for (const [part, size] of sizes) bytes += size * (counts.get(makeKey({ emailId, part })) ?? 0);
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

addContentType<NamedAddress>(mailboxShape, ({ name, address }, field, context) =>
  field === 'address' ? address : typeof name === 'function' ? name(context) : name,
);

/** Returns the mailboxes of To or Cc. Their names are loaded only if requested. */
export function listMailboxes(email: EmailSummary, field: 'to' | 'cc'): NamedAddress[] {
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
interface AttachmentOf {
  emailId: string;
  attachment: EmailParts['attachments'][number];
}

addContentType<AttachmentOf>(attachmentShape, ({ emailId, attachment }, field, { operations }) =>
  field === 'downloadUrl'
    ? operations.settings.publicUrl + downloadPath({ emailId, part: attachment.index })
    : attachment[field as keyof typeof attachment],
);

async function readRemoved(context: GraphContext, emailId: string, kind: RemovedKind): Promise<BodyText | null> {
  const { text, removedParts } = await loadEmailParts(context, emailId, 'text');
  const html = text === null && removedParts.length > 0 ? (await loadEmailParts(context, emailId, 'html')).html : null;
  return readRemovedText(context.operations.workspaceId, { text, html }, { removed: removedParts, kind });
}

/** Adds a type whose fields are read from a value, with the context. */
function addContentType<Value extends object>(
  shape: Fields,
  read: (value: Value, field: string, context: GraphContext) => unknown,
) {
  const name = findTypeName(shape, 'type') ?? '';
  const type = builder.objectRef<Value>(name).implement({
    description: describe(shape),
    isOfDomain: true,
    fields: (t) => objectFields(t as never, shape, { isOfDomain: true, read }) as never,
  });
  addOutputType(name, type);
  return type;
}

export const EmailContentRef = addContentType<{ emailId: string }>(
  contentShape,
  async ({ emailId }, field, context) => {
    switch (field) {
      case 'text':
      case 'html':
      case 'cleanedText':
      case 'cleanedHtml':
        return loadBody(context, emailId, field);
      case 'quotedText':
        return readRemoved(context, emailId, 'quote');
      case 'signature':
        return readRemoved(context, emailId, 'signature');
      case 'headers': {
        const { headers } = await loadEmailParts(context, emailId, 'headers');
        return headers.map(([name, value]) => ({ name, value }));
      }
      default:
        return (await loadEmailParts(context, emailId, null))[field as keyof EmailParts];
    }
  },
);
