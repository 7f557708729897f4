import type { Mailbox } from '../mime/address.ts';

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
