import type { Mailbox } from '../../core/mime/address.ts';
import {
  envelopeRecipients,
  MAX_RECIPIENTS,
  MAX_REPLY_TO,
  parseRecipients,
  parseSender,
} from '../../core/sending/outgoing-addresses.ts';
import {
  type GivenAttachment,
  MAX_CONTENT_BYTES,
  MAX_OUTGOING_ATTACHMENTS,
  type OutgoingAttachment,
  readOutgoingAttachments,
} from '../../core/sending/outgoing-attachments.ts';
import {
  checkOutgoingHeaders,
  checkSubject,
  isHeaderText,
  THREADING_FIELDS,
} from '../../core/sending/outgoing-headers.ts';
import { DEFAULT_LIST, isListName } from '../../core/sending/unsubscribe-link.ts';
import { UserError } from '../../core/shared/errors.ts';
import { storableText } from '../../core/shared/text.ts';
import { invalid } from '../context.ts';

/** Input of a send request; omitted and null fields mean the same. */
export interface NewEmail {
  from?: string | null | undefined;
  to?: string | readonly string[] | null | undefined;
  cc?: string | readonly string[] | null | undefined;
  bcc?: string | readonly string[] | null | undefined;
  replyTo?: string | readonly string[] | null | undefined;
  subject?: string | null | undefined;
  html?: string | null | undefined;
  text?: string | null | undefined;
  headers?: Readonly<Record<string, string>> | null | undefined;
  attachments?: readonly GivenAttachment[] | null | undefined;
  tags?: readonly Tag[] | null | undefined;
  /** a JSON object, checked by its shape; replies to the email carry it */
  metadata?: Readonly<Record<string, unknown>> | null | undefined;
  /** whether the recipient can unsubscribe from the list, of that name */
  listUnsubscribe?: boolean | { list?: string | null | undefined } | null | undefined;
  /** ISO 8601 or an English phrase; see core/sending/schedule.ts */
  scheduledAt?: string | null | undefined;
  /** IANA; UTC when omitted */
  timezone?: string | null | undefined;
  /** of the claim of the thread that the email replies to; the email is refused when the claim is lost */
  claimToken?: string | null | undefined;
}

interface Tag {
  name: string;
  value: string;
}

/** The checked content of an email, new or a reply. */
export interface CheckedContent {
  sender: Mailbox;
  /** the sender's domain, canonical: it must be verified */
  domain: string;
  cc: Mailbox[];
  bcc: Mailbox[];
  replyTo: Mailbox[];
  /** null when the user gave none */
  text: string | null;
  html: string | null;
  /** whether a text part is derived from the HTML: the request has no text, and did not opt out with an empty one */
  derivesText: boolean;
  /** custom header fields */
  fields: [string, string][];
  inReplyTo: string | null;
  references: string[];
  attachments: OutgoingAttachment[];
  tags: Tag[];
  metadata: Readonly<Record<string, unknown>> | null;
  /** the list that the recipient can unsubscribe from; null: no List-Unsubscribe */
  list: string | null;
  /** the requested send time, not parsed yet because that needs the current time */
  sendAt: { text: string; timezone: string } | null;
  claimToken: string | null;
  /** prefix of the field names in errors, such as `emails.3.`; usually empty */
  path: string;
}

/** An email that can be composed. */
export interface CheckedEmail extends CheckedContent {
  to: Mailbox[];
  subject: string;
  /** the stored email that it forwards */
  forwardedId?: string | undefined;
}

/** Bounds of the reference service. */
const MAX_TAGS = 20;
const MAX_TAG_NAME_LENGTH = 64;
const MAX_TAG_VALUE_LENGTH = 256;

/** Checks everything that needs neither the database nor the clock. Throws validation that names the field. */
export function checkOutgoing(email: NewEmail, path = ''): CheckedEmail {
  const missing = (['from', 'to', 'subject'] as const).filter((field) => isMissing(email[field]));
  if (missing.length > 0) throw missingFields('from, to, and subject are required', missing, path);
  const subject = readSubject(email.subject ?? '', path);
  const to = readMailboxes(email.to, 'to', MAX_RECIPIENTS, path);
  const content = checkContent(email, path);
  checkAudience(to, content);
  const list = readList(email.listUnsubscribe, to, content);
  if (content.claimToken !== null && content.inReplyTo === null && content.references.length === 0)
    throw invalid(
      'claim_token is for emails that answer a thread: reply to an email, or set the headers In-Reply-To and References',
      `${path}claim_token`,
    );
  return { ...content, to, subject, list };
}

