import { MAX_REJECTION_REASON_LENGTH, normalizeReason } from '../../core/sending/approval.ts';
import { UserError } from '../../core/shared/errors.ts';
import { asWorkspace, shareSendRights } from '../../db/connection/transaction.ts';
import { appendEvents } from '../../db/queries/emails/email-flags.ts';
import * as approvals from '../../db/queries/sending/approval.ts';
import {
  type LockedOutgoing,
  lockOutgoing,
  maySendNow,
  readUndoSeconds,
  setScheduler,
} from '../../db/queries/sending/scheduled-change.ts';
import { emailNotFound, invalid, isValidId, newIdentifier, type OperationContext } from '../context.ts';

export type { Approval } from '../../db/queries/sending/approval.ts';

/** The outcome of approving or rejecting. */
export interface Decided {
  emailId: string;
  decision: 'approved' | 'rejected';
  /** name of the key, or email address of the person, that decided */
  decidedBy: string | null;
  /** when an approved email is sent; null: it is rejected */
  sendAt: Date | null;
  /** false when it was decided so before */
  isChanged: boolean;
}

/**
 * Approves an email that waits for approval: it is sent at once, or when its scheduled time and `undo_seconds` of its send policies have
 * passed. It is then sent for who sent it, or if these may not send it any more, for who approves it. Approving again changes nothing. Throws
 * not_found, forbidden for the API key that sent it and when neither may send it, and conflict when it does not wait.
 */
export function approveEmail(context: OperationContext, emailId: string): Promise<Decided> {
  return decide(context, emailId, 'approved', null);
}

/** Rejects an email that waits for approval, so that it is never sent. Rejecting again changes nothing. Throws as approveEmail, and validation. */
export async function rejectEmail(context: OperationContext, emailId: string, given: string | null): Promise<Decided> {
  const reason = normalizeReason(given);
  if (reason === undefined)
    throw invalid(
      `The reason has at most ${MAX_REJECTION_REASON_LENGTH} characters, and no control characters except line breaks`,
      'reason',
    );
  return decide(context, emailId, 'rejected', reason);
}

/** Decisions share the send rights, as all that lets mail go later does, and lock the email, as the scheduler and every other change of unsent mail do: the first one holds. */
async function decide(
  context: OperationContext,
  emailId: string,
  decision: Decided['decision'],
  reason: string | null,
): Promise<Decided> {
  if (!isValidId(emailId)) throw emailNotFound();
  const { bus, database, workspaceId, rights, fault } = context;
  const { lastSeq, ...decided } = await asWorkspace(database, workspaceId, async (transaction) => {
    await shareSendRights(transaction, workspaceId);
    const [email] = await lockOutgoing(transaction, workspaceId, [emailId]);
    if (email === undefined) throw emailNotFound();
    const state = await approvals.readApprovalState(transaction, workspaceId, emailId, rights);
    if (state === undefined) throw conflict('NOT_AWAITING_APPROVAL', 'This email does not wait for approval.');
    if (!state.mayDecide) throw rightLost(rights.keyId);
    // Whatever became of it: the sender learns only that it may not decide.
    if (state.isOfFamily) throw ownEmail();
    if (state.decision === decision)
      return { decidedBy: state.decidedBy, sendAt: findSendTime(email, decision), isChanged: false, lastSeq: null };
    if (email.status !== 'awaiting_approval') throw decidedAlready(state);
    const sendAt = decision === 'rejected' ? null : await computeEarliest(email);
    if (decision === 'approved') await keepSender(email);
    const by = { keyId: rights.keyId, personId: rights.personId };
    const done = await approvals.decideApproval(transaction, workspaceId, emailId, { decision, by, reason }, sendAt);
    const { decidedBy } = done;
    const data = sendAt === null ? { by: decidedBy, reason } : { by: decidedBy, scheduledAt: sendAt.toISOString() };
    const event = { id: newIdentifier(context, 'event'), kind: KINDS[decision], emailId, data };
    const last = await appendEvents(transaction, workspaceId, [event]);
    fault?.('approvals.decided-before-commit');
    return { decidedBy, sendAt, isChanged: true, lastSeq: last };

    /** Who approves takes over what its sender may not send any more. */
    async function keepSender({ id, scheduledByKeyId: keyId, scheduledByPersonId: personId }: LockedOutgoing) {
      if (await maySendNow(transaction, { workspaceId, keyId, personId }, [id])) return;
      if (!(await maySendNow(transaction, { ...rights, workspaceId }, [id]))) throw noSender();
      await setScheduler(transaction, workspaceId, [id], rights);
    }
    /** The time to undo a send begins when it is approved. */
    async function computeEarliest(locked: LockedOutgoing): Promise<Date> {
      const undoSeconds = await readUndoSeconds(transaction, workspaceId, locked);
      return new Date(Math.max(locked.now.getTime() + undoSeconds * 1_000, locked.scheduledAt?.getTime() ?? 0));
    }
  });
  if (decided.isChanged) fault?.('approvals.decided-after-commit');
  if (lastSeq !== null) bus.publish('event.appended', { workspaceId, lastSeq });
  if (decided.isChanged && decided.sendAt !== null)
    bus.wake('scheduling.release.wake', { workspaceId, at: decided.sendAt.toISOString() });
  return { emailId, decision, ...decided };
}

