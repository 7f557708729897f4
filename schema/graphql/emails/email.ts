import type { z } from 'zod';
import { downloadPath } from '../../../core/endpoints/download-link.ts';
import { readPlusTag } from '../../../core/mime/address.ts';
import { searchArguments } from '../../../operations/capability/field-shapes.ts';
import { emailFilter, emailShape } from '../../../operations/emails/email-shapes.ts';
import * as emails from '../../../operations/emails/emails.ts';
import { MAX_WAIT_MS, waitForEmail } from '../../../operations/emails/wait-for-email.ts';
import { waitShape } from '../../../operations/emails/wait-shape.ts';
import { loadSentRecipients } from '../../../operations/sending/recipients.ts';
import { loadReadUntil } from '../../../operations/threads/read-state.ts';
import { SEARCH_SYNTAX } from '../../input-shapes.ts';
import { access } from '../access.ts';
import { builder, connectionComplexity } from '../builder.ts';
import { describe, inputFields, inputTypeFor, makeInputReader, objectFields } from '../capability-shapes.ts';
import { type SearchArgs, searchConnection, totalCount } from '../connection.ts';
import type { GraphContext } from '../context.ts';
import { loadByOwner } from '../load-by-owner.ts';
import { EmailNode } from '../nodes.ts';
import { listMailboxes, loadBody, loadEmailParts, readMailboxes } from './email-content.ts';

const recipientsOf = loadByOwner(({ reads }, emailIds) => loadSentRecipients(reads, emailIds));
const readUntil = loadByOwner(({ reads }, threadIds, _args: null) => loadReadUntil(reads, threadIds));
const sizeOf = loadByOwner(({ reads }, emailIds) => emails.loadSizes(reads, emailIds));

/** Fields that are not in the row of an email as they are. */
const readers: Record<string, (email: emails.EmailSummary, context: GraphContext) => unknown> = {
  from: ({ fromName, fromAddress }) => ({ name: fromName, address: fromAddress }),
  to: (email) => listMailboxes(email, 'to'),
  cc: (email) => listMailboxes(email, 'cc'),
  bcc: (email, context) => readMailboxes(context, email, 'bcc'),
  replyTo: (email, context) => readMailboxes(context, email, 'replyTo'),
  envelopeRecipient: ({ recipient }) => recipient,
  plusTag: ({ recipient }) => (recipient === null ? null : readPlusTag(recipient)),
  async attachments({ id: emailId, hasAttachments }, context) {
    if (!hasAttachments) return [];
    const { attachments } = await loadEmailParts(context, emailId, null);
    return attachments.map((attachment) => ({ emailId, attachment }));
  },
  hasFiles: async ({ id, hasAttachments }, context) =>
    hasAttachments && !(await loadEmailParts(context, id, null)).attachments.every(isInlineImage),
  async isReadByMe({ type, threadId, threadAt }, context) {
    if (type !== 'received' || threadId === null) return null;
    const until = await readUntil(context, threadId, null);
    return until === null ? null : threadAt <= until;
  },
  tags: async ({ id, type }, context) => (type === 'received' ? [] : (await loadEmailParts(context, id, null)).tags),
  text: ({ id }, context) => loadBody(context, id, 'text'),
  content: ({ id }) => ({ emailId: id }),
  size: ({ id, hasRaw }, context) => (hasRaw ? sizeOf(context, id, null) : null),
  rawUrl: ({ id, hasRaw }, { operations }) =>
    hasRaw ? operations.settings.publicUrl + downloadPath({ emailId: id, part: 'raw' }) : null,
  recipientIds: ({ id, type }, context) => (type === 'received' ? [] : recipientsOf(context, id, null)),
};

/** Returns whether an attachment is an image that belongs to the HTML of its email. */
function isInlineImage({ contentType, contentId, contentDisposition }: emails.EmailParts['attachments'][number]) {
  return /^image\//i.test(contentType) && contentId !== null && contentDisposition !== 'attachment';
}

EmailNode.implement({
  description: describe(emailShape),
  isOfDomain: true,
  fields: (t) =>
    objectFields(t as never, emailShape, {
      isOfDomain: true,
      read: (email: emails.EmailSummary, field, context) =>
        readers[field] === undefined ? email[field as keyof typeof email] : readers[field](email, context),
    }) as never,
});

const EmailFilter = inputTypeFor(emailFilter);
const readFilter = makeInputReader(emailFilter);

const readWait = makeInputReader(waitShape) as (args: object) => z.output<typeof waitShape>;
/** Time for the queries before and after a wait, in milliseconds. */
const QUERY_MS = 10_000;

builder.queryFields((t) => ({
  email: t.field({
    type: EmailNode,
    access: access.read,
    nullable: true,
    description: 'Returns the email with this ID, or null if the account has no such email.',
    args: { id: t.arg.id({ required: true, description: 'ID of the email.' }) },
    resolve: (_root, { id }) => id,
  }),
  waitForEmail: t.field({
    type: EmailNode,
    access: access.read,
    nullable: true,
    description:
      'Waits for a received email that matches all arguments and returns the first one once it has a thread. Returns null if none arrives in time.',
    args: inputFields({ field: t.arg as never }, waitShape, { arguments: true }),
    resolve: (_root, args, { operations, respondWithin }) => {
      const { timeout, ...filter } = readWait(args);
      const timeoutMs = timeout * 1_000;
      if (timeoutMs >= 0 && timeoutMs <= MAX_WAIT_MS) respondWithin(timeoutMs + QUERY_MS);
      return waitForEmail(operations, filter, timeoutMs);
    },
  }),
  emails: t.connection(
    {
      type: EmailNode,
      access: access.read,
      description:
        'Sent, received and scheduled emails in one list, newest first. Without a filter, those of the last 30 days.',
      args: {
        filter: t.arg({ type: EmailFilter, description: 'Filters the emails.' }),
        search: t.arg.string({ description: SEARCH_SYNTAX }),
        ...inputFields({ field: t.arg as never }, searchArguments, { arguments: true }),
      },
      complexity: connectionComplexity,
      resolve: async (_root, { filter, search, ...args }, { reads }) => {
        const given = args as SearchArgs;
        const query = {
          ...(readFilter(filter ?? {}) as emails.EmailQuery),
          words: search ?? undefined,
          language: given.language ?? undefined,
        };
        return searchConnection(given, {
          cursorOf: ({ createdAt: at, id }: emails.EmailSummary) => ({ at, id }),
          page: (span) => emails.pageEmails(reads, query, span),
          pageByRelevance: (span) => emails.pageEmailsByRelevance(reads, query, span),
          count: () => emails.countEmails(reads, query),
        });
      },
    },
    {
      name: 'EmailConnection',
      description: 'A page of emails.',
      fields: (c) => totalCount(c),
    },
    { name: 'EmailEdge', description: 'An email and its cursor.' },
  ),
}));
