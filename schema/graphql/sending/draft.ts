import { MAX_POLICY_UNDO_SECONDS } from '../../../core/sending/send-policy.ts';
import { invalid } from '../../../operations/context.ts';
import type { AttachmentFile } from '../../../operations/emails/attachments.ts';
import * as drafts from '../../../operations/sending/drafts.ts';
import { readIdempotency } from '../../../operations/sending/idempotency.ts';
import { sendDraft } from '../../../operations/sending/send-draft.ts';
import { limitEntries } from '../../input-shapes.ts';
import { access } from '../access.ts';
import { builder, connectionComplexity, enumValues } from '../builder.ts';
import { SuppressedRecipient } from '../client-errors.ts';
import { connection, totalCount } from '../connection.ts';
import { forgetLoaded, type GraphContext } from '../context.ts';
import { Tag } from '../emails/email.ts';
import { loadByOwner } from '../load-by-owner.ts';
import { addNodeKind } from '../node-kinds.ts';
import { EmailNode, loaderOf, orNull } from '../nodes.ts';
import {
  claimField,
  contentFields,
  headersOf,
  type InputBuilder,
  idempotencyField,
  ListUnsubscribeInput,
  metadataField,
  readMetadata,
} from './sending.ts';

const DraftKind = builder.enumType('DraftKind', {
  description: 'What a draft is sent as.',
  values: enumValues<drafts.Draft['kind']>({
    new: 'A new email.',
    reply: 'A reply to the sender of the original.',
    reply_all: 'A reply to the sender and the other recipients of the original.',
    forward: 'A new email that quotes the original.',
  }),
});

const DraftNode = builder.loadableNodeRef<drafts.Draft, string, string>('Draft', {
  id: { resolve: ({ id }) => id },
  load: (ids: string[], { reads }) => drafts.loadDrafts(reads, ids).then(orNull),
});
addNodeKind('drf', loaderOf('Draft', DraftNode));

const DraftAttachment = builder.objectRef<drafts.DraftFile>('DraftAttachment').implement({
  description: 'An attachment of a draft.',
  isOfDomain: true,
  fields: (t) => ({
    id: t.exposeID('id', { description: 'ID to keep it in an update.' }),
    filename: t.exposeString('filename', { description: 'Name of the file.' }),
    contentType: t.exposeString('contentType', { description: 'Content type, such as `application/pdf`.' }),
    contentId: t.exposeString('contentId', { nullable: true, description: 'Content-ID, if the HTML refers to it.' }),
    size: t.exposeInt('sizeBytes', { description: 'Bytes.' }),
  }),
});

const DraftFileRef = builder.objectRef<AttachmentFile>('DraftFile').implement({
  description: 'An attachment of a draft with its content.',
  isOfDomain: true,
  fields: (t) => ({
    filename: t.exposeString('filename', { description: 'Name of the file.' }),
    contentType: t.exposeString('contentType', { description: 'Content type, such as `application/pdf`.' }),
    content: t.string({
      description: 'The file in base64.',
      resolve: ({ bytes }) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64'),
    }),
  }),
});

/** A file can have 10 MB, so that an operation reads at most five. */
const FILE_COST = 1_000;

builder.queryField('draftAttachment', (t) =>
  t.field({
    type: DraftFileRef,
    access: access.read,
    nullable: true,
    description:
      'Returns an attachment of a draft, or null if the account has no such draft or attachment. Expensive: an operation can read five.',
    complexity: FILE_COST,
    args: {
      draftId: t.arg.id({ required: true, description: 'ID of the draft.' }),
      id: t.arg.id({ required: true, description: 'ID of the attachment in the draft.' }),
    },
    resolve: (_root, { draftId, id }, { reads }) => drafts.findDraftAttachment(reads, draftId, id),
  }),
);

const bodiesOf = loadByOwner(({ reads }: GraphContext, ids) => drafts.loadDraftBodies(reads, ids));

