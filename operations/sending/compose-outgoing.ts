import { hash } from 'node:crypto';
import { setImmediate as otherWork } from 'node:timers/promises';
import type { AddressFields, AddressList, Mailbox } from '../../core/mime/address.ts';
import { composeMessage, listComposedAttachments } from '../../core/mime/compose-message.ts';
import { readableFields, readHeaderSection } from '../../core/mime/header-fields.ts';
import { isMadeId } from '../../core/mime/message-id.ts';
import { makePreview } from '../../core/mime/parse-message.ts';
import { baseSubject } from '../../core/mime/subject.ts';
import { emailParties } from '../../core/search/email-parties.ts';
import { envelopeRecipients } from '../../core/sending/outgoing-addresses.ts';
import { unsubscribeFields } from '../../core/sending/unsubscribe-link.ts';
import { IDENTIFIER_RANDOM_BYTES, type IdentifierKind, makeIdentifier } from '../../core/shared/identifiers.ts';
import { NONCE_BYTES } from '../../core/shared/secret-box.ts';
import type { OutgoingContent } from '../../db/queries/sending/outgoing-write.ts';
import { invalid, type MailContext } from '../context.ts';
import { readHtmlText } from '../emails/html-text.ts';
import type { CheckedEmail } from './check-outgoing.ts';

/** A composed email with its row, ready to be submitted. */
export interface OutgoingEmail extends OutgoingContent {
  /** see CheckedContent */
  path: string;
  /** the addresses of To, Cc and Bcc, for the sending policy */
  audience: { to: string[]; cc: string[]; bcc: string[] };
  /** see CheckedContent */
  list: string | null;
  claimToken: string | null;
  /** the stored email that it forwards; absent: none that is known */
  forwardedId?: string | undefined;
  /** the domain of the envelope's sender, canonical, which must be verified as well; null: that of the row */
  envelopeDomain: string | null;
}

/** Random bytes of a Message-ID's local-part, written in hex. */
const MESSAGE_ID_BYTES = 16;
/** Bytes of attachments whose message takes so long to compose that other requests go on between its steps. */
const LARGE_ATTACHMENTS = 1_000_000;
/** Characters of search text kept of one email. */
export const MAX_SEARCH_TEXT = 8_000;

/**
 * Composes an email and its row. A scheduled email has its send time as Date. Throws when the message is not valid
 * ASCII lines, which is a bug.
 */
export async function composeOutgoing(
  context: MailContext,
  email: CheckedEmail,
  schedule: { at: Date; timezone: string } | null,
): Promise<OutgoingEmail> {
  const { sender, domain, to, cc, bcc, replyTo, subject, html, attachments } = email;
  const text = email.derivesText && html !== null ? await readHtmlText(context.workspaceId, html) : email.text;
  const recipients = envelopeRecipients(to, cc, bcc);
  const random = context.random(MESSAGE_ID_BYTES + (3 + recipients.length) * IDENTIFIER_RANDOM_BYTES);
  const identifier = (kind: IdentifierKind, place: number) =>
    makeIdentifier(kind, context.now(), random.subarray(MESSAGE_ID_BYTES + place * IDENTIFIER_RANDOM_BYTES));
  const id = identifier('email', 0);
  const messageId = `<${Buffer.from(random.subarray(0, MESSAGE_ID_BYTES)).toString('hex')}@${domain}>`;
  const date = schedule?.at ?? context.now();
  const { inReplyTo, references, list } = email;
  const fields = list === null ? email.fields : [...email.fields, ...listFields(context, email, list, recipients, id)];
  // The row keeps ids of our making, which lead to the thread; other people have never seen them.
  const written = {
    inReplyTo: inReplyTo !== null && isMadeId(inReplyTo) ? null : inReplyTo,
    references: references.filter((reference) => !isMadeId(reference)),
  };
  const head = { messageId, date, from: sender, to, cc, replyTo, subject, ...written, fields };
  const draft = { ...head, text, html, attachments };
  const isLarge = attachments.reduce((sum, { content }) => sum + content.length, 0) >= LARGE_ATTACHMENTS;
  if (isLarge) {
    // The first ends in the round of the event loop in which the request was parsed.
    await otherWork();
    await otherWork();
  }
  const bytes = await composeMessage(draft, otherWork);
  if (isLarge) await otherWork();
  const addresses = addressFields(email);
  const listed = attachments.length === 0 ? [] : listComposedAttachments(bytes, draft);
  const bare = (mailboxes: readonly Mailbox[]) => mailboxes.map((mailbox) => mailbox.address);
  const row = {
    id,
    raw_id: identifier('raw', 1),
    event_id: identifier('event', 2),
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
    preview: makeExcerpt(email.text, html),
    date: date.toISOString(),
    scheduled_at: schedule?.at.toISOString() ?? null,
    timezone: schedule?.timezone ?? null,
    headers: readableFields(readHeaderSection(bytes)),
    addresses,
    in_reply_to: inReplyTo === null ? [] : [inReplyTo],
    reference_ids: references,
    attachments: listed,
    attachment_count: listed.length,
    tags: email.tags,
    metadata: email.metadata,
    search_text: [subject, addresses.from?.text ?? '', ...recipients]
      .join('\n')
      .slice(0, MAX_SEARCH_TEXT)
      .toWellFormed()
      .toLowerCase(),
    parties: emailParties(recipients),
    sha256: hash('sha256', bytes, 'hex'),
    recipients: recipients.map((address, at) => ({
      id: identifier('recipient', 3 + at),
      address,
      domain: address.slice(address.lastIndexOf('@') + 1),
      list,
    })),
  };
  return {
    row,
    bytes,
    text,
    html,
    path: email.path,
    list,
    claimToken: email.claimToken,
    forwardedId: email.forwardedId,
    envelopeDomain: null,
    audience: { to: bare(to), cc: bare(cc), bcc: bare(bcc) },
  };
}

