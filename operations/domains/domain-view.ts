import { createHash } from 'node:crypto';
import { type DnsRecord, dnsRecordsOf } from '../../core/domains/dns-records.ts';
import { type AuthAdvice, authAdviceOf } from '../../core/domains/domain-advice.ts';
import { checkedRecordOf, type DomainCheck, isSeen, readDomainCheck } from '../../core/domains/domain-check.ts';
import { REASONS } from '../../core/domains/domain-state.ts';
import { isMtaStsSeen, isTlsReportSeen, type TransportAdvice, transportAdviceOf } from '../../core/domains/mta-sts.ts';
import type { Domain as DomainRow } from '../../db/queries/domains/domain-row.ts';
import type { OperationContext } from '../context.ts';

/** A record that the owner is asked for, and whether it was seen. */
export interface ShownRecord extends DnsRecord {
  /** the same as long as the record is asked for */
  id: string;
  isSeen: boolean;
  /** why it is not seen, or that DNS did not tell; null: nothing to say, or not asked yet */
  error: string | null;
}

/** What makes senders insist on TLS, and which of its records are seen. */
export interface ShownTransport extends TransportAdvice {
  isMtaStsSeen: boolean;
  isTlsReportSeen: boolean;
}

/** What follows from the row of a domain. */
export interface DomainConsequences {
  /** verified, and its mail comes here */
  canReceive: boolean;
  dnsRecords: ShownRecord[];
  /** what DNS told; null: it was not asked yet */
  check: DomainCheck | null;
  /** what else its owner may publish */
  advice: AuthAdvice;
  /** how senders can be made to insist on TLS */
  transport: ShownTransport;
  /** why it is not verified, in words; null when there is nothing to say */
  reason: string | null;
  /** verified, and every required record is seen */
  isFullyVerified: boolean;
  /** whether the record of a key that its mail is signed with is seen, be it that of the domain above it */
  isDkimSeen: boolean;
}

/** A domain with what follows from its row. */
export interface Domain extends DomainRow, DomainConsequences {}

/** A row as it is shown. */
export function domainViewOf<Row extends DomainRow>(context: OperationContext, domain: Row): Row & DomainConsequences {
  const { status, isTrusted, isMxSeen, parent } = domain;
  const check = readDomainCheck(domain.dnsCheck);
  const { mailHostname, mtaStsMode } = context.settings;
  const transport = transportAdviceOf(domain.name, mtaStsMode, mailHostname);
  const canReceive = status === 'verified' && (isTrusted || isMxSeen);
  const records = dnsRecordsOf({ ...domain, isInherited: parent !== null }, mailHostname);
  const reason = check?.reason ?? null;
  const isSpfSeen = records.some((record) => record.purpose === 'spf' && isSeen(check, record));
  const dnsRecords = records.map((record) => {
    const told = checkedRecordOf(check, record);
    return { ...record, id: recordId(domain.id, record), isSeen: told?.isSeen ?? false, error: told?.error ?? null };
  });
  const dkim = dnsRecords.filter(({ purpose }) => purpose === 'dkim');
  return {
    ...domain,
    canReceive,
    check,
    advice: authAdviceOf(
      { name: domain.name, isInherited: parent !== null, canReceive, isSpfSeen },
      check,
      mailHostname,
    ),
    transport: {
      ...transport,
      isMtaStsSeen: isMtaStsSeen(check?.mtaSts ?? [], transport),
      isTlsReportSeen: isTlsReportSeen(check?.tlsReports ?? []),
    },
    reason: reason === null || status === 'verified' ? null : REASONS[reason],
    dnsRecords,
    isFullyVerified:
      status === 'verified' && (isTrusted || dnsRecords.every(({ isRequired, isSeen: has }) => has || !isRequired)),
    // A subdomain is signed for with its parent's key.
    isDkimSeen: dkim.length === 0 ? parent !== null : dkim.some(({ isSeen: has }) => has),
  };
}

function recordId(domainId: string, { purpose, name }: DnsRecord): string {
  return `dns_${createHash('sha256').update(`${domainId} ${purpose} ${name}`).digest('hex').slice(0, 32)}`;
}
