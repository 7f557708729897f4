import dnsPacket, { type Answer, type RecordType } from 'dns-packet';
import { exchangeDns } from './dns-exchange.ts';
import { createReplyCache } from './reply-cache.ts';

/**
 * What a validating resolver says. `secure`: it validated the reply, which may have no records. `insecure`: the zone is not signed.
 * `failed`: no reply, or one that did not validate (SERVFAIL); it must not be taken for a reply without records (RFC 7672 §2.1.1).
 */
type ValidatedReply =
  | { kind: 'secure' | 'insecure'; records: readonly Answer[] }
  | { kind: 'failed'; records?: undefined };

/** Asks validating resolvers, and keeps their replies. */
export interface DnssecLookups {
  /** Never rejects. */
  ask(name: string, type: RecordType): Promise<ValidatedReply>;
}

const TIMEOUT_MS = 2_500;
const TRIES = 2;
/** RFC 9715 §3: what passes any path in one datagram. */
const UDP_BYTES = 1_232;
/** Limits of how long a reply is kept, how long one without records and a failure are; milliseconds. */
const LONGEST_KEEP_MS = 300_000;
const NEGATIVE_KEEP_MS = 30_000;
const FAILURE_KEEP_MS = 5_000;
/** Size of all cached replies: a receiver decides how large its own are. Bytes, about. @limit */
export const MAX_VALIDATED_REPLIES = 10_000_000;
const NXDOMAIN = 3;
const RESPONSE_CODE = 0x0f;

/**
 * Creates a client of validating resolvers (`host:port` each). The AD bit of a reply says that the resolver validated it; that bit is only as
 * good as the path to the resolver, which should be on this machine (RFC 7672 §2.1.1). node:dns does not show the bit.
 */
export function createDnssecLookups(servers: readonly string[]): DnssecLookups {
  const kept = createReplyCache<ValidatedReply>({ maxSize: MAX_VALIDATED_REPLIES, keepMs });
  return { ask: (name, type) => kept.get(name, type, () => askAll(servers, name, type)) };
}

function keepMs({ kind, records }: ValidatedReply): number {
  if (kind === 'failed') return FAILURE_KEEP_MS;
  const seconds = records.map((record) => ('ttl' in record ? (record.ttl ?? 0) : 0));
  return seconds.length === 0 ? NEGATIVE_KEEP_MS : Math.min(LONGEST_KEEP_MS, 1_000 * Math.min(...seconds));
}

async function askAll(servers: readonly string[], name: string, type: RecordType): Promise<ValidatedReply> {
  for (let round = 0; round < TRIES; round++)
    for (const server of servers) {
      const reply = await exchangeDns({ server, name, type, timeoutMs: TIMEOUT_MS, ...VALIDATED }).catch(() => null);
      if (reply === null) continue;
      const code = Number(reply.flags) & RESPONSE_CODE;
      // SERVFAIL may be this resolver's own trouble, so the next one is asked.
      if (code !== 0 && code !== NXDOMAIN) continue;
      return { kind: reply.flag_ad ? 'secure' : 'insecure', records: code === NXDOMAIN ? [] : (reply.answers ?? []) };
    }
  return { kind: 'failed' };
}

/** Asks for the AD bit (RFC 6840 §5.7), with EDNS and the DO bit (RFC 3225). */
const VALIDATED = {
  flags: dnsPacket.AUTHENTIC_DATA,
  additionals: [
    {
      type: 'OPT' as const,
      name: '.' as const,
      udpPayloadSize: UDP_BYTES,
      flags: dnsPacket.DNSSEC_OK,
      options: [],
      extendedRcode: 0,
      ednsVersion: 0,
      flag_do: true,
    },
  ],
};
