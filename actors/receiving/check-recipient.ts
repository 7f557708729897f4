import { domainToASCII } from 'node:url';
import { MAIL_FROM_LABEL } from '../../core/domains/dns-records.ts';
import { isSenderAllowed, type ReplyToken, readReplyAddress } from '../../core/smtp/reply-address.ts';
import { isReturnAddress, readReturnAddress } from '../../core/smtp/return-address.ts';
import type { Database } from '../../db/connection/database.ts';
import { findReplyAddressOwner, type ReplyAddressState } from '../../db/queries/domains/reply-address-state.ts';
import { findRecipientRoute, type Pause } from '../../db/queries/routing/recipient-route.ts';
import { findReturnAddressOwner } from '../../db/queries/sending/return-address-owner.ts';
import type { Reply } from '../../schema/messages.ts';

export type RecipientVerdict = Reply<'receiving.recipient.check'>;

export interface RecipientCheckOptions {
  database: Database;
  /** see core/smtp/return-address.ts */
  returnAddressKey: Uint8Array;
  /** see core/smtp/reply-address.ts */
  replyAddressKey: Uint8Array;
  now: () => Date;
}

/** Milliseconds; with the 5 s for a connection it stays within the 8 s limit of the question at RCPT. */
const LOOK_UP_TIMEOUT_MS = 2_500;

const NO_SUCH_MAILBOX = {
  verdict: 'reject' as const,
  code: 550,
  enhancedCode: '5.1.1',
  text: 'No such mailbox',
};
const SUSPENDED = {
  verdict: 'reject' as const,
  code: 450,
  enhancedCode: '4.2.1',
  text: 'This mailbox is suspended, please try again later',
};
const OVER_QUOTA = {
  verdict: 'reject' as const,
  code: 452,
  enhancedCode: '4.2.2',
  text: 'This mailbox has received its mail for today, please try again later',
};
/** 452, not 552: mail is not lost when the mailbox gets room within the days for which the sender retries (RFC 5321 §4.5.3.1.10). */
const FULL = {
  verdict: 'reject' as const,
  code: 452,
  enhancedCode: '4.2.2',
  text: 'This mailbox is full, please try again later',
};
const PAUSED: Readonly<Record<Pause, typeof SUSPENDED>> = {
  suspended: SUSPENDED,
  'over quota': OVER_QUOTA,
  full: FULL,
};
const RELAY_DENIED: RecipientVerdict = { verdict: 'reject', code: 550, enhancedCode: '5.7.1', text: 'Relay denied' };

/**
 * Decides whether mail to this forward-path is accepted, and by which of our addresses: the exact address, else the address without its
 * plus-tag, else the catch-all of the domain. A disabled address accepts nothing, even when the domain has a catch-all. A return address is
 * none of these: its mail goes to the From address of the email it was created for, or is rejected. Only verified domains are local;
 * everything else is relaying (RFC 5321 §3.6.2). The verdict depends on the recipient alone, except for a reply address that we signed. One
 * with another signature is an ordinary address. Throws when PostgreSQL is unreachable.
 */
export async function checkRecipient(
  options: RecipientCheckOptions,
  forwardPath: string,
  reversePath: string,
): Promise<RecipientVerdict> {
  const mailbox = readMailbox(forwardPath);
  if (mailbox === null) return RELAY_DENIED;
  if (isReturnAddress(mailbox.exact)) return checkReturnAddress(options, mailbox);
  const token = readReplyAddress(options.replyAddressKey, mailbox.exact);
  return token === null
    ? checkAddress(options, mailbox)
    : checkReplyAddress(options, { ...mailbox, token, forwardPath, reversePath });
}

async function checkAddress({ database }: RecipientCheckOptions, mailbox: OwnMailbox): Promise<RecipientVerdict> {
  const { exact, untagged, domain } = mailbox;
  const route = await findRecipientRoute(database, { domain, exact, untagged }, LOOK_UP_TIMEOUT_MS);
  if (route === null) return RELAY_DENIED;
  const { workspace_id: workspaceId, domain_id: domainId } = route;
  if (route.pause !== null) return { ...PAUSED[route.pause], workspaceId };
  if (route.address_id !== null && route.address !== null) {
    if (!route.is_active) return { ...NO_SUCH_MAILBOX, workspaceId };
    return { verdict: 'accept', workspaceId, addressId: route.address_id, domainId, ownAddress: route.address };
  }
  if (!route.is_catch_all_enabled) return { ...NO_SUCH_MAILBOX, workspaceId };
  return { verdict: 'accept', workspaceId, addressId: null, domainId, ownAddress: untagged };
}

