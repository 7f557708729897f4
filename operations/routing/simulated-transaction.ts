import { canonicalDomainName } from '../../core/domains/domain-name.ts';
import { readAddressFields } from '../../core/mime/address.ts';
import { readHeaderSection } from '../../core/mime/header-fields.ts';
import { outgoingMailbox } from '../../core/sending/outgoing-addresses.ts';
import { UserError } from '../../core/shared/errors.ts';
import { toSmtpForm } from '../../core/smtp/smtp-form.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import { ownsDomain } from '../../db/queries/routing/simulation-read.ts';
import {
  BusRemoteError,
  BusTimeout,
  BusUnavailable,
  type QuestionSubject,
  questions,
  type Reply,
  type Request,
} from '../../schema/messages.ts';
import { invalid, type OperationContext } from '../context.ts';
import { describeReceivingAddresses } from '../domains/receiving-addresses.ts';

/** A recipient that belongs to the user, in the form that receiving.message.accept takes. */
export type OwnRecipient = Request<'receiving.message.accept'>['recipients'][number];

/** Documentation address (RFC 5737), so that SPF has the result of an unknown client. */
export const SIMULATED_CLIENT = { remoteAddress: '192.0.2.1', helo: 'simulated.invalid' };

/** Milliseconds reserved for the response. */
const SPARE_MS = 500;

/** Returns the bytes as our SMTP server would accept them. Throws validation with its reply. */
export function toSmtpBytes(raw: string | Uint8Array): Buffer {
  const { bytes, refusal } = toSmtpForm(typeof raw === 'string' ? Buffer.from(raw, 'utf8') : raw);
  if (bytes === undefined) throw refused(refusal, 'raw');
  return bytes;
}

/** Returns the address of the From field if mail can be sent to it, else the null reverse-path. */
export function findReversePath(bytes: Buffer): string {
  const sender = readAddressFields(readHeaderSection(bytes)).from?.addresses[0];
  return sender === undefined ? '' : (outgoingMailbox(sender)?.address ?? '');
}

/**
 * Asks the receiving actor, as SMTP does at RCPT, who receives mail for the address. Other users' addresses count as unknown. Throws
 * not_found, validation, unavailable.
 */
export async function checkOwnRecipient(context: OperationContext, given: string): Promise<OwnRecipient> {
  const { database, workspaceId } = context;
  const recipient = given.trim();
  const at = recipient.lastIndexOf('@');
  const domain = at < 1 || recipient.length > MAX_PATH_LENGTH ? null : canonicalDomainName(recipient.slice(at + 1));
  const isOwn =
    domain !== null &&
    isWritable(recipient) &&
    (await asWorkspace(database, workspaceId, (transaction) => ownsDomain(transaction, workspaceId, domain)));
  if (!isOwn) throw await notOwn(context);
  const verdict = await askReceiving(context, 'receiving.recipient.check', { recipient, reversePath: '' });
  if (verdict.verdict === 'reject') throw refused(`${verdict.code} ${verdict.enhancedCode} ${verdict.text}`, 'to');
  if (verdict.workspaceId !== workspaceId) throw await notOwn(context);
  const { verdict: _, ...receiver } = verdict;
  return { recipient, ...receiver };
}

/** Submits a message as SMTP does after DATA, marked as a test. Safe to repeat. Throws validation, unavailable. */
export async function handOver(
  context: OperationContext,
  message: { bytes: Buffer; recipient: OwnRecipient; reversePath: string; emailId: string },
): Promise<void> {
  const { bytes, recipient, reversePath, emailId } = message;
  const { mailHostname } = context.settings;
  const { remoteAddress, helo } = SIMULATED_CLIENT;
  const received = context.now().toUTCString().replace('GMT', '+0000');
  const request = {
    reversePath,
    recipients: [{ ...recipient, emailId }],
    remoteAddress,
    helo,
    isTls: false,
    traceFields: `Received: from ${helo} ([${remoteAddress}])\r\n\tby ${mailHostname} (test) with HTTP id ${emailId};\r\n\t${received}\r\n`,
    isTest: true,
  };
  const reply = await askReceiving(context, 'receiving.message.accept', request, bytes);
  if (reply.verdict === 'accepted') return;
  const text = `${reply.code} ${reply.enhancedCode} ${reply.text}`;
  if (reply.code < 500) throw new UserError('unavailable', `Mail cannot be received right now: ${text}`);
  throw refused(text, 'raw');
}

/** Asks the receiving actor. Throws unavailable when it does not reply in time. */
export async function askReceiving<S extends QuestionSubject>(
  { bus, respondBy, log }: OperationContext,
  subject: S,
  request: Request<S>,
  bytes?: Uint8Array,
): Promise<Reply<S>> {
  const limitMs = Math.max(1, Math.min(questions[subject].limitMs, respondBy - performance.now() - SPARE_MS));
  try {
    return await bus.ask(subject, request, { limitMs, ...(bytes === undefined ? {} : { bytes }) });
  } catch (error) {
    if (!(error instanceof BusTimeout || error instanceof BusUnavailable || error instanceof BusRemoteError))
      throw error;
    log.warn({ err: error, subject }, 'no receiving actor responded');
    throw new UserError('unavailable', 'Mail cannot be received right now', { cause: error, retryAfterSeconds: 5 });
  }
}

/** RFC 5321 §4.5.3.1.3 */
const MAX_PATH_LENGTH = 254;

function isWritable(address: string): boolean {
  return !/[\s\p{Cc}<>]/u.test(address);
}

function refused(reply: string, field: string): UserError {
  return invalid(`The SMTP server would reject this: ${reply}`, field);
}

async function notOwn(context: OperationContext): Promise<UserError> {
  const receiving = await describeReceivingAddresses(context);
  return new UserError('not_found', `The recipient is not one of your addresses. ${receiving}`);
}
