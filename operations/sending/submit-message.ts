import { hash } from 'node:crypto';
import { TimeLimitExceeded } from '../../actors/work/worker-threads.ts';
import { canonicalDomainName } from '../../core/domains/domain-name.ts';
import type { AddressFields, Mailbox } from '../../core/mime/address.ts';
import type { ParsedMessage } from '../../core/mime/parse-message.ts';
import { baseSubject } from '../../core/mime/subject.ts';
import { emailParties } from '../../core/search/email-parties.ts';
import { outgoingMailbox, parseSender } from '../../core/sending/outgoing-addresses.ts';
import {
  MAX_SUBMITTED_RECIPIENTS,
  prepareSubmitted,
  type SubmittedMessage,
  submissionSha256,
} from '../../core/sending/submitted-message.ts';
import { UserError } from '../../core/shared/errors.ts';
import { createTurns } from '../../core/shared/turns.ts';
import { newIdentifier, type OperationContext } from '../context.ts';
import { createRequestThread } from '../request-thread.ts';
import { MAX_SEARCH_TEXT, type OutgoingEmail } from './compose-outgoing.ts';
import { type Accepted, ownIdempotency } from './idempotency.ts';
import { makeReceipt } from './send-email.ts';
import { submitEmails } from './submit-emails.ts';

/** A message with its envelope, as a client submits it over SMTP (RFC 6409). */
export interface Submission {
  /** the sender of the envelope */
  reversePath: string;
  /** the recipients of the envelope */
  recipients: readonly string[];
  bytes: Buffer;
}

/** A message that is sent, or was before. */
export interface Submitted extends Accepted {
  /** whether an earlier submission sent it, or asked for its approval */
  isRepeated: boolean;
}

/** Random bytes of a Message-ID that is added. */
const MESSAGE_ID_BYTES = 16;
const HEAP_LIMIT_MB = 512;

const turns = createTurns();
/** Parsing is linear in ordinary mail, but what a client submits is not ours. */
const threads = createRequestThread<Uint8Array, ParsedMessage>({
  program: new URL('./submitted-worker.ts', import.meta.url),
  heapLimitMb: HEAP_LIMIT_MB,
});

/**
 * Sends a message as it was submitted, like POST /emails, to the recipients of its envelope. The same Message-ID of the same key to the same
 * recipients is sent once in 24 hours. Returns after the commit. Throws validation, forbidden, rate_limited, conflict, unavailable.
 */
export async function submitMessage(context: OperationContext, submission: Submission): Promise<Submitted> {
  const envelopeDomain = readSenderDomain(submission.reversePath);
  const recipients = listRecipients(submission.recipients);
  const date = context.now();
  const random = Buffer.from(context.random(MESSAGE_ID_BYTES)).toString('hex');
  const message = prepareSubmitted(submission.bytes, { messageId: `<${random}@${envelopeDomain}>`, date });
  if ('error' in message) throw unsendable(message.error);
  const parsed = await parse(context, message.bytes);
  const email = toOutgoing(context, { message, parsed, recipients, envelopeDomain, date });
  const sha256 = submissionSha256(message.messageId, recipients);
  const idempotency = message.hasOwnId
    ? ownIdempotency(context.rights, { key: `smtp ${sha256}`, operation: 'submit', requestSha256: sha256 })
    : null;
  const receipt = { emails: [makeReceipt(email)], batchId: null, repliedTo: null };
  const accepted = await submitEmails(context, { emails: [email], batchId: null, idempotency, receipt });
  return { ...accepted, isRepeated: accepted.receipt.emails[0]?.id !== receipt.emails[0]?.id };
}

function readSenderDomain(reversePath: string): string {
  const mailbox = outgoingMailbox({ name: null, address: reversePath });
  const domain =
    mailbox === null ? null : canonicalDomainName(mailbox.address.slice(mailbox.address.lastIndexOf('@') + 1));
  if (domain === null) throw unsendable('The envelope needs a sender on one of your verified domains');
  return domain;
}

function listRecipients(given: readonly string[]): string[] {
  const recipients = given.map((address) => {
    const mailbox = outgoingMailbox({ name: null, address });
    if (mailbox === null) throw unsendable(`Mail cannot be sent to ${address}`);
    return mailbox.address;
  });
  if (recipients.length > MAX_SUBMITTED_RECIPIENTS)
    throw unsendable(`At most ${MAX_SUBMITTED_RECIPIENTS} recipients are allowed`);
  return [...new Set(recipients)];
}

