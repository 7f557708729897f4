import type pg from 'pg';
import { judgedByUser, type KeptApart, type Screening } from '../../core/screening/spam-check.ts';
import { UserError } from '../../core/shared/errors.ts';
import {
  lockMarkable,
  type MarkableEmail,
  releaseToReception,
  takeContentAway,
  writeScreening,
} from '../../db/queries/screening/kept-apart.ts';
import { noteLesson } from '../../db/queries/screening/screening-job.ts';
import { spamEventData } from '../../db/queries/screening/store-apart.ts';
import { requireReachedEmails, withFullAccess } from '../accounts/key-reach.ts';
import { emailNotFound, invalid, isValidId, type OperationContext } from '../context.ts';
import { waitUntilParsed } from '../emails/pending-emails.ts';
import { restoreLocked } from '../threads/restore-threads.ts';
import { type Changed, changeThreads, type ThreadContext } from '../threads/thread-transaction.ts';
import { moveToTrash } from '../threads/trash.ts';

type Events = Changed<unknown>['events'];

/** An email that a user marked. */
export interface MarkedEmail {
  emailId: string;
  /** whether this request changed anything */
  isChanged: boolean;
}

/**
 * Moves a received email to the folder Spam: out of lists, threads, totals and searches. The spam filter learns from it. Marking it again
 * changes nothing. Throws not_found, validation, conflict.
 */
export function markSpam(context: OperationContext, emailId: string): Promise<MarkedEmail> {
  return waitUntilParsed(context, [emailId], () => markParsedSpam(context, emailId));
}

async function markParsedSpam(context: OperationContext, emailId: string): Promise<MarkedEmail> {
  await requireReachedEmails(context, [emailId]);
  return changeThreads<MarkedEmail>(withFullAccess(context), async (client) => {
    const email = await lockOne(client, context, emailId);
    if (email.keptApart === 'virus') throw inQuarantine();
    if (email.keptApart === 'spam') return { result: { emailId, isChanged: false }, events: [] };
    const screening = { virus: null, spam: judgedByUser(email.screening?.spam ?? null, 'spam') };
    const events = await keepApart(client, context, { emailId, screening, keptApart: 'spam' });
    await teach(client, context, emailId, 'learn_spam');
    return { result: { emailId, isChanged: true }, events };
  });
}

/**
 * Moves an email out of the folder Spam. If it was filed there when it came, it is now received: threaded, routed and delivered, once.
 * Otherwise it returns to its thread. The spam filter learns from it. Throws not_found, validation, conflict.
 */
export function markNotSpam(context: OperationContext, emailId: string): Promise<MarkedEmail> {
  return waitUntilParsed(context, [emailId], () => markParsedNotSpam(context, emailId));
}

async function markParsedNotSpam(context: OperationContext, emailId: string): Promise<MarkedEmail> {
  const { workspaceId, bus } = context;
  await requireReachedEmails(context, [emailId]);
  const { isReceivedNow, ...marked } = await changeThreads<MarkedEmail & { isReceivedNow: boolean }>(
    withFullAccess(context),
    async (client) => {
      const email = await lockOne(client, context, emailId);
      const { keptApart, threadId } = email;
      if (keptApart === 'virus') throw inQuarantine();
      const spam = email.screening?.spam ?? null;
      if (keptApart === null && spam?.by === 'user' && spam.verdict === 'clean')
        return { result: { emailId, isChanged: false, isReceivedNow: false }, events: [] };
      const screening = { virus: null, spam: judgedByUser(spam, 'clean') };
      const events: Events = [{ kind: 'email.not_spam', emailId, threadId: threadId ?? null, data: {} }];
      const isFiled = keptApart === 'spam' && threadId === null;
      if (isFiled) await releaseToReception(client, workspaceId, emailId, screening);
      else {
        if (keptApart === 'spam' && threadId !== null)
          events.push(...(await restoreLocked(client, workspaceId, [threadId])).events);
        await writeScreening(client, workspaceId, { emailId, screening, keptApart: null });
      }
      await teach(client, context, emailId, 'learn_ham');
      context.fault?.('spam.before-commit');
      return { result: { emailId, isChanged: true, isReceivedNow: isFiled }, events };
    },
  );
  context.fault?.('spam.after-commit');
  if (isReceivedNow) bus.wake('receiving.parse.wake', { workspaceId, emailIds: [emailId] });
  return marked;
}

/** What is known about a stored email that leaves the lists. */
export interface Apart {
  emailId: string;
  screening: Screening;
  keptApart: KeptApart;
}

/** Moves a stored email out of lists, threads, totals and searches, in a transaction of changeThreads. Returns its events. */
export async function keepApart(
  client: pg.ClientBase,
  context: ThreadContext,
  { emailId, screening, keptApart }: Apart,
): Promise<Events> {
  const { workspaceId } = context;
  const { threadOf, events } = await moveToTrash(client, context, [emailId]);
  await writeScreening(client, workspaceId, { emailId, screening, keptApart });
  if (keptApart === 'virus') await takeContentAway(client, workspaceId, emailId);
  return [
    ...events,
    { kind: 'email.spam', emailId, threadId: threadOf.get(emailId) ?? null, data: spamEventData(screening) },
  ];
}

async function teach(
  client: pg.ClientBase,
  { workspaceId, settings }: OperationContext,
  emailId: string,
  kind: 'learn_spam' | 'learn_ham',
): Promise<void> {
  if (settings.hasSpamFilter) await noteLesson(client, workspaceId, emailId, kind);
}

async function lockOne(
  client: pg.ClientBase,
  { workspaceId }: OperationContext,
  emailId: string,
): Promise<MarkableEmail> {
  if (!isValidId(emailId)) throw emailNotFound();
  const [email] = await lockMarkable(client, workspaceId, [emailId]);
  if (email === undefined) throw emailNotFound();
  if (email.type !== 'received') throw invalid('Only received emails can be marked as spam', 'id');
  return email;
}

function inQuarantine(): UserError {
  return new UserError('validation', 'This email is in quarantine because it has a virus. It cannot be moved.', {
    isOfState: true,
  });
}
