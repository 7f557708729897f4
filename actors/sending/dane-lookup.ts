import { type TlsaRecord, usableTlsaRecords } from '../../core/sending/dane.ts';
import type { ValidatedDns } from '../network/validated-dns.ts';

/** TLSA records of one mail server. */
export type DaneHost =
  /** none, or not in a signed zone: TLS as without DANE */
  | { kind: 'none' }
  /** they could not be found out, so the server must not be used now */
  | { kind: 'failed' }
  /** mail needs TLS; without usable records, with any certificate */
  | { kind: 'tlsa'; baseName: string; records: TlsaRecord[] };

/** What validated DNS says of a domain's mail servers. */
export type DaneDestination =
  /** the MX records are not signed: DANE does not apply */
  | { kind: 'insecure' }
  | { kind: 'failed' }
  /** `names`: the only servers that may be used */
  | { kind: 'secure'; names: ReadonlySet<string>; hostOf: (name: string) => Promise<DaneHost> };

/** Looks up what RFC 7672 §2.2 asks for: MX, then the addresses and the TLSA records of each server. Never rejects. */
export async function findDane(dns: ValidatedDns, domain: string, port: number): Promise<DaneDestination> {
  const mx = await dns.ask(domain, 'MX');
  if (mx.kind === 'failed') return { kind: 'failed' };
  if (mx.kind === 'insecure') return { kind: 'insecure' };
  const exchanges = mx.answers.flatMap((answer) => (answer.type === 'MX' ? [answer.data.exchange.toLowerCase()] : []));
  const names = new Set(exchanges.length === 0 ? [domain] : exchanges.map((name) => name.replace(/\.$/, '')));
  return { kind: 'secure', names, hostOf: (name) => findTlsa(dns, name, port) };
}

async function findTlsa(dns: ValidatedDns, name: string, port: number): Promise<DaneHost> {
  const addresses = await askAddresses(dns, name);
  if (addresses.kind === 'failed') return { kind: 'failed' };
  // A server in an unsigned zone may be broken for TLSA queries (RFC 7672 §2.2.2).
  if (addresses.kind === 'insecure') return { kind: 'none' };
  const target = addresses.answers.findLast((answer) => answer.type === 'CNAME');
  const expanded = target?.type === 'CNAME' ? target.data.toLowerCase().replace(/\.$/, '') : name;
  for (const baseName of new Set([expanded, name])) {
    const tlsa = await dns.ask(`_${port}._tcp.${baseName}`, 'TLSA');
    if (tlsa.kind === 'failed') return { kind: 'failed' };
    const records = tlsa.answers.flatMap((answer) => (answer.type === 'TLSA' ? [answer.data] : []));
    if (tlsa.kind === 'secure' && records.length > 0)
      return { kind: 'tlsa', baseName, records: usableTlsaRecords(records) };
  }
  return { kind: 'none' };
}

async function askAddresses(dns: ValidatedDns, name: string) {
  const four = await dns.ask(name, 'A');
  const hasFour = four.kind !== 'failed' && four.answers.some(({ type }) => type === 'A');
  return hasFour || four.kind === 'failed' ? four : dns.ask(name, 'AAAA');
}