/** Accounts take turns at the thread. */
async function parse(context: OperationContext, bytes: Buffer): Promise<ParsedMessage> {
  try {
    // The thread gets a copy.
    return await turns.run(context.workspaceId, () => threads.run(bytes, { startBy: context.respondBy }));
  } catch (error) {
    // On a busy machine, a thread may need as long for a harmless message.
    if (error instanceof TimeLimitExceeded)
      throw new UserError('unavailable', 'The message could not be read in time, please try again later');
    context.log.warn({ err: error, workspaceId: context.workspaceId }, 'submission: a message could not be parsed');
    throw unsendable('The message could not be read within the limit of memory', error);
  }
}

interface Read {
  message: SubmittedMessage;
  parsed: ParsedMessage;
  recipients: readonly string[];
  envelopeDomain: string;
  date: Date;
}

function toOutgoing(
  context: OperationContext,
  { message, parsed, recipients, envelopeDomain, date }: Read,
): OutgoingEmail {
  const { sender, domain } = toAuthor(parsed.addresses);
  const addresses = { ...parsed.addresses, bcc: toHidden(parsed.addresses, recipients) };
  const fromText = addresses.from?.text ?? '';
  const identifier = (kind: Parameters<typeof newIdentifier>[1]) => newIdentifier(context, kind);
  const row = {
    id: identifier('email'),
    raw_id: identifier('raw'),
    event_id: identifier('event'),
    own_address: sender.address.toLowerCase(),
    own_domain: domain,
    message_id: message.messageId,
    subject: parsed.subject,
    base_subject: baseSubject(parsed.subject),
    from_name: sender.name,
    from_address: sender.address,
    from_text: fromText,
    to_addresses: listAddresses(addresses.to),
    cc_addresses: listAddresses(addresses.cc),
    preview: parsed.preview,
    date: (parsed.date ?? date).toISOString(),
    scheduled_at: null,
    timezone: null,
    headers: parsed.headers,
    addresses,
    in_reply_to: parsed.inReplyTo,
    reference_ids: parsed.references,
    attachments: parsed.attachments,
    attachment_count: parsed.attachments.length,
    tags: [],
    metadata: null,
    search_text: [parsed.subject, fromText, ...recipients]
      .join('\n')
      .slice(0, MAX_SEARCH_TEXT)
      .toWellFormed()
      .toLowerCase(),
    parties: emailParties([...recipients]),
    sha256: hash('sha256', message.bytes, 'hex'),
    recipients: recipients.map((address) => ({
      id: identifier('recipient'),
      address,
      domain: address.slice(address.lastIndexOf('@') + 1),
      list: null,
    })),
  };
  return {
    row,
    bytes: message.bytes,
    text: parsed.textBody,
    html: parsed.htmlBody,
    path: '',
    list: null,
    claimToken: null,
    envelopeDomain: envelopeDomain === domain ? null : envelopeDomain,
    audience: { to: [...recipients], cc: [], bcc: [] },
  };
}

/** The author of the From field, exactly one, checked as `from` of a send request. */
function toAuthor({ from }: AddressFields): { sender: Mailbox; domain: string } {
  const [author, ...others] = from?.addresses ?? [];
  if (author === undefined || others.length > 0) throw unsendable('The From field must name exactly one address');
  const name = author.name === null ? '' : `"${author.name.replace(/["\\]/g, '\\$&')}" `;
  const read = parseSender(`${name}<${author.address}>`);
  if (read.error !== undefined) throw unsendable(read.error);
  return read;
}

/** Recipients of the envelope whom no field names. */
function toHidden({ to, cc }: AddressFields, recipients: readonly string[]): AddressFields['bcc'] {
  const named = new Set([to, cc].flatMap((list) => listAddresses(list)).map((address) => address.toLowerCase()));
  const hidden = recipients.filter((address) => !named.has(address.toLowerCase()));
  if (hidden.length === 0) return null;
  return { text: hidden.join(', '), addresses: hidden.map((address) => ({ name: null, address })) };
}

function listAddresses(list: AddressFields['to']): string[] {
  return list?.addresses.map(({ address }) => address) ?? [];
}

function unsendable(message: string, cause?: unknown): UserError {
  return new UserError('validation', message, { details: message, cause });
}
