import { type MxRecord, makeMailFromDomain, makeProofName } from '../../core/domains/dns-records.ts';
import type { DnsResult, DomainRecords } from '../../core/domains/domain-check.ts';
import { parentDomains } from '../../core/domains/domain-name.ts';
import { makeMtaStsName, makeTlsReportName } from '../../core/domains/mta-sts.ts';
import type { LookUp } from '../network/dns-resolver.ts';

/** The names below a domain whose TXT records hold its DKIM keys. */
export interface AskedDomain {
  name: string;
  dkimNames: readonly string[];
}

/** Queries everything that a domain check needs, in parallel. Never rejects. */
export async function askDns(lookUp: LookUp, { name, dkimNames }: AskedDomain): Promise<DomainRecords> {
  const texts = (of: string) => ask(lookUp, of, 'TXT', readText);
  const mailFrom = makeMailFromDomain(name);
  const [mx, txt, cname, proof, mailFromMx, mailFromTxt, dmarc, mtaSts, tlsReports, nameServers, ...keys] =
    await Promise.all([
      ask(lookUp, name, 'MX', readMx),
      texts(name),
      ask(lookUp, name, 'CNAME', readName),
      texts(makeProofName(name)),
      ask(lookUp, mailFrom, 'MX', readMx),
      texts(mailFrom),
      texts(`_dmarc.${name}`),
      texts(makeMtaStsName(name)),
      texts(makeTlsReportName(name)),
      readNameServers(lookUp, name),
      ...dkimNames.map(texts),
    ]);
  const dkim = new Map(dkimNames.map((of, index) => [of, keys[index] ?? NONE]));
  return { mx, txt, cname, proof, mailFromMx, mailFromTxt, dmarc, mtaSts, tlsReports, nameServers, dkim };
}

const NONE = { kind: 'none' } as const;

/** The name servers of the zone that contains the name: its own, else those of the nearest parent that has some. */
async function readNameServers(lookUp: LookUp, name: string): Promise<DnsResult<string>> {
  for (const zone of [name, ...parentDomains(name)]) {
    const result = await ask(lookUp, zone, 'NS', readName);
    if (result.kind !== 'none') return result;
  }
  return NONE;
}

async function ask<T>(
  lookUp: LookUp,
  name: string,
  type: string,
  read: (record: unknown) => T | null,
): Promise<DnsResult<T>> {
  try {
    const reply: readonly unknown[] = await lookUp(name, type);
    const records = reply.map(read).filter((record) => record !== null);
    return records.length === 0 ? NONE : { kind: 'records', records };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'EBADRESP';
    return code === 'ENOTFOUND' || code === 'ENODATA' ? NONE : { kind: 'unknown', code };
  }
}

function readMx(record: unknown): MxRecord | null {
  if (typeof record !== 'object' || record === null || !('exchange' in record) || !('priority' in record)) return null;
  const { exchange, priority } = record;
  return typeof exchange === 'string' && typeof priority === 'number' ? { exchange, priority } : null;
}

/** The strings of one TXT record are one text (RFC 7208 §3.3, RFC 6376 §3.6.2.2). */
function readText(record: unknown): string | null {
  return Array.isArray(record) ? record.join('') : null;
}

function readName(record: unknown): string | null {
  return typeof record === 'string' ? record : null;
}
