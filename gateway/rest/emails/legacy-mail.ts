import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { UserError } from '../../../core/shared/errors.ts';
import { LIST_SEARCH, operatorSearch } from '../../../operations/capability/field-shapes.ts';
import type { OperationContext } from '../../../operations/context.ts';
import { bodyText } from '../../../operations/emails/content-shapes.ts';
import { updateEmail } from '../../../operations/emails/email-flags.ts';
import * as emails from '../../../operations/emails/emails.ts';
import { loadContentParts } from '../../../operations/emails/emails.ts';
import { sendReply } from '../../../operations/sending/replies.ts';
import { access } from '../../admission/access.ts';
import { MAIL_BODY_LIMIT, writeSent } from '../sending/outgoing-shapes.ts';
import {
  errorBody,
  idInPath,
  instant,
  limit,
  listBody,
  offset,
  pagination,
  queryBoolean,
  type RestOptions,
  text,
  wireInstant,
} from '../shapes.ts';
import { sendThread, threadResponse } from '../threads/threads.ts';
import { emailBody, makeEmailBody } from './email-wire.ts';
import { warnOfOlder } from './emails.ts';

const listQuery = z.object({
  limit: limit(),
  offset,
  search: operatorSearch.optional().meta({ description: LIST_SEARCH }),
  status: z.enum(['all', 'processed', 'failed']).default('all').meta({ description: 'Whether the email was parsed.' }),
  domain: text.optional().meta({ description: 'ID or name of one of your domains.' }),
  timeRange: z.enum(emails.TIME_RANGES).default('30d').meta({ description: 'Maximum age of the emails.' }),
  includeArchived: queryBoolean.default(false).meta({ description: 'Whether to include archived emails.' }),
  emailId: z.string().optional().meta({ description: 'Returns this email only.' }),
  emailAddress: text.optional().meta({ description: 'One of your addresses, or its ID.' }),
});

const mailItem = {
  id: z.string(),
  emailId: z.string(),
  messageId: z.string(),
  subject: z.string(),
  from: z.string(),
  fromName: z.string().nullable(),
  recipient: z.string(),
  preview: z.string(),
  receivedAt: instant,
  isRead: z.boolean(),
  readAt: instant.nullable(),
  isArchived: z.boolean(),
  archivedAt: instant.nullable().meta({ description: 'When the archived email last changed.' }),
  hasAttachments: z.boolean(),
  attachmentCount: z.number().int(),
  parseSuccess: z.boolean(),
  parseError: z.string().nullable(),
  createdAt: instant,
};
const listItem = z.object(mailItem).meta({ id: 'LegacyMailListItem' });
const { attachments, headers } = emailBody.shape;
const body = bodyText.meta({ type: 'string', description: 'Empty if there is none.' });
const details = z
  .object({ ...mailItem, to: z.string(), textBody: body, htmlBody: body, attachments, headers })
  .meta({ id: 'LegacyMail' });

const updates = z.object({ isRead: z.boolean().optional(), isArchived: z.boolean().optional() });
const updated = z.object({
  success: z.literal(true),
  message: z.string(),
  id: z.string(),
  ...updates.required().shape,
});

const statuses = { all: 'all', processed: 'delivered', failed: 'failed' } as const;
/** Maximum number of emails that one request can update. */
const MAX_BULK = 100;

