import type { Authentication } from '../../core/mime/authentication.ts';
import { findLinkWarnings, type LinkWarning, MAX_HTML } from '../../core/mime/link-warnings.ts';
import {
  findAddressInName,
  findImitatedName,
  findLookalikeDomain,
  hasComparableName,
  type NameWarning,
  readDomain,
} from '../../core/mime/name-warnings.ts';
import { type SenderVerdict, senderVerdict } from '../../core/mime/sender-verdict.ts';
import { type BodyText, textBeginning } from '../../core/shared/large-text.ts';
import { registrableDomain } from '../../core/shared/registrable-domain.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import type { EmailSummary } from '../../db/queries/emails/email-row.ts';
import { findKnownSenders, type KnownSenders } from '../../db/queries/emails/known-senders.ts';
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
  /** what it refers to: the host of the link, or the sender's address or domain */
  actual: string;
}

/** Names of one address from which on it is a service that writes for many people, such as a code host. */
const NAMES_OF_SERVICE = 3;

/** Returns who vouches for the sender. */
export function judgeSender(authentication: Authentication): SenderVerdict {
  return senderVerdict(authentication, (domain) => findOrganization(domain.toLowerCase()));
}

/** The email to warn of, with its body. */
export interface ExaminedMail {
  email: Pick<EmailSummary, 'id' | 'type' | 'fromName' | 'fromAddress'>;
  html: BodyText | null;
  authentication: Authentication | null;
}

/** Emails whose known senders one statement reads. */
const SENDERS_BATCH = 10;

/**
 * Returns for each message, if it was received, what in it may deceive its reader: links, a display name that imitates a person known from
 * the user's newest mail, and a domain of the sender that looks like a known one. Empty for other mail. One statement for ten messages in one
 * transaction, and none if no sender can be compared.
 */
export async function readSecurityWarnings(
  { database, workspaceId }: OperationContext,
  mails: readonly ExaminedMail[],
): Promise<SecurityWarning[][]> {
  const compared = mails.filter(({ email }) => email.type === 'received' && isSenderComparable(email));
  const warnings = new Map<ExaminedMail, NameWarning[]>();
  if (compared.length > 0)
    await asWorkspace(database, workspaceId, async (transaction) => {
      for (let at = 0; at < compared.length; at += SENDERS_BATCH) {
        const batch = compared.slice(at, at + SENDERS_BATCH);
        const senders = batch.map(({ email }) => ({ emailId: email.id, sender: email.fromAddress }));
        const known = await findKnownSenders(transaction, workspaceId, senders);
        for (const mail of batch)
          warnings.set(mail, compareSender(mail, known.get(mail.email.id) ?? { people: [], ownDomains: [] }));
      }
    });
  return mails.map((mail) => {
    if (mail.email.type !== 'received') return [];
    const names = warnings.get(mail) ?? compareSender(mail, { people: [], ownDomains: [] });
    const links = mail.html === null ? [] : findLinkWarnings(textBeginning(mail.html, MAX_HTML), publicSuffixes());
    return [...names.map(ofName), ...links.map(ofLink)];
  });
}

/** Returns whether the sender must be compared with the people that the user knows. */
function isSenderComparable({ fromName, fromAddress }: ExaminedMail['email']): boolean {
  if (findOrganization(readDomain(fromAddress)) !== null) return true;
  return fromName !== null && findAddressInName(fromName, fromAddress) === null && hasComparableName(fromName);
}

function compareSender(
  { email: { fromName, fromAddress }, authentication }: ExaminedMail,
  { people, ownDomains }: KnownSenders,
): NameWarning[] {
  const contained = fromName === null ? null : findAddressInName(fromName, fromAddress);
  const isComparable = fromName !== null && contained === null && hasComparableName(fromName);
  const known = people.filter(({ isKnown }) => isKnown);
  const sender = people.find(({ address }) => address === fromAddress.toLowerCase());
  const isService = sender !== undefined && sender.names.length >= NAMES_OF_SERVICE;
  const imitated = isComparable && !isService ? findImitatedName(fromName, fromAddress, known) : null;
  const name = contained ?? (imitated !== null && isSecondAddress(imitated, authentication) ? null : imitated);
  const domain = findLookalikeDomain(fromAddress, { people: known, ownDomains }, findOrganization);
  return [name, domain].filter((warning) => warning !== null);
}

/** Returns whether a known person writes from another address, for which the organization that the user knows vouches. */
function isSecondAddress(warning: NameWarning, authentication: Authentication | null): boolean {
  if (warning.kind !== 'imitated_name' || authentication === null) return false;
  const [known, actual] = [readDomain(warning.knownAddress), readDomain(warning.actual)];
  const isSame = (findOrganization(known) ?? known) === (findOrganization(actual) ?? actual);
  return isSame && judgeSender(authentication).verdict === 'verified';
}

function findOrganization(domain: string): string | null {
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
