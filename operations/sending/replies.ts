import { hasRight, requireRights, rightMissing } from '../../core/accounts/rights.ts';
import type { AddressFields } from '../../core/mime/address.ts';
import { makeReply, type Original, unsendableAddressee } from '../../core/sending/address-reply.ts';
import { asRecipient, findCorrespondents } from '../../core/sending/correspondents.ts';
import type { SentDraft } from '../../core/sending/draft.ts';
import { POLICY_VIOLATION, RECIPIENT_SUPPRESSED, UserError } from '../../core/shared/errors.ts';
import { asWorkspace, inWorkspaceTransaction } from '../../db/connection/transaction.ts';
import { readCorrespondence, readOwnAddresses } from '../../db/queries/sending/correspondents.ts';
import { findOriginal, findOwnAddresses, type OriginalEmail } from '../../db/queries/sending/outgoing-original.ts';
import { requireSender, withFullAccess } from '../accounts/key-reach.ts';
import { invalid, isValidId, type OperationContext } from '../context.ts';
import { waitUntilParsed } from '../emails/pending-emails.ts';
import { type CheckedEmail, checkAudience, checkReply, type NewEmail } from './check-outgoing.ts';
import { inComposingTurn } from './composing-turns.ts';
import { quoteInReply, readOriginalBytes } from './forward-email.ts';
import type { Accepted, Idempotency, Receipt } from './idempotency.ts';
import { replayOrNow, sendChecked } from './send-email.ts';

/** Input of a reply; `to` and `subject` default to those of the original. */
export interface NewReply extends NewEmail {
  /** name of the sender, when `from` has none */
  fromName?: string | null | undefined;
  /** sender when omitted */
  audience?: 'sender' | 'all' | undefined;
  /** whether the original is quoted below the reply */
  includesOriginal?: boolean | undefined;
}

/**
 * Replies to an email, or to the latest message of a thread. `id` is the id of an email, a thread, or a merged thread;
 * `draft` is removed when the reply is stored. A reply that includes the original needs the right `read`. Throws not_found, and what
 * sendEmail throws.
 */
export async function sendReply(
  context: OperationContext,
  id: string,
  reply: NewReply,
  idempotency: Idempotency | null,
  draft?: SentDraft,
): Promise<Accepted> {
  const checked = checkReply(reply);
  requireSender(context, checked);
  const bodies = { text: checked.text, html: checked.html };
  // The recipients get to read the original.
  if (reply.includesOriginal === true) requireRights(context.rights, 'Including the original email', ['read']);
  // The thread may have a newer message by now, so look for a replay first.
  const before = idempotency === null ? null : await replayOrNow(context, idempotency);
  if (before !== null && 'receipt' in before) return before;
  const repliable = await waitUntilParsed(context, [id], () => readRepliable(context, id, checked.sender.address));
  const send = async (ready: typeof checked) => {
    const { email, repliedTo } = addressReply(repliable, ready, reply.audience ?? 'sender');
    const frame = { idempotency, batchId: null, repliedTo, draft };
    if (hasRight(context.rights, 'read')) return sendChecked(context, [email], frame);
    await requireCorrespondents(context, repliable.original, email);
    return sendChecked(context, [email], frame).catch(hideRecipients);
  };
  if (reply.includesOriginal !== true) return send(checked);
  const { id: originalId } = repliable.original;
  return inComposingTurn(context, await readOriginalBytes(context, originalId, 'none'), async () =>
    send(checkReply({ ...reply, ...(await quoteInReply(context, originalId, bodies)) })),
  );
}

/** Returns the address that received or sent an email, from which it is replied to by default. Throws not_found, validation. */
export async function readReplySender(context: OperationContext, id: string): Promise<string> {
  const { original } = await waitUntilParsed(context, [id], () => readRepliable(context, id, ''));
  return original.recipient ?? original.ownAddress;
}

/** Characters of an address that an error repeats. */
const MAX_SHOWN_LENGTH = 200;

/** Returns a checked reply with the recipients, subject and references of a reply. Throws validation. */
export function addressReply(
  { original, isThread, isOneself }: Repliable,
  checked: ReturnType<typeof checkReply>,
  audience: 'sender' | 'all',
): { email: CheckedEmail; repliedTo: NonNullable<Receipt['repliedTo']> } {
  const input = { to: checked.to, subject: checked.subject, audience };
  const { to, cc, subject, inReplyTo, references } = makeReply(original, input, isOneself);
  if (to.length === 0) {
    const unsendable = unsendableAddressee(original, isOneself)?.slice(0, MAX_SHOWN_LENGTH) ?? null;
    const reason =
      unsendable === null
        ? 'The original has no address to reply to.'
        : `Mail cannot be sent to \`${unsendable}\`: the part before the @ must be ASCII.`;
    throw invalid(`${reason} Give a recipient in to.`, 'to');
  }
  const taken = new Set([...to, ...checked.cc].map((mailbox) => mailbox.address.toLowerCase()));
  const others = cc.filter((mailbox) => !taken.has(mailbox.address.toLowerCase()));
  const email = { ...checked, to, cc: [...checked.cc, ...others], subject, inReplyTo, references };
  checkAudience(to, email);
  return { email, repliedTo: { emailId: original.id, threadId: original.threadId, isThread } };
}

