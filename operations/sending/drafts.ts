import type pg from 'pg';
import { hasRight, rightMissing } from '../../core/accounts/rights.ts';
import { type DraftFields, type DraftKind, MAX_DRAFT_BYTES, MAX_DRAFTS } from '../../core/sending/draft.ts';
import type { GivenAttachment, OutgoingAttachment } from '../../core/sending/outgoing-attachments.ts';
import { UserError } from '../../core/shared/errors.ts';
import type { KeysetPage, Page } from '../../core/shared/page.ts';
import { storableText } from '../../core/shared/text.ts';
import type { Database, ReadLimit } from '../../db/connection/database.ts';
import { asWorkspace, inWorkspaceTransaction } from '../../db/connection/transaction.ts';
import * as rows from '../../db/queries/sending/draft.ts';
import { findOriginal } from '../../db/queries/sending/outgoing-original.ts';
import { requireSender, withFullAccess } from '../accounts/key-reach.ts';
import { invalid, isValidId, newIdentifier, type OperationContext } from '../context.ts';
import type { AttachmentFile } from '../emails/attachments.ts';
import { waitUntilParsed } from '../emails/pending-emails.ts';
import { checkDraft, type NewEmail } from './check-outgoing.ts';
import { makeExcerpt } from './compose-outgoing.ts';
import { parseSchedule } from './send-email.ts';
import { staleDraft } from './store-submissions.ts';

type DraftFile = rows.DraftFile;
export type DraftBodies = rows.DraftBodies;

/** An unsent email, without its bodies. */
export interface Draft extends Omit<rows.StoredDraft, 'textStart' | 'htmlStart' | 'textBytes' | 'htmlBytes'> {
  /** the beginning of its text */
  preview: string;
}

/** A draft with its bodies. */
export type DraftDetails = Draft & Omit<DraftBodies, 'id'>;

/** A file of a draft: a new one, or one that it has already, by its id. */
type DraftAttachment = GivenAttachment | { id: string };

/** Fields of a draft as in a send request; undefined: not given; null: none. */
export interface DraftInput extends Omit<NewEmail, 'attachments' | 'claimToken'> {
  /** all files, in order */
  attachments?: readonly DraftAttachment[] | null | undefined;
  /** of a forward: whether it carries the attachments of the original, which is the default */
  withAttachments?: boolean | null | undefined;
}

/** A new draft. */
export interface NewDraft extends DraftInput {
  /** `new` when omitted */
  kind?: DraftKind | null | undefined;
  /** the email that it replies to or forwards, or a thread, of which it is the latest email */
  originalEmailId?: string | null | undefined;
}

/** Filters of the list; omitted or null filters match all. */
interface DraftQuery {
  /** the thread of the original */
  threadId?: string | null | undefined;
  originalEmailId?: string | null | undefined;
}

/** Milliseconds that a change waits for another one of the user's drafts. */
const LOCK_TIMEOUT_MS = 3_000;

/** Stores a draft. Throws validation, forbidden, not_found (the original), conflict (too many drafts). */
export async function createDraft(context: OperationContext, input: NewDraft): Promise<DraftDetails> {
  const { workspaceId } = context;
  const kind = input.kind ?? 'new';
  const originalEmailId = await findDraftOriginal(context, kind, input.originalEmailId ?? null);
  const id = newIdentifier(context, 'draft');
  const { row, files } = prepare(context, kind, input, null);
  await change(context, id, row.sizeBytes, async (client) => {
    await rows.insertDraft(client, workspaceId, { id, kind, originalEmailId }, row);
    if (files !== null) await rows.replaceDraftFiles(client, workspaceId, id, files);
  });
  return readDraft(context, id);
}

/** Returns a page, last changed first, with the exact total. */
export async function listDrafts(
  { database, workspaceId }: OperationContext,
  query: DraftQuery,
  page: Page,
): Promise<{ drafts: Draft[]; total: number }> {
  const conditions = toConditions(query);
  const { drafts, total } = await asWorkspace(database, workspaceId, (transaction) =>
    rows.listDrafts(transaction, workspaceId, conditions, page),
  );
  return { drafts: drafts.map(toDraft), total };
}

/** Returns a page of drafts, last changed first; inverted: first changed first. */
export async function pageDrafts(
  { database, workspaceId }: OperationContext,
  query: DraftQuery,
  page: KeysetPage,
): Promise<Draft[]> {
  const conditions = toConditions(query);
  const found = await asWorkspace(database, workspaceId, (transaction) =>
    rows.pageDrafts(transaction, workspaceId, conditions, page),
  );
  return found.map(toDraft);
}

export function countDrafts({ database, workspaceId }: OperationContext, query: DraftQuery): Promise<number> {
  const conditions = toConditions(query);
  return asWorkspace(database, workspaceId, (transaction) => rows.countDrafts(transaction, workspaceId, conditions));
}

