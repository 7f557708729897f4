import { isIP } from 'node:net';
import { XMLParser } from 'fast-xml-parser';
import { z } from 'zod';
import { storableText } from '../shared/text.ts';
import { canonicalDomainName, MAX_DOMAIN_LENGTH } from './domain-name.ts';

/** Maximum stored records of a report; the messages of all are counted. */
export const MAX_DMARC_RECORDS = 1_000;
/** Maximum characters of parsed records; a thousand honest ones have fewer. Parsing a million takes more than a second. */
export const MAX_PARSED_LENGTH = 1_000_000;
/** A text with more records than this is rejected: an honest one of the allowed length has fewer. */
const MAX_COUNTED_RECORDS = 100_000;
/** Maximum stored DKIM results, and SPF results, per record. */
const MAX_RESULTS = 5;
/** Maximum characters of the XML around the records, and of one record. */
const MAX_HEAD_LENGTH = 262_144;
const MAX_RECORD_LENGTH = 65_536;
/** Maximum nesting of elements; the format has five levels. */
const MAX_DEPTH = 20;
/** Maximum characters of a name. */
const MAX_NAME_LENGTH = 255;
const MAX_SELECTOR_LENGTH = 63;
const MAX_RESULT_LENGTH = 20;
/** The largest count that the column holds. */
const MAX_COUNT = 2_147_483_647;
/** Seconds since 1970; later instants are implausible. */
const MAX_INSTANT_SECONDS = 4_102_444_800;

const verdict = z.enum(['pass', 'fail']);
const alignmentMode = z.enum(['r', 's']).nullable();
const requestedPolicy = z.enum(['none', 'quarantine', 'reject']).nullable();
const domainText = z.string().max(MAX_DOMAIN_LENGTH);

/** The domain's published policy as the receiver saw it; null where the report does not say. */
export const dmarcPolicy = z.object({
  domain: domainText,
  adkim: alignmentMode,
  aspf: alignmentMode,
  p: requestedPolicy,
  sp: requestedPolicy,
  np: requestedPolicy,
  /** percentage of mail; RFC 7489, removed in RFC 9990 */
  pct: z.number().int().min(0).max(100).nullable(),
});

/** Messages of one source with the same results (RFC 9990, RFC 7489 Appendix C). */
export const dmarcRecord = z.object({
  /** IPv4 or IPv6 */
  sourceIp: z.string().refine((text) => isIP(text) !== 0),
  count: z.number().int().min(0).max(MAX_COUNT),
  /** the receiver's action */
  disposition: z.enum(['none', 'pass', 'quarantine', 'reject']).nullable(),
  /** whether DKIM, or SPF, passed and is aligned with the From domain */
  dkim: verdict,
  spf: verdict,
  headerFrom: domainText,
  envelopeFrom: domainText.nullable(),
  dkimResults: z.array(
    z.object({ domain: domainText, selector: z.string().max(MAX_SELECTOR_LENGTH).nullable(), result: z.string() }),
  ),
  spfResults: z.array(z.object({ domain: domainText, result: z.string() })),
});

export type DmarcPolicy = z.infer<typeof dmarcPolicy>;
export type DmarcRecord = z.infer<typeof dmarcRecord>;

/** An aggregate report: one receiver's results for a domain's mail in a time span (RFC 9990, RFC 7489 §7.2). */
export interface DmarcReport {
  /** the reporting organization; the domain of its mail address when the report does not name it */
  organization: string;
  email: string | null;
  /** the reporter's id of the report */
  reportId: string;
  begin: Date;
  end: Date;
  policy: DmarcPolicy;
  /** at most {@link MAX_DMARC_RECORDS} */
  records: DmarcRecord[];
  /** of all records, including those not stored */
  messageCount: number;
  /** messages that passed DMARC */
  alignedCount: number;
  /** whether records are missing: too many, too large, or unreadable */
  isTruncated: boolean;
}

