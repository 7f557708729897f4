import { type ARCResult, authenticate } from 'mailauth';
import { checkArcChain, MAX_ARC_SETS } from '../../core/mime/arc-chain.ts';
import {
  type Authentication,
  type AuthenticationResult,
  MAX_SIGNATURES,
  undecided,
} from '../../core/mime/authentication.ts';
import { endOfHeaderSection } from '../../core/mime/header-fields.ts';
import type { ParsedMessage } from '../../core/mime/parse-message.ts';
import { storableText } from '../../core/shared/text.ts';
import type { DnsResolver } from '../dns-resolver.ts';

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
  message: Pick<ParsedMessage, 'headers' | 'hasSeveralFromFields'>,
  sender: SenderFacts,
  dns: DnsResolver,
): Promise<Authentication> {
  // Each signature costs lookups and computation: a flood of them is an attack and proves nothing.
  const count = (names: ReadonlySet<string>) => message.headers.filter(([name]) => names.has(name)).length;
  const [signatures, arcSignatures] = [count(DKIM_SIGNATURES), count(ARC_SIGNATURES)];
  if (signatures > MAX_SIGNATURES || arcSignatures > MAX_ARC_SIGNATURES) return undecided(message.hasSeveralFromFields);
  const chain = checkArcChain(bytes);
  // Only signatures depend on the body.
  const signed = signatures + arcSignatures > 0 ? bytes : bytes.subarray(0, endOfHeaderSection(bytes));
  const { spf, dkim, dmarc, arc } = await authenticate(signed, {
    sender: sender.reversePath,
    ip: sender.remoteAddress,
    helo: sender.helo,
    mta: 'postroom',
    resolver: dns.within(DNS_TIME_MS),
    disableBimi: true,
    disableArc: chain.kind !== 'wellFormed',
    // As the RFCs say, not more lenient: what passes is a statement that users and rules rely on.
    strict: true,
  });
  return {
    spf:
      spf === false
        ? { result: 'none', domain: null }
        : { result: toResult(spf.status.result), domain: toText(spf.domain) },
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
    arc:
      chain.kind === 'wellFormed' && arc ? toChainVerdict(arc) : { result: chain.kind === 'absent' ? 'none' : 'fail' },
    hasSeveralFromFields: message.hasSeveralFromFields,
  };
}

function toChainVerdict({ status, signature }: ARCResult): Authentication['arc'] {
  const result = toResult(status.result);
  return result === 'pass' ? { result, domain: signature ? toText(signature.signingDomain) : null } : { result };
}

const DKIM_SIGNATURES: ReadonlySet<string> = new Set(['dkim-signature']);
const ARC_SIGNATURES: ReadonlySet<string> = new Set(['arc-message-signature', 'arc-seal']);
const MAX_ARC_SIGNATURES = 2 * MAX_ARC_SETS;

const RESULTS: ReadonlySet<string> = new Set<AuthenticationResult>([
  'pass',
  'fail',
  'softfail',
  'neutral',
  'none',
  'policy',
  'temperror',
  'permerror',
]);

function toResult(result: string): AuthenticationResult {
  return RESULTS.has(result) ? (result as AuthenticationResult) : 'neutral';
}

function toPolicy(policy: string | undefined): Authentication['dmarc']['policy'] {
  return policy === 'none' || policy === 'quarantine' || policy === 'reject' ? policy : null;
}

function toText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? storableText(value) : null;
}
