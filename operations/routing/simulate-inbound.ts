import { z } from 'zod';
import { parseSender } from '../../core/sending/outgoing-addresses.ts';
import { asUser } from '../../db/connection/database.ts';
import {
  findAnswer,
  isReceived,
  type KeptAnswer,
  reserveAnswer,
} from '../../db/queries/sending/idempotency-reserve.ts';
import { invalid, newIdentifier, type OperationContext } from '../context.ts';
import { type Idempotency, keyTaken } from '../sending/submission.ts';
import { composeSimulated, type SimulatedTemplate } from './simulated-template.ts';
import { checkOwnRecipient, handOver, senderOf, smtpOctetsOf } from './simulated-transaction.ts';

/** A mail that shall come in as if another server handed it over. */
export interface SimulationWish {
  /** raw: RFC 5322, a text in UTF-8 or octets; line ends of either kind */
  message: { raw: string | Uint8Array } | SimulatedTemplate;
  /** the envelope's recipient; null: the template says */
  to: string | null;
  /** who it comes from: a mailbox; null: the From field of the octets, or the template's own */
  from: string | null;
}

/** What is answered, and kept to be answered again. */
export type SimulatedInbound = z.infer<typeof simulated>;

const simulated = z.object({
  /** the email that it becomes in a moment; null: it is a report on mail of the user's, and becomes none */
  emailId: z.string().nullable(),
  /** the email that it reports on */
  reportedEmailId: z.string().nullable(),
  /** the envelope's recipient */
  to: z.string(),
});

/** With the id that the reception bears, whether an email comes of it or not. */
const kept = simulated.extend({ receptionId: z.string() });

/**
 * Lets a mail come in as SMTP does, marked as a test: from the question at RCPT on it goes the way of all mail, to the webhook. The same
 * octets make another email each time, but not those of requests with one key. Throws validation, not_found, conflict, unavailable.
 */
export async function simulateInbound(
  context: OperationContext,
  wish: SimulationWish,
  idempotency: Idempotency | null,
): Promise<SimulatedInbound> {
  const before = await answeredBefore(context, idempotency);
  if (before !== null) return before;
  const from = wish.from === null ? null : readSender(wish.from);
  const made =
    'raw' in wish.message
      ? { octets: smtpOctetsOf(wish.message.raw), to: wish.to, reversePath: null, reportedEmailId: null }
      : await composeSimulated(context, wish.message, { to: wish.to, from });
  if (made.to === null) throw invalid('to is required: one of your own addresses', 'to');
  const recipient = await checkOwnRecipient(context, made.to);
  const receptionId = newIdentifier(context, 'email');
  const { reportedEmailId } = made;
  const emailId = reportedEmailId === null ? receptionId : null;
  const answer = await keep(context, idempotency, { emailId, reportedEmailId, to: recipient.recipient, receptionId });
  const reversePath = made.reversePath ?? from?.address ?? senderOf(made.octets);
  await handOver(context, { octets: made.octets, recipient, reversePath, emailId: answer.receptionId });
  return simulated.parse(answer);
}

function readSender(text: string) {
  const read = parseSender(text);
  if (read.error !== undefined) throw invalid(read.error, 'from');
  return read.sender;
}

/** The answer of a request with the key whose mail has come in; null when there is none. Throws conflict. */
async function answeredBefore(
  { database, userId }: OperationContext,
  idempotency: Idempotency | null,
): Promise<SimulatedInbound | null> {
  if (idempotency === null) return null;
  return asUser(database, userId, async (transaction) => {
    const found = await findAnswer(transaction, userId, idempotency.key);
    if (found === null) return null;
    const answer = readKept(found, idempotency);
    return (await isReceived(transaction, userId, answer.receptionId)) ? simulated.parse(answer) : null;
  });
}

/** Under a key the first request names the ids; one that was cut off is taken up by the next with the same key. Throws conflict. */
async function keep(
  { database, userId }: OperationContext,
  idempotency: Idempotency | null,
  answer: z.infer<typeof kept>,
): Promise<z.infer<typeof kept>> {
  if (idempotency === null) return answer;
  const stored = await asUser(database, userId, (transaction) =>
    reserveAnswer(transaction, userId, idempotency.key, { ...idempotency, answer }),
  );
  return readKept(stored, idempotency);
}

function readKept(stored: KeptAnswer, idempotency: Idempotency): z.infer<typeof kept> {
  const isSame = stored.operation === idempotency.operation && stored.requestSha256 === idempotency.requestSha256;
  if (!isSame) throw keyTaken();
  return kept.parse(stored.answer);
}
