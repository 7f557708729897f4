import { encodeWord } from 'nodemailer/lib/mime-funcs';
import MimeNode from 'nodemailer/lib/mime-node';
import { type AddressList, type Mailbox, readAddressFields } from '../mime/address.ts';
import { checked } from '../mime/compose-message.ts';
import {
  endOfHeaderSection,
  firstField,
  type HeaderSection,
  parseDate,
  readHeaderSection,
} from '../mime/header-fields.ts';
import { parseMessageId, parseMessageIds } from '../mime/message-id.ts';
import { withoutAttachments } from '../mime/message-parts.ts';
import { repairHeader, toTransferable } from '../mime/transfer-form.ts';
import { outgoingMailbox, writableName } from '../sending/outgoing-addresses.ts';
import { replyLinks } from '../sending/reply.ts';
import { readForwardingConfig } from './endpoint-config.ts';

/** How an endpoint forwards; stored as endpoint.config. */
export interface ForwardConfig {
  /** whom a copy goes to, each once, as mail can be sent there */
  addresses: string[];
  /** what the user gave and no mail can be sent to */
  unusable: string[];
  /** the original is relayed as it is, instead of a new message */
  preserveHeaders: boolean;
  includeAttachments: boolean;
  /** stands before the subject; empty when there is none */
  subjectPrefix: string;
  /** instead of the receiving address; null when there is none, or none that can be written */
  fromAddress: string | null;
  /** instead of a name made of the sender's */
  senderName: string | null;
}

/** A received message that is to be forwarded. */
export interface ForwardedOriginal {
  /** as it came, without our trace fields */
  bytes: Buffer;
  /** our Received field, with its line end; empty when there is none */
  traceFields: string;
  /** the address of ours that took it, lower case */
  ownAddress: string;
  receivedAt: Date;
}

/** What a copy bears that is not the original's. */
export interface CopyFacts {
  /** `<local@domain>`, always the same for one delivery */
  messageId: string;
  /** see forwardSender */
  from: string;
  isGroup: boolean;
}

/** Mailboxes of Reply-To that are written. */
const MAX_REPLY_TO = 10;

/** Reads a stored config of an endpoint that forwards, defaults filled in. Throws ZodError when it is none. */
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

/** What decides which address sends a copy. */
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
 * Composes the copy of a received message that an endpoint forwards, as SMTP carries it. The same parts give the same bytes.
 *
 * A new message, unless the config says otherwise: it comes from the user's own domain, so that SPF and DMARC hold for it, and answers
 * go to the original's sender. Bodies and attachments are the original's bytes; only what no SMTP server would carry is encoded anew.
 * Trace fields and Delivered-To stay, and ours come on top, so that mail that goes in circles is seen to. So do the fields
 * that keep machines from answering it (RFC 3834 §3) and those of its mailing list.
 *
 * With preserveHeaders the original is relayed under our trace fields, so that its own signatures hold.
 *
 * Rejects when the message cannot be split into parts, where that has to be done.
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
    return Buffer.concat([repairHeader(trace, '8bit'), await toTransferable(kept, '8bit')]);
  }
  const message = await toTransferable(bytes, '7bit');
  const end = endOfHeaderSection(message);
  const section = readHeaderSection(message);
  const header = [
    repairHeader(trace, '7bit').toString('latin1'),
    keptFields(section, TRACE),
    ...newFields(section, original, config, facts),
    // Without it readers may take no notice of how the body is encoded (RFC 2045 §4), which may be ours.
    ...(firstField(section, 'mime-version') === null ? ['MIME-Version: 1.0\r\n'] : []),
  ];
  const body = message.subarray(end);
  const head = repairHeader(Buffer.from([...header, keptFields(section, CARRIED)].join(''), 'latin1'), '7bit');
  return checked(Buffer.concat([head, body.length === 0 ? LINE_END : body]));
}

/** Fields that tell where it has been. */
const TRACE = /^(?:received|delivered-to|x-loop)$/;
/** What the body is, what it belongs to, and what machines make of it. */
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
  const answered = listed(addresses.replyTo).length > 0 ? listed(addresses.replyTo) : listed(addresses.from);
  const messageId = parseMessageId(firstField(section, 'message-id')?.raw ?? '');
  const inReplyTo = parseMessageIds(firstField(section, 'in-reply-to')?.raw ?? '');
  const references = parseMessageIds(firstField(section, 'references')?.raw ?? '');
  const date = parseDate(firstField(section, 'date')?.raw ?? '') ?? original.receivedAt;
  const to = facts.isGroup ? original.ownAddress : (config.addresses[0] ?? original.ownAddress);
  const node = new MimeNode();
  node.setHeader({
    From: { name: config.senderName ?? senderName(sender, original.ownAddress), address: facts.from },
    'Reply-To': answered
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

/** The original's field as it stands there, behind the prefix. */
function subjectField(prefix: string, raw: string): string {
  const value = raw.trim();
  if (/^[\x20-\x7e]*$/.test(prefix)) return `${prefix}${value}`.trim();
  // Of white space between encoded words nothing is shown (RFC 2047 §6.2).
  return `${encodeWord(value.startsWith('=?') ? prefix : prefix.trimEnd(), 'Q', ENCODED_WORD_LENGTH)} ${value}`.trim();
}

/** Characters of an encoded word (RFC 2047 §2 allows 75), as nodemailer makes them. */
const ENCODED_WORD_LENGTH = 52;

/** Who wrote it and by whose hands it comes. Nobody shall take the copy for the sender's own mail, so no address of his stands here. */
function senderName(sender: Mailbox | null, ownAddress: string): string {
  const name = (sender?.name ?? '') === '' ? (sender?.address ?? '') : (sender?.name ?? '');
  return writableName(`${name.slice(0, MAX_NAME_LENGTH).replaceAll('@', ' at ')} via ${ownAddress}`.trim());
}

/** Characters of the original's sender. */
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

/** The `From ` line of an mbox is no field, and under our fields it would end the header section. */
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

/** Characters of a field's text. */
const MAX_TEXT_LENGTH = 4_000;
const LINE_END = Buffer.from('\r\n');
