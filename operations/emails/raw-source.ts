import { readRawOctets } from '../../db/queries/emails/raw-bytes.ts';
import { isAskable, type OperationContext } from '../context.ts';

/** More than any message has. */
const WHOLE_MESSAGE = 1_000_000_000;

/**
 * The octets of an email from its beginning, at most so many; null: all of them. Null when the user has no such email, or its octets are
 * not kept or damaged.
 */
export async function readRawSource(
  { database, userId, log }: OperationContext,
  emailId: string,
  most: number | null,
): Promise<Buffer | null> {
  if (!isAskable(emailId)) return null;
  const octets = await readRawOctets(database, userId, emailId, { start: 0, length: most ?? WHOLE_MESSAGE });
  if (octets === 'damaged') log.error({ emailId, octets }, 'the octets of a message cannot be served');
  return octets === 'missing' || octets === 'damaged' ? null : octets;
}
