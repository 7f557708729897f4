import type { Mailbox } from '../mime/address.ts';

/**
 * The user whose mail the service's own mail is. No account has this id, so that nobody can sign in as it, and no key and no list of
 * anybody's shows its mail; nor does a DSN of it come to anybody, as it goes out with the null reverse-path.
 */
export const SYSTEM_USER_ID = `usr_${'0'.repeat(32)}`;

/** Mail that the service writes itself. Nothing that its reader's account holds stands in it: whoever made the account chose that. */
export interface SystemMail {
  to: string;
  subject: string;
  text: string;
}

/** The sender of the service's own mail. */
export function systemSender(address: string): Mailbox {
  return { name: 'Postroom', address };
}

/** To whoever asked for a new password. */
export function resetMail(to: string, link: string): SystemMail {
  const text = `Somebody, most likely you, asked for a new password for the Postroom account of this address.

Set it here, once, within an hour:

${link}

If it was not you, do nothing: the password stays as it is.
`;
  return { to, subject: 'Set a new password for Postroom', text };
}

/** To whose password is another one now. */
export function passwordChangedMail(to: string, publicUrl: string): SystemMail {
  const text = `The password of the Postroom account of this address was changed, and all other sessions were ended.

If it was not you, ask for a new password at once:

${publicUrl}/forgot-password
`;
  return { to, subject: 'Your Postroom password was changed', text };
}