/** As checkOutgoing, for a reply. Recipients and subject are null when they come from the original. */
export function checkReply(
  email: NewEmail & { fromName?: string | null | undefined },
): CheckedContent & { to: Mailbox[] | null; subject: string | null } {
  if (isMissing(email.from)) throw missingFields('from is required', ['from'], '');
  const to = readMailboxes(email.to, 'to', MAX_RECIPIENTS, '');
  const subject = isMissing(email.subject) ? null : readSubject(email.subject ?? '', '');
  const content = checkContent(email, '', THREADING_FIELDS);
  return { ...content, sender: named(content.sender, email), to: to.length === 0 ? null : to, subject };
}

/** Requires at least one recipient, and not too many in any field. Throws validation. */
export function checkAudience(to: readonly Mailbox[], content: Pick<CheckedContent, 'cc' | 'bcc' | 'path'>): void {
  const { cc, bcc, path } = content;
  if (envelopeRecipients(to, cc, bcc).length === 0)
    throw invalid('At least one recipient is required in to, cc or bcc', `${path}to`);
  // A reply can add recipients of the original.
  for (const [field, recipients] of Object.entries({ to, cc, bcc }))
    if (recipients.length > MAX_RECIPIENTS)
      throw invalid(`Too many addresses in ${field}: at most ${MAX_RECIPIENTS} are allowed`, path + field);
}

/** What a draft has so far. */
export interface CheckedDraft {
  /** null: no sender yet */
  sender: { address: string; domain: string } | null;
  attachments: OutgoingAttachment[];
}

/**
 * Checks those fields of a draft that are given, as checkOutgoing would; what is missing may follow. `kept` are the sizes of what the draft
 * has and the request does not give. Throws validation.
 */
export function checkDraft(
  email: NewEmail,
  { isNew, kept }: { isNew: boolean; kept: { textBytes: number; htmlBytes: number; fileBytes: number; files: number } },
): CheckedDraft {
  const cc = readMailboxes(email.cc, 'cc', MAX_RECIPIENTS, '');
  const bcc = readMailboxes(email.bcc, 'bcc', MAX_RECIPIENTS, '');
  const to = readMailboxes(email.to, 'to', MAX_RECIPIENTS, '');
  readMailboxes(email.replyTo, 'reply_to', MAX_REPLY_TO, '');
  if (!isMissing(email.subject)) readSubject(email.subject ?? '', '');
  readTags(email.tags ?? [], '');
  const header = checkOutgoingHeaders(email.headers ?? {}, isNew ? undefined : THREADING_FIELDS);
  if (header.error !== undefined) throw invalid(header.error, 'headers');
  readList(email.listUnsubscribe, to, { cc, bcc, fields: header.fields, path: '' });
  const from = isMissing(email.from) ? null : parseSender(email.from ?? '');
  if (from?.error !== undefined) throw invalid(from.error, 'from');
  const { files, fileBytes } = kept;
  const given = email.attachments ?? [];
  if (files + given.length > MAX_OUTGOING_ATTACHMENTS)
    throw invalid(`Attachments cannot be more than ${MAX_OUTGOING_ATTACHMENTS}`, 'attachments');
  const bytes = (text: string | null | undefined, now: number) => (text == null ? now : Buffer.byteLength(text));
  const sizes = { text: bytes(email.text, kept.textBytes), html: bytes(email.html, kept.htmlBytes), files: fileBytes };
  const sender = from === null ? null : { address: from.sender.address.toLowerCase(), domain: from.domain };
  return { sender, attachments: readAttachments(given, sizes, '') };
}

function checkContent(email: NewEmail, path: string, ours?: ReadonlySet<string>): CheckedContent {
  const { text, html } = readBodies(email, path);
  const from = parseSender(email.from ?? '');
  if (from.error !== undefined) throw invalid(from.error, `${path}from`);
  const header = checkOutgoingHeaders(email.headers ?? {}, ours);
  if (header.error !== undefined) throw invalid(header.error, `${path}headers`);
  const { fields, inReplyTo, references } = header;
  return {
    sender: from.sender,
    domain: from.domain,
    cc: readMailboxes(email.cc, 'cc', MAX_RECIPIENTS, path),
    bcc: readMailboxes(email.bcc, 'bcc', MAX_RECIPIENTS, path),
    replyTo: readMailboxes(email.replyTo, 'reply_to', MAX_REPLY_TO, path),
    text,
    html,
    derivesText: text === null && email.text !== '',
    fields,
    inReplyTo,
    references,
    attachments: readAttachments(email.attachments ?? [], toSizes(text, html), path),
    tags: readTags(email.tags ?? [], path),
    metadata: email.metadata ?? null,
    list: null,
    sendAt: email.scheduledAt == null ? null : { text: email.scheduledAt, timezone: email.timezone ?? 'UTC' },
    claimToken: email.claimToken ?? null,
    path,
  };
}

