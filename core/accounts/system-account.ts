import type { Mailbox } from '../mime/address.ts';
import type { Role } from './roles.ts';

/**
 * The user that owns the mail which Postroom sends itself. No account has this id, so no one can sign in as it, and no key or list shows
 * its mail. It goes out with the null reverse-path, so no DSN comes back.
 */
export const SYSTEM_WORKSPACE_ID = `usr_${'0'.repeat(32)}`;

/** A message written by Postroom. It contains no data of the recipient's account, because another person may have created the account. */
export interface SystemMail {
  to: string;
  subject: string;
  text: string;
  /** whether it has a link or a code with which its reader acts as the person of the address */
  provesAddress?: true;
}

/** The reason of the error for mail with `provesAddress` to an address whose mail Postroom stores: those who read it there are not its person. */
export const HOSTED_ADDRESS = 'HOSTED_ADDRESS';

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
  return { to, subject: 'Set a new password for Postroom', text, provesAddress: true };
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
  /** null: the inviter hands it over, because others read the mail of the address, too */
  link: string | null;
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
  const giver = invitedBy === null ? 'the person who invited you' : plainName(invitedBy);
  const accept =
    link === null
      ? `Because this service stores your mail, this message has no link: ${giver} gives it to you.`
      : `Accept the invitation here within 7 days. The link works once, for the address that this message was sent to:\n\n${link}`;
  const text = `${by} to the workspace "${workspace}" on Postroom, as ${/^[ao]/.test(role) ? 'an' : 'a'} ${role}.

${accept}

If you do not know who sent this, ignore this message.
`;
  return { to, subject: `Invitation to ${workspace} on Postroom`, text };
}

/** Returns the message with the code by which a person confirms an agent. The agent chose its name. */
export function agentCodeMail(
  to: string,
  { name, address, code, publicUrl }: { name: string; address: string; code: string; publicUrl: string },
): SystemMail {
  const text = `An agent that calls itself "${plainName(name)}" signed up at ${publicUrl} with your address. It has the inbox ${address}.

Until you confirm it, it can write to you only. If it is yours, give it this code within an hour:

${code}

The inbox is then yours: sign in with this address. If you do not know the agent, ignore this message.
`;
  return { to, subject: 'Code for your agent on Postroom', text, provesAddress: true };
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

/** What a notice to a person is about. */
export type SignInNotice =
  | 'device'
  | 'passkey'
  | 'passkey-removed'
  | 'password'
  | 'second-factor'
  | 'second-factor-removed'
  | 'recovery-code'
  | 'api-key'
  | 'program';

const NOTICES: Record<SignInNotice, [subject: string, text: string]> = {
  device: ['New sign-in to Postroom', 'Someone signed in to the Postroom account of this address in a new browser.'],
  passkey: ['A passkey was added to Postroom', 'A passkey was added to the Postroom account of this address.'],
  'passkey-removed': [
    'A passkey was removed from Postroom',
    'A passkey was removed from the Postroom account of this address.',
  ],
  password: ['A password was set for Postroom', 'A password was set for the Postroom account of this address.'],
  'second-factor': [
    'Two-step sign-in is on for Postroom',
    'An authenticator app was set up for the Postroom account of this address. All other sessions were signed out.',
  ],
  'second-factor-removed': [
    'Two-step sign-in is off for Postroom',
    'The authenticator app was removed from the Postroom account of this address.',
  ],
  'recovery-code': [
    'A recovery code was used for Postroom',
    'A recovery code of the Postroom account of this address was used to sign in. It does not work again.',
  ],
  'api-key': ['An API key was created in Postroom', 'The Postroom account of this address created an API key.'],
  program: ['A program got access to Postroom', 'The Postroom account of this address allowed a program access.'],
};

/** Returns the message about a change of what gives access to an account. `at` and `address` say when and from where. */
export function signInNoticeMail(
  to: string,
  notice: SignInNotice,
  { publicUrl, at, address }: { publicUrl: string; at: Date; address: string },
): SystemMail {
  const [subject, what] = NOTICES[notice];
  const text = `${what}

Time: ${at.toISOString().slice(0, 'yyyy-mm-ddThh:mm'.length).replace('T', ' ')} UTC
Network address: ${address}

If you did not do this, set a new password immediately, and end all sessions, keys and programs that you do not know:

${publicUrl}/settings?tab=security
`;
  return { to, subject, text };
}
