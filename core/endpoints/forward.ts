import { encodeWord } from 'nodemailer/lib/mime-funcs';
import MimeNode from 'nodemailer/lib/mime-node';
import { type AddressList, type Mailbox, readAddressFields } from '../mime/address.ts';
import type { Authentication } from '../mime/authentication.ts';
import { checked } from '../mime/compose-message.ts';
import { endOfHeaderSection, firstField, type HeaderSection, readHeaderSection } from '../mime/header-fields.ts';
import { parseMessageId, parseMessageIds } from '../mime/message-id.ts';
import { withoutAttachments } from '../mime/message-parts.ts';
import { parseDate } from '../mime/parse-date.ts';
import { findLetter } from '../mime/part-reader.ts';
import { repairHeader, toTransferable } from '../mime/transfer-form.ts';
import { replyLinks } from '../sending/address-reply.ts';
import { arcResults } from '../sending/arc-seal.ts';
import { outgoingMailbox, writableName } from '../sending/outgoing-addresses.ts';
import { readForwardingConfig } from './endpoint-config.ts';

/** How an endpoint forwards; stored as endpoint.config. */
export interface ForwardConfig {
  /** recipients of a copy, without duplicates, in the form that mail can be sent to */
  addresses: string[];
  /** configured addresses that mail cannot be sent to */
  unusable: string[];
  /** whether the original is relayed as it is, instead of composing a new message */
  preserveHeaders: boolean;
  includeAttachments: boolean;
  /** text before the subject; empty for none */
  subjectPrefix: string;
  /** replaces the receiving address; null for none, or an invalid one */
  fromAddress: string | null;
  /** replaces the name made from the sender's */
  senderName: string | null;
}

/** A received message to forward. */
export interface ForwardedOriginal {
  /** as received, without our trace fields */
  bytes: Buffer;
  /** our Received field with its line end; empty if there is none */
  traceFields: string;
  /** the own address that received it, lower case */
  ownAddress: string;
  receivedAt: Date;
}

/** The fields of a copy that differ from the original. */
export interface CopyFacts {
  /** `<local@domain>`, constant for a delivery */
  messageId: string;
  /** see forwardSender */
  from: string;
  isGroup: boolean;
  /** our verdicts on the original, and the name of this service, to seal a relayed original with; null: it is not sealed */
  verified: { verdicts: Authentication; servedBy: string } | null;
}

/** Maximum mailboxes of Reply-To. */
const MAX_REPLY_TO = 10;

/** Parses the stored config of an endpoint that forwards, with defaults. Throws ZodError when it is invalid. */
export function readForwardConfig(stored: unknown): ForwardConfig {
  const config = readForwardingConfig(stored);
  const mailboxes = config.addresses.map((address) => outgoingMailbox({ name: null, address })?.address ?? null);
  const from = outgoingMailbox({ name: null, address: config.fromAddress ?? '' });
  return {
    addresses: [...new Set(mailboxes.filter((address) => address !== null))],
    unusable: config.addresses.filter((_, at) => mailboxes[at] === null),
    preserveHeaders: config.preserveHeaders,
    includeAttachments: config.includeAttachments,
    subjectPrefix: config.subjectPrefix ?? '',
    fromAddress: from?.address ?? null,
    senderName: writableName(config.senderName ?? '') || null,
  };
}

/** The facts that decide which address sends a copy. */
export interface SenderFacts {
  /** whether the domain of the config's fromAddress is a verified domain of the user */
  isFromVerified: boolean;
  /** the receiving address if it is an address of the user on a verified domain; null for catch-all mail */
  ownAddress: string | null;
  /** a verified domain of the user, that of the receiving address first; null when the user has none */
  verifiedDomain: string | null;
  /** SYSTEM_MAIL_FROM */
  systemAddress: string;
}

/** The address that sends a copy, and whether it is the service's own (SYSTEM_MAIL_FROM) rather than one of the user's domains. */
export interface ForwardSender {
  address: string;
  isSystem: boolean;
}

const FALLBACK_LOCAL_PART = 'postroom';

/**
 * Returns the From address of a copy: the configured address if its domain is a verified domain of the user, else the receiving address,
 * else `postroom@` a verified domain of the user, else SYSTEM_MAIL_FROM.
 */