const KINDS = { approved: 'email.approved', rejected: 'email.rejected' } as const;

function findSendTime({ scheduledAt }: LockedOutgoing, decision: Decided['decision']): Date | null {
  return decision === 'approved' ? scheduledAt : null;
}

function ownEmail(): UserError {
  const message =
    'An API key cannot approve or reject mail that it sent, or that a key sent which it created, which created it, or which the same key created. Use the dashboard, or a key that was created there.';
  return new UserError('forbidden', message, { title: 'Forbidden', reason: 'OWN_EMAIL' });
}

function rightLost(keyId: string | null): UserError {
  const who = keyId === null ? 'You lost' : 'The API key was revoked, has expired, or lost';
  const message = `${who} the right to approve and reject emails. Nothing was changed.`;
  return new UserError('forbidden', message, { title: 'Forbidden', reason: 'APPROVAL_RIGHT_LOST' });
}

function noSender(): UserError {
  const message =
    'The API key or member that sent this email may not send it any more, and neither may you. Reject it, or let someone approve it who may send from its address.';
  return new UserError('forbidden', message, { title: 'Forbidden', reason: 'SENDING_RIGHT_LOST' });
}

const OUTCOMES = { approved: 'approved', rejected: 'rejected', expired: 'rejected', cancelled: 'cancelled' } as const;

function decidedAlready({ decision, decidedBy }: Pick<approvals.Approval, 'decision' | 'decidedBy'>): UserError {
  const outcome = decision === null ? 'changed' : OUTCOMES[decision];
  const why = decision === 'expired' ? ' because its time was over' : decidedBy === null ? '' : ` by ${decidedBy}`;
  const message = `This email was already ${outcome}${why}. Retrieve it to see what became of it.`;
  return conflict('ALREADY_DECIDED', message, { decision });
}

function conflict(reason: string, message: string, members: Record<string, unknown> = {}): UserError {
  return new UserError('conflict', message, { reason, members, isFinal: true });
}

/** Returns for each email why it waits for approval or waited, and what became of it; null where it never did. */
export async function loadApprovals(
  { database, workspaceId }: OperationContext,
  emailIds: readonly string[],
): Promise<(approvals.Approval | null)[]> {
  const found = await asWorkspace(database, workspaceId, (transaction) =>
    approvals.findApprovals(transaction, workspaceId, emailIds.filter(isValidId)),
  );
  const byId = new Map(found.map((approval) => [approval.emailId, approval]));
  return emailIds.map((id) => byId.get(id) ?? null);
}

/** Returns for each email the thread that it replies to, while it is in none itself; null where none is known. */
export async function loadRepliedThreads(
  { database, workspaceId }: OperationContext,
  emailIds: readonly string[],
): Promise<(string | null)[]> {
  const found = await asWorkspace(database, workspaceId, (transaction) =>
    approvals.findRepliedThreads(transaction, workspaceId, emailIds.filter(isValidId)),
  );
  return emailIds.map((id) => found.get(id) ?? null);
}