/** Returns one draft per id, null where the user has none. */
export async function loadDrafts(context: OperationContext, ids: readonly string[]): Promise<(Draft | null)[]> {
  const stored = await loadStored(context, ids);
  return stored.map((draft) => (draft === null ? null : toDraft(draft)));
}

/** Bodies of drafts up to this size are read at once; larger ones once there is room for them. Bytes. */
const MAX_BODIES_AT_ONCE = 262_144;

/** Returns the bodies of one draft per id, null where the user has none. Throws what ResponseRoom.load throws. */
export async function loadDraftBodies(
  { database, workspaceId, room }: OperationContext,
  ids: readonly string[],
): Promise<(DraftBodies | null)[]> {
  const read = (source: Database, maxBytes: number) =>
    asWorkspace(source, workspaceId, (transaction) =>
      rows.readDraftBodies(transaction, workspaceId, { ids: ids.filter(isValidId), maxBytes }),
    );
  let found = await read(database, MAX_BODIES_AT_ONCE);
  if ('bytes' in found) {
    // On a connection of its own, which holds up no other read of the request.
    const { reading: _, ...own } = database;
    found = await room.load(found.bytes, () => read(own, Number.MAX_SAFE_INTEGER));
  }
  const byId = new Map(('bytes' in found ? [] : found).map((bodies) => [bodies.id, bodies]));
  return ids.map((id) => byId.get(id) ?? null);
}

/** Returns a draft with its bodies. Throws not_found. */
export async function readDraft(context: OperationContext, id: string): Promise<DraftDetails> {
  const [draft, bodies] = await Promise.all([loadDrafts(context, [id]), loadDraftBodies(context, [id])]);
  if (draft[0] == null || bodies[0] == null) throw staleDraft(undefined);
  return { ...bodies[0], ...draft[0] };
}

/** Returns an attachment of a draft with its content. Throws not_found. */
export async function readDraftAttachment(
  context: OperationContext,
  id: string,
  attachmentId: string,
): Promise<AttachmentFile> {
  const found = await findDraftAttachment(context, id, attachmentId);
  if (found !== null) return found;
  const [draft] = await loadDrafts(context, [id]);
  throw draft == null ? staleDraft(undefined) : new UserError('not_found', 'The draft has no attachment with this ID');
}

/** Returns an attachment of a draft with its content; null when the user has no such draft, or it has no such attachment. */
async function findDraftAttachment(
  context: OperationContext,
  id: string,
  attachmentId: string,
): Promise<AttachmentFile | null> {
  const { database, workspaceId, room } = context;
  // Keys that reach single domains see only their drafts.
  const [draft] = await loadDrafts(context, [id]);
  const listed = draft?.attachments.find((each) => each.id === attachmentId);
  if (listed === undefined) return null;
  const { filename, contentType, sizeBytes } = listed;
  const content = await room.load(sizeBytes, () =>
    loadFile(database, workspaceId, { draftId: id, fileId: attachmentId }),
  );
  if (content === null && sizeBytes > 0) return null;
  return { filename, contentType, bytes: content ?? Buffer.alloc(0) };
}

/** Returns the content of a file of a draft, read on a connection of its own; null: it is gone, or empty. */
export function loadFile(
  database: Database,
  workspaceId: string,
  file: { draftId: string; fileId: string },
): Promise<Buffer | null> {
  const { reading: _, ...apart } = database;
  return asWorkspace(apart, workspaceId, (transaction) => rows.readDraftFile(transaction, workspaceId, file));
}

/**
 * Changes the given fields of a draft that has this version, which grows by one. Throws validation, forbidden, not_found, and conflict
 * (DRAFT_CHANGED) with the present version.
 */
export async function updateDraft(
  context: OperationContext,
  id: string,
  { version, ...input }: DraftInput & { version: number },
): Promise<DraftDetails> {
  const { workspaceId } = context;
  const draft = await findWritableDraft(context, id, 'Changing');
  if (draft.version !== version) throw staleDraft(draft.version);
  const { row, files } = prepare(context, draft.kind, input, draft);
  await change(context, id, row.sizeBytes, async (client) => {
    if (!(await rows.updateDraft(client, workspaceId, { id, version }, row))) {
      const versions = await rows.lockDrafts(client, workspaceId, [id]);
      throw staleDraft(versions.get(id));
    }
    if (files !== null) await rows.replaceDraftFiles(client, workspaceId, id, files);
  });
  return readDraft(context, id);
}

