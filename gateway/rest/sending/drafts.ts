import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { DRAFT_KINDS } from '../../../core/sending/draft.ts';
import { MAX_POLICY_UNDO_SECONDS } from '../../../core/sending/send-policy.ts';
import * as drafts from '../../../operations/sending/drafts.ts';
import { sendDraft } from '../../../operations/sending/send-draft.ts';
import { limitEntries } from '../../../schema/input-shapes.ts';
import { access } from '../../admission/access.ts';
import {
  errorBody,
  idInPath,
  instant,
  limit,
  listBody,
  listOf,
  offset,
  type RestOptions,
  text,
  wireInstant,
} from '../shapes.ts';
import {
  addresses,
  attachment,
  attachmentOf,
  idempotencyHeader,
  idempotencyOf,
  MAIL_BODY_LIMIT,
  scheduledAnswer,
  scheduledBodyOf,
  sendBody,
  sentAnswer,
  sentBodyOf,
} from './outgoing-shapes.ts';

const { from, to, subject, html, text: textBody, cc, bcc, reply_to, headers, tags } = sendBody.shape;
const { metadata, scheduled_at, timezone, list_unsubscribe, attachments } = sendBody.shape;
/** The fields of POST /emails, without aliases; a claim is named when the draft is sent. */
const draftFields = { from, to, cc, bcc, reply_to, subject, text: textBody, html, headers, tags };
const moreFields = { metadata, scheduled_at, timezone, list_unsubscribe };
const withAttachments = z
  .boolean()
  .nullish()
  .meta({ description: 'Of a forward: whether to include the attachments of the original. The default is true.' });

const version = z.int().min(1).meta({ description: 'Version of the draft that you have read.' });

const undoSeconds = z.int().min(0).max(MAX_POLICY_UNDO_SECONDS).nullish().meta({
  description:
    'Seconds that the email waits, scheduled, before it is sent. It can be cancelled meanwhile. The default is 0. A draft with `scheduled_at` waits until then.',
});

export const newDraft = z
  .object({
    kind: z
      .enum(DRAFT_KINDS)
      .nullish()
      .meta({ description: 'What the draft is sent as. The default is `new`; the others need `original_email_id`.' }),
    original_email_id: text.nullish().meta({
      description: 'ID of the email that the draft replies to or forwards, or of a thread, for its latest email.',
    }),
    ...draftFields,
    ...moreFields,
    attachments,
    with_attachments: withAttachments,
  })
  .meta({
    id: 'CreateDraft',
    'x-examples': [
      {
        from: 'Support <support@example.com>',
        to: ['ada@example.org'],
        subject: 'Your order',
        text: 'It is on its way.',
      },
      { kind: 'reply', original_email_id: `em_${'0'.repeat(32)}`, from: 'support@example.com', text: 'Tomorrow.' },
    ],
  });

export const draftChange = z
  .object({
    version,
    ...draftFields,
    ...moreFields,
    attachments: z
      .array(
        attachment
          .extend({ id: z.string().nullish().meta({ description: 'ID of an attachment of the draft, to keep it.' }) })
          .meta({ id: 'ChangedDraftAttachment' }),
      )
      .nullish()
      .meta({ description: 'All attachments, in order: new ones with `content`, and those to keep by their `id`.' }),
    with_attachments: withAttachments,
  })
  .meta({
    id: 'UpdateDraft',
    required: ['version'],
    'x-examples': [{ version: 1, subject: 'Your order 4711', attachments: [{ id: `att_${'0'.repeat(32)}` }] }],
  });

export const draftSummary = z
  .object({
    object: z.literal('draft'),
    id: z.string(),
    version: z.number().int().meta({ description: 'Grows with every change.' }),
    kind: z.enum(DRAFT_KINDS),
    original_email_id: z.string().nullable().meta({ description: 'The email that it replies to or forwards.' }),
    thread_id: z.string().nullable().meta({ description: 'Thread of that email.' }),
    from: z.string().nullable(),
    to: addresses.nullable(),
    cc: addresses.nullable(),
    bcc: addresses.nullable(),
    reply_to: addresses.nullable(),
    subject: z.string().nullable(),
    preview: z.string().meta({ description: 'Beginning of the text.' }),
    headers: z.record(z.string(), z.string()).nullable(),
    tags: z.array(z.object({ name: z.string(), value: z.string() })).nullable(),
    metadata: z.record(z.string(), z.unknown()).nullable(),
    scheduled_at: z.string().nullable().meta({
      description: 'As it was given. A phrase such as `tomorrow at 9am` counts from the moment of sending.',
    }),
    timezone: z.string().nullable(),
    list_unsubscribe: z.union([z.boolean(), z.object({ list: z.string().nullish() })]).nullable(),
    with_attachments: z.boolean().nullable(),
    attachments: z.array(
      z
        .object({
          id: z.string(),
          filename: z.string(),
          content_type: z.string(),
          content_id: z.string().nullable(),
          size: z.number().int().meta({ description: 'Bytes.' }),
        })
        .meta({ id: 'DraftAttachment' }),
    ),
    created_by_key_id: z.string().nullable().meta({
      description: 'API key that created it. Null if it was created in the dashboard.',
    }),
    updated_by_key_id: z.string().nullable().meta({ description: 'API key that changed it last.' }),
    created_at: instant,
    updated_at: instant,
  })
  .meta({ id: 'DraftSummary' });

