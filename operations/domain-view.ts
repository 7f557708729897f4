import { createHash } from 'node:crypto';
import { type DnsRecord, dnsRecordsOf } from '../core/dns-records.ts';
import { type AuthAdvice, authAdviceOf } from '../core/domain-advice.ts';
import { checkedRecordOf, type DomainCheck, isSeen, readDomainCheck } from '../core/domain-check.ts';
import { REASONS } from '../core/domain-state.ts';
import type * as lists from '../db/queries/domain-list.ts';
import type { OperationContext } from './context.ts';

/** A record that the owner is asked for, and whether it was seen. */
export interface ShownRecord extends DnsRecord {
  /** the same as long as the record is asked for */
  id: string;
  isSeen: boolean;
  /** why it is not seen, or that DNS did not tell; null: nothing to say, or not asked yet */
  error: string | null;
}

/** A domain with what follows from its row. */
export interface Domain extends lists.Domain {
  /** verified, and its mail comes here */
  canReceive: boolean;
  dnsRecords: ShownRecord[];
  /** what DNS told; null: it was not asked yet */
  check: DomainCheck | null;
  /** what else its owner may publish */
  advice: AuthAdvice;
  /** why it is not verified, in words; null when there is nothing to say */
  reason: string | null;
}

/** A row as it is shown. */
export function domainViewOf(context: OperationContext, domain: lists.Domain): Domain {
  const { status, isTrusted, isMxSeen, parent } = domain;
  const check = readDomainCheck(domain.dnsCheck);
  const { mailHostname } = context.settings;
  const canReceive = status === 'verified' && (isTrusted || isMxSeen);
  const records = dnsRecordsOf({ ...domain, isInherited: parent !== null }, mailHostname);
  const reason = check?.reason ?? null;
  const isSpfSeen = records.some((record) => record.purpose === 'spf' && isSeen(check, record));
  return {
    ...domain,
    canReceive,
    check,
    advice: authAdviceOf(
      { name: domain.name, isInherited: parent !== null, canReceive, isSpfSeen },
      check,
      mailHostname,
    ),
    reason: reason === null || status === 'verified' ? null : REASONS[reason],
    dnsRecords: records.map((record) => {
      const told = checkedRecordOf(check, record);
      return { ...record, id: recordId(domain.id, record), isSeen: told?.isSeen ?? false, error: told?.error ?? null };
    }),
  };
}

function recordId(domainId: string, { purpose, name }: DnsRecord): string {
  return `dns_${createHash('sha256').update(`${domainId} ${purpose} ${name}`).digest('hex').slice(0, 32)}`;
}