/** A receiver of our mail may write to its return address even when its From address accepts no mail: a DSN must get through. */
async function checkReturnAddress(
  { database, returnAddressKey }: RecipientCheckOptions,
  { exact, domain }: OwnMailbox,
): Promise<RecipientVerdict> {
  const recipientId = readReturnAddress(returnAddressKey, exact);
  const names = domain.startsWith(MAIL_FROM_PREFIX) ? [domain, domain.slice(MAIL_FROM_PREFIX.length)] : [domain];
  const owner = await findReturnAddressOwner(database, names, recipientId, LOOK_UP_TIMEOUT_MS);
  if (owner === null) return RELAY_DENIED;
  if (owner.ownAddress === null) return NO_SUCH_MAILBOX;
  return { verdict: 'accept', ...owner, ownAddress: owner.ownAddress };
}

interface ReplyMailbox extends OwnMailbox {
  token: ReplyToken;
  forwardPath: string;
  reversePath: string;
}

/**
 * The signature and the expiry time are checked before any row is read. Mail goes to the address that the reply address was created for, or
 * to the catch-all's endpoint if there is none, even when the catch-all is off. What was used up may still be a message whose 250 was lost:
 * the end of the message decides.
 */
async function checkReplyAddress(
  { database, now }: RecipientCheckOptions,
  { token, domain, untagged, forwardPath, reversePath }: ReplyMailbox,
): Promise<RecipientVerdict> {
  const { id: replyAddressId, expiresAt } = token;
  if (expiresAt !== null && expiresAt <= now()) return NO_SUCH_MAILBOX;
  const recipient = { replyAddressId, domain, untagged, forwardPath, reversePath };
  const owner = await findReplyAddressOwner(database, recipient, LOOK_UP_TIMEOUT_MS);
  if (owner === null) return RELAY_DENIED;
  const { workspaceId, domainId, state, receiver, mayRepeat } = owner;
  if (owner.pause !== null) return { ...PAUSED[owner.pause], workspaceId };
  const isRefused =
    state === null ||
    state.isEnded ||
    !isEnvelopeAllowed(state, reversePath) ||
    (isUsedUp(state) && !mayRepeat) ||
    receiver?.isActive === false;
  if (isRefused) return { ...NO_SUCH_MAILBOX, workspaceId };
  const { addressId = null, address: ownAddress = untagged } = receiver ?? {};
  return { verdict: 'accept', workspaceId, addressId, domainId, ownAddress, replyAddressId };
}

const MAIL_FROM_PREFIX = `${MAIL_FROM_LABEL}.`;

/** A forward-path in the form that the routing tables use: lower case, domain in ASCII. */
export interface OwnMailbox {
  /** `local-part@domain` */
  exact: string;
  /** without its plus-tag */
  untagged: string;
  domain: string;
}

/**
 * Parses a forward-path; null when it has no domain. Local-parts are case-insensitive and otherwise literal: `%`, `!` and a quoted `@` have
 * no meaning.
 */
export function readMailbox(forwardPath: string): OwnMailbox | null {
  const at = forwardPath.lastIndexOf('@');
  if (at < 1 || forwardPath.includes('\0')) return null;
  const written = forwardPath.slice(at + 1).toLowerCase();
  const domain = /^[\x20-\x7e]*$/.test(written) ? written : domainToASCII(written);
  if (domain === '') return null;
  const local = withoutNeedlessQuotes(forwardPath.slice(0, at)).toLowerCase().toWellFormed();
  const plus = local.startsWith('"') ? -1 : local.indexOf('+');
  const base = plus > 0 ? local.slice(0, plus) : local;
  return { exact: `${local}@${domain}`, untagged: `${base}@${domain}`, domain };
}

/** `"joe"@x.test` is the mailbox `joe@x.test` (RFC 5321 §4.1.2). */
function withoutNeedlessQuotes(local: string): string {
  const quoted = /^"([a-z0-9!#$%&'*+/=?^_`{|}~.-]+)"$/i.exec(local)?.[1];
  return quoted !== undefined && !/^\.|\.\.|\.$/.test(quoted) ? quoted : local;
}

/** Returns whether the address has accepted as many messages as it may. */
export function isUsedUp({ maxMessages, messageCount }: ReplyAddressState): boolean {
  return maxMessages !== null && messageCount >= maxMessages;
}

/** The null reverse-path names no sender (RFC 5321 §4.5.5): for automatic replies, the From field decides. */
export function isEnvelopeAllowed({ senders }: Pick<ReplyAddressState, 'senders'>, reversePath: string): boolean {
  return reversePath === '' || isSenderAllowed(senders, reversePath);
}
