import { hash } from 'node:crypto';
import { scanHeaders } from '../../core/mime/parse-message.ts';
import { UserError } from '../../core/shared/errors.ts';
import { IDENTIFIER_RANDOM_BYTES, makeIdentifier } from '../../core/shared/identifiers.ts';
import { toSmtpForm } from '../../core/smtp/smtp-form.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import { findReceived } from '../../db/queries/emails/import-read.ts';
import { invalid, type OperationContext } from '../context.ts';
import {
  askReceiving,
  checkOwnRecipient,
  findReversePath,
  type OwnRecipient,
} from '../routing/simulated-transaction.ts';

/** A message from another mail system. */
interface ImportedMessage {
  /** RFC 5322, with any line ends */
  raw: Uint8Array;
  isRead: boolean;
  /** when it was received there, for messages without a credible Date field; null: unknown */
  receivedAt: Date | null;
}

export interface ImportInput {
  /** an address of the user, which receives the messages */
  address: string;
  /** whether the messages are routed like new mail; otherwise they are only stored */
  isRouted: boolean;
  messages: readonly ImportedMessage[];
}

/** Messages per call. */
export const MAX_IMPORTED = 100;

export const IMPORT_STATUSES = ['imported', 'duplicate', 'refused'] as const;

/** What became of a message. */
export interface ImportOutcome {
  /** null when it was refused */
  id: string | null;
  status: (typeof IMPORT_STATUSES)[number];
  /** the reply with which SMTP would refuse it; null otherwise */
  reason: string | null;
}

/**
 * Imports messages as received mail, with their own dates and read flags. The bytes decide the id of an email, so a message that the account
 * has for this address is not imported again. They are accepted when this resolves; parsing and threading follow. Their origin is not
 * checked, and bounces and reports among them have no effect. Returns an outcome for each. Throws not_found, validation, unavailable.
 */
export async function importEmails(context: OperationContext, input: ImportInput): Promise<ImportOutcome[]> {
  const { database, workspaceId } = context;
  const count = input.messages.length;
  if (count < 1 || count > MAX_IMPORTED) throw invalid(`Give 1 to ${MAX_IMPORTED} messages`, 'messages');
  const recipient = await checkOwnRecipient(context, input.address);
  const prepared = input.messages.map((message) => prepare(workspaceId, recipient, message));
  const known = await asWorkspace(database, workspaceId, (transaction) =>
    findReceived(
      transaction,
      workspaceId,
      prepared.flatMap((one) => ('emailId' in one ? [one.emailId] : [])),
    ),
  );
  return Promise.all(
    prepared.map(async (one): Promise<ImportOutcome> => {
      if ('reason' in one) return { id: null, status: 'refused', reason: one.reason };
      const { emailId } = one;
      if (known.has(emailId)) return { id: emailId, status: 'duplicate', reason: null };
      // Also for the same message later in the list.
      known.add(emailId);
      const reason = await accept(context, recipient, one, input.isRouted);
      return reason === null ? { id: emailId, status: 'imported', reason } : { id: null, status: 'refused', reason };
    }),
  );
}

interface PreparedMessage {
  emailId: string;
  bytes: Buffer;
  isRead: boolean;
  /** null: unknown */
  date: Date | null;
}

function prepare(
  workspaceId: string,
  { ownAddress }: OwnRecipient,
  { raw, isRead, receivedAt }: ImportedMessage,
): PreparedMessage | { reason: string } {
  const { bytes, refusal } = toSmtpForm(raw);
  if (bytes === undefined) return { reason: refusal };
  const written = credible(scanHeaders(bytes, '').date);
  const digest = Buffer.from(hash('sha256', JSON.stringify([workspaceId, ownAddress, hash('sha256', bytes)])), 'hex');
  const emailId = makeIdentifier('email', written ?? new Date(0), digest.subarray(0, IDENTIFIER_RANDOM_BYTES));
  return { emailId, bytes, isRead, date: written ?? credible(receivedAt) };
}

/** Returns null for an instant before 1970 or in the future. */
function credible(date: Date | null): Date | null {
  return date !== null && date.getTime() > 0 && date.getTime() <= Date.now() ? date : null;
}

/** Returns null when it is stored, or the reply with which it is refused. Throws unavailable. */
async function accept(
  context: OperationContext,
  recipient: OwnRecipient,
  { emailId, bytes, isRead, date }: PreparedMessage,
  isRouted: boolean,
): Promise<string | null> {
  const reply = await askReceiving(
    context,
    'receiving.message.accept',
    {
      reversePath: findReversePath(bytes),
      recipients: [{ ...recipient, emailId }],
      remoteAddress: '',
      helo: '',
      isTls: false,
      traceFields: '',
      imported: { date: (date ?? context.now()).toISOString(), isRead, isRouted },
    },
    bytes,
  );
  if (reply.verdict === 'accepted') return null;
  const text = `${reply.code} ${reply.enhancedCode} ${reply.text}`;
  if (reply.code < 500) throw new UserError('unavailable', `Mail cannot be received right now: ${text}`);
  return text;
}
