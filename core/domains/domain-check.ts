import { z } from 'zod';
import {
  type DnsRecord,
  isCoveredBySpf,
  isMxOf,
  isOfHost,
  isSpf,
  type MxRecord,
  mostPreferred,
  type RecordPurpose,
} from './dns-records.ts';

/** What DNS told of one name and type; `unknown` when it did not tell, with its code. */
export type DnsAnswer<T> =
  | { kind: 'records'; records: readonly T[] }
  | { kind: 'none' }
  | { kind: 'unknown'; code: string };

/** What was asked of a domain; TXT records with their strings joined. */
export interface DomainAnswers {
  mx: DnsAnswer<MxRecord>;
  txt: DnsAnswer<string>;
  cname: DnsAnswer<string>;
  proof: DnsAnswer<string>;
  mailFromMx: DnsAnswer<MxRecord>;
  mailFromTxt: DnsAnswer<string>;
  dmarc: DnsAnswer<string>;
  mtaSts: DnsAnswer<string>;
  tlsReports: DnsAnswer<string>;
  /** by the name of the record */
  dkim: ReadonlyMap<string, DnsAnswer<string>>;
  /** of the zone that the domain lies in */
  nameServers: DnsAnswer<string>;
}

const checkedRecord = z.object({
  type: z.enum(['MX', 'TXT']),
  name: z.string(),
  value: z.string(),
  isSeen: z.boolean(),
  /** whether DNS told; otherwise isSeen is what was known before */
  isTold: z.boolean(),
  /** why it is not seen, or that DNS did not tell, in words for the domain's owner; null when it is seen */
  error: z.string().nullable(),
});
type CheckedRecord = z.infer<typeof checkedRecord>;

/** What DNS told of a domain when it was last asked, as it is stored. */
export const domainCheckShape = z.object({
  records: z.array(checkedRecord),
  /** whether the name has any MX */
  hasMx: z.boolean(),
  /** its SPF record, ours or not; null: none */
  spf: z.string().nullable(),
  hasDmarc: z.boolean(),
  /** TXT records where those of MTA-STS and of TLS reports belong */
  mtaSts: z.array(z.string()).default([]),
  tlsReports: z.array(z.string()).default([]),
  /** records at the name that keep mail from coming here */
  conflict: z
    .object({
      type: z.enum(['mx', 'cname', 'both']),
      records: z.array(z.object({ type: z.string(), value: z.string() })),
    })
    .nullable(),
  provider: z.object({ name: z.string(), confidence: z.enum(['high', 'medium', 'low']) }).nullable(),
  /** what DNS did not tell of, in words; null: it told of all */
  error: z.string().nullable(),
  /** checks in a row that DNS did not answer fully */
  unanswered: z.number().int(),
  /** taken: its proof was seen, but another has the name; lost: another got it; unproven: it failed for want of proof; null otherwise */
  reason: z.enum(['taken', 'lost', 'unproven']).nullable(),
});
export type DomainCheck = z.infer<typeof domainCheckShape>;

/** What is stored; null when nothing is, or nothing that this version reads. */
export function readDomainCheck(stored: unknown): DomainCheck | null {
  return domainCheckShape.safeParse(stored).data ?? null;
}

/**
 * Judges what DNS told against the records that the owner was asked for. What it did not tell keeps its former verdict, and `error` says so:
 * a DNS that is away or in trouble changes nothing.
 */
export function judgeDomain(
  records: readonly DnsRecord[],
  answers: DomainAnswers,
  context: { mailHostname: string; former: DomainCheck | null },
): DomainCheck {
  const { mailHostname, former } = context;
  const judged = records.map((record) => judgeRecord(record, answers, context));
  const untold = untoldOf(answers);
  return {
    records: judged,
    hasMx: answers.mx.kind === 'unknown' ? (former?.hasMx ?? false) : recordsOf(answers.mx).length > 0,
    spf: answers.txt.kind === 'unknown' ? (former?.spf ?? null) : cleanOrNull(recordsOf(answers.txt).find(isSpf)),
    hasDmarc: answers.dmarc.kind === 'unknown' ? (former?.hasDmarc ?? false) : recordsOf(answers.dmarc).some(isDmarc),
    mtaSts: textsOf(answers.mtaSts, former?.mtaSts),
    tlsReports: textsOf(answers.tlsReports, former?.tlsReports),
    conflict: conflictOf(answers, mailHostname, former),
    provider: providerOf(answers.nameServers, former),
    error: untold === null ? null : `DNS did not answer (${untold})`,
    unanswered: untold === null ? 0 : (former?.unanswered ?? 0) + 1,
    reason: former?.reason ?? null,
  };
}