/**
 * Returns whether the messages of a record passed DMARC: DKIM or SPF passed and is aligned with the From domain (RFC 7489 §6.6.2, RFC
 * 9989).
 */
export function isAligned(record: Pick<DmarcRecord, 'dkim' | 'spf'>): boolean {
  return record.dkim === 'pass' || record.spf === 'pass';
}

/** Parses the XML of an aggregate report; null when it is not one. Never throws. */
export function readDmarcReport(xml: string): DmarcReport | null {
  const read = examineDmarcReport(xml);
  return typeof read === 'string' ? null : read;
}

/**
 * Parses the XML of an aggregate report; returns what is wrong with it when it is not one. Entities are not expanded, and a document type
 * is rejected. The first records are parsed one by one, and of the others only the counts are read, because parsing takes a tenth of a
 * millisecond each and hostile records take far longer. Text around the element `feedback` is ignored. Never throws.
 */
export function examineDmarcReport(xml: string): DmarcReport | string {
  try {
    return readReport(xml);
  } catch (error) {
    return `The text is not valid XML: ${error instanceof Error ? error.message : 'unknown error'}`;
  }
}

const parser = new XMLParser({
  ignoreAttributes: true,
  removeNSPrefix: true,
  parseTagValue: false,
  processEntities: false,
  ignoreDeclaration: true,
  ignorePiTags: true,
  maxNestedTags: MAX_DEPTH,
});

function readReport(xml: string): DmarcReport | string {
  const pieces = splitRecords(xml);
  if (pieces === null) return 'A record is not closed, or there are too many.';
  if (pieces.head.length > MAX_HEAD_LENGTH) return 'The text around the records is too long.';
  if (/<!(?:DOCTYPE|ENTITY)/i.test(pieces.head)) return 'A document type is not allowed.';
  const feedback = readChild(parser.parse(withinFeedback(pieces.head)), 'feedback');
  if (feedback === undefined) return 'There is no element `feedback`.';
  const metadata = readChild(feedback, 'report_metadata');
  if (metadata === undefined) return 'There is no element `report_metadata`.';
  const range = readChild(metadata, 'date_range');
  const [begin, end] = [findInstant(range, 'begin'), findInstant(range, 'end')];
  if (begin === null || end === null || end < begin)
    return whyUnread(pieces.head, 'The report has no valid time span.');
  const policy = readPolicy(readChild(feedback, 'policy_published'));
  if (policy === null) return whyUnread(pieces.head, 'The report does not name the domain of the policy.');
  const totals = readRecords(xml, pieces.records);
  if (totals.records.length === 0) return 'No record is readable.';
  const email = findText(metadata, 'email');
  const organization =
    findText(metadata, 'org_name') ?? cut(email?.split('@').at(-1) ?? null, MAX_NAME_LENGTH) ?? 'unknown';
  // Without an id, the span identifies a report of an organization.
  const reportId =
    findText(metadata, 'report_id') ?? `${policy.domain}!${begin.getTime() / 1_000}!${end.getTime() / 1_000}`;
  return { organization, email, reportId, begin, end, policy, ...totals };
}

/** Returns `reason`, or the tag that XML does not allow: the parser passes over it, and what it contained is missed later. */
function whyUnread(head: string, reason: string): string {
  const wrong = head.matchAll(/<\/?([^\s<>/!?]{1,100})/g).find(([, name = '']) => !/^[\w.:-]+$/.test(name));
  return wrong === undefined ? reason : `The text is not valid XML: ${wrong[0]} is not a tag.`;
}

/** Returns the element `feedback`: some receivers write it into an element of an XML schema that they do not close. */
function withinFeedback(head: string): string {
  const open = /<((?:[\w.-]{1,64}:)?feedback)(?:\s[^<>]*)?>/i.exec(head);
  if (open === null) return head;
  const close = head.lastIndexOf(`</${open[1]}`);
  const end = close === -1 ? -1 : head.indexOf('>', close);
  return end === -1 ? head.slice(open.index) : head.slice(open.index, end + 1);
}

