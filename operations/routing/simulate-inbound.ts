import { z } from 'zod';
import { requireRights } from '../../core/accounts/rights.ts';
import type { Mailbox } from '../../core/mime/address.ts';
import {
  composeSimulatedBounce,
  composeSimulatedMail,
  isTroubleStatus,
  SIMULATED_SENDER,
  type SimulatedContent,
  type SimulatedKind,
  type SimulatedMailFacts,
} from '../../core/mime/simulated-mail.ts';
import { replyLinks, replySubject } from '../../core/sending/address-reply.ts';
import { outgoingMailbox, parseSender } from '../../core/sending/outgoing-addresses.ts';
import { MAX_CONTENT_BYTES } from '../../core/sending/outgoing-attachments.ts';
import { checkSubject } from '../../core/sending/outgoing-headers.ts';
import { UserError } from '../../core/shared/errors.ts';
import { wholeText } from '../../core/shared/large-text.ts';
import { storableText } from '../../core/shared/text.ts';
import { deriveReturnAddressKey, makeReturnAddress } from '../../core/smtp/return-address.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import { readEmail } from '../../db/queries/emails/email-read.ts';
import { readSentRecipients, type SentRecipient } from '../../db/queries/routing/simulation-read.ts';
import {
  findKeptResult,
  isReceived,
  type KeptResult,
  reserveResult,
} from '../../db/queries/sending/idempotency-key.ts';
import { emailNotFound, invalid, isValidId, newIdentifier, type OperationContext } from '../context.ts';
import { withText } from '../emails/html-text.ts';
import { type Idempotency, idempotencyKeyReused, type OwnIdempotency, ownIdempotency } from '../sending/idempotency.ts';
import { checkOwnRecipient, findReversePath, handOver, toSmtpBytes } from './simulated-transaction.ts';

/** A message to receive as if another server had sent it. */
export interface SimulationInput {
  /** raw: RFC 5322, UTF-8 text or bytes, with any line ends */
  message: { raw: string | Uint8Array } | SimulatedTemplate;
  /** the envelope recipient; null: from the template */
  to: string | null;
  /** the sender's mailbox; null: the From field of the bytes, or the template's default */
  from: string | null;
}

/** A message as a request gives it: exactly one of `raw`, `rawBase64` and `template`. */
export interface GivenMessage {
  raw?: string | null | undefined;
  rawBase64?: string | null | undefined;
  template?: SimulatedKind | 'bounce' | null | undefined;
  /** of a template; replaces its own */
  subject?: string | null | undefined;
  text?: string | null | undefined;
  html?: string | null | undefined;
  /** of `reply` and `bounce`: the email that is replied to or bounces */
  emailId?: string | null | undefined;
  /** of `bounce` */
  recipient?: string | null | undefined;
  /** of `bounce`: enhanced status code; default 5.1.1 */
  status?: string | null | undefined;
}

/** Returns the message that a request describes. Throws validation. */
export function readSimulatedMessage(given: GivenMessage): SimulationInput['message'] {
  const { template } = given;
  const isRaw = given.raw != null || given.rawBase64 != null;
  if ([given.raw, given.rawBase64, template].filter((one) => one != null).length !== 1)
    throw invalid('Give exactly one of: a raw message as text, a raw message in base64, a template', 'template');
  if (isRaw || template == null) return { raw: given.raw ?? decodeRaw(given.rawBase64 ?? '') };
  const content = { subject: given.subject ?? null, text: given.text ?? null, html: given.html ?? null };
  if (template !== 'reply' && template !== 'bounce') return { template, ...content };
  const { emailId } = given;
  if (emailId == null) throw invalid('Give the ID of the email that is answered, or that bounces', 'emailId');
  if (template === 'reply') return { template, emailId, ...content };
  return { template, emailId, recipient: given.recipient ?? null, status: given.status ?? '5.1.1' };
}

function decodeRaw(base64: string): Buffer {
  if (!/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(base64)) throw invalid('The raw message must be base64', 'rawBase64');
  return Buffer.from(base64, 'base64');
}

/** The response, stored for replays. */
export type SimulatedInbound = z.infer<typeof simulated>;

const simulated = z.object({
  /** the id of the email to come; null for a bounce report, which becomes no email */
  emailId: z.string().nullable(),
  /** the email that the report is about */
  reportedEmailId: z.string().nullable(),
  /** the envelope recipient */
  to: z.string(),
});

/** With the id of the reception, which exists even if no email results. */
const kept = simulated.extend({ receptionId: z.string() });

