import { textOfHtml } from '../../core/html/text-of-html.ts';
import type { ParsedMessage } from '../../core/mime/parse-message.ts';
import { mayContainCopy, withoutCopy } from '../../core/mime/unmarked-copy.ts';
import type { Database } from '../../db/connection/database.ts';
import { readOriginalTexts } from '../../db/queries/emails/original-texts.ts';

/** A parsed message of a user. */
interface OwnedMessage {
  workspaceId: string;
  message: ParsedMessage;
}

/** Maximum msg-ids of a reply whose emails are compared with it. */
const MAX_ORIGINALS = 3;

/**
 * Returns the messages in the same order, without copies of the emails that they answer. Reads from PostgreSQL only if one of them may
 * contain a copy: a reply of some length in which nothing is marked as quoted.
 */
export async function removeCopies(
  { pool }: Pick<Database, 'pool'>,
  messages: readonly OwnedMessage[],
): Promise<ParsedMessage[]> {
  const suspects = messages.filter(({ message }) => mayContainCopy(message));
  if (suspects.length === 0) return messages.map(({ message }) => message);
  const keys = suspects.flatMap(({ workspaceId, message }) =>
    message.inReplyTo.slice(0, MAX_ORIGINALS).map((messageId) => ({ workspaceId, messageId })),
  );
  const originals = await readOriginalTexts(pool, keys);
  return messages.map(({ workspaceId, message }) => {
    if (!mayContainCopy(message)) return message;
    const own = originals.filter((one) => one.workspaceId === workspaceId && message.inReplyTo.includes(one.messageId));
    return withoutCopy(
      message,
      own.map((one) => ('text' in one ? one.text : (textOfHtml(one.html) ?? ''))),
    );
  });
}
