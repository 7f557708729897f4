import { FULL_RIGHTS } from '../../core/accounts/key-rights.ts';
import {
  HOSTED_ADDRESS,
  SYSTEM_WORKSPACE_ID,
  type SystemMail,
  systemSender,
} from '../../core/accounts/system-account.ts';
import { UserError } from '../../core/shared/errors.ts';
import { isHostedDomain, keepSystemDomain } from '../../db/queries/domains/domain-owner.ts';
import { newIdentifier, type OperationContext, type OperationParts } from '../context.ts';
import { UNBOUNDED_ROOM } from '../response-room.ts';
import type { CheckedEmail } from './check-outgoing.ts';
import { sendChecked } from './send-email.ts';

/** Mail of the service has none of these, and asks automatic responders not to reply (RFC 3834 §5). */
const BARE: Omit<CheckedEmail, 'sender' | 'domain' | 'to' | 'subject' | 'text'> = {
  cc: [],
  bcc: [],
  replyTo: [],
  html: null,
  derivesText: false,
  fields: [['Auto-Submitted', 'auto-generated']],
  inReplyTo: null,
  references: [],
  attachments: [],
  tags: [],
  metadata: null,
  list: null,
  claimToken: null,
  sendAt: null,
  path: '',
};
/** Time limit to store a message; milliseconds. */
const TIME_MS = 9_000;

/**
 * Sends mail of the service through its own queue, as a system user without an account. Resolves when it is stored.
 * Throws validation when the address is suppressed, or the mail proves it and Postroom stores its mail; unavailable.
 */
export async function sendSystemMail(parts: OperationParts, from: string, mail: SystemMail): Promise<void> {
  const context = makeContext(parts);
  const sender = systemSender(from);
  const domain = from.slice(from.lastIndexOf('@') + 1).toLowerCase();
  await keepSystemDomain(parts.database, { id: newIdentifier(parts, 'domain'), name: domain });
  const { to, subject, text, provesAddress = false } = mail;
  if (provesAddress) await requireOutsideAddress(parts, to);
  const email = { ...BARE, sender, domain, to: [{ name: null, address: to }], subject, text };
  await sendChecked(context, [email], { idempotency: null, batchId: null, repliedTo: null });
}

/**
 * Throws validation for an address whose mail Postroom stores: keys, members and endpoints of the workspace read it, and a link or a code would make
 * each of them the person of the address.
 */
export async function requireOutsideAddress({ database }: OperationParts, address: string): Promise<void> {
  if (!(await isHostedDomain(database, address.slice(address.lastIndexOf('@') + 1).toLowerCase()))) return;
  const message = `Postroom stores the mail of ${address}, so mail to it proves nothing. Use an address of another mail service.`;
  throw new UserError('validation', message, { details: [{ field: 'email', message }], reason: HOSTED_ADDRESS });
}

function makeContext(parts: OperationParts): OperationContext {
  const settings = { ...parts.settings, sendLimitPerHour: 0 };
  return {
    ...parts,
    settings,
    workspaceId: SYSTEM_WORKSPACE_ID,
    rights: FULL_RIGHTS,
    respondBy: performance.now() + TIME_MS,
    caller: {
      via: null,
      signedInAt: null,
      gone: new AbortController().signal,
      isAllowed: async () => true,
      hangUp: () => undefined,
    },
    room: UNBOUNDED_ROOM,
  };
}