/**
 * Receives a test message. It takes the same path as SMTP mail, from the recipient check to the webhook, and is marked as a test. Each
 * request creates another email, except requests with the same idempotency key. Throws validation, not_found, conflict, unavailable.
 */
export async function simulateInbound(
  context: OperationContext,
  input: SimulationInput,
  idempotency: Idempotency | null,
): Promise<SimulatedInbound> {
  requireRightToQuote(context, input.message);
  const own = ownIdempotency(context.rights, idempotency);
  const before = await findReplay(context, own);
  if (before !== null) return before;
  const from = input.from === null ? null : readSender(input.from);
  const made =
    'raw' in input.message
      ? { bytes: toSmtpBytes(input.message.raw), to: input.to, reversePath: null, reportedEmailId: null }
      : await composeSimulated(context, input.message, { to: input.to, from });
  if (made.to === null) throw invalid('to is required: one of your own addresses', 'to');
  const recipient = await checkOwnRecipient(context, made.to);
  const receptionId = newIdentifier(context, 'email');
  const { reportedEmailId } = made;
  const emailId = reportedEmailId === null ? receptionId : null;
  const receipt = await keep(context, own, { emailId, reportedEmailId, to: recipient.recipient, receptionId });
  const reversePath = made.reversePath ?? from?.address ?? findReversePath(made.bytes);
  await handOver(context, { bytes: made.bytes, recipient, reversePath, emailId: receipt.receptionId });
  return simulated.parse(receipt);
}

/** A reply and a bounce contain what the original says, and to whom it was sent. Throws forbidden. */
function requireRightToQuote({ rights }: OperationContext, message: SimulationInput['message']): void {
  if ('template' in message && (message.template === 'reply' || message.template === 'bounce'))
    requireRights(rights, `Simulating a ${message.template}`, ['read']);
}

function readSender(text: string) {
  const read = parseSender(text);
  if (read.error !== undefined) throw invalid(read.error, 'from');
  return read.sender;
}

/** Returns the stored response if the request was made before and its message has arrived; null otherwise. Throws conflict. */
async function findReplay(
  { database, workspaceId }: OperationContext,
  idempotency: OwnIdempotency | null,
): Promise<SimulatedInbound | null> {
  if (idempotency === null) return null;
  return asWorkspace(database, workspaceId, async (transaction) => {
    const found = await findKeptResult(transaction, workspaceId, idempotency);
    if (found === null) return null;
    const receipt = readKept(found, idempotency);
    return (await isReceived(transaction, workspaceId, receipt.receptionId)) ? simulated.parse(receipt) : null;
  });
}

/** Stores the ids of the first request with a key. The next request with the key completes one that was interrupted. Throws conflict. */
async function keep(
  { database, workspaceId }: OperationContext,
  idempotency: OwnIdempotency | null,
  receipt: z.infer<typeof kept>,
): Promise<z.infer<typeof kept>> {
  if (idempotency === null) return receipt;
  const stored = await asWorkspace(database, workspaceId, (transaction) =>
    reserveResult(transaction, workspaceId, idempotency, { ...idempotency, response: receipt }),
  );
  return readKept(stored, idempotency);
}

function readKept(stored: KeptResult, idempotency: Idempotency): z.infer<typeof kept> {
  const isSame = stored.operation === idempotency.operation && stored.requestSha256 === idempotency.requestSha256;
  if (!isSame) throw idempotencyKeyReused();
  return kept.parse(stored.response);
}

/** A message made from a template; null keeps the template's subject or body. */
type SimulatedTemplate =
  | ({ template: Exclude<SimulatedKind, 'reply'> } & SimulatedContent)
  /** a reply to that email, or the next message of its sender */
  | ({ template: 'reply'; emailId: string } & SimulatedContent)
  /** a DSN for one recipient of a sent email (null: the first); status such as `5.1.1` */
  | { template: 'bounce'; emailId: string; recipient: string | null; status: string };

interface ComposedSimulation {
  bytes: Buffer;
  /** null: the request must name it */
  to: string | null;
  /** null: the sender's address */
  reversePath: string | null;
  /** the email that a report is about */
  reportedEmailId: string | null;
}

const CODE_DIGITS = 6;
const MESSAGE_ID_BYTES = 16;
/** Domain of the Message-IDs (RFC 2606). */
const MESSAGE_ID_DOMAIN = 'simulated.invalid';