function readList(
  given: NewEmail['listUnsubscribe'],
  to: readonly Mailbox[],
  { cc, bcc, fields, path }: Pick<CheckedContent, 'cc' | 'bcc' | 'fields' | 'path'>,
): string | null {
  if (given == null || given === false) return null;
  const field = `${path}list_unsubscribe`;
  const list = (given === true ? null : given.list) ?? DEFAULT_LIST;
  if (!isListName(list))
    throw invalid('The name of a list has 1 to 64 letters, digits, spaces, dots, hyphens and underscores', field);
  if (envelopeRecipients(to, cc, bcc).length > 1)
    throw invalid(
      'An email with list_unsubscribe has one recipient, because its link is for that recipient. Send one email to each, for example in a batch',
      field,
    );
  const own = fields.find(([name]) => /^list-unsubscribe(?:-post)?$/i.test(name));
  if (own !== undefined)
    throw invalid(`Header cannot be set together with list_unsubscribe: ${own[0]}`, `${path}headers`);
  return list;
}

function isMissing(value: NewEmail['to']): boolean {
  return value == null || value === '';
}

function missingFields(rest: string, fields: readonly string[], path: string): UserError {
  const details = fields.map((field) => ({ field: path + field, message: 'Required' }));
  return new UserError('validation', `Missing required fields: ${rest}`, { details, name: 'missing_required_field' });
}

function readSubject(subject: string, path: string): string {
  const flaw = checkSubject(subject);
  if (flaw !== null) throw invalid(flaw, `${path}subject`);
  return subject;
}

function readMailboxes(given: NewEmail['to'], field: string, most: number, path: string): Mailbox[] {
  const read = parseRecipients(given ?? '', field, most);
  if (read.error !== undefined) throw invalid(read.error, path + field);
  return read.recipients;
}

function readBodies(email: NewEmail, path: string): { text: string | null; html: string | null } {
  const readBody = (given: string | null | undefined) => (given == null || given === '' ? null : storableText(given));
  const [text, html] = [readBody(email.text), readBody(email.html)];
  if (text === null && html === null) throw invalid('Either html or text content must be provided', `${path}html`);
  return { text, html };
}

/** Bytes of the parts of an email that count beside the attachments given. */
interface PartSizes {
  text: number;
  html: number;
  /** of attachments that a draft has already */
  files: number;
}

function toSizes(text: string | null, html: string | null): PartSizes {
  return { text: Buffer.byteLength(text ?? ''), html: Buffer.byteLength(html ?? ''), files: 0 };
}

function readAttachments(
  given: readonly GivenAttachment[],
  { text, html, files }: PartSizes,
  path: string,
): OutgoingAttachment[] {
  if (text + html > MAX_CONTENT_BYTES)
    throw invalid(
      `Text and html together cannot be larger than ${MAX_CONTENT_BYTES} bytes`,
      `${path}${text > html ? 'text' : 'html'}`,
    );
  if (text + html + files > MAX_CONTENT_BYTES)
    throw invalid(`The attachments make the message larger than ${MAX_CONTENT_BYTES} bytes`, `${path}attachments`);
  const read = readOutgoingAttachments(given, text + html + files);
  if (read.error === undefined) return read.attachments;
  throw invalid(read.error, read.index === null ? `${path}attachments` : `${path}attachments.${read.index}`);
}

function readTags(tags: readonly Tag[], path: string): Tag[] {
  if (tags.length > MAX_TAGS) throw invalid(`Tags cannot be more than ${MAX_TAGS}`, `${path}tags`);
  return tags.map(({ name, value }, index) => {
    const field = `${path}tags.${index}`;
    if (name === '' || name.length > MAX_TAG_NAME_LENGTH || !isHeaderText(name))
      throw invalid(`Tag names must be one line of 1 to ${MAX_TAG_NAME_LENGTH} characters`, `${field}.name`);
    if (value.length > MAX_TAG_VALUE_LENGTH || !isHeaderText(value))
      throw invalid(`Tag values must be one line of at most ${MAX_TAG_VALUE_LENGTH} characters`, `${field}.value`);
    return { name, value };
  });
}

/** Returns the sender with `fromName` as its name when the address has none. */
function named(sender: Mailbox, { fromName }: { fromName?: string | null | undefined }): Mailbox {
  if (sender.name !== null || fromName == null || fromName === '') return sender;
  const read = parseSender(`"${fromName.replace(/["\\]/g, '\\$&')}" <${sender.address}>`);
  if (read.error !== undefined) throw invalid('The name of the sender is not valid', 'from_name');
  return read.sender;
}