export function forwardSender(config: Pick<ForwardConfig, 'fromAddress'>, facts: SenderFacts): ForwardSender {
  if (config.fromAddress !== null && facts.isFromVerified) return { address: config.fromAddress, isSystem: false };
  const own = facts.ownAddress === null ? null : outgoingMailbox({ name: null, address: facts.ownAddress });
  if (own !== null) return { address: own.address, isSystem: false };
  if (facts.verifiedDomain !== null)
    return { address: `${FALLBACK_LOCAL_PART}@${facts.verifiedDomain}`, isSystem: false };
  return { address: facts.systemAddress, isSystem: true };
}

/**
 * Composes the copy of a received message that an endpoint forwards, in SMTP form. The same parts give the same bytes.
 *
 * By default it is a new message from the user's own domain, so that SPF and DMARC pass, and replies go to the original sender. Bodies
 * and attachments are the original's bytes; only what SMTP cannot carry is encoded again. Trace fields and Delivered-To stay below ours,
 * so that loops are detected. The fields that keep machines from replying (RFC 3834 §3) and those of the mailing list stay too.
 *
 * With preserveHeaders the original is relayed below our trace fields, so that its own signatures stay valid. Our verdicts come first, for the
 * ARC set that is completed when the copy is sent (core/sending/arc-seal.ts).
 *
 * Rejects when the message must be split into parts and cannot be.
 */
export async function composeForward(
  original: ForwardedOriginal,
  config: ForwardConfig,
  facts: CopyFacts,
): Promise<Buffer> {
  const bytes = config.includeAttachments ? original.bytes : await withoutAttachments(original.bytes);
  const trace = Buffer.from(`Delivered-To: ${original.ownAddress}\r\n${original.traceFields}`, 'latin1');
  if (config.preserveHeaders) {
    const kept = withoutMailboxLine(bytes);
    const relayed = Buffer.concat([repairHeader(trace, '8bit'), await toTransferable(kept, '8bit')]);
    const { verified } = facts;
    const results = verified === null ? '' : arcResults(relayed, verified.verdicts, verified.servedBy);
    return results === '' ? relayed : Buffer.concat([Buffer.from(results, 'latin1'), relayed]);
  }
  const message = await toTransferable(bytes, '7bit');
  const end = endOfHeaderSection(message);
  const section = readHeaderSection(message);
  const header = [
    repairHeader(trace, '7bit').toString('latin1'),
    keptFields(section, TRACE),
    ...newFields(section, original, config, facts),
    // Without it, readers may ignore the body's encoding (RFC 2045 §4), which may be ours.
    ...(firstField(section, 'mime-version') === null ? ['MIME-Version: 1.0\r\n'] : []),
  ];
  const text = isPlain(section) ? findLetter(message.toString('latin1', 0, end)) : null;
  const body = text === null ? message.subarray(end) : Buffer.concat([LINE_END, message.subarray(text)]);
  const head = repairHeader(Buffer.from([...header, keptFields(section, CARRIED)].join(''), 'latin1'), '7bit');
  return checked(Buffer.concat([head, body.length === 0 ? LINE_END : body]));
}

/** Returns whether the message is a single text that is not encoded. */
function isPlain(section: HeaderSection): boolean {
  const has = (name: string, form: RegExp) => form.test(firstField(section, name)?.raw.trim() ?? '');
  return has('content-type', /^$|^text\/plain\b/i) && has('content-transfer-encoding', /^$|^[78]bit$/i);
}

/** Trace fields. */
const TRACE = /^(?:received|delivered-to|x-loop)$/;
/** Fields about the body, the conversation, and automatic processing. */
const CARRIED =
  /^(?:mime-version|content-.+|auto-submitted|precedence|x-auto-response-suppress|list-.+|importance|priority|x-priority|sensitivity)$/;

