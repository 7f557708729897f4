import type { ClientBase } from 'pg';
import { UserError } from '../core/errors.ts';
import { type Policy, type PolicyQuestion, readPolicy } from '../db/queries/outgoing-policy.ts';
import { type OutgoingUnit, writeOutgoing } from '../db/queries/outgoing-write.ts';
import { inUserTransaction } from '../db/user-transaction.ts';
import type { OutgoingEmail } from './compose-outgoing.ts';
import type { OperationContext } from './context.ts';
import { requireSender, wholeAccount } from './key-reach.ts';
import { admitted, refusalOf } from './sending-policy.ts';
import { type Accepted, replayOf, type Submission } from './submission.ts';
import { queueSubmission, requireTimely, type Waiting } from './submission-queue.ts';

/**
 * Puts emails into the sending queue, or on the schedule, and answers after the commit. A request with a known Idempotency-Key is
 * answered as the first time, and nothing is stored. Throws validation, forbidden, rate_limited, conflict, unavailable; then nothing of
 * the submission is stored.
 */
export async function submitEmails(context: OperationContext, submission: Submission): Promise<Accepted> {
  for (const { row, path } of submission.emails) requireSender(context, { domain: row.own_domain, path });
  return queueSubmission(wholeAccount(context), submission, commit);
}

async function commit(group: readonly Waiting[], lockTimeoutMs: number): Promise<Waiting[]> {
  const [first] = group;
  if (first === undefined) return [];
  const { context } = first;
  const lock = context.settings.sendLimitPerHour === 0 ? null : 'sending limit';
  const { policy, verdicts, entering, leftOut, lastSeq } = await inUserTransaction(
    context.database,
    context.userId,
    { lock, lockTimeoutMs },
    (client) => judgeAndStore(client, group, context),
  );
  group.forEach((member, at) => {
    const verdict = verdicts[at];
    if (verdict instanceof UserError) member.reject(verdict);
    else if (verdict != null) member.resolve(verdict);
  });
  const stored = entering.filter((_, at) => !leftOut.has(at));
  for (const { submission, resolve } of stored) resolve({ receipt: submission.receipt, at: policy.now });
  if (stored.length > 0) announce(context, stored, lastSeq);
  return entering.filter((_, at) => leftOut.has(at));
}

async function judgeAndStore(client: ClientBase, group: readonly Waiting[], { userId, settings }: OperationContext) {
  const asking = group.reduce((sum, { submission }) => sum + submission.emails.length, 0);
  const hourly = settings.sendLimitPerHour === 0 ? null : { limit: settings.sendLimitPerHour, asking };
  const policy = await readPolicy(client, userId, questionOf(group, hourly));
  const verdicts = judge(group, policy, hourly);
  const entering = group.filter((_, at) => verdicts[at] === null);
  const units = entering.map((member) => unitOf(member, policy));
  const written = units.length === 0 ? NOTHING : await writeOutgoing(client, userId, units);
  requireTimely(entering);
  return { policy, verdicts, entering, ...written };
}

const NOTHING = { leftOut: new Set<number>(), lastSeq: null };

function questionOf(group: readonly Waiting[], hourly: PolicyQuestion['hourly']): PolicyQuestion {
  const emails = group.flatMap(({ submission }) => submission.emails);
  const each = (values: (email: OutgoingEmail) => string[]) => [...new Set(emails.flatMap(values))];
  return {
    domains: each(({ row }) => [row.own_domain]),
    senders: each(({ row }) => [row.own_address]),
    recipients: each(({ row }) => row.recipients.map(({ address }) => address.toLowerCase())),
    idempotencyKeys: group.flatMap(({ submission }) => submission.idempotency?.key ?? []),
    hourly,
  };
}

/** For each member the answer that was given before, why it may not go, or null when it goes. */
function judge(
  group: readonly Waiting[],
  policy: Policy,
  hourly: PolicyQuestion['hourly'],
): (Accepted | UserError | null)[] {
  let going = 0;
  return group.map(({ submission }) => {
    const known = replayOf(submission.idempotency, policy);
    if (known !== null) return known;
    const refusal = refusalOf(submission.emails, policy, hourly === null ? null : { ...hourly, going });
    if (refusal === null) going += submission.emails.length;
    return refusal;
  });
}

function unitOf({ submission, traceParent }: Waiting, policy: Policy): OutgoingUnit {
  const { emails, batchId, idempotency, receipt } = submission;
  return {
    emails: emails.map((email) => ({ ...email, ...admitted(email, policy) })),
    batchId,
    traceParent,
    answer: idempotency === null ? null : { ...idempotency, answer: receipt },
  };
}

function announce({ bus, userId }: OperationContext, stored: readonly Waiting[], lastSeq: number | null): void {
  const rows = stored.flatMap(({ submission }) => submission.emails.map((email) => email.row));
  const emailIds = rows.filter((row) => row.scheduled_at === null).map((row) => row.id);
  const schedules = rows.flatMap((row) => row.scheduled_at ?? []);
  if (emailIds.length > 0) {
    bus.wake('sending.send.wake', { userId, emailIds });
    bus.wake('threading.assign.wake', { userId, emailIds });
  }
  const at = schedules.toSorted()[0];
  if (at !== undefined) bus.wake('scheduling.release.wake', { userId, at });
  if (lastSeq !== null) bus.publish('event.appended', { userId, lastSeq });
}