/** Received mail at the paths of `@inboundemail/sdk`, with the same operations as /emails and /mail/threads. */
export const legacyMailRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  const frame = { tags: ['Paths of other clients'], deprecated: true };

  app.get(
    '/mail',
    {
      config: { access: access.read },
      schema: {
        ...frame,
        operationId: 'legacyListMail',
        summary: 'List received emails',
        description: 'Same as GET /emails with type `received`, newest first.',
        querystring: listQuery,
        response: { 200: z.object({ emails: z.array(listItem), pagination }), default: errorBody },
      },
    },
    async (request) => {
      const context = contextOf(request);
      const { emailId, status, includeArchived, emailAddress: address, ...asked } = request.query;
      const { search, domain, timeRange, ...page } = asked;
      const isArchived = includeArchived ? undefined : false;
      const filters = { status: statuses[status], timeRange, isArchived, domain, address, search } as const;
      const query = { type: 'received', ...filters } as const;
      const found =
        emailId === undefined ? await emails.listEmails(context, query, page) : await findReceived(context, emailId);
      const items = await readMailItems(context, found.emails);
      if (emailId === undefined && found.total === 0) await warnOfOlder(request, context, query, 'timeRange');
      return { emails: items, pagination: listBody(found.emails, page, found.total).pagination };
    },
  );

  app.get(
    '/mail/:id',
    {
      config: { access: access.read },
      schema: {
        ...frame,
        operationId: 'legacyGetMail',
        summary: 'Retrieve a received email',
        description: 'Same as GET /emails/{id}.',
        params: idInPath,
        response: { 200: details, default: errorBody },
      },
    },
    async (request) => {
      const context = contextOf(request);
      const email = await emails.readReceivedEmail(context, request.params.id);
      const { text: plain, html, ...parts } = makeEmailBody(email, context.settings.publicUrl);
      const [item] = await readMailItems(context, [email]);
      if (item === undefined) throw new Error('an email without its item');
      return {
        ...item,
        to: email.to.join(', '),
        textBody: plain ?? '',
        htmlBody: html ?? '',
        attachments: parts.attachments,
        headers: parts.headers,
      };
    },
  );

  app.patch(
    '/mail/:id',
    {
      config: { access: access.organize },
      schema: {
        ...frame,
        operationId: 'legacyUpdateMail',
        summary: 'Update a received email',
        description: 'Same as PATCH /emails/{id}.',
        params: idInPath,
        body: updates.meta({
          anyOf: [{ required: ['isRead'] }, { required: ['isArchived'] }],
          examples: [{ isRead: true }],
        }),
        response: { 200: updated, default: errorBody },
      },
    },
    async (request) => {
      const { id, isRead, isArchived } = await updateEmail(contextOf(request), request.params.id, request.body);
      return { success: true as const, message: 'Email updated', id, isRead, isArchived };
    },
  );

  app.post(
    '/mail',
    {
      bodyLimit: MAIL_BODY_LIMIT,
      config: { access: access.send },
      schema: {
        ...frame,
        operationId: 'legacyReplyToMail',
        summary: 'Reply to a received email',
        description: 'Same as POST /emails/{id}/reply, sent from the address that received the email.',
        body: z
          .object({
            emailId: z.string(),
            to: z.string().nullish(),
            subject: z.string().nullish(),
            textBody: z.string().nullish(),
            htmlBody: z.string().nullish(),
          })
          .meta({ examples: [{ emailId: 'em_019aa3c1b2d47e1f8a0b3c4d5e6f7a8b', textBody: 'Thank you.' }] }),
        response: {
          200: z.object({ message: z.string(), id: z.string(), messageId: z.string() }),
          403: errorBody,
          404: errorBody,
          default: errorBody,
        },
      },
    },
    async (request) => {
      const context = contextOf(request);
      const { emailId, to, subject, textBody: given, htmlBody: html } = request.body;
      const { recipient } = await emails.readReceivedEmail(context, emailId);
      const { receipt } = await sendReply(context, emailId, { from: recipient, to, subject, text: given, html }, null);
      const { id, message_id: messageId } = writeSent(receipt);
      return { message: 'Reply sent', id, messageId };
    },
  );

  app.get(
    '/mail/:id/thread',
    {
      config: { access: access.read },
      schema: {
        ...frame,
        operationId: 'legacyGetMailThread',
        summary: 'Retrieve the thread of an email',
        description: 'Same as GET /mail/threads/{id}.',
        params: idInPath,
        response: { 200: threadResponse, default: errorBody },
      },
    },
    async (request, reply) => {
      const context = contextOf(request);
      const email = await emails.openEmail(context, request.params.id);
      if (email.threadId === null) throw new UserError('not_found', 'Thread not found');
      return sendThread(context, email.threadId, reply);
    },
  );

  app.post(
    '/mail/bulk',
    {
      config: { access: access.organize },
      schema: {
        ...frame,
        operationId: 'legacyUpdateMails',
        summary: 'Update several received emails',
        description: 'Updates each email like PATCH /emails/{id}. If one cannot be updated, the others still are.',
        body: z
          .object({ emailIds: z.array(z.string()).min(1).max(MAX_BULK), updates })
          .meta({ examples: [{ emailIds: ['em_019aa3c1b2d47e1f8a0b3c4d5e6f7a8b'], updates: { isArchived: true } }] }),
        response: {
          200: z.object({
            success: z.boolean(),
            message: z.string(),
            updated: z.number().int(),
            failed: z.array(z.object({ id: z.string(), error: z.string() })),
          }),
          default: errorBody,
        },
      },
    },
    async (request) => {
      const context = contextOf(request);
      const failed: { id: string; error: string }[] = [];
      for (const id of request.body.emailIds)
        await updateEmail(context, id, request.body.updates).catch((error: unknown) => {
          if (!(error instanceof UserError)) throw error;
          failed.push({ id, error: error.message });
        });
      const count = request.body.emailIds.length - failed.length;
      return { success: failed.length === 0, message: `${count} emails updated`, updated: count, failed };
    },
  );
};

async function findReceived(context: OperationContext, emailId: string) {
  const [email = null] = await emails.openEmails(context, [emailId]);
  if (email instanceof UserError) throw email;
  const found = email?.type === 'received' ? [email] : [];
  return { emails: found, total: found.length };
}

/** Loads the parse errors of the few emails that could not be parsed. */
async function readMailItems(context: OperationContext, found: readonly emails.EmailSummary[]) {
  const failed = found.filter(({ status }) => status === 'failed').map(({ id }) => id);
  const parts = failed.length === 0 ? [] : await loadContentParts(context, failed, new Set());
  const errors = new Map(failed.map((id, at) => [id, parts[at]?.parseError ?? 'The mail could not be parsed']));
  return found.map((email) => toMailItem(email, errors.get(email.id) ?? null));
}

function toMailItem(email: emails.EmailSummary, parseError: string | null): z.infer<typeof listItem> {
  return {
    id: email.id,
    emailId: email.id,
    messageId: email.messageId,
    subject: email.subject,
    from: email.fromAddress,
    fromName: email.fromName,
    recipient: email.recipient ?? '',
    preview: email.preview,
    receivedAt: wireInstant(email.createdAt),
    isRead: email.isRead,
    readAt: wireInstant(email.readAt),
    isArchived: email.isArchived,
    archivedAt: email.isArchived ? wireInstant(email.updatedAt) : null,
    hasAttachments: email.hasAttachments,
    attachmentCount: email.attachmentCount,
    parseSuccess: email.status !== 'failed',
    parseError,
    createdAt: wireInstant(email.createdAt),
  };
}
