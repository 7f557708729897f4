import { DAY_MS, HOUR_MS } from '../shared/durations.ts';
import type { DnsRecord, PublishedKey } from './dns-records.ts';
import { type DomainCheck, isSeen } from './domain-check.ts';

/**
 * States of a domain. *pending*: it was added and its proof of ownership has not been found. *verified*: the proof was found, and no
 * other user was the verified owner. *failed*: the proof was not found for 72 hours; a later check can still verify it. A verified domain
 * whose proof disappears stays verified, until another user has proven the name while the proof has been missing for 7 days; then it is
 * failed.
 */
export const DOMAIN_STATUSES = ['pending', 'verified', 'failed'] as const;
export type DomainStatus = (typeof DOMAIN_STATUSES)[number];

/** The facts that decide the state besides DNS. */
export interface DomainFacts {
  status: DomainStatus;
  /** verified by configuration, without DNS */
  isTrusted: boolean;
  /** verified through the parent domain */
  isInherited: boolean;
  createdAt: Date;
  verifiedAt: Date | null;
  /** since when its proof is missing; null: it is not */
  proofLostAt: Date | null;
  /** when the waiting key was created; null: no key waits */
  waitingKeySince: Date | null;
}

/** Result of a check. `claim`: the proof was found, so the domain is verified if the name is free. */
export type DomainVerdict = 'claim' | 'fail' | 'lose proof' | 'keep';

const MINUTE_MS = 60_000;
const PENDING_MS = 72 * HOUR_MS;
/** How long the proof of a verified domain may be missing before another user can claim the domain. */
export const CONTESTED_DAYS = 7;
/** Failed domains are checked hourly for this long after they were added, then daily. */
const HOURLY_CHECKS_MS = 7 * DAY_MS;

/** Why a domain is not verified, for its owner. */
export const REASONS: Record<NonNullable<DomainCheck['reason']>, string> = {
  taken: `The proof of ownership was found, but another account is the verified owner of this domain. The domain becomes yours when that account's proof has been missing for ${CONTESTED_DAYS} days.`,
  lost: `The proof of ownership of this domain was missing for ${CONTESTED_DAYS} days, and another account has proven that it owns the domain.`,
  unproven:
    'The proof of ownership was not published within 72 hours. Postroom keeps checking, and verifies the domain when the proof is found.',
};

/** Returns the reason to store with a check; `isTaken`: another user owns the domain. */
export function findReason(
  previous: DomainCheck | null,
  { verdict, isProven, isTaken }: { verdict: DomainVerdict; isProven: boolean | null; isTaken: boolean },
): DomainCheck['reason'] {
  if (verdict === 'claim') return isTaken ? 'taken' : null;
  if (verdict === 'fail') return 'unproven';
  if (previous === null || verdict === 'lose proof') return null;
  return isProven === false && previous.reason === 'taken' ? null : previous.reason;
}

/** Decides what a check means for the domain. `isProven` is null when the lookup failed. */
export function judgeProof(facts: DomainFacts, isProven: boolean | null, now: Date): DomainVerdict {
  if (facts.isTrusted || facts.isInherited || isProven === null) return 'keep';
  if (facts.status === 'verified') return isProven ? 'keep' : 'lose proof';
  if (isProven) return 'claim';
  return facts.status === 'pending' && now.getTime() - facts.createdAt.getTime() >= PENDING_MS ? 'fail' : 'keep';
}

/**
 * Returns whether the proof was found; null when the lookup failed, and for a domain that needs none. A trusted domain shows the record
 * although it does not need it.
 */
export function findProof(records: readonly DnsRecord[], check: DomainCheck): boolean | null {
  const proof = records.find(({ purpose }) => purpose === 'proof');
  const checked = check.records.find(
    ({ name, type }) => proof !== undefined && name === proof.name && type === proof.type,
  );
  return checked === undefined || !checked.isAnswered ? null : checked.isSeen;
}

/** Returns whether mail for the domain arrives here. */
export function isReceivingSeen(records: readonly DnsRecord[], check: DomainCheck): boolean {
  return areSeen(records, check, ['receiving']);
}

/** Returns whether bounces can go to its MAIL FROM domain: both of its records are found. */
export function isMailFromSeen(records: readonly DnsRecord[], check: DomainCheck): boolean {
  return areSeen(records, check, ['mail-from-mx', 'mail-from-spf']);
}

/** Returns the selectors of keys whose records are found. */
export function seenSelectors(
  keys: readonly PublishedKey[],
  records: readonly DnsRecord[],
  check: DomainCheck,
): string[] {
  return keys
    .filter(({ selector }) =>
      records.some(
        (record) => record.purpose === 'dkim' && record.name.startsWith(`${selector}.`) && isSeen(check, record),
      ),
    )
    .map(({ selector }) => selector);
}

/** Returns records that were found before and are missing now. */
export function lostRecords(previous: DomainCheck | null, check: DomainCheck): { type: string; name: string }[] {
  return check.records
    .filter((record) => !record.isSeen && isSeen(previous, record))
    .map(({ type, name }) => ({ type, name }));
}

/**
 * Returns the milliseconds until the next check. Missing records are checked at intervals that double from a minute to an hour, each as
 * long as all before it. Complete domains are checked daily. After failed lookups the next check comes sooner, also at doubling
 * intervals.
 */
export function readDelay(facts: DomainFacts, check: DomainCheck, isComplete: boolean, now: Date): number {
  const trouble =
    check.unanswered === 0 ? Number.POSITIVE_INFINITY : Math.min(HOUR_MS, MINUTE_MS * 2 ** (check.unanswered - 1));
  return Math.min(trouble, readPlainDelay(facts, isComplete, now));
}

function readPlainDelay(facts: DomainFacts, isComplete: boolean, now: Date): number {
  const since = (at: Date) => now.getTime() - at.getTime();
  const growing = (at: Date) => Math.min(HOUR_MS, Math.max(MINUTE_MS, since(at)));
  switch (facts.status) {
    case 'pending':
      return growing(facts.createdAt);
    case 'failed':
      return since(facts.createdAt) < HOURLY_CHECKS_MS ? HOUR_MS : DAY_MS;
    case 'verified': {
      if (isComplete) return DAY_MS;
      return growing(facts.waitingKeySince ?? facts.verifiedAt ?? facts.createdAt);
    }
  }
}

function areSeen(
  records: readonly DnsRecord[],
  check: DomainCheck,
  purposes: readonly DnsRecord['purpose'][],
): boolean {
  return records.filter(({ purpose }) => purposes.includes(purpose)).every((record) => isSeen(check, record));
}
