import { z } from 'zod';
import {
  type DnsRecord,
  isCoveredBySpf,
  isOfHost,
  isSpf,
  type MxRecord,
  mostPreferred,
  prefersMailHost,
  type RecordPurpose,
} from './dns-records.ts';

/** Result of one DNS lookup; `unknown` with the error code when it failed. */
export type DnsResult<T> =
  | { kind: 'records'; records: readonly T[] }
  | { kind: 'none' }
  | { kind: 'unknown'; code: string };

/** Results of all lookups for a domain; the strings of a TXT record are joined. */
export interface DomainRecords {
  mx: DnsResult<MxRecord>;
  txt: DnsResult<string>;
  cname: DnsResult<string>;
  proof: DnsResult<string>;
  mailFromMx: DnsResult<MxRecord>;
  mailFromTxt: DnsResult<string>;
  dmarc: DnsResult<string>;
  mtaSts: DnsResult<string>;
  tlsReports: DnsResult<string>;
  /** by record name */
  dkim: ReadonlyMap<string, DnsResult<string>>;
  /** name servers of the domain's zone */
  nameServers: DnsResult<string>;
}

const checkedRecord = z.object({
  type: z.enum(['MX', 'TXT']),
  name: z.string(),
  value: z.string(),
  isSeen: z.boolean(),
  /** whether the lookup succeeded; if not, isSeen keeps its last value */
  isAnswered: z.boolean(),
  /** why the record is not found, or that the lookup failed, for the domain's owner; null when it is found */
  error: z.string().nullable(),
});
type CheckedRecord = z.infer<typeof checkedRecord>;

/** Result of the last DNS check of a domain, as stored. */
export const domainCheckShape = z.object({
  records: z.array(checkedRecord),
  /** whether the name has any MX */
  hasMx: z.boolean(),
  /** the SPF record, ours or not; null: none */
  spf: z.string().nullable(),
  hasDmarc: z.boolean(),
  /** TXT records at the names for MTA-STS and TLS reports */
  mtaSts: z.array(z.string()).default([]),
  tlsReports: z.array(z.string()).default([]),
  /** records at the name that keep mail from arriving here */
  conflict: z
    .object({
      type: z.enum(['mx', 'cname', 'both']),
      records: z.array(z.object({ type: z.string(), value: z.string() })),
    })
    .nullable(),
  provider: z.object({ name: z.string(), confidence: z.enum(['high', 'medium', 'low']) }).nullable(),
  /** which lookups failed; null: none */
  error: z.string().nullable(),
  /** number of consecutive checks with failed lookups */
  unanswered: z.number().int(),
  /** taken: proven, but another user owns the name; lost: another user got it; unproven: not proven in time; null otherwise */
  reason: z.enum(['taken', 'lost', 'unproven']).nullable(),
});
export type DomainCheck = z.infer<typeof domainCheckShape>;

/** Parses a stored check; null when there is none or its format is unknown. */
export function readDomainCheck(stored: unknown): DomainCheck | null {
  return domainCheckShape.safeParse(stored).data ?? null;
}

/**
 * Compares DNS with the records that the owner should publish. After a failed lookup the previous result stays, and `error` says so: a
 * DNS outage changes nothing.
 */
export function judgeDomain(
  records: readonly DnsRecord[],
  lookups: DomainRecords,
  context: { mailHostname: string; previous: DomainCheck | null },
): DomainCheck {
  const { mailHostname, previous } = context;
  const checked = records.map((record) => checkRecord(record, lookups, context));
  const failedLookups = findFailedLookups(lookups);
  return {
    records: checked,
    hasMx: lookups.mx.kind === 'unknown' ? (previous?.hasMx ?? false) : listRecords(lookups.mx).length > 0,
    spf: lookups.txt.kind === 'unknown' ? (previous?.spf ?? null) : cleanOrNull(listRecords(lookups.txt).find(isSpf)),
    hasDmarc:
      lookups.dmarc.kind === 'unknown' ? (previous?.hasDmarc ?? false) : listRecords(lookups.dmarc).some(isDmarc),
    mtaSts: listTexts(lookups.mtaSts, previous?.mtaSts),
    tlsReports: listTexts(lookups.tlsReports, previous?.tlsReports),
    conflict: toConflict(lookups, mailHostname, previous),
    provider: findProvider(lookups.nameServers, previous),
    error: failedLookups === null ? null : `DNS did not respond (${failedLookups})`,
    unanswered: failedLookups === null ? 0 : (previous?.unanswered ?? 0) + 1,
    reason: previous?.reason ?? null,
  };
}

