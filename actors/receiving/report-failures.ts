import type { Logger } from 'pino';
import { composeBounce } from '../../core/smtp/compose-bounce.ts';
import { isReturnAddress } from '../../core/smtp/return-address.ts';
import type { ByteStore } from '../../db/byte-store.ts';
import { CLAIM_BATCH } from '../../db/claim.ts';
import type { Database } from '../../db/connection/database.ts';
import { isTransient } from '../../db/errors.ts';
import { claimFailures, markReported, type UnreportedFailure } from '../../db/queries/sending/report-failures.ts';
import { setAside } from '../set-aside.ts';
import type { Acceptor } from './accept-message.ts';
import type { RecipientVerdict } from './check-recipient.ts';

export interface FailureReportOptions {
  database: Database;
  bytes: ByteStore;
  log: Logger;
  /** the process that holds the leases */
  claimant: string;
  /** EHLO name of this service */
  mailHostname: string;
  acceptor: Acceptor;
  checkRecipient: (forwardPath: string) => Promise<RecipientVerdict>;
}

/** Submits the DSNs as SMTP messages from this process. */
const OWN_ADDRESS = '127.0.0.1';

/**
 * Notifies the senders of undeliverable mail with one DSN per email (RFC 5321 §4.5.4.1). The DSN arrives like other mail, with the null
 * reverse-path. A sender whose address accepts no mail is not notified. Safe to run twice: the same DSN has the same bytes, which are
 * accepted once. Returns how many recipients were processed.
 */
export async function reportFailures(options: FailureReportOptions): Promise<number> {
  const failures = await claimFailures(options.database, options.claimant, CLAIM_BATCH);
  const groups = Map.groupBy(failures, ({ workspaceId, emailId }) => `${workspaceId} ${emailId}`);
  for (const group of groups.values()) await reportOrSetAside(options, group);
  return failures.length;
}

/** Failures are set aside, or they would block the rest every time. */
async function reportOrSetAside(options: FailureReportOptions, group: readonly UnreportedFailure[]): Promise<void> {
  try {
    await reportGroup(options, group);
  } catch (error) {
    if (isTransient(error)) throw error;
    for (const { workspaceId, recipientId } of group)
      await setAside(options, { workspaceId, step: 'report', subjectId: recipientId, error });
  }
}

async function reportGroup(options: FailureReportOptions, group: readonly UnreportedFailure[]): Promise<void> {
  const [first] = group;
  if (first === undefined) return;
  const { database, log } = options;
  const { workspaceId, emailId } = first;
  const outcome = await notifySender(options, first, group);
  log.info({ emailId, recipients: group.length, outcome }, 'mail was given up');
  if (outcome === 'no room') return;
  const recipientIds = group.map(({ recipientId }) => recipientId);
  await markReported(database, workspaceId, recipientIds);
}

/** Without room, the sender is notified later. */
type Outcome = 'notified' | 'no one to notify' | 'no room' | 'not composed';

async function notifySender(
  options: FailureReportOptions,
  email: UnreportedFailure,
  group: readonly UnreportedFailure[],
): Promise<Outcome> {
  const { workspaceId, ownAddress } = email;
  // Mail to a return address would be mistaken for a report of another server.
  if (isReturnAddress(ownAddress)) return 'no one to notify';
  const verdict = await options.checkRecipient(ownAddress);
  if (verdict.verdict === 'reject' || verdict.workspaceId !== workspaceId) return 'no one to notify';
  const bytes = await compose(options, email, group);
  if (bytes === null) return 'not composed';
  const { verdict: _, ...of } = verdict;
  const reply = await options.acceptor.accept(
    {
      reversePath: '',
      recipients: [{ recipient: ownAddress, ...of }],
      remoteAddress: OWN_ADDRESS,
      helo: options.mailHostname,
      isTls: false,
      traceFields: '',
    },
    bytes,
  );
  return reply.verdict === 'accepted' ? 'notified' : 'no room';
}

/** Null when it cannot be composed: a retry would fail as well, and block all others. */
async function compose(
  { bytes, mailHostname, log }: FailureReportOptions,
  email: UnreportedFailure,
  group: readonly UnreportedFailure[],
): Promise<Buffer | null> {
  const { messageId, inReplyTo, references, subject, queuedAt, settledAt, emailId } = email;
  const original = { messageId, inReplyTo, references, subject, queuedAt };
  const composed = email.rawId === null ? null : await bytes.get(email.rawId);
  try {
    return await composeBounce({
      messageId: `<${email.recipientId}.failed@${mailHostname}>`,
      date: settledAt,
      mailHostname,
      to: email.ownAddress,
      original: { ...original, bytes: composed },
      recipients: group,
    });
  } catch (error) {
    log.error({ err: error, emailId }, 'report of mail that was given up cannot be composed');
    return null;
  }
}