/** Deletes a draft. Throws forbidden, not_found, and conflict when it is changed at this moment. */
export async function deleteDraft(context: OperationContext, id: string): Promise<void> {
  const { workspaceId } = context;
  const { version } = await findWritableDraft(context, id, 'Deleting');
  await change(context, id, 0, async (client) => {
    const present = (await rows.lockDrafts(client, workspaceId, [id])).get(id);
    if (present !== version) throw staleDraft(present);
    await rows.removeDrafts(client, workspaceId, [id]);
  });
}

/**
 * Returns a draft that the request may write: a key without the scope `read` only what it wrote itself, because it could otherwise send
 * itself what others wrote. `action` begins the error. Throws not_found, forbidden.
 */
export async function findWritableDraft(
  context: OperationContext,
  id: string,
  action: string,
): Promise<rows.StoredDraft> {
  const [draft] = await loadStored(context, [id]);
  if (draft == null) throw staleDraft(undefined);
  const { rights } = context;
  if (!hasRight(rights, 'read') && draft.updatedByKeyId !== rights.keyId)
    throw rightMissing(`${action} a draft that this key did not write`, 'read', rights);
  return draft;
}

async function loadStored(
  { database, workspaceId }: OperationContext,
  ids: readonly string[],
): Promise<(rows.StoredDraft | null)[]> {
  const found = await asWorkspace(database, workspaceId, (transaction) =>
    rows.findDrafts(transaction, workspaceId, ids.filter(isValidId)),
  );
  const byId = new Map(found.map((draft) => [draft.id, draft]));
  return ids.map((id) => byId.get(id) ?? null);
}

/** Writes a draft of that size when the account has room for it, one change after the other. Throws conflict. */
async function change(
  context: OperationContext,
  id: string,
  sizeBytes: number,
  work: (client: pg.ClientBase) => Promise<void>,
): Promise<void> {
  const { database, workspaceId } = withFullAccess(context);
  const options = { locks: [{ name: 'draft' }], lockTimeoutMs: LOCK_TIMEOUT_MS };
  await inWorkspaceTransaction(database, workspaceId, options, async (client) => {
    if (sizeBytes > 0) requireRoom(await rows.measureDrafts(client, workspaceId, id), sizeBytes);
    await work(client);
  });
}

function requireRoom({ count, bytes }: { count: number; bytes: number }, sizeBytes: number): void {
  const full = (what: string) =>
    new UserError('conflict', `An account can have at most ${what}. Send or delete some of its drafts first.`, {
      reason: 'TOO_MANY_DRAFTS',
      isFinal: true,
    });
  if (count >= MAX_DRAFTS) throw full(`${MAX_DRAFTS} drafts`);
  if (bytes + sizeBytes > MAX_DRAFT_BYTES) throw full(`${MAX_DRAFT_BYTES} bytes of drafts`);
}

/** Returns the id of the original; null for a new email. Throws validation, not_found. */
async function findDraftOriginal(
  context: OperationContext,
  kind: DraftKind,
  originalEmailId: string | null,
): Promise<string | null> {
  const field = 'original_email_id';
  if (kind === 'new' && originalEmailId !== null)
    throw invalid('A draft of kind new has no original email. Set kind to reply, reply_all or forward.', field);
  if (kind === 'new') return null;
  if (originalEmailId === null) throw invalid(`A draft of kind ${kind} needs the original email`, field);
  const { database, workspaceId } = context;
  return waitUntilParsed(context, [originalEmailId], async () => {
    const found = isValidId(originalEmailId)
      ? await asWorkspace(database, workspaceId, (transaction) =>
          findOriginal(transaction, workspaceId, originalEmailId),
        )
      : null;
    if (found === null) throw new UserError('not_found', 'Email or thread not found');
    if (found.email.type === 'scheduled') throw invalid('The original email has not been sent yet', field);
    return found.email.id;
  });
}

