import { asUser } from '../../db/connection/database.ts';
import { type ContentPart, type EmailParts, findContentParts } from '../../db/queries/emails/email-parts.ts';
import { findRawSizes } from '../../db/queries/emails/raw-bytes.ts';
import { isAskable, type OperationContext } from '../context.ts';

export type { ContentPart, EmailParts } from '../../db/queries/emails/email-parts.ts';

/** One for each id, with these of its parts; null where the user has no such email or it has no content yet. */
export async function loadContentParts(
  { database, userId }: OperationContext,
  emailIds: readonly string[],
  parts: ReadonlySet<ContentPart>,
): Promise<(EmailParts | null)[]> {
  const found = await asUser(database, userId, (transaction) =>
    findContentParts(transaction, userId, emailIds.filter(isAskable), parts),
  );
  return emailIds.map((id) => found.get(id) ?? null);
}

/** How many octets the message behind each email has; null where none are kept, or the user has no such email. */
export async function loadSizes(
  { database, userId }: OperationContext,
  emailIds: readonly string[],
): Promise<(number | null)[]> {
  const found = await asUser(database, userId, (transaction) =>
    findRawSizes(transaction, userId, emailIds.filter(isAskable)),
  );
  return emailIds.map((id) => found.get(id) ?? null);
}
