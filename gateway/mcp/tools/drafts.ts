import { z } from 'zod';
import { DRAFT_KINDS } from '../../../core/sending/draft.ts';
import { text } from '../../../operations/capability/field-shapes.ts';
import * as drafts from '../../../operations/sending/drafts.ts';
import { readIdempotency } from '../../../operations/sending/idempotency.ts';
import { sendDraft } from '../../../operations/sending/send-draft.ts';
import { access } from '../../admission/access.ts';
import { draftChange, draftInputOf, draftSummary, draftSummaryOf, newDraft } from '../../rest/sending/drafts.ts';
import { shortText, textPart } from '../bounded-text.ts';
import { anyObjectOrNull, listedInWords } from '../json-schema.ts';
import { keysetPage, nextCursor, pageInput, pageOf, untrustedShape } from '../shapes.ts';
import { defineTool, idempotencyKey } from '../tool.ts';
import { claimToken, content, draftAttachments, envelope, listUnsubscribe } from './content-shapes.ts';
import { type BodyChoice, bodyChoice, MAX_SENDER, MAX_SUBJECT } from './email-shapes.ts';
import { KEY, sentAsListed, sentOf } from './sending.ts';

/** Addresses of one field, and attachments, in a result. */
const MAX_ADDRESSES = 100;
const MAX_ATTACHMENTS = 100;
/** Characters of the body of a draft that was just written. */
const WRITTEN_BODY = 1_000;

const draftId = z.string();
const version = draftChange.shape.version.meta({ description: 'As you have read it.' });
const { id: _id, attachments, preview, subject, ...summary } = draftSummary.shape;
const addressList = z.array(z.string());

const ownFields = {
  id: draftSummary.shape.id,
  version: z.int(),
  kind: summary.kind,
  original_email_id: z.string().nullable(),
  thread_id: z.string().nullable(),
  updated_by_key_id: z.string().nullable(),
  created_at: summary.created_at,
  updated_at: summary.updated_at,
};
const untrustedFields = { from: z.string().nullable(), to: addressList, cc: addressList, bcc: addressList, subject };

const listedDraft = z.object({ ...ownFields, untrusted: untrustedShape({ ...untrustedFields, preview }) });

const openedDraft = z.object({
  ...ownFields,
  scheduled_at: z.string().nullable(),
  timezone: summary.timezone,
  with_attachments: summary.with_attachments,
  metadata: summary.metadata.meta(anyObjectOrNull),
  body: z.enum(['text', 'html']),
  has_html: z.boolean(),
  next_offset: z.int().nullable(),
  is_complete: z.boolean(),
  untrusted: untrustedShape({
    ...untrustedFields,
    reply_to: addressList,
    text: z.string(),
    attachments: z.array(
      attachments.element.omit({ content_id: true }).meta(listedInWords('`id`, `filename`, `content_type`, `size`.')),
    ),
  }),
});

const writtenDraft = openedDraft.meta(listedInWords('The draft, as read_draft returns it.'));

const draftFields = {
  ...envelope,
  ...content,
  list_unsubscribe: listUnsubscribe,
  with_attachments: z.boolean().nullish().meta({ description: 'Of a forward.' }),
};

export const createDraftTool = defineTool({
  name: 'create_draft',
  title: 'Create a draft',
  description:
    'Stores an email without sending it, for the user to check or for send_draft. For a reply or forward, set `kind` and `original_email_id`.',
  access: access.send,
  effect: 'adds',
  input: z.object({
    kind: z.enum(DRAFT_KINDS).nullish(),
    original_email_id: text.nullish().meta({ description: 'ID of an email, or of a thread for its latest email.' }),
    ...draftFields,
    attachments: content.attachments,
  }),
  output: writtenDraft,
  async run(context, given) {
    const { kind, original_email_id: originalEmailId, ...body } = newDraft.parse(given);
    return openedOf(await drafts.createDraft(context, { kind, originalEmailId, ...draftInputOf(body) }), WRITTEN);
  },
});

export const listDraftsTool = defineTool({
  name: 'list_drafts',
  title: 'List drafts',
  description: 'Returns drafts, last changed first.',
  access: access.read,
  effect: 'reads mail',
  input: z.object({
    thread_id: text.optional().meta({ description: 'Only drafts that answer emails of this thread.' }),
    original_email_id: text.optional().meta({ description: 'Only drafts that answer this email.' }),
    ...pageInput,
  }),
  output: z.object({
    drafts: z.array(
      listedDraft.meta(listedInWords('As read_draft returns it, with `untrusted.preview` in place of the body.')),
    ),
    next_cursor: nextCursor,
  }),
  async run(context, { thread_id: threadId, original_email_id: originalEmailId, ...page }) {
    const rows = await drafts.pageDrafts(context, { threadId, originalEmailId }, keysetPage(page));
    const found = pageOf(rows, page.limit, ({ updatedAt: at, id }) => ({ at, id }));
    return { drafts: found.rows.map(listedOf), next_cursor: found.nextCursor };
  },
});