function listed(given: string | readonly string[] | null): readonly string[] {
  return typeof given === 'string' ? [given] : (given ?? []);
}

/** Attachments that the cost limit assumes. */
const USUAL_FILES = 2;
const LIST = 'As given: one address each, or a text that lists several.';

DraftNode.implement({
  description: 'An email that is not sent yet. Any field can be missing until then.',
  isOfDomain: true,
  fields: (t) => ({
    version: t.exposeInt('version', { description: 'Grows with every change. Updates and sending name it.' }),
    kind: t.expose('kind', { type: DraftKind, description: 'What it is sent as.' }),
    originalEmail: t.field({
      type: EmailNode,
      nullable: true,
      description: 'The email that it replies to or forwards. Null for a new email, or if the original was deleted.',
      resolve: ({ originalEmailId }) => originalEmailId,
    }),
    from: t.string({ nullable: true, description: 'Sender.', resolve: ({ fields }) => fields.from }),
    to: t.stringList({ description: `To recipients. ${LIST}`, resolve: ({ fields }) => listed(fields.to) }),
    cc: t.stringList({ description: `Cc recipients. ${LIST}`, resolve: ({ fields }) => listed(fields.cc) }),
    bcc: t.stringList({ description: `Bcc recipients. ${LIST}`, resolve: ({ fields }) => listed(fields.bcc) }),
    replyTo: t.stringList({
      description: `Addresses to reply to. ${LIST}`,
      resolve: ({ fields }) => listed(fields.replyTo),
    }),
    subject: t.string({ nullable: true, description: 'Subject.', resolve: ({ fields }) => fields.subject }),
    preview: t.exposeString('preview', { description: 'Beginning of the text.' }),
    text: t.string({
      nullable: true,
      description: 'The plain-text body.',
      complexity: 2,
      resolve: async ({ id }, _args, context) => (await bodiesOf(context, id, {}))?.text ?? null,
    }),
    html: t.string({
      nullable: true,
      description: 'The HTML body.',
      complexity: 2,
      resolve: async ({ id }, _args, context) => (await bodiesOf(context, id, {}))?.html ?? null,
    }),
    headers: t.field({
      type: 'JSON',
      nullable: true,
      description: 'Custom headers, values by name.',
      resolve: ({ fields }) => fields.headers,
    }),
    tags: t.field({ type: [Tag], description: 'Tags.', resolve: ({ fields }) => fields.tags ?? [] }),
    metadata: t.field({
      type: 'JSON',
      nullable: true,
      description: 'An object that replies to the email will carry. Recipients do not see it.',
      resolve: ({ fields }) => fields.metadata,
    }),
    scheduledAt: t.string({
      nullable: true,
      description: 'Send time as given. A phrase such as `tomorrow at 9am` counts from the moment of sending.',
      resolve: ({ fields }) => fields.scheduledAt,
    }),
    timezone: t.string({
      nullable: true,
      description: 'IANA time zone of scheduledAt.',
      resolve: ({ fields }) => fields.timezone,
    }),
    withAttachments: t.boolean({
      description: 'Of a forward: whether it includes the attachments of the original.',
      resolve: ({ fields }) => fields.withAttachments ?? true,
    }),
    attachments: t.field({
      type: [DraftAttachment],
      description: 'Its own attachments, in order.',
      complexity: { field: 1, multiplier: USUAL_FILES },
      resolve: ({ attachments }) => attachments,
    }),
    isByKey: t.boolean({
      description: 'Whether an API key changed it last, and not a person in the dashboard.',
      resolve: ({ updatedByKeyId }) => updatedByKeyId !== null,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
  }),
});

const DraftFilter = builder.inputType('DraftFilter', {
  description: 'Filters a list of drafts. Omit a field or pass null to match all.',
  fields: (t) => ({
    threadId: t.id({ description: 'Matches drafts that answer emails of this thread.' }),
    originalEmailId: t.id({ description: 'Matches drafts that answer this email.' }),
  }),
});

builder.queryFields((t) => ({
  draft: t.field({
    type: DraftNode,
    access: access.read,
    nullable: true,
    description: 'Returns the draft with this ID, or null if the account has no such draft.',
    args: { id: t.arg.id({ required: true, description: 'ID of the draft.' }) },
    resolve: (_root, { id }) => id,
  }),
  drafts: t.connection(
    {
      type: DraftNode,
      access: access.read,
      description: 'Drafts, last changed first.',
      args: { filter: t.arg({ type: DraftFilter, description: 'Filters the drafts.' }) },
      complexity: connectionComplexity,
      resolve: async (_root, args, { reads }) => {
        const { threadId, originalEmailId } = args.filter ?? {};
        const query = { threadId, originalEmailId };
        const page = await connection<drafts.Draft>(
          args,
          ({ updatedAt, id }) => ({ at: updatedAt, id }),
          (span) => drafts.pageDrafts(reads, query, span),
        );
        return { ...page, count: () => drafts.countDrafts(reads, query) };
      },
    },
    { name: 'DraftConnection', description: 'A page of drafts.', fields: (c) => totalCount(c) },
    { name: 'DraftEdge', description: 'A draft and its cursor.' },
  ),
}));

const DraftAttachmentInput = builder.inputType('DraftAttachmentInput', {
  description: 'An attachment of a changed draft: one that it has, by its ID, or a new one with its content.',
  fields: (t) => ({
    id: t.id({ description: 'ID of an attachment of the draft, to keep it.' }),
    filename: t.string({ description: 'Of a new one: up to 255 characters.' }),
    content: t.string({ description: 'Of a new one: base64, or a `data:` URL with base64.' }),
    contentType: t.string({ description: 'Of a new one. By default it is derived from the file name.' }),
    contentId: t.string({ description: 'Of a new one: Content-ID that the HTML refers to as `cid:`.' }),
  }),
});

/** Fields that new drafts and changes share. */
function draftFields(t: InputBuilder) {
  const { attachments: _, ...content } = contentFields(t);
  return {
    from: t.string({ description: '`address` or `Name <address>`.' }),
    to: t.stringList({ description: 'To recipients, each `address` or `Name <address>`.' }),
    subject: t.string({ description: 'One line of up to 998 characters.' }),
    ...content,
    ...metadataField(t),
    listUnsubscribe: t.field({
      type: ListUnsubscribeInput,
      description: 'Adds List-Unsubscribe with a one-click link for the only recipient.',
    }),
    withAttachments: t.boolean({
      description: 'Of a forward: whether to include the attachments of the original. The default is true.',
    }),
  };
}

type DraftAttachmentGiven = typeof DraftAttachmentInput.$inferInput;
type HeadersGiven = readonly { name: string; value: string }[];

/** Converts the fields that are given; those that are missing stay undefined. */
function draftInputOf<
  Input extends {
    headers?: HeadersGiven | null | undefined;
    attachments?: readonly DraftAttachmentGiven[] | null | undefined;
    metadata?: unknown;
  },
>({ headers, attachments, metadata, ...fields }: Input) {
  return {
    ...fields,
    metadata: readMetadata(metadata),
    headers: headers == null ? headers : headersOf(headers),
    attachments: attachments == null ? attachments : attachments.map(attachmentOf),
  };
}

function attachmentOf(given: DraftAttachmentGiven, index: number): drafts.DraftAttachment {
  const { id, filename, content, contentType, contentId } = given;
  if (id != null) return { id };
  if (content == null)
    throw invalid(
      'An attachment needs the ID of one that the draft has, or its content',
      `attachments.${index}.content`,
    );
  return { filename: filename ?? null, content, contentType: contentType ?? null, contentId: contentId ?? null };
}

/** What a key without `read` needs to change the draft further. */
const SHOWN = ['Draft.version', 'Draft.updatedAt'];
const version = (t: InputBuilder) => t.int({ required: true, description: 'Version of the draft that you have read.' });

builder.mutationFields((t) => ({
  createDraft: t.fieldWithInput({
    type: DraftNode,
    access: { ...access.send, shows: SHOWN },
    description: 'Stores an email without sending it. Fields that are given must be valid; any can be missing.',
    errors: { dataField: { name: 'draft' } },
    input: {
      kind: t.input.field({ type: DraftKind, description: 'What it is sent as. The default is NEW.' }),
      originalEmailId: t.input.id({
        description: 'ID of the email that it replies to or forwards, or of a thread, for its latest email.',
      }),
      ...draftFields(t.input),
      attachments: contentFields(t.input).attachments,
    },
    resolve: async (_root, { input }, context) => {
      limitEntries(input);
      const { id } = await drafts.createDraft(context.operations, draftInputOf(input));
      forgetLoaded(context);
      return id;
    },
  }),
  updateDraft: t.fieldWithInput({
    type: DraftNode,
    access: { ...access.send, shows: SHOWN },
    description:
      'Changes the given fields of a draft; null clears a field. Returns Conflict with the code DRAFT_CHANGED if the draft is not at this version any more; its details name the present one.',
    errors: { dataField: { name: 'draft' } },
    input: {
      id: t.input.id({ required: true, description: 'ID of the draft.' }),
      version: version(t.input),
      ...draftFields(t.input),
      attachments: t.input.field({ type: [DraftAttachmentInput], description: 'All attachments, in order.' }),
    },
    resolve: async (_root, { input: { id, ...input } }, context) => {
      limitEntries(input);
      await drafts.updateDraft(context.operations, id, { ...draftInputOf(input), version: input.version });
      forgetLoaded(context);
      return id;
    },
  }),
  sendDraft: t.fieldWithInput({
    type: EmailNode,
    access: access.send,
    description:
      'Sends a draft, or schedules it, and removes it. Of several requests, one sends it. Returns Conflict with the code DRAFT_CHANGED if a version is given and the draft is not at it any more.',
    errors: { types: [SuppressedRecipient], dataField: { name: 'email' } },
    input: {
      id: t.input.id({ required: true, description: 'ID of the draft.' }),
      version: t.input.int({ description: 'Version to send. Without it, the present one is sent.' }),
      undoSeconds: t.input.int({
        description: `Seconds that the email waits, scheduled, before it is sent, up to ${MAX_POLICY_UNDO_SECONDS}. It can be cancelled meanwhile. The default is 0. A draft with a send time waits until then.`,
      }),
      ...claimField(t.input),
      ...idempotencyField(t.input),
    },
    resolve: async (_root, { input: { idempotencyKey, ...input } }, context) => {
      const idempotency = readIdempotency({ key: idempotencyKey, field: 'idempotencyKey' }, 'send-draft', input);
      const { receipt } = await sendDraft(context.operations, input, idempotency);
      forgetLoaded(context);
      const [email] = receipt.emails;
      if (email === undefined) throw new Error('a receipt without an email');
      return email.id;
    },
  }),
}));

const DeleteDraftPayload = builder.objectRef<{ deletedId: string }>('DeleteDraftPayload').implement({
  description: 'A deleted draft.',
  fields: (t) => ({ deletedId: t.exposeID('deletedId', { description: 'ID of the draft.' }) }),
});

builder.mutationField('deleteDraft', (t) =>
  t.fieldWithInput({
    type: DeleteDraftPayload,
    access: access.send,
    description: 'Deletes a draft with its attachments.',
    errors: { directResult: true },
    input: { id: t.input.id({ required: true, description: 'ID of the draft.' }) },
    resolve: async (_root, { input: { id } }, context) => {
      await drafts.deleteDraft(context.operations, id);
      forgetLoaded(context);
      return { deletedId: id };
    },
  }),
);