function newFields(
  section: HeaderSection,
  original: ForwardedOriginal,
  config: ForwardConfig,
  facts: CopyFacts,
): string[] {
  const addresses = readAddressFields(section);
  const sender = listed(addresses.from)[0] ?? null;
  const repliedTo = listed(addresses.replyTo).length > 0 ? listed(addresses.replyTo) : listed(addresses.from);
  const messageId = parseMessageId(firstField(section, 'message-id')?.raw ?? '');
  const inReplyTo = parseMessageIds(firstField(section, 'in-reply-to')?.raw ?? '');
  const references = parseMessageIds(firstField(section, 'references')?.raw ?? '');
  const date = parseDate(firstField(section, 'date')?.raw ?? '') ?? original.receivedAt;
  const to = facts.isGroup ? original.ownAddress : (config.addresses[0] ?? original.ownAddress);
  const node = new MimeNode();
  node.setHeader({
    From: { name: config.senderName ?? senderName(sender, original.ownAddress), address: facts.from },
    'Reply-To': repliedTo
      .map(outgoingMailbox)
      .filter((mailbox) => mailbox !== null)
      .slice(0, MAX_REPLY_TO)
      .map(({ name, address }) => ({ name: name ?? '', address })),
    To: { name: '', address: to },
    'Message-ID': facts.messageId,
    Date: date,
    ...(inReplyTo[0] === undefined ? {} : { 'In-Reply-To': inReplyTo[0] }),
    References: replyLinks({ messageId, inReplyTo, references }).references.join(' '),
    'X-Original-From': oneLine(addresses.from?.text ?? ''),
    'X-Original-To': oneLine(addresses.to?.text ?? ''),
    'X-Original-Message-ID': messageId ?? '',
  });
  const lines = node
    .buildHeaders()
    .split(/\r\n(?![ \t])/)
    .filter((line) => line !== '' && !/^(?:mime-version|content-)/i.test(line));
  const subject = subjectField(config.subjectPrefix, firstField(section, 'subject')?.raw ?? '');
  return [...lines, ...(subject === '' ? [] : [`Subject: ${subject}`])].map((line) => `${line}\r\n`);
}

/** Returns the original's field unchanged after the prefix. */
function subjectField(prefix: string, raw: string): string {
  const value = raw.trim();
  if (/^[\x20-\x7e]*$/.test(prefix)) return `${prefix}${value}`.trim();
  // White space between encoded words is not displayed (RFC 2047 §6.2).
  return `${encodeWord(value.startsWith('=?') ? prefix : prefix.trimEnd(), 'Q', ENCODED_WORD_LENGTH)} ${value}`.trim();
}

/** Characters of an encoded word, as nodemailer writes them (RFC 2047 §2 allows 75). */
const ENCODED_WORD_LENGTH = 52;

/**
 * Returns a name with the original sender and the forwarding address. It contains no address of the sender, so that the copy is not
 * mistaken for the sender's own mail.
 */
function senderName(sender: Mailbox | null, ownAddress: string): string {
  const name = (sender?.name ?? '') === '' ? (sender?.address ?? '') : (sender?.name ?? '');
  return writableName(`${name.slice(0, MAX_NAME_LENGTH).replaceAll('@', ' at ')} via ${ownAddress}`.trim());
}

/** Maximum characters of the original sender. */
const MAX_NAME_LENGTH = 100;

function keptFields(section: HeaderSection, kept: RegExp): string {
  return section.fields
    .filter(({ name }) => kept.test(name))
    .map(({ name, raw }) => `${titleCase(name)}:${raw.replace(/\r?\n?$/, '')}\r\n`)
    .join('');
}

function titleCase(name: string): string {
  return name === 'mime-version' ? 'MIME-Version' : name.replace(/(^|-)[a-z]/g, (start) => start.toUpperCase());
}

/** Removes an mbox `From ` line: it is not a field, and below our fields it would end the header section. */
function withoutMailboxLine(bytes: Buffer): Buffer {
  const lines = bytes.toString('latin1', 0, endOfHeaderSection(bytes));
  const match = /^>?From [^\r\n]*\r?\n/.exec(lines);
  return match === null ? bytes : bytes.subarray(match[0].length);
}

function listed(list: AddressList | null): readonly Mailbox[] {
  return list?.addresses ?? [];
}

function oneLine(text: string): string {
  return text
    .replace(/[\s\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim()
    .slice(0, MAX_TEXT_LENGTH)
    .toWellFormed();
}

/** Maximum characters of a field's text. */
const MAX_TEXT_LENGTH = 4_000;
const LINE_END = Buffer.from('\r\n');