/** Whether a record was seen when DNS was last asked; false when it was not asked for. */
export function isSeen(check: DomainCheck | null, record: Pick<DnsRecord, 'type' | 'name' | 'value'>): boolean {
  return checkedRecordOf(check, record)?.isSeen ?? false;
}

/** What was told of a record as it is asked for now; undefined when it was not asked for. */
export function checkedRecordOf(
  check: DomainCheck | null,
  { type, name, value }: Pick<DnsRecord, 'type' | 'name' | 'value'>,
): CheckedRecord | undefined {
  return check?.records.find((record) => record.type === type && record.name === name && record.value === value);
}

const NOT_FOUND = 'No such record';
/** Of what was found, the records that are told. */
const MAX_TOLD = 10;

function judgeRecord(
  record: DnsRecord,
  answers: DomainAnswers,
  { mailHostname, former }: { mailHostname: string; former: DomainCheck | null },
): CheckedRecord {
  const { type, name, value, purpose } = record;
  const answer = answerFor(purpose, name, answers);
  if (answer.kind === 'unknown') {
    const error = `DNS did not answer (${answer.code})`;
    return { type, name, value, isSeen: isSeen(former, record), isTold: false, error };
  }
  const error = answer.kind === 'none' ? NOT_FOUND : faultOf(record, answer.records, mailHostname);
  return { type, name, value, isSeen: error === null, isTold: true, error };
}

function answerFor(purpose: RecordPurpose, name: string, answers: DomainAnswers): DnsAnswer<string | MxRecord> {
  switch (purpose) {
    case 'receiving':
      return answers.mx;
    case 'proof':
      return answers.proof;
    case 'spf':
      return answers.txt;
    case 'mail-from-mx':
      return answers.mailFromMx;
    case 'mail-from-spf':
      return answers.mailFromTxt;
    case 'dmarc':
      return answers.dmarc;
    case 'dkim':
      return answers.dkim.get(name) ?? { kind: 'none' };
  }
}

/** What is wrong with the records found at the name; null when one of them is what was asked for. */
function faultOf(
  { purpose, value }: DnsRecord,
  found: readonly (string | MxRecord)[],
  mailHostname: string,
): string | null {
  const texts = found.filter((record) => typeof record === 'string');
  const hosts = found.filter((record) => typeof record !== 'string');
  switch (purpose) {
    case 'receiving':
    case 'mail-from-mx':
      return isMxOf(hosts, mailHostname) ? null : insteadOf(hosts.map(textOfMx));
    case 'spf':
    case 'mail-from-spf':
      return spfFaultOf(texts.filter(isSpf), mailHostname);
    case 'proof':
      return texts.some((text) => text.trim() === value) ? null : insteadOf(texts);
    case 'dkim':
      return texts.some((text) => keyOf(text) === keyOf(value)) ? null : insteadOf(texts);
    case 'dmarc':
      return dmarcFaultOf(texts.filter(isDmarc));
  }
}

function spfFaultOf(records: readonly string[], mailHostname: string): string | null {
  if (isCoveredBySpf(records, mailHostname)) return null;
  if (records.length > 1) return `There are ${records.length} SPF records, where only one may be (RFC 7208 §4.5)`;
  return insteadOf(records);
}

function dmarcFaultOf(records: readonly string[]): string | null {
  if (records.length === 1) return null;
  return records.length === 0 ? NOT_FOUND : `There are ${records.length} DMARC records, where only one may be`;
}

