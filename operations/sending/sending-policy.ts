import { BUDGET_SECONDS, blockedUntil } from '../../core/sending/send-policy.ts';
import { UserError } from '../../core/shared/errors.ts';
import type { Policy } from '../../db/queries/sending/outgoing-policy.ts';
import type { OutgoingEmail } from './compose-outgoing.ts';
import { checkSuppressions } from './suppressions.ts';

/** The hourly limit while a group is checked: the emails in the group, and those already allowed. */
export interface HourlyCount {
  limit: number;
  asking: number;
  going: number;
}

/**
 * Checks sender, suppressions and hourly limit. Returns the error for the first email that fails; null when all may be
 * sent. `hourly` is null when there is no limit.
 */
export function findRefusal(
  emails: readonly OutgoingEmail[],
  policy: Policy,
  hourly: Readonly<HourlyCount> | null,
): UserError | null {
  for (const email of emails) {
    const refusal = senderRefusal(email, policy) ?? checkSuppressions(email, policy);
    if (refusal !== null) return refusal;
  }
  return hourly === null ? null : limitRefusal(emails.length, policy, hourly);
}

/** Returns the sender's ids for the row of an email that passed the policy. */
export function admitted(email: OutgoingEmail, policy: Policy): { domainId: string; addressId: string | null } {
  const { own_domain: name, own_address: address } = email.row;
  const domain = policy.domains.get(name);
  if (domain === undefined) throw new Error('an email of an unknown domain was let go');
  return { domainId: domain.id, addressId: policy.addressIds.get(address) ?? null };
}

/** The sender must be on a verified domain of the user. Another user's domain counts as unknown. */
function senderRefusal({ row, envelopeDomain, path }: OutgoingEmail, policy: Policy): UserError | null {
  const names = envelopeDomain === null ? [row.own_domain] : [row.own_domain, envelopeDomain];
  const name = names.find((each) => policy.domains.get(each)?.isVerified !== true);
  if (name === undefined) return null;
  const message = policy.domains.has(name)
    ? `You don't have permission to send from domain: ${name}. It is not verified yet.`
    : `You don't have permission to send from domain: ${name}. Add it and verify it first.`;
  return new UserError('forbidden', message, {
    details: [{ field: `${path}from`, message }],
    name: 'validation_error',
  });
}

/**
 * Checks the hourly limit for `wanted` more emails; null when it is not reached. The error says when the next email can
 * be sent.
 */
export function limitRefusal(wanted: number, policy: Policy, { limit, asking, going }: HourlyCount): UserError | null {
  const span = { limit, spanSeconds: BUDGET_SECONDS.per_hour, asking, going, newest: policy.hourly };
  const until = blockedUntil(wanted, span, policy.now);
  if (until === null) return null;
  const message = `Hourly sending limit reached (${limit} emails per hour). Please try again later.`;
  const retryAfterSeconds = Math.max(1, Math.ceil((until.getTime() - policy.now.getTime()) / 1_000));
  return new UserError('rate_limited', message, { title: message, reason: 'HOURLY_LIMIT_REACHED', retryAfterSeconds });
}
