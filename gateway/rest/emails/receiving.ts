import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { secretUrl } from '../../../core/accounts/secret-fields.ts';
import { deriveDownloadLinkKey, makeDownloadLink } from '../../../core/endpoints/download-link.ts';
import { UserError } from '../../../core/shared/errors.ts';
import type { OperationContext } from '../../../operations/context.ts';
import { bodyText } from '../../../operations/emails/content-shapes.ts';
import * as emails from '../../../operations/emails/emails.ts';
import { access } from '../../admission/access.ts';
import { cutPageById, isOneSided, oneSide, pageByIdFields, readSide } from '../page-by-id.ts';
import { errorBody, idInPath, instant, limit, type RestOptions, wireInstant } from '../shapes.ts';
import { makeEmailBody } from './email-wire.ts';

const attachment = {
  id: z.string().meta({ description: 'Position in the email, starting at 0.' }),
  filename: z.string(),
  size: z.number().int().meta({ description: 'Size in bytes, decoded.' }),
  content_type: z.string(),
  content_disposition: z.enum(['attachment', 'inline']),
};
const attachmentBody = z
  .object({ ...attachment, content_id: z.string().nullable(), download_url: z.string() })
  .meta({ id: 'ReceivingAttachment' });
const signedAttachment = {
  ...attachment,
  content_id: z.string().optional(),
  download_url: z.string().meta({
    ...secretUrl,
    description: 'Works without an API key until `expires_at`, while the caller may read the email.',
  }),
  expires_at: instant,
};
const signedBody = z.object(signedAttachment).meta({ id: 'SignedAttachment' });
/** Time for which `download_url` works without a key; milliseconds. */
const LINK_LIFE_MS = 3_600_000;

const listItem = z
  .object({
    id: z.string(),
    message_id: z.string(),
    from: z.string(),
    to: z.array(z.string()),
    cc: z.array(z.string()),
    bcc: z.array(z.string()),
    reply_to: z
      .array(z.string())
      .meta({ description: 'Empty if there is none: typed clients do not all accept null.' }),
    received_for: z.array(z.string()).meta({ description: 'Envelope recipient.' }),
    subject: z.string(),
    created_at: instant,
    attachments: z.array(attachmentBody),
  })
  .meta({ id: 'ReceivingListItem' });

const receivedBody = listItem
  .extend({
    object: z.literal('email'),
    html: bodyText.nullable(),
    text: bodyText.nullable(),
    headers: z.unknown().meta({ type: 'object', additionalProperties: { type: 'string' } }),
    raw: z
      .object({
        download_url: z
          .string()
          .meta({ description: 'Works without an API key until `expires_at`, while the caller may read the email.' }),
        expires_at: instant,
      })
      .nullable()
      .meta({ description: 'The message as it was received. Null if its bytes are gone.' }),
  })
  .meta({ id: 'Receiving' });

const pageQuery = (item: string, fallback?: number) =>
  z.object({ limit: limit(fallback), ...pageByIdFields(item) }).refine(isOneSided, oneSide);
/** Most emails have fewer attachments. */
const ATTACHMENTS_PER_PAGE = 100;
const list = <T extends z.ZodType>(item: T) =>
  z.object({ object: z.literal('list'), has_more: z.boolean(), data: z.array(item) });
const attachmentInPath = idInPath.extend({
  index: z.string().meta({ description: 'Position of the attachment, starting at 0.' }),
});

