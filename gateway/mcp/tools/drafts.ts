import { z } from 'zod';
import { DRAFT_KINDS } from '../../../core/sending/draft.ts';
import { text } from '../../../operations/capability/field-shapes.ts';
import type { OperationContext } from '../../../operations/context.ts';
import { readList } from '../../../operations/sending/draft-capability.ts';
import * as drafts from '../../../operations/sending/drafts.ts';
import { readIdempotency } from '../../../operations/sending/idempotency.ts';
import { sendDraft } from '../../../operations/sending/send-draft.ts';
import { access } from '../../admission/access.ts';
import { draftChange, newDraft, readDraftChange, readNewDraft, writeDraftSummary } from '../../rest/sending/drafts.ts';
import { instant } from '../../rest/shapes.ts';
import { shortText, textPart } from '../bounded-text.ts';
import { anyObjectOrNull, listedInWords } from '../json-schema.ts';
import { cutPage, keysetPage, nextCursor, pageInput, untrustedShape } from '../shapes.ts';
import { defineTool, idempotencyKey } from '../tool.ts';
import { claimToken, draftAttachments, outgoing } from './content-shapes.ts';
import { type BodyChoice, bodyChoice, MAX_SENDER, MAX_SUBJECT } from './email-shapes.ts';
import { describeSent, KEY, sent } from './sending.ts';

/** Addresses of one field, and attachments, in a result. */
const MAX_ADDRESSES = 100;
const MAX_ATTACHMENTS = 100;
/** Characters of the body of a draft that was just written. */
const WRITTEN_BODY = 1_000;

const draftId = z.string();
const version = z.int().min(1).meta({ description: 'As you have read it.' });
const addressList = z.array(z.string());

const ownFields = {
  id: z.string(),
  version: z.int(),
  kind: z.enum(DRAFT_KINDS),
  original_email_id: z.string().nullable(),
  thread_id: z.string().nullable(),
  updated_by_key_id: z.string().nullable(),
  created_at: instant,
  updated_at: instant,
};
const untrustedFields = {
  from: z.string().nullable(),
  to: addressList,
  cc: addressList,
  bcc: addressList,
  subject: z.string().nullable(),
};

const listedDraft = z.object({ ...ownFields, untrusted: untrustedShape({ ...untrustedFields, preview: z.string() }) });

const openedDraft = z.object({
  ...ownFields,
  scheduled_at: z.string().nullable(),
  timezone: z.string().nullable(),
  with_attachments: z.boolean().nullable(),
  metadata: z.record(z.string(), z.unknown()).nullable().meta(anyObjectOrNull),
  body: z.enum(['text', 'html']),
  has_html: z.boolean(),
  next_offset: z.int().nullable(),
  is_complete: z.boolean(),
  untrusted: untrustedShape({
    ...untrustedFields,
    reply_to: addressList,
    text: z.string(),
    attachments: z.array(z.object({ id: z.string(), filename: z.string(), content_type: z.string(), size: z.int() })),
  }),
});

const draftFields = {
  ...outgoing,
  with_attachments: z.boolean().nullish().meta({ description: 'Of a forward.' }),
};

export const createDraftTool = defineTool({
  name: 'create_draft',
  title: 'Create a draft',
  description:
    'Stores an email without sending it, for the user to check or for send_draft. Fields are those of send_email. For a reply or forward, set `kind` and `original_email_id`.',
  access: access.send,
  effect: 'adds',
  input: z.object({
    kind: z.enum(DRAFT_KINDS).nullish(),
    original_email_id: text.nullish().meta({ description: 'That of a thread means its latest email.' }),
    ...draftFields,
  }),
  output: openedDraft,
  async run(context, given) {
    return writeOpened(context, await drafts.createDraft(context, readNewDraft(newDraft.parse(given))), WRITTEN);
  },
});

export const listDraftsTool = defineTool({
  name: 'list_drafts',
  title: 'List drafts',
  description: 'Returns drafts, last changed first: all, or only drafts that answer a thread or an email.',
  access: access.read,
  effect: 'reads mail',
  input: z.object({
    thread_id: text.optional(),
    original_email_id: text.optional(),
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
    const found = cutPage(rows, page.limit, ({ updatedAt: at, id }) => ({ at, id }));
    return { drafts: found.rows.map((row) => writeListed(context, row)), next_cursor: found.nextCursor };
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
    return writeOpened(context, await drafts.readDraft(context, id), { body, offset, limit });
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
  output: openedDraft,
  async run(context, { draft_id: id, ...given }) {
    const change = readDraftChange(draftChange.parse(given));
    return writeOpened(context, await drafts.updateDraft(context, id, change), WRITTEN);
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
  output: sent,
  async run(context, { draft_id: id, idempotency_key: key, ...body }) {
    // In the form of REST, so that a key also replays what was sent there.
    const idempotency = readIdempotency({ key, field: KEY }, 'send-draft', [id, body]);
    return describeSent(
      await sendDraft(context, { id, version: body.version, claimToken: body.claim_token }, idempotency),
    );
  },
});

const WRITTEN: BodyChoice = { body: 'text', offset: 0, limit: WRITTEN_BODY };

function writeListed(context: OperationContext, draft: drafts.Draft): z.input<typeof listedDraft> {
  return { ...readOwn(context, draft), untrusted: { ...writeEnvelope(draft), preview: draft.preview } };
}

/** Returns the fields that no one else wrote, in the names of REST. */
function readOwn(context: OperationContext, draft: drafts.Draft) {
  return writeDraftSummary(context, draft) as z.input<typeof openedDraft>;
}

function writeOpened(
  context: OperationContext,
  draft: drafts.DraftDetails,
  { body, offset, limit }: BodyChoice,
): z.input<typeof openedDraft> {
  const { fields, attachments } = draft;
  const part = textPart((body === 'html' ? draft.html : draft.text) ?? '', offset, limit);
  const lists = [fields.to, fields.cc, fields.bcc, fields.replyTo].map(readList);
  return {
    ...readOwn(context, draft),
    body,
    has_html: draft.html !== null,
    next_offset: part.nextOffset,
    is_complete: lists.every(({ length }) => length <= MAX_ADDRESSES) && attachments.length <= MAX_ATTACHMENTS,
    untrusted: {
      ...writeEnvelope(draft),
      reply_to: shortList(fields.replyTo),
      text: part.text,
      attachments: attachments.slice(0, MAX_ATTACHMENTS).map(({ id, filename, contentType, sizeBytes }) => ({
        id,
        filename,
        content_type: contentType,
        size: sizeBytes,
      })),
    },
  };
}

function writeEnvelope({ fields: { from, to, cc, bcc, subject } }: drafts.Draft) {
  return {
    from: from === null ? null : shortText(from, MAX_SENDER),
    to: shortList(to),
    cc: shortList(cc),
    bcc: shortList(bcc),
    subject: subject === null ? null : shortText(subject, MAX_SUBJECT),
  };
}

function shortList(given: string | readonly string[] | null): string[] {
  return readList(given)
    .slice(0, MAX_ADDRESSES)
    .map((address) => shortText(address, MAX_SENDER));
}