/**
 * Requires that all recipients took part in the original: a reply contains its subject and Message-ID, which a key without the scope `read`
 * must not learn. What the account itself can write proves nothing (core/sending/correspondents.ts). The error does not reveal the original.
 * Throws forbidden.
 */
async function requireCorrespondents(
  context: OperationContext,
  { id, addresses }: Pick<Original, 'addresses'> & { id: string },
  { to, cc, bcc }: Pick<CheckedEmail, 'to' | 'cc' | 'bcc'>,
): Promise<void> {
  const { workspaceId, rights } = context;
  const recipients = [...to, ...cc, ...bcc].map(asRecipient);
  const { known, own } = await inWorkspaceTransaction(
    // The key has reached the email itself.
    withFullAccess(context).database,
    workspaceId,
    { lockTimeoutMs: 1_000 },
    async (client) => {
      const { found, ownDomains } = await readCorrespondence(client, workspaceId, [{ emailId: id }]);
      const own = await readOwnAddresses(client, workspaceId, recipients);
      return { known: findCorrespondents(found[0] ?? [], ownDomains), own };
    },
  );
  const lists = [addresses.from, addresses.replyTo, addresses.to, addresses.cc, addresses.bcc];
  const named = new Set(lists.flatMap((list) => (list?.addresses ?? []).map(asRecipient)));
  if (!recipients.every((address) => known.has(address) || (own.has(address) && named.has(address))))
    throw rightMissing('A reply to an address that is not a participant of the original email', 'read', rights);
}

/** Rethrows an error without the recipients and links that it names, which may come from the original. */
function hideRecipients(error: unknown): never {
  if (!(error instanceof UserError)) throw error;
  if (error.reason === RECIPIENT_SUPPRESSED) {
    const message = 'Cannot send to blocked recipient(s)';
    throw new UserError('validation', message, { reason: RECIPIENT_SUPPRESSED, members: { suppressedRecipients: [] } });
  }
  const rule = error.reason === POLICY_VIOLATION ? error.members['rule'] : null;
  if (rule !== 'recipients' && rule !== 'links') throw error;
  const message =
    rule === 'recipients'
      ? 'The send policy does not allow a recipient of this reply.'
      : 'The send policy allows no links, and this reply has one. Its subject may be that of the original email.';
  throw new UserError('forbidden', message, {
    name: 'policy_violation',
    title: 'Forbidden',
    reason: POLICY_VIOLATION,
    members: error.members,
  });
}

/** An email that can be replied to. */
export interface Repliable {
  original: OriginalEmail & { isOwn: boolean };
  /** whether the request named its thread */
  isThread: boolean;
  /** whether an address is one of the user's own */
  isOneself: (address: string) => boolean;
}

/** Returns the original of a reply that this address sends. Throws not_found, validation. */
export async function readRepliable(
  { database, workspaceId }: Pick<OperationContext, 'database' | 'workspaceId'>,
  id: string,
  sender: string,
): Promise<Repliable> {
  if (!isValidId(id)) throw notFound();
  return asWorkspace(database, workspaceId, async (transaction) => {
    const found = await findOriginal(transaction, workspaceId, id);
    if (found === null) throw notFound();
    const { email, isThread } = found;
    if (email.type === 'scheduled') throw invalid('Cannot reply to an email that has not been sent', 'id');
    const own = new Set(await findOwnAddresses(transaction, workspaceId, mentioned(email.addresses)));
    for (const address of [sender, email.ownAddress, email.recipient ?? '']) own.add(withoutTag(address));
    const isOneself = (address: string) => own.has(withoutTag(address)) || own.has(address.toLowerCase());
    return { original: { ...email, isOwn: email.type === 'sent' }, isThread, isOneself };
  });
}

/** Returns every address that a reply may go to, lower case, with and without plus-tag. */
function mentioned({ from, replyTo, to, cc }: AddressFields): string[] {
  const lists = [from, replyTo, to, cc].flatMap((list) => list?.addresses ?? []);
  return [...new Set(lists.flatMap(({ address }) => [address.toLowerCase(), withoutTag(address)]))];
}

/** Returns `ann@x.test` for `ann+news@x.test`, lower case. */
function withoutTag(address: string): string {
  return address.toLowerCase().replace(/^([^+]+)\+.*@/, '$1@');
}

function notFound(): UserError {
  return new UserError('not_found', 'Email or thread not found');
}
