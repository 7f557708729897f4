import type { DnsRecord, PublishedKey } from './dns-records.ts';
import { type DomainCheck, isSeen } from './domain-check.ts';

/**
 * A domain is *pending* from the day it was added. Once its proof of ownership is seen, and nobody else is its verified owner, it is
 * *verified*. Without proof for 72 hours it is *failed*; a later check can still verify it. A verified domain whose proof goes missing stays
 * verified, until another user has proven the name while the proof has been missing for 7 days: then it is failed.
 */
export const DOMAIN_STATUSES = ['pending', 'verified', 'failed'] as const;
export type DomainStatus = (typeof DOMAIN_STATUSES)[number];

/** What decides about a domain besides DNS. */
export interface DomainFacts {
  status: DomainStatus;
  /** verified without DNS */
  isTrusted: boolean;
  /** verified by the domain above it */
  isInherited: boolean;
  createdAt: Date;
  verifiedAt: Date | null;
  /** since when its proof is missing */
  proofLostAt: Date | null;
  /** when its waiting key was made; null: none waits */
  waitingKeySince: Date | null;
}

/** What a check makes of a domain. `claim`: its proof was seen, and it is verified if the name is free. */
export type DomainVerdict = 'claim' | 'fail' | 'lose proof' | 'keep';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const PENDING_MS = 72 * HOUR_MS;
/** How long the proof of a verified domain may be missing before another user's proof counts. */
export const CONTESTED_DAYS = 7;
/** Failed domains are looked at hourly so long after they were added, then daily. */
const HOPE_MS = 7 * DAY_MS;

/** Why a domain is not verified, in words for its owner. */
export const REASONS: Record<NonNullable<DomainCheck['reason']>, string> = {
  taken: `The proof of ownership is there, but another account is the verified owner of this domain. The domain becomes yours when that account's proof has been missing for ${CONTESTED_DAYS} days.`,
  lost: `The proof of ownership of this domain was missing for ${CONTESTED_DAYS} days, and another account has proven that it owns the domain.`,
  unproven:
    'The proof of ownership was not published within 72 hours. The domain is still looked at, and verified once the proof is seen.',
};

/** The reason to store with a check; `isTaken` tells of a claim that another's ownership stood against. */
export function reasonOf(
  former: DomainCheck | null,
  { verdict, isProven, isTaken }: { verdict: DomainVerdict; isProven: boolean | null; isTaken: boolean },
): DomainCheck['reason'] {
  if (verdict === 'claim') return isTaken ? 'taken' : null;
  if (verdict === 'fail') return 'unproven';
  if (former === null || verdict === 'lose proof') return null;
  return isProven === false && former.reason === 'taken' ? null : former.reason;
}

/** What a check means for the domain. `isProven` is null when DNS did not tell. */
export function verdictOf(facts: DomainFacts, isProven: boolean | null, now: Date): DomainVerdict {
  if (facts.isTrusted || facts.isInherited || isProven === null) return 'keep';
  if (facts.status === 'verified') return isProven ? 'keep' : 'lose proof';
  if (isProven) return 'claim';
  return facts.status === 'pending' && now.getTime() - facts.createdAt.getTime() >= PENDING_MS ? 'fail' : 'keep';
}

/**
 * Whether the proof was seen; null when DNS did not tell, and for a domain that needs none. A trusted domain is asked for one that it
 * does not need.
 */
export function proofOf(records: readonly DnsRecord[], check: DomainCheck): boolean | null {
  const proof = records.find(({ purpose }) => purpose === 'proof');
  const told = check.records.find(
    ({ name, type }) => proof !== undefined && name === proof.name && type === proof.type,
  );
  return told === undefined || !told.isTold ? null : told.isSeen;
}

/** Whether mail for the domain comes here. */
export function isReceivingSeen(records: readonly DnsRecord[], check: DomainCheck): boolean {
  return areSeen(records, check, ['receiving']);
}

/** Whether bounces may be sent from its MAIL FROM domain: both records of it are seen. */
export function isMailFromSeen(records: readonly DnsRecord[], check: DomainCheck): boolean {
  return areSeen(records, check, ['mail-from-mx', 'mail-from-spf']);
}

/** Selectors of keys whose records are seen. */
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

/** Records that were seen before and are gone. */
export function lostRecords(former: DomainCheck | null, check: DomainCheck): { type: string; name: string }[] {
  return check.records
    .filter((record) => !record.isSeen && isSeen(former, record))
    .map(({ type, name }) => ({ type, name }));
}

/**
 * Milliseconds until the next look. What is awaited is looked for at intervals that double from a minute to an hour: each is as long as
 * all before it. What is complete is looked at daily. Where DNS did not answer it is asked again sooner, at such intervals too.
 */
export function delayOf(facts: DomainFacts, check: DomainCheck, isComplete: boolean, now: Date): number {
  const trouble =
    check.unanswered === 0 ? Number.POSITIVE_INFINITY : Math.min(HOUR_MS, MINUTE_MS * 2 ** (check.unanswered - 1));
  return Math.min(trouble, plainDelayOf(facts, isComplete, now));
}

function plainDelayOf(facts: DomainFacts, isComplete: boolean, now: Date): number {
  const since = (at: Date) => now.getTime() - at.getTime();
  const growing = (at: Date) => Math.min(HOUR_MS, Math.max(MINUTE_MS, since(at)));
  switch (facts.status) {
    case 'pending':
      return growing(facts.createdAt);
    case 'failed':
      return since(facts.createdAt) < HOPE_MS ? HOUR_MS : DAY_MS;
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
