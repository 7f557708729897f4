import { z } from 'zod';
import * as drafts from '../../../operations/sending/drafts.ts';
import { readIdempotency } from '../../../operations/sending/idempotency.ts';
import { sendDraft } from '../../../operations/sending/send-draft.ts';
import { text } from '../../../schema/input-shapes.ts';
import { access } from '../../admission/access.ts';
import { draftChange, draftInputOf, draftSummary, draftSummaryOf, newDraft } from '../../rest/sending/drafts.ts';
import { sendBody } from '../../rest/sending/outgoing-shapes.ts';
import { shortText, textPart } from '../bounded-text.ts';
import { keysetPage, nextCursor, pageInput, pageOf, untrustedShape } from '../shapes.ts';
import { defineTool, idempotencyKey } from '../tool.ts';
import { type BodyChoice, bodyChoice, MAX_SENDER, MAX_SUBJECT } from './email-shapes.ts';
import { KEY, sent, sentOf } from './sending.ts';

/** Addresses of one field, and attachments, in a result. */
const MAX_ADDRESSES = 100;
const MAX_ATTACHMENTS = 100;
/** Characters of the body of a draft that was just written. */
const WRITTEN_BODY = 1_000;

const draftId = z.string().meta({ description: 'ID of the draft.' });
const version = draftChange.shape.version;
const { id: _id, attachments, preview, subject, ...summary } = draftSummary.shape;
const addressList = z.array(z.string());

const ownFields = {
  id: draftSummary.shape.id,
  version: summary.version,
  kind: summary.kind,
  original_email_id: summary.original_email_id,
  thread_id: summary.thread_id,
  updated_by_key_id: summary.updated_by_key_id,
  created_at: summary.created_at,
  updated_at: summary.updated_at,
};
const untrustedFields = { from: z.string().nullable(), to: addressList, cc: addressList, bcc: addressList, subject };

const listedDraft = z.object({ ...ownFields, untrusted: untrustedShape({ ...untrustedFields, preview }) });

const openedDraft = z.object({
  ...ownFields,
  scheduled_at: summary.scheduled_at,
  timezone: summary.timezone,
  with_attachments: summary.with_attachments,
  body: z.enum(['text', 'html']).meta({ description: 'Which body `untrusted.text` is.' }),
  has_html: z.boolean(),
  next_offset: z.int().nullable().meta({ description: 'Pass it as `offset` to read on. Null: the body ends here.' }),
  is_complete: z.boolean().meta({ description: 'Whether all addresses and attachments are listed.' }),
  untrusted: untrustedShape({
    ...untrustedFields,
    reply_to: addressList,
    text: z.string(),
    attachments: z.array(attachments.element.omit({ content_id: true })),
  }),
});

export const createDraftTool = defineTool({
  name: 'create_draft',
  title: 'Create a draft',
  description:
    'Stores an email without sending it, for the user to check or for send_draft. For a reply or forward, set `kind` and `original_email_id`. All fields are optional.',
  access: access.send,
  effect: 'adds',
  input: newDraft.meta({}),
  output: openedDraft,
  async run(context, { kind, original_email_id: originalEmailId, ...body }) {
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
    thread_id: text.optional().meta({ description: 'Returns drafts that answer emails of this thread only.' }),
    original_email_id: text.optional().meta({ description: 'Returns drafts that answer this email only.' }),
    ...pageInput,
  }),
  output: z.object({ drafts: z.array(listedDraft), next_cursor: nextCursor }),
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
    'Changes the given fields of a draft; null clears a field. If someone else changed the draft since `version`, nothing is changed: read it again.',
  access: access.send,
  effect: 'replaces',
  input: draftChange.extend({ draft_id: draftId }).meta({ required: ['draft_id', 'version'] }),
  output: openedDraft,
  async run(context, { draft_id: id, version: read, ...body }) {
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
      claim_token: sendBody.shape.claim_token,
      [KEY]: idempotencyKey,
    })
    .meta({ required: ['draft_id'] }),
  output: sent,
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
