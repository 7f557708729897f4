import { MAX_POLICY_UNDO_SECONDS } from '../../core/sending/send-policy.ts';
import { UserError } from '../../core/shared/errors.ts';
import { freeBytes } from '../../core/shared/free-bytes.ts';
import { wholeText } from '../../core/shared/large-text.ts';
import type { StoredDraft } from '../../db/queries/sending/draft.ts';
import { authorizeEmailChange } from '../accounts/key-reach.ts';
import { invalid, type OperationContext } from '../context.ts';
import { UNBOUNDED_ROOM } from '../response-room.ts';
import type { NewEmail } from './check-outgoing.ts';
import { inComposingTurn } from './composing-turns.ts';
import { findWritableDraft, loadDraftBodies, loadFile } from './drafts.ts';
import { forwardEmail, readOriginalBytes } from './forward-email.ts';
import type { Accepted, Idempotency } from './idempotency.ts';
import { sendReply } from './replies.ts';
import { replayOrNow, sendEmail } from './send-email.ts';
import { staleDraft } from './store-submissions.ts';

/** What sending a draft needs. */
export interface DraftSending {
  id: string;
  /** the version to send; without it, the present one */
  version?: number | null | undefined;
  /** of the claim of the thread that it replies to; see NewEmail */
  claimToken?: string | null | undefined;
  /** seconds that the email waits, scheduled, so that it can be cancelled; 0 by default */
  undoSeconds?: number | null | undefined;
}

/**
 * Sends a draft, if it has the given version, as sendEmail, sendReply or forwardEmail would, and removes it in the transaction that stores the
 * email: of several requests, one sends it. Throws what they throw, not_found, and conflict (DRAFT_CHANGED) with the present version.
 */
export async function sendDraft(
  context: OperationContext,
  { id, version: expected, claimToken, undoSeconds: given }: DraftSending,
  idempotency: Idempotency | null,
): Promise<Accepted> {
  const undoSeconds = given ?? 0;
  if (!Number.isInteger(undoSeconds) || undoSeconds < 0 || undoSeconds > MAX_POLICY_UNDO_SECONDS)
    throw invalid(`undo_seconds must be a whole number from 0 to ${MAX_POLICY_UNDO_SECONDS}`, 'undo_seconds');
  let draft: StoredDraft;
  try {
    draft = await findWritableDraft(context, id, 'Sending');
  } catch (error) {
    if (!(error instanceof UserError) || error.code !== 'not_found') throw error;
    return findReplay(context, idempotency);
  }
  const { kind, originalEmailId, version } = draft;
  if (expected != null && expected !== version) throw staleDraft(version);
  const withAttachments = draft.fields.withAttachments === false ? ('none' as const) : ('all' as const);
  const included =
    kind === 'forward' && originalEmailId !== null
      ? await readOriginalBytes(context, originalEmailId, withAttachments).catch(async (error: unknown) => {
          throw await explain(context, id, error);
        })
      : 0;
  return inComposingTurn(context, draftBytes(draft) + included, () =>
    sendRead(context, { draft, claimToken, undoSeconds, withAttachments }, idempotency),
  );
}

/** Reads a draft, and sends it. */
async function sendRead(
  context: OperationContext,
  {
    draft,
    claimToken,
    undoSeconds,
    withAttachments: attachments,
  }: Pick<DraftSending, 'claimToken'> & { draft: StoredDraft; undoSeconds: number; withAttachments: 'all' | 'none' },
  idempotency: Idempotency | null,
): Promise<Accepted> {
  const { id, kind, originalEmailId, version } = draft;
  const sent = { id, version, undoSeconds };
  const content = await readEmail(context, draft);
  // Another request has sent it in this moment.
  if (content === null) return findReplay(context, idempotency);
  const email = { ...content, claimToken };
  if (kind === 'new' || originalEmailId === null) return sendEmail(context, email, idempotency, sent);
  try {
    if (kind === 'forward')
      return await forwardEmail(context, originalEmailId, { ...email, attachments }, idempotency, sent);
    const audience = kind === 'reply_all' ? ('all' as const) : ('sender' as const);
    return await sendReply(context, originalEmailId, { ...email, audience }, idempotency, sent);
  } catch (error) {
    throw await explain(context, id, error);
  }
}

/** The draft is gone, perhaps because an earlier request with the same key sent it. Throws not_found otherwise. */
async function findReplay(context: OperationContext, idempotency: Idempotency | null): Promise<Accepted> {
  const before = idempotency === null ? null : await replayOrNow(context, idempotency);
  if (before === null || !('receipt' in before)) throw staleDraft(undefined);
  // The keys of the whole account were searched.
  for (const email of before.receipt.emails) await authorizeEmailChange(context, email.id, () => staleDraft(undefined));
  return before;
}

/** Returns the email that the draft is now; null when it is gone. Throws what ResponseRoom.load throws. */
async function readEmail(context: OperationContext, draft: StoredDraft): Promise<NewEmail | null> {
  const { database, workspaceId, room } = context;
  const { id, fields, attachments: listed } = draft;
  return room.load(draftBytes(draft), async () => {
    const [bodies = null] = await loadDraftBodies({ ...context, room: UNBOUNDED_ROOM }, [id]);
    if (bodies === null) return null;
    const attachments = [];
    for (const { id: fileId, filename, contentType, contentId } of listed) {
      const bytes = (await loadFile(database, workspaceId, { draftId: id, fileId })) ?? Buffer.alloc(0);
      attachments.push({ filename, content: bytes.toString('base64'), contentType, contentId });
      freeBytes(bytes);
    }
    return { ...fields, text: wholeText(bodies.text), html: wholeText(bodies.html), attachments };
  });
}

function draftBytes({ textBytes, htmlBytes, attachments }: StoredDraft): number {
  return attachments.reduce((sum, { sizeBytes }) => sum + sizeBytes, textBytes + htmlBytes);
}

/** Returns the error to throw: not_found is about the original, unless the draft itself is gone. */
async function explain(context: OperationContext, id: string, error: unknown): Promise<unknown> {
  if (!(error instanceof UserError) || error.code !== 'not_found') return error;
  const message = 'The email that this draft answers no longer exists. Send its content as a new draft.';
  return findWritableDraft(context, id, 'Sending').then(
    () => invalid(message, 'original_email_id'),
    () => error,
  );
}
