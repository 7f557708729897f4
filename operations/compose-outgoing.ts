import { hash } from 'node:crypto';
import type { AddressFields, AddressList, Mailbox } from '../core/address.ts';
import { composeMessage } from '../core/compose-message.ts';
import { readableFields, readHeaderSection } from '../core/header-fields.ts';
import { envelopeRecipients } from '../core/outgoing-addresses.ts';
import { listAttachments, previewOf } from '../core/parse-message.ts';
import { baseSubject } from '../core/subject.ts';
import type { OutgoingContent } from '../db/queries/outgoing-write.ts';
import type { CheckedEmail } from './check-outgoing.ts';
import { newIdentifier, type OperationContext } from './context.ts';

/** An email with its octets and rows, to be submitted. */
export interface OutgoingEmail extends OutgoingContent {
  /** see CheckedContent */
  path: string;
  /** the addresses of To, Cc and Bcc, for what the policy says of them */
  audience: { to: string[]; cc: string[]; bcc: string[] };
}

/** Octets of the local-part of our Message-IDs before they are written in hex. */
const MESSAGE_ID_OCTETS = 16;
/** Characters of HTML whose text is looked at for the excerpt of lists. */
const MAX_PREVIEWED_HTML = 20_000;
/** Characters of search text kept of one email. */
const MAX_SEARCH_TEXT = 8_000;

/**
 * Composes an email and makes its rows. A scheduled one bears the date at which it will be sent. Throws when the octets do not turn
 * out as promised, which is a mistake of ours.
 */
export async function composeOutgoing(
  context: OperationContext,
  email: CheckedEmail,
  schedule: { at: Date; timezone: string } | null,
): Promise<OutgoingEmail> {
  const { sender, domain, to, cc, bcc, replyTo, subject, text, html, attachments } = email;
  const messageId = `<${Buffer.from(context.random(MESSAGE_ID_OCTETS)).toString('hex')}@${domain}>`;
  const date = schedule?.at ?? context.now();
  const { inReplyTo, references, fields } = email;
  const head = { messageId, date, from: sender, to, cc, replyTo, subject, inReplyTo, references, fields };
  const octets = await composeMessage({ ...head, text, html, attachments });
  const addresses = addressFields(email);
  const recipients = envelopeRecipients(to, cc, bcc);
  const listed = attachments.length === 0 ? [] : await listAttachments(octets);
  const bare = (mailboxes: readonly Mailbox[]) => mailboxes.map((mailbox) => mailbox.address);
  const row = {
    id: newIdentifier(context, 'email'),
    raw_id: newIdentifier(context, 'raw'),
    event_id: newIdentifier(context, 'event'),
    own_address: sender.address.toLowerCase(),
    own_domain: domain,
    message_id: messageId,
    subject,
    base_subject: baseSubject(subject),
    from_name: sender.name,
    from_address: sender.address,
    from_text: addresses.from?.text ?? '',
    to_addresses: bare(to),
    cc_addresses: bare(cc),
    preview: previewOf({ cleanedText: text, cleanedHtml: null, htmlBody: html?.slice(0, MAX_PREVIEWED_HTML) ?? null }),
    date: date.toISOString(),
    scheduled_at: schedule?.at.toISOString() ?? null,
    timezone: schedule?.timezone ?? null,
    headers: readableFields(readHeaderSection(octets)),
    addresses,
    in_reply_to: inReplyTo === null ? [] : [inReplyTo],
    reference_ids: references,
    attachments: listed,
    attachment_count: listed.length,
    tags: email.tags,
    search_text: [subject, addresses.from?.text ?? '', ...recipients]
      .join('\n')
      .slice(0, MAX_SEARCH_TEXT)
      .toWellFormed()
      .toLowerCase(),
    sha256: hash('sha256', octets, 'hex'),
    recipients: recipients.map((address) => ({
      id: newIdentifier(context, 'recipient'),
      address,
      domain: address.slice(address.lastIndexOf('@') + 1),
    })),
  };
  return { row, octets, text, html, path: email.path, audience: { to: bare(to), cc: bare(cc), bcc: bare(bcc) } };
}

function addressFields({ sender, to, cc, bcc, replyTo }: CheckedEmail): AddressFields {
  return { from: listOf([sender]), to: listOf(to), cc: listOf(cc), bcc: listOf(bcc), replyTo: listOf(replyTo) };
}

function listOf(mailboxes: readonly Mailbox[]): AddressList | null {
  if (mailboxes.length === 0) return null;
  return { text: mailboxes.map(written).join(', '), addresses: [...mailboxes] };
}

/** RFC 5322 §3.4, decoded: a name with special characters stands in quotes. */
function written({ name, address }: Mailbox): string {
  if (name === null) return address;
  const isPlain = !/[()<>[\]:;@\\,."]/.test(name);
  return `${isPlain ? name : `"${name.replace(/["\\]/g, '\\$&')}"`} <${address}>`;
}