const draftBody = draftSummary
  .extend({ text: z.string().nullable(), html: z.string().nullable() })
  .meta({ id: 'Draft' });

const conflictBody = errorBody
  .extend({ version: z.number().int().optional().meta({ description: 'The present version, if it has changed.' }) })
  .meta({ id: 'DraftConflict', description: 'The draft has changed, or the account has too many drafts.' });

const listQuery = z.object({
  limit: limit(),
  offset,
  thread_id: text.optional().meta({ description: 'Returns drafts that answer emails of this thread only.' }),
  original_email_id: text.optional().meta({ description: 'Returns drafts that answer this email only.' }),
});

export const draftRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.get(
    '/drafts',
    {
      config: { access: access.read },
      schema: {
        operationId: 'listDrafts',
        summary: 'List drafts',
        description: 'Returns the last changed first, without their bodies.',
        tags: ['Drafts'],
        querystring: listQuery,
        response: { 200: listOf(draftSummary), default: errorBody },
      },
    },
    async (request) => {
      const { thread_id: threadId, original_email_id: originalEmailId, ...page } = request.query;
      const found = await drafts.listDrafts(contextOf(request), { threadId, originalEmailId }, page);
      return listBody(found.drafts.map(draftSummaryOf), page, found.total);
    },
  );

  app.post(
    '/drafts',
    {
      bodyLimit: MAIL_BODY_LIMIT,
      preValidation: async (request) => limitEntries(request.body),
      config: { access: access.send },
      schema: {
        operationId: 'createDraft',
        summary: 'Create a draft',
        description:
          'Stores an email without sending it. All fields are optional; those that are given must be valid. The draft stays until you send or delete it.',
        tags: ['Drafts'],
        body: newDraft,
        response: { 201: draftBody, 404: errorBody, 409: conflictBody, default: errorBody },
      },
    },
    async (request, reply) => {
      const { kind, original_email_id: originalEmailId, ...body } = request.body;
      const input = { kind, originalEmailId, ...draftInputOf(body) };
      return reply.code(201).send(bodyOf(await drafts.createDraft(contextOf(request), input)));
    },
  );

  app.get(
    '/drafts/:id',
    {
      config: { access: access.read },
      schema: {
        operationId: 'getDraft',
        summary: 'Retrieve a draft',
        description: 'Returns a draft with its bodies. The content of attachments is not included.',
        tags: ['Drafts'],
        params: idInPath,
        response: { 200: draftBody, default: errorBody },
      },
    },
    async (request) => bodyOf(await drafts.readDraft(contextOf(request), request.params.id)),
  );

  app.patch(
    '/drafts/:id',
    {
      bodyLimit: MAIL_BODY_LIMIT,
      preValidation: async (request) => limitEntries(request.body),
      config: { access: access.send },
      schema: {
        operationId: 'updateDraft',
        summary: 'Update a draft',
        description:
          'Changes the given fields; null clears a field. If the draft is not at `version` any more, the response is 409 with the present version, and nothing is changed. A key without the scope `read` changes only drafts that it wrote itself.',
        tags: ['Drafts'],
        params: idInPath,
        body: draftChange,
        response: { 200: draftBody, 404: errorBody, 409: conflictBody, default: errorBody },
      },
    },
    async (request) => {
      const { version: read, ...body } = request.body;
      const change = { version: read, ...draftInputOf(body) };
      return bodyOf(await drafts.updateDraft(contextOf(request), request.params.id, change));
    },
  );

  app.delete(
    '/drafts/:id',
    {
      config: { access: access.send },
      schema: {
        operationId: 'deleteDraft',
        summary: 'Delete a draft',
        description: 'Deletes a draft with its attachments.',
        tags: ['Drafts'],
        params: idInPath,
        response: {
          200: z.object({ object: z.literal('draft'), id: z.string(), deleted: z.literal(true) }),
          409: conflictBody,
          default: errorBody,
        },
      },
    },
    async (request) => {
      const { id } = request.params;
      await drafts.deleteDraft(contextOf(request), id);
      return { object: 'draft' as const, id, deleted: true as const };
    },
  );

  app.post(
    '/drafts/:id/send',
    {
      config: { access: access.send },
      schema: {
        operationId: 'sendDraft',
        summary: 'Send a draft',
        description:
          'Sends a draft as POST /emails would, or as a reply or forward, and removes it. Of several requests, one sends it; the others get 404, or the response of the first one with the same `Idempotency-Key`. If `version` is given and the draft is not at it any more, the response is 409 and nothing is sent.',
        tags: ['Drafts'],
        params: idInPath,
        headers: idempotencyHeader,
        body: z
          .object({
            version: version.optional().meta({ description: 'Version to send. Without it, the present one is sent.' }),
            undo_seconds: undoSeconds,
            claim_token: sendBody.shape.claim_token,
          })
          .nullish()
          .meta({ id: 'SendDraft', examples: [{ version: 1 }, {}] }),
        response: {
          200: sentAnswer,
          201: scheduledAnswer,
          403: errorBody,
          404: errorBody,
          409: conflictBody,
          default: errorBody,
        },
      },
    },
    async (request, reply) => {
      const { body, params } = request;
      const idempotency = idempotencyOf(request.headers, 'send-draft', [params.id, body]);
      const { version: read, undo_seconds: undoing, claim_token: claimToken } = body ?? {};
      const sending = { id: params.id, version: read, undoSeconds: undoing, claimToken };
      const { receipt } = await sendDraft(contextOf(request), sending, idempotency);
      const scheduled = scheduledBodyOf(receipt);
      return scheduled === null ? sentBodyOf(receipt) : reply.code(201).send(scheduled);
    },
  );
};