/** Returns the positions of the records and the XML around them; null when a record is not closed. */
function splitRecords(xml: string): { head: string; records: [start: number, end: number][] } | null {
  const tag = /<((?:[\w.-]{1,64}:)?record)(?:\s[^<>]*)?>/g;
  const around: string[] = [];
  const records: [number, number][] = [];
  let at = 0;
  for (let match = tag.exec(xml); match !== null; match = tag.exec(xml)) {
    const close = `</${match[1]}`;
    const last = xml.indexOf(close, tag.lastIndex);
    const end = last === -1 ? -1 : xml.indexOf('>', last);
    if (end === -1 || records.length === MAX_COUNTED_RECORDS) return null;
    around.push(xml.slice(at, match.index));
    records.push([match.index, end + 1]);
    at = end + 1;
    tag.lastIndex = at;
  }
  around.push(xml.slice(at));
  return { head: around.join(''), records };
}

type Totals = Pick<DmarcReport, 'records' | 'messageCount' | 'alignedCount' | 'isTruncated'>;

function readRecords(xml: string, places: readonly [number, number][]): Totals {
  const totals: Totals = { records: [], messageCount: 0, alignedCount: 0, isTruncated: false };
  let parsedLength = 0;
  for (const [at, [start, end]] of places.entries()) {
    const record = end - start > MAX_RECORD_LENGTH ? null : xml.slice(start, end);
    const isParsed = record !== null && at < MAX_DMARC_RECORDS && parsedLength + record.length <= MAX_PARSED_LENGTH;
    if (isParsed) parsedLength += record.length;
    const kept = isParsed ? readRecord(record) : null;
    if (kept === null) totals.isTruncated = true;
    else totals.records.push(kept);
    const counted = kept ?? (record === null || isParsed ? null : countRecord(record));
    if (counted === null) continue;
    totals.messageCount = Math.min(totals.messageCount + counted.count, MAX_COUNT);
    if (isAligned(counted)) totals.alignedCount = Math.min(totals.alignedCount + counted.count, MAX_COUNT);
  }
  return totals;
}

function readRecord(xml: string): DmarcRecord | null {
  if (xml.includes('<!ENTITY') || xml.includes('<!DOCTYPE')) return null;
  const record = readChild(parser.parse(xml), 'record');
  const row = readChild(record, 'row');
  const evaluated = readChild(row, 'policy_evaluated');
  const identifiers = readChild(record, 'identifiers');
  const results = readChild(record, 'auth_results');
  const read = dmarcRecord.safeParse({
    sourceIp: findWord(row, 'source_ip'),
    count: Number(findText(row, 'count') ?? Number.NaN),
    disposition: matchWord(['none', 'pass', 'quarantine', 'reject'], findWord(evaluated, 'disposition')),
    dkim: findWord(evaluated, 'dkim') === 'pass' ? 'pass' : 'fail',
    spf: findWord(evaluated, 'spf') === 'pass' ? 'pass' : 'fail',
    headerFrom: findWord(identifiers, 'header_from') ?? '',
    envelopeFrom: findWord(identifiers, 'envelope_from'),
    dkimResults: listChildren(results, 'dkim').map((one) => ({
      domain: findWord(one, 'domain') ?? '',
      selector: cut(findText(one, 'selector'), MAX_SELECTOR_LENGTH),
      result: cut(findWord(one, 'result'), MAX_RESULT_LENGTH) ?? 'none',
    })),
    spfResults: listChildren(results, 'spf').map((one) => ({
      domain: findWord(one, 'domain') ?? '',
      result: cut(findWord(one, 'result'), MAX_RESULT_LENGTH) ?? 'none',
    })),
  });
  return read.success ? read.data : null;
}