/** Received mail, and attachments of all mail, at the paths and in the format of the `resend` client. */
export const receivingRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.get(
    '/emails/receiving',
    {
      config: { access: access.read },
      schema: {
        operationId: 'listReceiving',
        summary: 'List received emails',
        description: 'Same as GET /emails with type `received`, in the format of the `resend` client.',
        tags: ['Paths of other clients'],
        querystring: pageQuery('an email'),
        response: { 200: list(listItem), default: errorBody },
      },
    },
    async (request) => {
      const context = contextOf(request);
      const { limit: size, ...cursors } = request.query;
      const query = { type: 'received', timeRange: 'all' } as const;
      const beside = readSide(cursors);
      const found =
        beside === null
          ? await emails.listEmails(context, query, { limit: size, offset: 0 })
          : await emails.listEmailsBeside(context, query, { side: beside.side, emailId: beside.id, limit: size });
      const contents = await emails.loadOutlines(
        context,
        found.emails.map(({ id }) => id),
      );
      const data = found.emails.flatMap((email, at) => {
        const content = contents[at] ?? null;
        return content === null ? [] : [toListItem({ ...email, ...content }, context.settings.publicUrl)];
      });
      return { object: 'list' as const, has_more: found.hasMore, data };
    },
  );

  app.get(
    '/emails/receiving/:id',
    {
      config: { access: access.read },
      schema: {
        operationId: 'getReceiving',
        summary: 'Retrieve a received email',
        description:
          'Same as GET /emails/{id}, in the format of the `resend` client. Inline images remain `cid:` references.',
        tags: ['Paths of other clients'],
        params: idInPath,
        response: { 200: receivedBody, default: errorBody },
      },
    },
    async (request) => {
      const context = contextOf(request);
      const { publicUrl } = context.settings;
      const email = await emails.readReceivedEmail(context, request.params.id);
      const { html, text, headers } = makeEmailBody(email, publicUrl);
      return {
        object: 'email' as const,
        ...toListItem(email, publicUrl),
        html,
        text,
        headers,
        raw: toRaw(context, email),
      };
    },
  );

  for (const [path, name, read] of [
    ['/emails/receiving/:id/attachments', 'Receiving', emails.readReceivedEmail],
    ['/emails/:id/attachments', 'Email', emails.readEmail],
  ] as const) {
    app.get(
      path,
      {
        config: { access: access.read },
        schema: {
          operationId: `list${name}Attachments`,
          summary: 'List the attachments of an email',
          description: 'Returns attachments in the order of the email.',
          tags: ['Paths of other clients'],
          params: idInPath,
          querystring: pageQuery('an attachment', ATTACHMENTS_PER_PAGE),
          response: { 200: list(signedBody), default: errorBody },
        },
      },
      async (request) => {
        const context = contextOf(request);
        const email = await read(context, request.params.id);
        const { items, hasMore } = cutPageById(listSignedAttachments(context, email), request.query);
        return { object: 'list' as const, has_more: hasMore, data: items };
      },
    );

    app.get(
      `${path}/:index`,
      {
        config: { access: access.read },
        schema: {
          operationId: `get${name}Attachment`,
          summary: 'Retrieve an attachment',
          description: 'Returns the metadata of the attachment. Its bytes are at `download_url`.',
          tags: ['Paths of other clients'],
          params: attachmentInPath,
          response: { 200: z.object({ object: z.literal('attachment'), ...signedAttachment }), default: errorBody },
        },
      },
      async (request) => {
        const context = contextOf(request);
        const { id, index } = request.params as { id: string; index: string };
        const email = await read(context, id);
        const found = listSignedAttachments(context, email).find((each) => each.id === index);
        if (found === undefined) throw new UserError('not_found', 'Attachment not found');
        return { object: 'attachment' as const, ...found };
      },
    );
  }
};

function toListItem(email: emails.Email, publicUrl: string): z.infer<typeof listItem> {
  const { id, message_id, from, to, cc, bcc, reply_to: replyTo, subject } = makeEmailBody(email, publicUrl);
  const recipients = email.recipient === null ? [] : [email.recipient];
  const addresses = { from, to, cc, bcc, reply_to: replyTo ?? [] };
  const fields = { id, message_id, ...addresses, subject, created_at: wireInstant(email.createdAt) };
  return { ...fields, received_for: recipients, attachments: listAttachments(email, publicUrl) };
}

function listAttachments(email: emails.Email, publicUrl: string): z.infer<typeof attachmentBody>[] {
  return makeEmailBody(email, publicUrl).attachments.map((each, at) => ({
    id: String(email.attachments[at]?.index ?? at),
    filename: each.filename,
    size: each.size,
    content_type: each.contentType,
    content_id: each.contentId,
    content_disposition: each.contentDisposition ?? 'attachment',
    download_url: each.downloadUrl,
  }));
}

/** Like listAttachments, with links that work without a key for a while. The types of the client do not allow null. */
function listSignedAttachments(context: OperationContext, email: emails.Email): z.infer<typeof signedBody>[] {
  const linkTo = toLinks(context, email);
  return listAttachments(email, context.settings.publicUrl).map(({ content_id: contentId, ...each }) => ({
    ...each,
    ...(contentId === null ? {} : { content_id: contentId }),
    ...linkTo(Number(each.id)),
  }));
}

function toRaw(context: OperationContext, email: emails.Email): z.infer<typeof receivedBody>['raw'] {
  return email.hasRaw ? toLinks(context, email)('raw') : null;
}

/** Returns a function that makes links to parts of the email, which work without a key for a while, while the caller may read the email. */
function toLinks({ settings, workspaceId, now, rights }: OperationContext, { id: emailId }: emails.Email) {
  const key = deriveDownloadLinkKey(settings.secretKey);
  const expiresAt = new Date(Math.floor((now().getTime() + LINK_LIFE_MS) / 1_000) * 1_000);
  // Without a holder, it opens nothing.
  const holder = rights.keyId ?? rights.personId ?? '';
  return (part: number | 'raw') => ({
    download_url: `${settings.publicUrl}${makeDownloadLink(key, { workspaceId, emailId, part, holder }, expiresAt)}`,
    expires_at: wireInstant(expiresAt),
  });
}