function insteadOf(found: readonly string[]): string {
  const told = found.slice(0, MAX_TOLD).map(cleanText);
  return told.length === 0 ? NOT_FOUND : `Found instead: ${told.join(', ')}`;
}

function textOfMx({ exchange, priority }: MxRecord): string {
  return `${priority} ${exchange === '' ? '.' : exchange}`;
}

/** The `p=` of a key record (RFC 6376 §3.6.1), without the white space that it may be folded with; null when it has none. */
function keyOf(text: string): string | null {
  const tag = /(?:^|;)\s*p\s*=([^;]*)/.exec(text);
  return tag?.[1] === undefined ? null : tag[1].replaceAll(/\s+/g, '');
}

function isDmarc(text: string): boolean {
  return /^v\s*=\s*DMARC1\s*(?:;|$)/.test(text);
}

function conflictOf(
  { mx, cname }: DomainAnswers,
  mailHostname: string,
  former: DomainCheck | null,
): DomainCheck['conflict'] {
  if (mx.kind === 'unknown' || cname.kind === 'unknown') return former?.conflict ?? null;
  const hosts = recordsOf(mx);
  // What is less preferred than we are gets mail only while we are away.
  const foreign = mostPreferred(hosts).filter((record) => !isOfHost(record, mailHostname));
  const names = recordsOf(cname);
  if (foreign.length === 0 && names.length === 0) return null;
  const type = foreign.length === 0 ? 'cname' : names.length === 0 ? 'mx' : 'both';
  const records = [
    ...(foreign.length === 0 ? [] : hosts.map((record) => ({ type: 'MX', value: textOfMx(record) }))),
    ...names.map((value) => ({ type: 'CNAME', value })),
  ];
  return { type, records: records.slice(0, MAX_TOLD).map((record) => ({ ...record, value: cleanText(record.value) })) };
}

function providerOf(nameServers: DnsAnswer<string>, former: DomainCheck | null): DnsProvider | null {
  if (nameServers.kind === 'unknown') return former?.provider ?? null;
  return dnsProviderOf(recordsOf(nameServers));
}

function recordsOf<T>(answer: DnsAnswer<T>): readonly T[] {
  return answer.kind === 'records' ? answer.records : [];
}

/** The codes of what DNS did not tell that matters; null when it told of all. Who serves the zone does not matter. */
function untoldOf({ mx, txt, cname, proof, mailFromMx, mailFromTxt, dmarc, dkim }: DomainAnswers): string | null {
  const answers = [mx, txt, cname, proof, mailFromMx, mailFromTxt, dmarc, ...dkim.values()];
  const codes = answers.flatMap((answer) => (answer.kind === 'unknown' ? [answer.code] : []));
  return codes.length === 0 ? null : [...new Set(codes)].join(', ');
}

/** What was found, or known before when DNS did not tell; at most MAX_TOLD. */
function textsOf(answer: DnsAnswer<string>, former: readonly string[] = []): string[] {
  return answer.kind === 'unknown' ? [...former] : recordsOf(answer).slice(0, MAX_TOLD).map(cleanText);
}

function cleanOrNull(text: string | undefined): string | null {
  return text === undefined ? null : cleanText(text);
}

/** Who serves the DNS of a domain, as its name servers tell. */
interface DnsProvider {
  /** for people; `Custom DNS Provider` for one that is not known */
  name: string;
  /** high: all name servers are of it; medium: some are; low: it is not known */
  confidence: 'high' | 'medium' | 'low';
}

const CUSTOM = 'Custom DNS Provider';

/** Names of name servers end so, or, where the labels are numbered, look so. */
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

/** The provider whose name servers these are; of several the one with most of them. Null without name servers. */
export function dnsProviderOf(nameServers: readonly string[]): DnsProvider | null {
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

/** Characters of foreign DNS data that are told to a user, of one record. */
const MAX_LENGTH = 255;

/** Foreign DNS data as it may be stored and shown: no control or formatting characters, and not too long. */
function cleanText(text: string): string {
  const clean = text.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '\ufffd');
  return clean.length <= MAX_LENGTH ? clean : `${clean.slice(0, MAX_LENGTH).toWellFormed()}…`;
}