export const readDraftTool = defineTool({
  name: 'read_draft',
  title: 'Read a draft',
  description: 'Returns a draft with its version and its text.',
  access: access.read,
  effect: 'reads mail',
  input: z.object({ draft_id: draftId, ...bodyChoice }),
  output: openedDraft,
  async run(context, { draft_id: id, body, offset, max_chars: limit }) {
    return openedOf(await drafts.readDraft(context, id), { body, offset, limit });
  },
});

export const updateDraftTool = defineTool({
  name: 'update_draft',
  title: 'Update a draft',
  description:
    'Changes the given fields of a draft; null clears a field. If someone changed it since `version`, nothing changes: read it again.',
  access: access.send,
  effect: 'replaces',
  input: z
    .object({ draft_id: draftId, version, ...draftFields, attachments: draftAttachments })
    .meta({ required: ['draft_id', 'version'] }),
  output: writtenDraft,
  async run(context, { draft_id: id, ...given }) {
    const { version: read, ...body } = draftChange.parse(given);
    return openedOf(await drafts.updateDraft(context, id, { version: read, ...draftInputOf(body) }), WRITTEN);
  },
});

export const deleteDraftTool = defineTool({
  name: 'delete_draft',
  title: 'Delete a draft',
  description: 'Deletes a draft with its attachments.',
  access: access.send,
  effect: 'cancels',
  input: z.object({ draft_id: draftId }),
  output: z.object({ id: z.string(), deleted: z.literal(true) }),
  async run(context, { draft_id: id }) {
    await drafts.deleteDraft(context, id);
    return { id, deleted: true as const };
  },
});

export const sendDraftTool = defineTool({
  name: 'send_draft',
  title: 'Send a draft',
  description:
    'Sends a draft as a new email, reply or forward, and removes it. If `version` is given and someone changed it since, nothing is sent: read it again.',
  access: access.send,
  effect: 'sends',
  input: z
    .object({
      draft_id: draftId,
      version: version.optional(),
      claim_token: claimToken,
      [KEY]: idempotencyKey,
    })
    .meta({ required: ['draft_id'] }),
  output: sentAsListed,
  async run(context, { draft_id: id, idempotency_key: key, ...body }) {
    // In the form of REST, so that a key also replays what was sent there.
    const idempotency = readIdempotency({ key, field: KEY }, 'send-draft', [id, body]);
    return sentOf(await sendDraft(context, { id, version: body.version, claimToken: body.claim_token }, idempotency));
  },
});

const WRITTEN: BodyChoice = { body: 'text', offset: 0, limit: WRITTEN_BODY };

function listedOf(draft: drafts.Draft): z.input<typeof listedDraft> {
  const { preview: start, ...own } = draftSummaryOf(draft);
  return { ...own, untrusted: { ...addressesOf(own), preview: start } };
}

function openedOf(draft: drafts.DraftDetails, { body, offset, limit }: BodyChoice): z.input<typeof openedDraft> {
  const own = draftSummaryOf(draft);
  const part = textPart((body === 'html' ? draft.html : draft.text) ?? '', offset, limit);
  const lists = [own.to, own.cc, own.bcc, own.reply_to].map(listOf);
  return {
    ...own,
    body,
    has_html: draft.html !== null,
    next_offset: part.nextOffset,
    is_complete: lists.every(({ length }) => length <= MAX_ADDRESSES) && own.attachments.length <= MAX_ATTACHMENTS,
    untrusted: {
      ...addressesOf(own),
      reply_to: shortList(own.reply_to),
      text: part.text,
      attachments: own.attachments.slice(0, MAX_ATTACHMENTS),
    },
  };
}

function addressesOf(own: Pick<z.infer<typeof draftSummary>, 'from' | 'to' | 'cc' | 'bcc' | 'subject'>) {
  return {
    from: own.from === null ? null : shortText(own.from, MAX_SENDER),
    to: shortList(own.to),
    cc: shortList(own.cc),
    bcc: shortList(own.bcc),
    subject: own.subject === null ? null : shortText(own.subject, MAX_SUBJECT),
  };
}

function shortList(given: string | string[] | null): string[] {
  return listOf(given)
    .slice(0, MAX_ADDRESSES)
    .map((address) => shortText(address, MAX_SENDER));
}

function listOf(given: string | string[] | null): string[] {
  return given === null ? [] : typeof given === 'string' ? [given] : given;
}
