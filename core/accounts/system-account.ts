import type { Mailbox } from '../mime/address.ts';
import type { Role } from './roles.ts';

/**
 * The user that owns the mail which Postroom sends itself. No account has this id, so no one can sign in as it, and no key or list shows
 * its mail. It goes out with the null reverse-path, so no DSN comes back.
 */
export const SYSTEM_USER_ID = `usr_${'0'.repeat(32)}`;

/** A message written by Postroom. It contains no data of the recipient's account, because another person may have created the account. */
export interface SystemMail {
  to: string;
  subject: string;
  text: string;
}

/** Returns the sender of Postroom's own mail. */
export function systemSender(address: string): Mailbox {
  return { name: 'Postroom', address };
}

/** Returns the message with a password reset link. */
export function resetMail(to: string, link: string): SystemMail {
  const text = `A new password was requested for the Postroom account of this address.

Set it here within an hour. The link works once:

${link}

If you did not request it, ignore this message: your password stays the same.
`;
  return { to, subject: 'Set a new password for Postroom', text };
}

/** Returns the message about a changed password. */
export function passwordChangedMail(to: string, publicUrl: string): SystemMail {
  const text = `The password of the Postroom account of this address was changed, and all other sessions were signed out.

If you did not do this, request a new password immediately:

${publicUrl}/forgot-password
`;
  return { to, subject: 'Your Postroom password was changed', text };
}

/** What an invitation says. */
export interface InvitationText {
  link: string;
  workspaceName: string;
  /** name or address; null: an API key */
  invitedBy: string | null;
  role: Role;
}

/**
 * Returns the message with an invitation. Names are chosen by users, and the receiver may know none of them: they cannot contain links or
 * lines of their own.
 */
export function invitationMail(to: string, { link, workspaceName, invitedBy, role }: InvitationText): SystemMail {
  const workspace = plainName(workspaceName);
  const by = invitedBy === null ? 'You are invited' : `${plainName(invitedBy)} invites you`;
  const text = `${by} to the workspace "${workspace}" on Postroom, as ${/^[ao]/.test(role) ? 'an' : 'a'} ${role}.

Accept the invitation here within 7 days. The link works once, for the address that this message was sent to:

${link}

If you do not know who sent this, ignore this message.
`;
  return { to, subject: `Invitation to ${workspace} on Postroom`, text };
}

/**
 * Returns the message about a note that mentions its receiver. The note itself stays in the thread: mail leaves the workspace.
 */
export function mentionMail(
  to: string,
  { link, workspaceName, author }: { link: string; workspaceName: string; author: string },
): SystemMail {
  const workspace = plainName(workspaceName);
  const text = `${plainName(author)} mentioned you in a note in the workspace "${workspace}" on Postroom.

Read the note in its thread:

${link}
`;
  return { to, subject: `${plainName(author)} mentioned you in ${workspace}`, text };
}

/** Characters. */
const MAX_PLAIN_NAME = 60;

/** Returns a name as one line in which no mail program finds a link. Addresses stay. */
function plainName(name: string): string {
  const line = name.replaceAll(/[\s\p{C}"<>]+/gu, ' ').trim();
  const plain = isAddress(line) ? line : line.replaceAll(/(?:[:/\\@]|\.(?=\S))+/g, ' ').replaceAll(/ +/g, ' ');
  return plain.slice(0, MAX_PLAIN_NAME).toWellFormed();
}

const isAddress = (text: string) => /^[^\s:/\\@]+@[^\s:/\\@]+$/.test(text);
