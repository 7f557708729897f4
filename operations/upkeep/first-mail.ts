import { asUser } from '../../db/connection/database.ts';
import { findFirstReceiving } from '../../db/queries/domains/email-address-list.ts';
import type { OperationContext } from '../context.ts';

/** How a first mail is sent to a user, by commands that work when they are pasted into a shell. */
export interface FirstMail {
  /** the oldest of the user's that mail reaches */
  addressId: string;
  address: string;
  swaks: string;
  curl: string;
  /** lists emails by the REST interface; the key has to be put in */
  list: string;
}

/** Null when the user has no address that mail reaches. */
export async function readFirstMail({ database, userId, settings }: OperationContext): Promise<FirstMail | null> {
  const found = await asUser(database, userId, (transaction) => findFirstReceiving(transaction, userId));
  if (found === null) return null;
  const { smtp, publicUrl } = settings;
  const host = smtp.host.includes(':') ? `[${smtp.host}]` : smtp.host;
  const server = `${host}:${smtp.port}`;
  const to = shellWord(found.address);
  const message = `From: ${SENDER}\\r\\nTo: ${found.address}\\r\\nSubject: Hello\\r\\n\\r\\nA first mail\\r\\n`;
  return {
    addressId: found.id,
    address: found.address,
    swaks: `swaks --server ${server} --from ${SENDER} --to ${to} --header 'Subject: Hello' --body 'A first mail'`,
    curl: `printf ${shellWord(message.replaceAll('%', '%%'))} | curl -sS smtp://${server} --mail-from ${SENDER} --mail-rcpt ${to} --upload-file -`,
    list: `curl -H 'Authorization: Bearer API_KEY' ${publicUrl}/api/e2/emails`,
  };
}

/** RFC 2606. */
const SENDER = 'you@example.com';

/** A text as one word of a POSIX shell. */
function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