/** Checks what is given, and returns the row and the files to write; null: the files stay. Throws validation, forbidden. */
function prepare(
  context: OperationContext,
  kind: DraftKind,
  { attachments, text, html, ...input }: DraftInput,
  draft: rows.StoredDraft | null,
): { row: rows.DraftRow; files: Parameters<typeof rows.replaceDraftFiles>[3] | null } {
  const given = attachments === undefined ? null : (attachments ?? []);
  if (kind === 'forward' && given !== null && given.length > 0)
    throw invalid('A forward carries the attachments of the original email, and no others', 'attachments');
  if (kind !== 'forward' && input.withAttachments != null)
    throw invalid('with_attachments is for drafts of kind forward', 'with_attachments');
  const kept = given === null ? (draft?.attachments ?? []) : listKept(given, draft?.attachments ?? []);
  const fileBytes = kept.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const fields = storable({ ...(draft?.fields ?? NO_FIELDS), ...withoutUndefined(input) });
  const added = (given ?? []).flatMap((file, index) => ('id' in file ? [] : [{ file, index }]));
  const checked = checkDraft(
    { ...fields, text, html, attachments: added.map(({ file }) => file) },
    {
      isNew: kind === 'new',
      kept: {
        textBytes: text === undefined ? (draft?.textBytes ?? 0) : 0,
        htmlBytes: html === undefined ? (draft?.htmlBytes ?? 0) : 0,
        files: kept.length,
        fileBytes,
      },
    },
  );
  const isRescheduled = fields.scheduledAt !== draft?.fields.scheduledAt || fields.timezone !== draft.fields.timezone;
  // A phrase such as `tomorrow at 9am` counts from the moment of sending.
  if (fields.scheduledAt !== null && isRescheduled)
    parseSchedule(
      { sendAt: { text: fields.scheduledAt, timezone: fields.timezone ?? 'UTC' }, path: '' },
      context.now(),
    );
  if (checked.sender !== null)
    requireSender(context, { sender: checked.sender, domain: checked.sender.domain, path: '' });
  const newBytes = checked.attachments.reduce((sum, { content }) => sum + content.length, 0);
  const bodyBytes = [
    text === undefined ? (draft?.textBytes ?? 0) : Buffer.byteLength(text ?? ''),
    html === undefined ? (draft?.htmlBytes ?? 0) : Buffer.byteLength(html ?? ''),
  ];
  const row = {
    fields,
    ...(checked.sender === null
      ? ownerWithoutSender(context.database.limit)
      : { ownDomain: checked.sender.domain, ownAddress: checked.sender.address.toLowerCase() }),
    text: text == null ? text : storableText(text),
    html: html == null ? html : storableText(html),
    sizeBytes:
      Buffer.byteLength(JSON.stringify(fields)) + bodyBytes.reduce((sum, bytes) => sum + bytes, fileBytes + newBytes),
    keyId: context.rights.keyId,
  };
  return { row, files: given === null ? null : toFiles(context, given, checked.attachments) };
}

/** Returns the files of the draft that are named. Throws validation for others. */
/** Returns whose draft it is while it has no sender: of the first domain or address that the key can access. */
function ownerWithoutSender(limit: ReadLimit | undefined) {
  const [domain] = limit?.domains ?? [];
  const [address] = limit?.addresses ?? [];
  if (domain !== undefined || address === undefined) return { ownDomain: domain?.name ?? null, ownAddress: null };
  return { ownDomain: address.slice(address.lastIndexOf('@') + 1), ownAddress: address };
}

function listKept(given: readonly DraftAttachment[], present: readonly DraftFile[]): DraftFile[] {
  const left = new Map(present.map((file) => [file.id, file]));
  return given.flatMap((file, index) => {
    if (!('id' in file)) return [];
    const kept = left.get(file.id);
    if (kept === undefined) throw invalid('The draft has no attachment with this ID', `attachments.${index}.id`);
    left.delete(file.id);
    return [kept];
  });
}

function toFiles(
  context: OperationContext,
  given: readonly DraftAttachment[],
  added: readonly OutgoingAttachment[],
): Parameters<typeof rows.replaceDraftFiles>[3] {
  const left = [...added];
  return given.map((file) => {
    if ('id' in file) return { id: file.id };
    const next = left.shift();
    if (next === undefined) throw new Error('an attachment was not read');
    return { id: newIdentifier(context, 'attachment'), ...next, filename: storableText(next.filename) };
  });
}

const NO_FIELDS: DraftFields = {
  from: null,
  to: null,
  cc: null,
  bcc: null,
  replyTo: null,
  subject: null,
  headers: null,
  tags: null,
  metadata: null,
  listUnsubscribe: null,
  scheduledAt: null,
  timezone: null,
  withAttachments: null,
};

function withoutUndefined(input: Omit<DraftInput, 'attachments' | 'text' | 'html'>): Partial<DraftFields> {
  return Object.fromEntries(Object.entries(input).filter(([name, value]) => name in NO_FIELDS && value !== undefined));
}

/** Returns the fields with all texts in a form that JSON of PostgreSQL accepts. */
function storable(fields: DraftFields): DraftFields {
  return JSON.parse(JSON.stringify(fields), (_, value: unknown) =>
    typeof value === 'string' ? storableText(value) : value,
  ) as DraftFields;
}

function toDraft(stored: rows.StoredDraft): Draft {
  const { textStart, htmlStart, textBytes: _, htmlBytes: __, ...draft } = stored;
  return { ...draft, preview: makeExcerpt(textStart === '' ? null : textStart, htmlStart) };
}

function toConditions({ threadId, originalEmailId }: DraftQuery): rows.DraftConditions {
  const readId = (given: string | null | undefined) => (given == null ? null : storableText(given));
  return { threadId: readId(threadId), originalEmailId: readId(originalEmailId) };
}
