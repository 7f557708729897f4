import type { AddressFields } from '../../core/address.ts';
import type { Attachment } from '../../core/attachment.ts';
import type { Authentication } from '../../core/authentication.ts';
import { baseSubject } from '../../core/subject.ts';
import type { Reception } from './reception.ts';
import type { EmailRows } from './store-rows.ts';

/** What the parser makes of a message, as far as it is stored. */
export interface StorableMessage {
  /** in their order, names in lower case */
  headers: [string, string][];
  addresses: AddressFields;
  /** `<local@domain>`; null when there is none */
  messageId: string | null;
  inReplyTo: string[];
  references: string[];
  subject: string;
  date: Date | null;
  text: string | null;
  html: string | null;
  cleanedText: string | null;
  cleanedHtml: string | null;
  preview: string;
  attachments: Attachment[];
  priority: string | null;
  isTruncated: boolean;
}

/** What parsing came to. */
export interface StorableOutcome {
  /** after a failure what a scan of the header section gave */
  message: StorableMessage;
  authentication: Authentication | null;
  /** null when the message was parsed */
  error: string | null;
}

/** Raised whenever the same octets would be parsed to something else. */
const PARSER_VERSION = 1;
/** Octets; RFC 5322 §2.1.1 allows no longer line, and the index no much longer value. */
const MAX_MESSAGE_ID_OCTETS = 998;
/** Characters of search text kept of one email. */
const MAX_SEARCH_TEXT = 8_000;

/**
 * The rows of a received email. Without a usable Message-ID it gets one of ours, `<EMAILID@hostname>`, so that every email can be
 * answered and referred to.
 */
export function emailRows(
  reception: Reception,
  outcome: StorableOutcome,
  eventId: string,
  mailHostname: string,
): EmailRows {
  const { message } = outcome;
  const { from, to, cc } = message.addresses;
  const sender = from?.addresses[0];
  const toAddresses = to?.addresses.map((mailbox) => mailbox.address) ?? [];
  const ccAddresses = cc?.addresses.map((mailbox) => mailbox.address) ?? [];
  return {
    user_id: reception.userId,
    email_id: reception.emailId,
    event_id: eventId,
    message_id: usable(message.messageId) ?? `<${reception.emailId}@${mailHostname}>`,
    subject: message.subject,
    base_subject: baseSubject(message.subject),
    from_name: sender?.name ?? null,
    from_address: sender?.address ?? '',
    from_text: from?.text ?? '',
    to_addresses: toAddresses,
    cc_addresses: ccAddresses,
    preview: message.preview,
    date: message.date?.toISOString() ?? null,
    attachment_count: message.attachments.length,
    headers: message.headers,
    addresses: message.addresses,
    in_reply_to: message.inReplyTo,
    reference_ids: message.references,
    text_body: message.text,
    html_body: message.html,
    cleaned_text: message.cleanedText,
    cleaned_html: message.cleanedHtml,
    attachments: message.attachments,
    authentication: outcome.authentication,
    priority: message.priority,
    is_truncated: message.isTruncated,
    parse_error: outcome.error,
    parser_version: PARSER_VERSION,
    search_text: [message.subject, from?.text ?? '', reception.recipient, ...toAddresses, ...ccAddresses]
      .join('\n')
      .slice(0, MAX_SEARCH_TEXT)
      .toWellFormed()
      .toLowerCase(),
  };
}

/** What is known of a message that cannot even be scanned, or whose rows PostgreSQL does not take. */
export function bareOutcome(error: string): StorableOutcome {
  return {
    message: {
      headers: [],
      addresses: { from: null, to: null, cc: null, bcc: null, replyTo: null },
      messageId: null,
      inReplyTo: [],
      references: [],
      subject: '',
      date: null,
      text: null,
      html: null,
      cleanedText: null,
      cleanedHtml: null,
      preview: '',
      attachments: [],
      priority: null,
      isTruncated: true,
    },
    authentication: null,
    error,
  };
}

function usable(messageId: string | null): string | null {
  return messageId !== null && Buffer.byteLength(messageId) <= MAX_MESSAGE_ID_OCTETS ? messageId : null;
}
