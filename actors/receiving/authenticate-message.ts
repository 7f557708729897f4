import { isIP } from 'node:net';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { ARCResult, DKIMResult } from 'mailauth';
import { arc as checkArc } from 'mailauth/lib/arc/index.js';
import { DkimVerifier } from 'mailauth/lib/dkim/dkim-verifier.js';
import { dmarc as evaluateDmarc } from 'mailauth/lib/dmarc/index.js';
import { spf as checkSpf } from 'mailauth/lib/spf/index.js';
import type { Mailbox } from '../../core/mime/address.ts';
import { checkArcChain, MAX_ARC_SETS } from '../../core/mime/arc-chain.ts';
import {
  AUTHENTICATION_RESULTS,
  type Authentication,
  type AuthenticationResult,
  MAX_SIGNATURES,
  undecided,
} from '../../core/mime/authentication.ts';
import { endOfFirstEmptyLine, endOfHeaderSection } from '../../core/mime/header-fields.ts';
import type { ParsedMessage } from '../../core/mime/parse-message.ts';
import { storableText } from '../../core/shared/text.ts';
import type { DnsResolver } from '../network/dns-resolver.ts';

/** What SMTP tells about the sender. */
export interface SenderFacts {
  /** IP address of the client */
  remoteAddress: string;
  helo: string;
  /** empty for the null reverse-path */
  reversePath: string;
}

/** Time limit for all lookups of one message together; whatever is still open then counts as temperror. Milliseconds. */
const DNS_TIME_MS = 3_000;

/** Checks SPF, DKIM, DMARC and ARC. A DNS failure gives `temperror`, never a rejection. */
export async function authenticateMessage(
  bytes: Buffer,
  message: Pick<ParsedMessage, 'addresses' | 'headers' | 'hasSeveralFromFields' | 'hasUnsignedContent'>,
  sender: SenderFacts,
  dns: DnsResolver,
): Promise<Authentication> {
  // Each signature costs lookups and computation: a flood of them is an attack and proves nothing.
  const count = (names: ReadonlySet<string>) => message.headers.filter(([name]) => names.has(name)).length;
  const [signatures, arcSignatures] = [count(DKIM_SIGNATURES), count(ARC_SIGNATURES)];
  if (signatures > MAX_SIGNATURES || arcSignatures > MAX_ARC_SIGNATURES) return undecided(message.hasSeveralFromFields);
  const chain = checkArcChain(bytes);
  // Only signatures depend on the body.
  const isSigned = signatures + arcSignatures > 0;
  const signed = isSigned ? bytes : bytes.subarray(0, endOfHeaderSection(bytes));
  // As the RFCs say, not more lenient: what passes is a statement that users and rules rely on.
  const rules = { resolver: dns.within(DNS_TIME_MS), strict: true };
  const { remoteAddress: ip, reversePath } = sender;
  const helo = sender.helo === '' ? ip : sender.helo;
  const [dkim, spf] = await Promise.all([
    verifySignatures(signed, { ...rules, sender: reversePath }),
    checkSpf({ ...rules, sender: reversePath, ip, helo: isIP(helo) === 0 ? helo : `[${helo}]`, mta: 'postroom' }),
  ]);
  for (const signature of [...dkim.results, dkim.arc?.lastEntry?.messageSignature])
    if (signature?.status.result === 'pass' && (message.hasUnsignedContent || leavesOut(signature, dkim)))
      signature.status.result = 'policy';
  const sealed = chain.kind === 'wellFormed' ? dkim.arc : undefined;
  const arc = sealed?.chain ? await checkArc({ ...sealed, chain: sealed.chain }, { ...rules, ip }) : null;
  const dmarc = await evaluateDmarc({
    ...rules,
    headerFrom: findAuthors(dkim.headerFrom, message.addresses.from?.addresses ?? []),
    fromFields: dkim.fromFields,
    spfDomains: spf.status.result === 'pass' ? [spf.domain] : [],
    dkimDomains: dkim.results.flatMap(({ id = '', signingDomain: domain, status }) =>
      status.result === 'pass' && domain !== undefined ? [{ ...status, id, domain }] : [],
    ),
    ...(arc === null ? {} : { arcResult: arc }),
  });
  return {
    spf: { result: toResult(spf.status.result), domain: toText(spf.domain) },
    dkim: dkim.results
      .filter((signature) => signature.signingDomain !== undefined)
      .map(({ status, signingDomain, selector }) => ({
        result: toResult(status.result),
        domain: toText(signingDomain),
        selector: toText(selector),
      })),
    // Without one single author domain there is nothing to evaluate (RFC 9989 §5.3.1).
    dmarc:
      dmarc === false
        ? { result: 'none', policy: null, domain: null }
        : {
            result: toResult(dmarc.status.result),
            policy: toPolicy(dmarc.policy),
            domain: toText(dmarc.status.header?.from ?? dmarc.domain),
          },
    arc: arc !== null ? toChainVerdict(arc) : { result: chain.kind === 'absent' ? 'none' : 'fail' },
    hasSeveralFromFields: message.hasSeveralFromFields,
  };
}