/** Returns whether the last check found a record; false when it was not checked. */
export function isSeen(check: DomainCheck | null, record: Pick<DnsRecord, 'type' | 'name' | 'value'>): boolean {
  return findCheckedRecord(check, record)?.isSeen ?? false;
}

/** Returns the result for a record; undefined when it was not checked. */
export function findCheckedRecord(
  check: DomainCheck | null,
  { type, name, value }: Pick<DnsRecord, 'type' | 'name' | 'value'>,
): CheckedRecord | undefined {
  return check?.records.find((record) => record.type === type && record.name === name && record.value === value);
}

const NOT_FOUND = 'No such record';
/** Maximum found records that are shown. */
const MAX_SHOWN = 10;

function checkRecord(
  record: DnsRecord,
  dnsResults: DomainRecords,
  { mailHostname, previous }: { mailHostname: string; previous: DomainCheck | null },
): CheckedRecord {
  const { type, name, value, purpose } = record;
  const result = findResult(purpose, name, dnsResults);
  if (result.kind === 'unknown') {
    const error = `DNS did not respond (${result.code})`;
    return { type, name, value, isSeen: isSeen(previous, record), isAnswered: false, error };
  }
  const error = result.kind === 'none' ? NOT_FOUND : findFault(record, result.records, mailHostname);
  return { type, name, value, isSeen: error === null, isAnswered: true, error };
}

function findResult(purpose: RecordPurpose, name: string, dnsResults: DomainRecords): DnsResult<string | MxRecord> {
  switch (purpose) {
    case 'receiving':
      return dnsResults.mx;
    case 'proof':
      return dnsResults.proof;
    case 'spf':
      return dnsResults.txt;
    case 'mail-from-mx':
      return dnsResults.mailFromMx;
    case 'mail-from-spf':
      return dnsResults.mailFromTxt;
    case 'dmarc':
      return dnsResults.dmarc;
    case 'dkim':
      return dnsResults.dkim.get(name) ?? { kind: 'none' };
  }
}

/** Returns what is wrong with the records at the name; null when one of them is correct. */
function findFault(
  { purpose, value }: DnsRecord,
  found: readonly (string | MxRecord)[],
  mailHostname: string,
): string | null {
  const texts = found.filter((record) => typeof record === 'string');
  const hosts = found.filter((record) => typeof record !== 'string');
  switch (purpose) {
    case 'receiving':
    case 'mail-from-mx':
      return prefersMailHost(hosts, mailHostname) ? null : foundInstead(hosts.map(textOfMx));
    case 'spf':
    case 'mail-from-spf':
      return findSpfFault(texts.filter(isSpf), mailHostname);
    case 'proof':
      return texts.some((text) => text.trim() === value) ? null : foundInstead(texts);
    case 'dkim':
      return texts.some((text) => readKey(text) === readKey(value)) ? null : foundInstead(texts);
    case 'dmarc':
      return findDmarcFault(texts.filter(isDmarc));
  }
}

function findSpfFault(records: readonly string[], mailHostname: string): string | null {
  if (isCoveredBySpf(records, mailHostname)) return null;
  if (records.length > 1) return `There are ${records.length} SPF records, but only one is allowed (RFC 7208 §4.5)`;
  return foundInstead(records);
}

function findDmarcFault(records: readonly string[]): string | null {
  if (records.length === 1) return null;
  return records.length === 0 ? NOT_FOUND : `There are ${records.length} DMARC records, but only one is allowed`;
}

function foundInstead(found: readonly string[]): string {
  const shown = found.slice(0, MAX_SHOWN).map(cleanText);
  return shown.length === 0 ? NOT_FOUND : `Found instead: ${shown.join(', ')}`;
}

function textOfMx({ exchange, priority }: MxRecord): string {
  return `${priority} ${exchange === '' ? '.' : exchange}`;
}

/** Returns the `p=` of a key record (RFC 6376 §3.6.1) without white space; null when it has none. */
function readKey(text: string): string | null {
  const tag = /(?:^|;)\s*p\s*=([^;]*)/.exec(text);
  return tag?.[1] === undefined ? null : tag[1].replaceAll(/\s+/g, '');
}

function isDmarc(text: string): boolean {
  return /^v\s*=\s*DMARC1\s*(?:;|$)/.test(text);
}