/** Returns the fields that let the only recipient unsubscribe. Throws validation when the service has no public URL. */
function listFields(
  { settings, workspaceId, random }: MailContext,
  { path }: CheckedEmail,
  list: string,
  recipients: readonly string[],
  emailId: string,
): [string, string][] {
  const { unsubscribeUrl, secretKey } = settings;
  const [address = ''] = recipients;
  if (unsubscribeUrl === null)
    throw invalid(
      'list_unsubscribe needs the public https URL of this service, because mail programs send their one-click request there. Set PUBLIC_URL.',
      `${path}list_unsubscribe`,
    );
  const unsubscription = { workspaceId, emailId, address: address.toLowerCase(), list };
  return unsubscribeFields(unsubscribeUrl, secretKey, unsubscription, random(NONCE_BYTES));
}

/**
 * Characters of HTML that are searched for an excerpt, in two steps: sanitizing costs more than composing the message.
 */
const EXCERPT_HTML_LENGTHS = [2_000, 20_000];

/** Returns the beginning of an email, from its text or else its HTML. */
export function makeExcerpt(text: string | null, html: string | null): string {
  if (text !== null || html === null) return makePreview({ cleanedText: text, cleanedHtml: null, htmlBody: null });
  const start = Math.max(0, html.search(/<body[\s>]/i));
  for (const length of EXCERPT_HTML_LENGTHS) {
    const htmlBody = html.slice(start, start + length);
    const excerpt = makePreview({ cleanedText: null, cleanedHtml: null, htmlBody });
    if (excerpt !== '') return excerpt;
  }
  return '';
}

function addressFields({ sender, to, cc, bcc, replyTo }: CheckedEmail): AddressFields {
  return {
    from: toAddressList([sender]),
    to: toAddressList(to),
    cc: toAddressList(cc),
    bcc: toAddressList(bcc),
    replyTo: toAddressList(replyTo),
  };
}

function toAddressList(mailboxes: readonly Mailbox[]): AddressList | null {
  if (mailboxes.length === 0) return null;
  return { text: mailboxes.map(written).join(', '), addresses: [...mailboxes] };
}

/** Writes a mailbox (RFC 5322 §3.4) without encoding; names with special characters are quoted. */
function written({ name, address }: Mailbox): string {
  if (name === null) return address;
  const isPlain = !/[()<>[\]:;@\\,."]/.test(name);
  return `${isPlain ? name : `"${name.replace(/["\\]/g, '\\$&')}"`} <${address}>`;
}