/** Composes a message from a template. Throws validation, not_found. */
async function composeSimulated(
  context: OperationContext,
  input: SimulatedTemplate,
  envelope: { to: string | null; from: Mailbox | null },
): Promise<ComposedSimulation> {
  if (input.template === 'bounce') return composeBounce(context, input);
  const content = checkContent(input);
  const repliedTo = input.template === 'reply' ? await readRepliedTo(context, input.emailId) : null;
  const to = envelope.to ?? repliedTo?.to ?? null;
  if (to === null) throw invalid('to is required: one of your own addresses', 'to');
  const bytes = await composeSimulatedMail(
    {
      ...toFacts(context),
      kind: input.template,
      from: envelope.from ?? repliedTo?.from ?? SIMULATED_SENDER,
      to,
      original: repliedTo?.original ?? null,
    },
    content,
  );
  const sender = envelope.from ?? repliedTo?.from ?? SIMULATED_SENDER;
  return { bytes, to, reversePath: sender.address, reportedEmailId: null };
}

function toFacts(context: OperationContext): Pick<SimulatedMailFacts, 'messageId' | 'date' | 'code'> {
  const random = Buffer.from(context.random(MESSAGE_ID_BYTES + 4));
  return {
    messageId: `<${random.toString('hex', 0, MESSAGE_ID_BYTES)}@${MESSAGE_ID_DOMAIN}>`,
    date: context.now(),
    code: String(random.readUInt32BE(MESSAGE_ID_BYTES) % 10 ** CODE_DIGITS).padStart(CODE_DIGITS, '0'),
  };
}

function checkContent({ subject, text, html }: SimulatedContent): SimulatedContent {
  const flaw = subject === null ? null : checkSubject(subject);
  if (flaw !== null) throw invalid(flaw, 'subject');
  for (const [field, body] of [
    ['text', text],
    ['html', html],
  ] as const)
    if (Buffer.byteLength(body ?? '') > MAX_CONTENT_BYTES)
      throw invalid(`${field} cannot be larger than ${MAX_CONTENT_BYTES} bytes`, field);
  return { subject, text: storable(text), html: storable(html) };
}

function storable(body: string | null): string | null {
  return body === null || body === '' ? null : storableText(body);
}

/** Returns the sender and recipient of a reply to an email, and what the reply contains. */
async function readRepliedTo({ database, workspaceId }: OperationContext, emailId: string) {
  const email = isValidId(emailId)
    ? await asWorkspace(database, workspaceId, (transaction) => readEmail(transaction, workspaceId, emailId))
    : null;
  if (email === null) throw emailNotFound();
  if (email.type === 'scheduled') throw invalid('An email that has not been sent cannot be replied to', 'emailId');
  const others = (email.type === 'sent' ? email.addresses.to : email.addresses.from)?.addresses ?? [];
  const [from] = others.map(outgoingMailbox).filter((mailbox) => mailbox !== null);
  const { inReplyTo, references } = replyLinks(email);
  const { text } = await withText(workspaceId, email);
  return {
    from: from ?? SIMULATED_SENDER,
    to: email.recipient ?? email.addresses.from?.addresses[0]?.address ?? null,
    original: { subject: replySubject(email.subject), text: wholeText(text), inReplyTo, references },
  };
}

async function composeBounce(
  context: OperationContext,
  { emailId, recipient, status }: Extract<SimulatedTemplate, { template: 'bounce' }>,
): Promise<ComposedSimulation> {
  const { database, workspaceId, settings } = context;
  if (!isTroubleStatus(status))
    throw invalid('status must be an enhanced status code of class 4 or 5, such as 5.1.1 or 4.2.2', 'status');
  const email = isValidId(emailId)
    ? await asWorkspace(database, workspaceId, (transaction) => readSentRecipients(transaction, workspaceId, emailId))
    : null;
  if (email === null) throw new UserError('not_found', 'Sent email not found');
  const found = chosen(email.recipients, recipient);
  const to = makeReturnAddress(deriveReturnAddressKey(settings.secretKey), found.id, found.domain);
  const bytes = await composeSimulatedBounce({
    ...toFacts(context),
    recipient: found.address,
    to,
    status,
    original: { messageId: email.messageId, subject: email.subject },
  });
  return { bytes, to, reversePath: '', reportedEmailId: emailId };
}

function chosen(recipients: readonly SentRecipient[], wanted: string | null): SentRecipient {
  const found =
    wanted === null
      ? recipients[0]
      : recipients.find(({ address }) => address.toLowerCase() === wanted.trim().toLowerCase());
  if (found !== undefined) return found;
  const listed = recipients
    .map(({ address }) => address)
    .toSorted()
    .join(', ');
  throw invalid(`recipient must be one of those of the email: ${listed}`, 'recipient');
}
