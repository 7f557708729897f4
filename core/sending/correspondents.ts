import { canonicalDomainName } from '../domains/domain-name.ts';
import type { Mailbox } from '../mime/address.ts';
import { outgoingMailbox } from './outgoing-addresses.ts';

/** What a group of stored emails proves about who takes part in a conversation; see db/queries/sending/correspondents.ts. */
interface Proof {
  /** domains of the authors of received mail; null: mail that the user sent */
  authorDomains: readonly string[] | null;
  addresses: readonly string[];
}

/**
 * Returns who takes part in a conversation, in the form of recipients: the people named in mail received from others, and the recipients of
 * mail that was sent. Mail that names one of the user's own domains as its author proves nothing: any API key that sends can write it to
 * one of the user's addresses, with a Cc or Reply-To of its choice. So does mail without an author.
 */
export function findCorrespondents(proofs: readonly Proof[], ownDomains: ReadonlySet<string>): Set<string> {
  const isOwn = (domain: string) => ownDomains.has(canonicalDomainName(domain) ?? domain);
  const isProof = ({ authorDomains }: Proof) =>
    authorDomains === null || (authorDomains.length > 0 && !authorDomains.some(isOwn));
  return new Set(
    proofs.filter(isProof).flatMap(({ addresses }) => addresses.map((address) => asRecipient({ name: null, address }))),
  );
}

/** Returns the address in the form of recipients, lower case; unchanged but for its case when it cannot receive mail. */
export function asRecipient(mailbox: Mailbox): string {
  return (outgoingMailbox(mailbox) ?? mailbox).address.toLowerCase();
}
