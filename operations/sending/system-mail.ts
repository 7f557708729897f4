import { FULL_RIGHTS } from '../../core/accounts/key-rights.ts';
import { SYSTEM_WORKSPACE_ID, type SystemMail, systemSender } from '../../core/accounts/system-account.ts';
import { keepSystemDomain } from '../../db/queries/domains/domain-owner.ts';
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
 * Throws validation when the address is suppressed, unavailable.
 */
export async function sendSystemMail(parts: OperationParts, from: string, mail: SystemMail): Promise<void> {
  const context = makeContext(parts);
  const sender = systemSender(from);
  const domain = from.slice(from.lastIndexOf('@') + 1).toLowerCase();
  await keepSystemDomain(parts.database, { id: newIdentifier(parts, 'domain'), name: domain });
  const { to, subject, text } = mail;
  const email = { ...BARE, sender, domain, to: [{ name: null, address: to }], subject, text };
  await sendChecked(context, [email], { idempotency: null, batchId: null, repliedTo: null });
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
