import type { Authentication } from '../../core/mime/authentication.ts';
import { findLinkWarnings, type LinkWarning } from '../../core/mime/link-warnings.ts';
import {
  domainOf,
  findAddressInName,
  findImitatedName,
  findLookalikeDomain,
  hasComparableName,
  type NameWarning,
} from '../../core/mime/name-warnings.ts';
import { type SenderVerdict, senderVerdict } from '../../core/mime/sender-verdict.ts';
import { registrableDomain } from '../../core/shared/registrable-domain.ts';
import { asUser } from '../../db/connection/transaction.ts';
import type { EmailSummary } from '../../db/queries/emails/email-row.ts';
import { readKnownSenders } from '../../db/queries/emails/known-senders.ts';
import type { OperationContext } from '../context.ts';
import { publicSuffixes } from './public-suffixes.ts';

/** All kinds of warnings about a received message. */
export const SECURITY_WARNINGS = [
  'link_text',
  'lookalike_host',
  'address_in_name',
  'imitated_name',
  'lookalike_domain',
] as const;

/** What in a message may deceive its reader. */
export interface SecurityWarning {
  kind: (typeof SECURITY_WARNINGS)[number];
  /** one or two sentences */
  text: string;
  /** what the reader sees: a host, an address or a name */
  shown: string;
  /** what it stands for: the host of the link, or the sender's address or domain */
  actual: string;
}

/** Names of one address from which on it is a service that writes for many people, such as a code host. */
const NAMES_OF_SERVICE = 3;

/** Returns who vouches for the sender. */
export function verdictOf(authentication: Authentication): SenderVerdict {
  return senderVerdict(authentication, (domain) => organizationOf(domain.toLowerCase()));
}

/**
 * Returns what in a received message may deceive its reader: links, a display name that imitates a person known from the user's newest mail,
 * and a domain of the sender that looks like a known one. Empty for other mail. One statement, and none if the sender cannot be compared.
 */
export async function readSecurityWarnings(
  context: OperationContext,
  email: Pick<EmailSummary, 'id' | 'type' | 'fromName' | 'fromAddress'>,
  { html, authentication }: { html: string | null; authentication: Authentication | null },
): Promise<SecurityWarning[]> {
  if (email.type !== 'received') return [];
  const links = html === null ? [] : findLinkWarnings(html, publicSuffixes());
  const names = await readNameWarnings(context, email, authentication);
  return [...names.map(ofName), ...links.map(ofLink)];
}

async function readNameWarnings(
  { database, userId }: OperationContext,
  { id, fromName, fromAddress }: Pick<EmailSummary, 'id' | 'fromName' | 'fromAddress'>,
  authentication: Authentication | null,
): Promise<NameWarning[]> {
  const contained = fromName === null ? null : findAddressInName(fromName, fromAddress);
  const isComparable = fromName !== null && contained === null && hasComparableName(fromName);
  if (!isComparable && organizationOf(domainOf(fromAddress)) === null) return contained === null ? [] : [contained];
  const { people, ownDomains } = await asUser(database, userId, (transaction) =>
    readKnownSenders(transaction, userId, { emailId: id, sender: fromAddress }),
  );
  const known = people.filter(({ isKnown }) => isKnown);
  const sender = people.find(({ address }) => address === fromAddress.toLowerCase());
  const isService = sender !== undefined && sender.names.length >= NAMES_OF_SERVICE;
  const imitated = isComparable && !isService ? findImitatedName(fromName, fromAddress, known) : null;
  const name = contained ?? (imitated !== null && isSecondAddress(imitated, authentication) ? null : imitated);
  const domain = findLookalikeDomain(fromAddress, { people: known, ownDomains }, organizationOf);
  return [name, domain].filter((warning) => warning !== null);
}

/** Returns whether a known person writes from another address, for which the organization that the user knows vouches. */
function isSecondAddress(warning: NameWarning, authentication: Authentication | null): boolean {
  if (warning.kind !== 'imitated_name' || authentication === null) return false;
  const [known, actual] = [domainOf(warning.knownAddress), domainOf(warning.actual)];
  const isSame = (organizationOf(known) ?? known) === (organizationOf(actual) ?? actual);
  return isSame && verdictOf(authentication).verdict === 'verified';
}

function organizationOf(domain: string): string | null {
  return registrableDomain(domain, publicSuffixes());
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
  if (kind === 'lookalike_domain') {
    const likeness =
      warning.knownAddress === null ? `your own domain ${shown}` : `${shown}, the domain of ${warning.knownAddress}`;
    return { kind, shown, actual, text: `The message is from ${actual}, which looks like ${likeness}.` };
  }
  const known = warning.isUser
    ? `This is the name on your own mail from ${warning.knownAddress}`
    : `You know this name from ${warning.knownAddress}`;
  return { kind, shown, actual, text: `The sender’s name is ${shown}. ${known}, but the message is from ${actual}.` };
}
