import { asWorkspace } from '../../db/connection/transaction.ts';
import { findFirstReceiving } from '../../db/queries/domains/email-address-list.ts';
import type { OperationContext } from '../context.ts';

/** Commands that send a first test mail, ready to paste into a shell. */
export interface FirstMail {
  /** the user's oldest address that can receive */
  addressId: string;
  address: string;
  swaks: string;
  curl: string;
  /** lists emails through the REST interface; contains a placeholder for the key */
  list: string;
}

/** Returns null when the user has no address that can receive. */
export async function readFirstMail({ database, workspaceId, settings }: OperationContext): Promise<FirstMail | null> {
  const found = await asWorkspace(database, workspaceId, (transaction) => findFirstReceiving(transaction, workspaceId));
  if (found === null) return null;
  const { smtp, publicUrl } = settings;
  const host = smtp.host.includes(':') ? `[${smtp.host}]` : smtp.host;
  const server = `${host}:${smtp.port}`;
  const to = shellWord(found.address);
  // A time makes each message a new one: the same bytes are recognized as a repetition for some minutes.
  const addressText = found.address.replaceAll('%', '%%');
  const message = `From: ${SENDER}\\r\\nTo: ${addressText}\\r\\nDate: %s\\r\\nSubject: Hello\\r\\n\\r\\nA first mail\\r\\n`;
  return {
    addressId: found.id,
    address: found.address,
    swaks: `swaks --server ${server} --from ${SENDER} --to ${to} --header 'Subject: Hello' --body 'A first mail'`,
    curl: `printf ${shellWord(message)} "$(date -R)" | curl -sS smtp://${server} --mail-from ${SENDER} --mail-rcpt ${to} --upload-file -`,
    list: `curl -H 'Authorization: Bearer API_KEY' ${publicUrl}/api/e2/emails`,
  };
}

/** RFC 2606. */
const SENDER = 'you@example.com';

/** Quotes a text as one word of a POSIX shell. */
function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