/**
 * Returns the authors that DMARC checks: what mailauth reads, and the domains of all that are shown, so that a field that the two read
 * differently has several author domains and verifies none. Words without a domain count only as the first author.
 */
function findAuthors(read: readonly string[], shown: readonly Mailbox[]): string[] {
  if (read.length === 0 || shown.length === 0) return [];
  const authors = shown.filter(({ address }, at) => at === 0 || address.includes('@'));
  return [...read, ...authors.map(({ address }) => `author@${address.slice(address.lastIndexOf('@') + 1)}`)];
}

/** Fields that a message has once (RFC 5322 §3.6, RFC 2045), and that decide what a reader sees. */
const SINGLE_FIELDS: ReadonlySet<string> = new Set([
  'subject',
  'date',
  'sender',
  'reply-to',
  'to',
  'cc',
  'content-type',
  'content-transfer-encoding',
  'content-disposition',
]);

/**
 * Returns whether a signature leaves out some of what a reader sees, which a relay can have added: the end of the body, or another field of a
 * name that it covers (RFC 6376 §8.2, §8.15). It covers the last fields, and readers show the first one.
 */
function leavesOut({ status, signingHeaders }: DKIMResult, { headers }: Pick<DkimVerifier, 'headers'>): boolean {
  if ((status.underSized ?? 0) > 0) return true;
  const covered = new Map<string, Set<string>>();
  for (const line of signingHeaders?.headers ?? []) {
    const name = line.slice(0, line.indexOf(':')).trim().toLowerCase();
    if (SINGLE_FIELDS.has(name)) covered.set(name, (covered.get(name) ?? new Set()).add(readFieldValue(line)));
  }
  const isLeftOut = headers?.parsed.some(
    // Readers skip a byte order mark before the first field.
    ({ key, line }) => covered.get(key.replace(/^\xef\xbb\xbf/, ''))?.has(readFieldValue(line.toString())) === false,
  );
  return isLeftOut === true;
}

function readFieldValue(line: string): string {
  return line
    .slice(line.indexOf(':') + 1)
    .replace(/\s+/g, ' ')
    .trim();
}

/** Bytes of the body that are hashed before other messages have a turn. */
const TURN_BYTES = 65_536;

/**
 * Checks the signatures of a message. The verifier of mailauth is a stream that looks for the end of the header section byte by byte and
 * waits for a turn of the event loop twice; it gets the section whole here.
 */
async function verifySignatures(
  bytes: Buffer,
  options: ConstructorParameters<typeof DkimVerifier>[0],
): Promise<DkimVerifier> {
  const verifier = new DkimVerifier(options);
  const end = endOfFirstEmptyLine(bytes);
  await verifier.emitHeaders(bytes.subarray(0, end));
  verifier.lastByte = LINE_FEED;
  for (let at = end; at < bytes.length; at += TURN_BYTES) {
    if (at > end) await yieldToOthers();
    await verifier.writeAsync(bytes.subarray(at, at + TURN_BYTES));
  }
  await verifier.finish();
  return verifier;
}

const LINE_FEED = 0x0a;

function toChainVerdict({ status, signature }: ARCResult): Authentication['arc'] {
  const result = toResult(status.result);
  return result === 'pass' ? { result, domain: signature ? toText(signature.signingDomain) : null } : { result };
}

const DKIM_SIGNATURES: ReadonlySet<string> = new Set(['dkim-signature']);
const ARC_SIGNATURES: ReadonlySet<string> = new Set(['arc-message-signature', 'arc-seal']);
const MAX_ARC_SIGNATURES = 2 * MAX_ARC_SETS;

const RESULTS: ReadonlySet<string> = new Set(AUTHENTICATION_RESULTS);

function toResult(result: string): AuthenticationResult {
  return RESULTS.has(result) ? (result as AuthenticationResult) : 'neutral';
}

function toPolicy(policy: string | undefined): Authentication['dmarc']['policy'] {
  return policy === 'none' || policy === 'quarantine' || policy === 'reject' ? policy : null;
}

function toText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? storableText(value) : null;
}