/** Converts the fields of a body; those that are missing stay undefined. */
export function draftInputOf(body: Omit<z.infer<typeof draftChange>, 'version'>): drafts.DraftInput {
  const { reply_to: replyTo, scheduled_at: scheduledAt, list_unsubscribe: listUnsubscribe, ...rest } = body;
  const { with_attachments: including, attachments: given, ...fields } = rest;
  return {
    ...fields,
    replyTo,
    scheduledAt,
    listUnsubscribe,
    withAttachments: including,
    attachments:
      given == null
        ? given
        : given.map((file, index) => (file.id == null ? attachmentOf(file, `attachments.${index}`) : { id: file.id })),
  };
}

export function draftSummaryOf(draft: drafts.Draft): z.infer<typeof draftSummary> {
  const { replyTo, scheduledAt, listUnsubscribe, withAttachments: including, ...fields } = draft.fields;
  return {
    object: 'draft',
    id: draft.id,
    version: draft.version,
    kind: draft.kind,
    original_email_id: draft.originalEmailId,
    thread_id: draft.threadId,
    from: fields.from,
    to: listed(fields.to),
    cc: listed(fields.cc),
    bcc: listed(fields.bcc),
    reply_to: listed(replyTo),
    subject: fields.subject,
    preview: draft.preview,
    headers: fields.headers === null ? null : { ...fields.headers },
    tags: fields.tags === null ? null : [...fields.tags],
    metadata: fields.metadata === null ? null : { ...fields.metadata },
    scheduled_at: scheduledAt,
    timezone: fields.timezone,
    list_unsubscribe: listUnsubscribe,
    with_attachments: including,
    attachments: draft.attachments.map(({ id, filename, contentType, contentId, sizeBytes }) => ({
      id,
      filename,
      content_type: contentType,
      content_id: contentId,
      size: sizeBytes,
    })),
    created_by_key_id: draft.createdByKeyId,
    updated_by_key_id: draft.updatedByKeyId,
    created_at: wireInstant(draft.createdAt),
    updated_at: wireInstant(draft.updatedAt),
  };
}

function bodyOf(draft: drafts.DraftDetails): z.infer<typeof draftBody> {
  return { ...draftSummaryOf(draft), text: draft.text, html: draft.html };
}

function listed(given: string | readonly string[] | null): string | string[] | null {
  return given === null || typeof given === 'string' ? given : [...given];
}