function toConflict(
  { mx, cname }: DomainRecords,
  mailHostname: string,
  previous: DomainCheck | null,
): DomainCheck['conflict'] {
  if (mx.kind === 'unknown' || cname.kind === 'unknown') return previous?.conflict ?? null;
  const hosts = listRecords(mx);
  // Less preferred servers get mail only while we are unreachable.
  const foreign = mostPreferred(hosts).filter((record) => !isOfHost(record, mailHostname));
  const names = listRecords(cname);
  if (foreign.length === 0 && names.length === 0) return null;
  const type = foreign.length === 0 ? 'cname' : names.length === 0 ? 'mx' : 'both';
  const records = [
    ...(foreign.length === 0 ? [] : hosts.map((record) => ({ type: 'MX', value: textOfMx(record) }))),
    ...names.map((value) => ({ type: 'CNAME', value })),
  ];
  return {
    type,
    records: records.slice(0, MAX_SHOWN).map((record) => ({ ...record, value: cleanText(record.value) })),
  };
}

function findProvider(nameServers: DnsResult<string>, previous: DomainCheck | null): DnsProvider | null {
  if (nameServers.kind === 'unknown') return previous?.provider ?? null;
  return findDnsProvider(listRecords(nameServers));
}

function listRecords<T>(looked: DnsResult<T>): readonly T[] {
  return looked.kind === 'records' ? looked.records : [];
}

/** Returns the error codes of failed lookups; null when all succeeded. The name servers do not matter. */
function findFailedLookups({
  mx,
  txt,
  cname,
  proof,
  mailFromMx,
  mailFromTxt,
  dmarc,
  dkim,
}: DomainRecords): string | null {
  const dnsResults = [mx, txt, cname, proof, mailFromMx, mailFromTxt, dmarc, ...dkim.values()];
  const codes = dnsResults.flatMap((dnsResult) => (dnsResult.kind === 'unknown' ? [dnsResult.code] : []));
  return codes.length === 0 ? null : [...new Set(codes)].join(', ');
}

/** Returns the records found, or the previous ones when the lookup failed; at most MAX_SHOWN. */
function listTexts(dnsResult: DnsResult<string>, previous: readonly string[] = []): string[] {
  return dnsResult.kind === 'unknown' ? [...previous] : listRecords(dnsResult).slice(0, MAX_SHOWN).map(cleanText);
}

function cleanOrNull(text: string | undefined): string | null {
  return text === undefined ? null : cleanText(text);
}

/** The DNS provider of a domain, detected by its name servers. */
interface DnsProvider {
  /** display name; `Custom DNS Provider` when unknown */
  name: string;
  /** high: all name servers match; medium: some do; low: unknown */
  confidence: 'high' | 'medium' | 'low';
}

const CUSTOM = 'Custom DNS Provider';

/** Patterns of name servers. */
const PROVIDERS: readonly [name: string, server: RegExp][] = [
  ['Cloudflare', /\.ns\.cloudflare\.com$/],
  ['Namecheap', /\.(?:registrar-servers|namecheaphosting)\.com$/],
  ['GoDaddy', /\.domaincontrol\.com$/],
  ['AWS Route 53', /\.awsdns-\d+\.(?:com|net|org|co\.uk)$/],
  ['Google Domains', /\.(?:googledomains|google)\.com$/],
  ['Vercel', /\.vercel-dns(?:-\d+)?\.com$/],
  ['DigitalOcean', /\.digitalocean\.com$/],
  ['Netlify', /\.nsone\.net$|\.netlify\.com$/],
  ['DNSimple', /\.dnsimple(?:-edge)?\.(?:com|net|org)$/],
  ['Hover', /\.hover\.com$/],
  ['Porkbun', /\.(?:ns\.)?porkbun\.com$/],
  ['Squarespace', /\.squarespacedns\.com$/],
];

/** Returns the provider of most of these name servers. Null without name servers. */
export function findDnsProvider(nameServers: readonly string[]): DnsProvider | null {
  if (nameServers.length === 0) return null;
  const servers = nameServers.map((server) => server.toLowerCase().replace(/\.$/, ''));
  const counts = PROVIDERS.map(([name, pattern]) => ({
    name,
    count: servers.filter((server) => pattern.test(server)).length,
  }));
  const best = counts.reduce((most, each) => (each.count > most.count ? each : most));
  if (best.count === 0) return { name: CUSTOM, confidence: 'low' };
  return { name: best.name, confidence: best.count === servers.length ? 'high' : 'medium' };
}

/** Maximum characters of a foreign record that are shown. */
const MAX_LENGTH = 255;

/** Returns foreign DNS data in a form that is safe to store and show: without control or formatting characters, and cut. */
function cleanText(text: string): string {
  const clean = text.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '\ufffd');
  return clean.length <= MAX_LENGTH ? clean : `${clean.slice(0, MAX_LENGTH).toWellFormed()}…`;
}