/** Returns what a record adds to the totals without parsing it; null when that cannot be read. */
function countRecord(xml: string): Pick<DmarcRecord, 'count' | 'dkim' | 'spf'> | null {
  const count = Number(/<(?:[\w.-]{1,64}:)?count\s*>\s*(\d{1,10})\s*</.exec(xml)?.[1] ?? Number.NaN);
  const start = xml.indexOf('policy_evaluated');
  const evaluated = xml.slice(start, xml.indexOf('policy_evaluated', start + 1));
  const readVerdict = (tag: RegExp) => (tag.test(evaluated) ? 'pass' : 'fail');
  if (start === -1 || !(count <= MAX_COUNT)) return null;
  return { count, dkim: readVerdict(DKIM_PASS), spf: readVerdict(SPF_PASS) };
}

const DKIM_PASS = /<(?:[\w.-]{1,64}:)?dkim\s*>\s*pass\s*</i;
const SPF_PASS = /<(?:[\w.-]{1,64}:)?spf\s*>\s*pass\s*</i;

function readPolicy(published: unknown): DmarcPolicy | null {
  const domain = canonicalDomainName(findText(published, 'domain') ?? '');
  if (domain === null) return null;
  const pct = Number(findText(published, 'pct') ?? Number.NaN);
  const requested = (name: string) => matchWord(['none', 'quarantine', 'reject'], findWord(published, name));
  const mode = (name: string) => matchWord(['r', 's'], findWord(published, name));
  return {
    domain,
    adkim: mode('adkim'),
    aspf: mode('aspf'),
    p: requested('p'),
    sp: requested('sp'),
    np: requested('np'),
    pct: Number.isInteger(pct) && pct >= 0 && pct <= 100 ? pct : null,
  };
}

/** Returns the child elements with this name, at most {@link MAX_RESULTS}. */
function listChildren(node: unknown, name: string): unknown[] {
  if (typeof node !== 'object' || node === null) return [];
  const child: unknown = Object.hasOwn(node, name) ? (node as Record<string, unknown>)[name] : undefined;
  if (child === undefined) return [];
  return Array.isArray(child) ? child.slice(0, MAX_RESULTS) : [child];
}

function readChild(node: unknown, name: string): unknown {
  return listChildren(node, name)[0];
}

/** Returns the text of an element on one line; null when it is missing or empty. */
function findText(node: unknown, name: string): string | null {
  const child = readChild(node, name);
  const text = typeof child === 'string' ? child : readChild(child, '#text');
  if (typeof text !== 'string') return null;
  return cut(decodeReferences(text).replace(/\s+/g, ' ').trim(), MAX_NAME_LENGTH);
}

/** Like findText, in lower case and without a trailing dot, the form in which domains and keywords are compared. */
function findWord(node: unknown, name: string): string | null {
  return findText(node, name)?.toLowerCase().replace(/\.$/, '') ?? null;
}

function cut(text: string | null, length: number): string | null {
  return text === null || text === '' ? null : storableText(text.slice(0, length));
}

function matchWord<T extends string>(words: readonly T[], word: string | null): T | null {
  return words.find((each) => each === word) ?? null;
}

function findInstant(node: unknown, name: string): Date | null {
  const text = findText(node, name) ?? '';
  const seconds = WRITTEN_TIME.test(text) ? Date.parse(writtenInUtc(text)) / 1_000 : Number(text || Number.NaN);
  return seconds > 0 && seconds < MAX_INSTANT_SECONDS ? new Date(Math.floor(seconds) * 1_000) : null;
}

/** Some receivers write a date instead of the seconds since 1970. */
const WRITTEN_TIME = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}:\d{2}Z?)?$/;

function writtenInUtc(text: string): string {
  return `${text.slice(0, 10)}T${text.slice(11, 19) || '00:00:00'}Z`;
}

/** Decodes the predefined references of XML (XML 1.0 §4.6) once; others stay. */
function decodeReferences(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(amp|lt|gt|quot|apos));/gi,
    (whole: string, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return REFERENCES[name.toLowerCase()] ?? whole;
      const point = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
      return point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : '\ufffd';
    },
  );
}

const REFERENCES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
