import type { MxRecord } from 'node:dns';
import type { Logger } from 'pino';
import { isCoveredBySpf, isMxOf, mailFromDomainOf } from '../../core/dns-records.ts';
import type { Database } from '../../db/database.ts';
import {
  type CheckedMailFrom,
  claimMailFromChecks,
  finishMailFromChecks,
  type MailFromCheck,
} from '../../db/queries/mail-from-check.ts';
import type { DnsResolver, LookUp } from '../dns-resolver.ts';

export interface MailFromParts {
  database: Database;
  dns: DnsResolver;
  log: Logger;
  /** the host that the records shall name */
  mailHostname: string;
}

/** For both look-ups of a domain; milliseconds. */
const DNS_TIME_MS = 4_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/**
 * Looks whether the MAIL FROM domains of verified domains have the records that their owners were asked for, so that return addresses
 * there come back to us and pass SPF. Until both are seen, the domain itself serves. Answers how many domains were looked at.
 */
export async function checkMailFrom(parts: MailFromParts): Promise<number> {
  const checks = await claimMailFromChecks(parts.database);
  if (checks.length > 0)
    await finishMailFromChecks(parts.database, await Promise.all(checks.map((check) => look(parts, check))));
  return checks.length;
}

async function look({ dns, log, mailHostname }: MailFromParts, check: MailFromCheck): Promise<CheckedMailFrom> {
  const { userId, domainId, domain, isVerified } = check;
  const isSeen = await hasRecords(dns.within(DNS_TIME_MS), mailFromDomainOf(domain), mailHostname);
  if (isSeen !== null && isSeen !== isVerified)
    log.info(
      { event: isSeen ? 'mail-from.verified' : 'mail-from.lost', userId, domainId },
      'MAIL FROM records changed',
    );
  return { userId, domainId, isSeen, delayMs: delayOf(isSeen ?? isVerified, check.ageMs) };
}

/** Once seen, daily. Before, at intervals that double from a minute to an hour: each is as long as all before it. Milliseconds. */
function delayOf(isVerified: boolean, ageMs: number): number {
  return isVerified ? DAY_MS : Math.min(HOUR_MS, Math.max(MINUTE_MS, ageMs));
}

/** Null when DNS does not tell. */
async function hasRecords(lookUp: LookUp, name: string, mailHostname: string): Promise<boolean | null> {
  try {
    // The types of node:dns, whose answers these are.
    const mx = (await lookUp(name, 'MX')) as unknown as MxRecord[];
    const txt = (await lookUp(name, 'TXT')) as string[][];
    return (
      isMxOf(mx, mailHostname) &&
      isCoveredBySpf(
        txt.map((strings) => strings.join('')),
        mailHostname,
      )
    );
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null;
    if (code === 'ENOTFOUND' || code === 'ENODATA') return false;
    return null;
  }
}
