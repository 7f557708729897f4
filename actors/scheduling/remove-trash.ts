import { newIdentifier } from '../../core/shared/identifiers.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import { appendEvents } from '../../db/queries/events/append-events.ts';
import { lockThreads } from '../../db/queries/threads/thread-claim.ts';
import { findRemovable, findTrashedThreads } from '../../db/queries/threads/thread-trash.ts';
import { removeEmails } from '../../db/queries/upkeep/remove-emails.ts';
import type { Reply, Request } from '../../schema/messages.ts';
import type { ActorContext } from '../actor.ts';
import { REMOVED_EMAILS, type RetentionOptions } from './retention.ts';

/**
 * Removes mail in the trash that its user deletes forever, in small transactions, as retention does. Mail that is being processed stays in
 * the trash. Safe to run twice and to kill at any point.
 */
export async function removeTrash(
  context: ActorContext,
  { fault }: Pick<RetentionOptions, 'fault'>,
  { workspaceId, threadIds, emailIds }: Request<'scheduling.trash.remove'>,
): Promise<Reply<'scheduling.trash.remove'>> {
  const done = { removed: 0, inWork: 0 };
  for (let afterId: string | undefined = ''; afterId !== undefined; ) {
    const span = { afterId, limit: REMOVED_EMAILS };
    const batch: { ids: string[]; removed: number; lastSeq: number | null } = await inTransaction(
      context.database,
      async (client) => {
        await lockThreads(client, workspaceId);
        const ids = await findRemovable(client, workspaceId, { threadIds, emailIds }, span);
        const before = await findTrashedThreads(client, workspaceId, threadIds);
        const removed = await removeEmails(client, workspaceId, ids);
        const after = new Set((await findTrashedThreads(client, workspaceId, threadIds)).map(({ id }) => id));
        const ended = before.filter(({ id }) => !after.has(id));
        const lastSeq = await appendEvents(
          client,
          workspaceId,
          ended.map(({ id }) => ({
            id: newIdentifier(context, 'event'),
            kind: 'thread.deleted',
            threadId: id,
          })),
        );
        fault?.('retention.before-commit');
        return { ids, removed, lastSeq };
      },
    );
    if (batch.lastSeq !== null) context.bus.publish('event.appended', { workspaceId, lastSeq: batch.lastSeq });
    done.removed += batch.removed;
    done.inWork += batch.ids.length - batch.removed;
    afterId = batch.ids.length === REMOVED_EMAILS ? batch.ids.at(-1) : undefined;
  }
  return done;
}
