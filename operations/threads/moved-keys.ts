import type pg from 'pg';
import { linkKey, linkKeys, linksOf, type ThreadableMessage } from '../../core/threads/threading.ts';
import { threadsOfKeys } from '../../db/queries/threads/thread-lookup.ts';
import { findBorne, findReferred, type KnownId, type MovedEmail } from '../../db/queries/threads/thread-move.ts';

/**
 * Which msg-ids go with emails that leave threads with other messages in them: those that they bear, unless a message that stays bears the
 * same, and those that nobody bears and no message that stays refers to.
 */
export async function keysToMove(
  client: pg.ClientBase,
  userId: string,
  moved: readonly MovedEmail[],
  sourceIds: readonly string[],
): Promise<string[]> {
  if (sourceIds.length === 0) return [];
  const threadOfKey = await threadsOfKeys(client, userId, [
    ...new Set(moved.flatMap((email) => linkKeys(linksOf(email)))),
  ]);
  const led = new Map([...threadOfKey].filter(([, threadId]) => sourceIds.includes(threadId)));
  const movedIds = moved.map((email) => email.emailId);
  const own = new Set(moved.flatMap((email) => linksOf(email).own ?? []));
  const idsOf = new Map(moved.flatMap(idsByKey).filter(([key]) => led.has(key)));
  const isHere = ({ threadId, messageId }: KnownId) => led.get(linkKey(messageId)) === threadId;

  const borne = await findBorne(client, userId, sourceIds, [...idsOf.values()], movedIds);
  const staying = new Set(borne.filter(isHere).map(({ messageId }) => linkKey(messageId)));
  const unborne = [...idsOf].filter(([key]) => !own.has(key) && !staying.has(key)).map(([, messageId]) => messageId);
  const referred = await findReferred(client, userId, sourceIds, unborne, movedIds);
  for (const known of referred) if (isHere(known)) staying.add(linkKey(known.messageId));
  return [...idsOf.keys()].filter((key) => !staying.has(key));
}

/** The msg-ids that lead to an email's thread by nothing but the email itself: no other message there bears them or refers to them. */
export async function keysOfItsOwn(client: pg.ClientBase, userId: string, email: MovedEmail): Promise<string[]> {
  const { emailId, threadId } = email;
  const led = await threadsOfKeys(client, userId, linkKeys(linksOf(email)));
  const idsOf = new Map(idsByKey(email).filter(([key]) => led.get(key) === threadId));
  const borne = await findBorne(client, userId, [threadId], [...idsOf.values()], [emailId]);
  const referred = await findReferred(client, userId, [threadId], [...idsOf.values()], [emailId]);
  const others = new Set([...borne, ...referred].map(({ messageId }) => linkKey(messageId)));
  return [...idsOf.keys()].filter((key) => !others.has(key));
}

/** The valid msg-ids of a message as they are, by their keys. */
function idsByKey(message: ThreadableMessage): [string, string][] {
  return [message.messageId, ...message.inReplyTo, ...message.references]
    .filter((id) => id.includes('@'))
    .map((id) => [linkKey(id), id]);
}
