import type { Authentication } from '../../core/mime/authentication.ts';
import { findLinkWarnings, type LinkWarning } from '../../core/mime/link-warnings.ts';
import {
  findAddressInName,
  findImitatedName,
  hasComparableName,
  type NameWarning,
} from '../../core/mime/name-warnings.ts';
import { type SenderVerdict, senderVerdict } from '../../core/mime/sender-verdict.ts';
import { registrableDomain } from '../../core/shared/registrable-domain.ts';
import { asUser } from '../../db/connection/transaction.ts';
import type { EmailSummary } from '../../db/queries/emails/email-row.ts';
import { readKnownPeople } from '../../db/queries/emails/known-people.ts';
import type { OperationContext } from '../context.ts';
import { publicSuffixes } from './public-suffixes.ts';

/** All kinds of warnings about a received message. */
export const SECURITY_WARNINGS = ['link_text', 'lookalike_host', 'address_in_name', 'imitated_name'] as const;

/** What in a message may deceive its reader. */
export interface SecurityWarning {
  kind: (typeof SECURITY_WARNINGS)[number];
  /** one or two sentences */
  text: string;
  /** what the reader sees: a host, an address or a name */
  shown: string;
  /** what it stands for: the host of the link, or the sender's address */
  actual: string;
}

/** Names of one address from which on it is a service that writes for many people, such as a code host. */
const NAMES_OF_SERVICE = 3;

/** Returns who vouches for the sender. */
export function verdictOf(authentication: Authentication): SenderVerdict {
  return senderVerdict(authentication, (domain) => registrableDomain(domain.toLowerCase(), publicSuffixes()));
}

/**
 * Returns what in a received message may deceive its reader: links, and a display name that imitates a person known from the user's newest
 * mail. Empty for other mail. One statement, and none if the display name cannot be compared.
 */
export async function readSecurityWarnings(
  context: OperationContext,
  email: Pick<EmailSummary, 'id' | 'type' | 'fromName' | 'fromAddress'>,
  { html, authentication }: { html: string | null; authentication: Authentication | null },
): Promise<SecurityWarning[]> {
  if (email.type !== 'received') return [];
  const links = html === null ? [] : findLinkWarnings(html, publicSuffixes());
  const name = await readNameWarning(context, email, authentication);
  return [...(name === null ? [] : [ofName(name)]), ...links.map(ofLink)];
}

async function readNameWarning(
  { database, userId }: OperationContext,
  { id, fromName, fromAddress }: Pick<EmailSummary, 'id' | 'fromName' | 'fromAddress'>,
  authentication: Authentication | null,
): Promise<NameWarning | null> {
  if (fromName === null) return null;
  const contained = findAddressInName(fromName, fromAddress);
  if (contained !== null) return contained;
  if (!hasComparableName(fromName)) return null;
  const people = await asUser(database, userId, (transaction) =>
    readKnownPeople(transaction, userId, { emailId: id, sender: fromAddress }),
  );
  const sender = people.find(({ address }) => address === fromAddress.toLowerCase());
  if (sender !== undefined && sender.names.length >= NAMES_OF_SERVICE) return null;
  const known = people.filter(({ isKnown }) => isKnown);
  const warning = findImitatedName(fromName, fromAddress, known);
  // A colleague's second address: the organization that the user knows vouches for this message.
  const isSame =
    warning?.kind === 'imitated_name' && organizationOf(warning.knownAddress) === organizationOf(fromAddress);
  return isSame && authentication !== null && verdictOf(authentication).verdict === 'verified' ? null : warning;
}

function organizationOf(address: string): string {
  const domain = address.slice(address.lastIndexOf('@') + 1).toLowerCase();
  return registrableDomain(domain, publicSuffixes()) ?? domain;
}

function ofLink({ kind, shown, actual }: LinkWarning): SecurityWarning {
  const text =
    kind === 'link_text'
      ? `A link shows ${shown} but leads to ${actual}.`
      : `A link leads to ${actual}, which looks like ${shown}.`;
  return { kind, shown, actual, text };
}

function ofName(warning: NameWarning): SecurityWarning {
  const { kind, shown, actual } = warning;
  if (kind === 'address_in_name')
    return { kind, shown, actual, text: `The sender’s name contains ${shown}, but the message is from ${actual}.` };
  const known = warning.isUser
    ? `This is the name on your own mail from ${warning.knownAddress}`
    : `You know this name from ${warning.knownAddress}`;
  return { kind, shown, actual, text: `The sender’s name is ${shown}. ${known}, but the message is from ${actual}.` };
}
