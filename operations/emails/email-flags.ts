import { UserError } from '../../core/shared/errors.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import {
  appendEvents,
  type EmailFlags,
  type LockedEmail,
  lockEmails,
  setFlags,
} from '../../db/queries/emails/email-flags.ts';
import { requireReachedEmails, withFullAccess } from '../accounts/key-reach.ts';
import { emailNotFound, inTrash, invalid, isValidId, newIdentifier, type OperationContext } from '../context.ts';
import { waitUntilParsed } from './pending-emails.ts';

/** Emails per call. */
export const MAX_EMAILS = 100;

/** A received email after a change. */
export interface FlaggedEmail {
  id: string;
  isRead: boolean;
  isArchived: boolean;
  updatedAt: Date;
}

/** Sets the read and archived flags of a received email. Throws not_found, validation. */
export async function updateEmail(
  context: OperationContext,
  emailId: string,
  flags: EmailFlags,
): Promise<FlaggedEmail> {
  const [updated] = await waitUntilParsed(context, [emailId], () => update(context, [emailId], flags));
  if (updated === undefined) throw emailNotFound();
  return updated;
}

/**
 * Sets the flags of all the received emails or of none, and returns them in the order of the ids. Throws as
 * updateEmail.
 */
export async function updateEmails(
  context: OperationContext,
  emailIds: readonly string[],
  flags: EmailFlags,
): Promise<FlaggedEmail[]> {
  if (emailIds.length === 0 || emailIds.length > MAX_EMAILS) throw invalid(`Give 1 to ${MAX_EMAILS} emails`, 'ids');
  return waitUntilParsed(context, emailIds, () => update(context, emailIds, flags));
}

async function update(
  context: OperationContext,
  emailIds: readonly string[],
  flags: EmailFlags,
): Promise<FlaggedEmail[]> {
  if (flags.isRead === undefined && flags.isArchived === undefined)
    throw invalid('At least one field must be provided: is_read, is_archived', 'is_read');
  const { bus, database, workspaceId } = withFullAccess(context);
  const ids = [...new Set(emailIds)];
  if (!ids.every(isValidId)) throw emailNotFound();
  await requireReachedEmails(context, ids);
  const { updated, lastSeq } = await asWorkspace(database, workspaceId, async (transaction) => {
    const { events, ...changed } = await flagEmails(context, transaction, ids, flags);
    return { ...changed, lastSeq: events.length === 0 ? null : await appendEvents(transaction, workspaceId, events) };
  });
  if (lastSeq !== null) bus.publish('event.appended', { workspaceId, lastSeq });
  return ids.flatMap((id) => updated.get(id) ?? []);
}

/**
 * Sets flags of received emails within a transaction, which appends the returned events last. Throws not_found,
 * validation.
 */
export async function flagEmails(
  context: Pick<OperationContext, 'workspaceId' | 'now' | 'random'>,
  transaction: Transaction,
  ids: readonly string[],
  flags: EmailFlags,
): Promise<{ updated: Map<string, FlaggedEmail>; events: FlagEvent[] }> {
  const { workspaceId } = context;
  const locked = await lockEmails(transaction, workspaceId, ids);
  if (locked.length < ids.length) throw emailNotFound();
  if (locked.some(({ type }) => type !== 'received'))
    throw new UserError('validation', 'Only received emails can be updated', { isOfState: true });
  if (locked.some(({ isTrashed }) => isTrashed)) throw inTrash('This email');
  const updatedAt = await setFlags(transaction, workspaceId, ids, flags);
  const events = locked
    .flatMap((email) => listFlagEvents(email, flags))
    .map((event) => ({ id: newIdentifier(context, 'event'), ...event }));
  return { updated: new Map(locked.map((email) => [email.id, { ...flagged(email, flags), updatedAt }])), events };
}

type Transaction = Parameters<typeof setFlags>[0];
type FlagEvent = { id: string } & ReturnType<typeof listFlagEvents>[number];

function flagged(before: LockedEmail, flags: EmailFlags) {
  const { id } = before;
  return { id, isRead: flags.isRead ?? before.isRead, isArchived: flags.isArchived ?? before.isArchived };
}

function listFlagEvents(
  before: LockedEmail,
  flags: EmailFlags,
): { kind: string; emailId: string; threadId?: string }[] {
  const { isRead, isArchived } = flagged(before, flags);
  const kinds = [
    isRead === before.isRead ? null : isRead ? 'email.read' : 'email.unread',
    isArchived === before.isArchived ? null : isArchived ? 'email.archived' : 'email.unarchived',
  ].filter((kind) => kind !== null);
  const of = { emailId: before.id, ...(before.threadId === null ? {} : { threadId: before.threadId }) };
  return kinds.map((kind) => ({ kind, ...of }));
}
