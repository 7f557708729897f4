import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { createConnection, isIPv6 } from 'node:net';
import dnsPacket, { type Answer, type DecodedPacket, type RecordType } from 'dns-packet';
import { createSizedCache } from '../core/shared/sized-cache.ts';

/**
 * What a validating resolver says. `secure`: it validated the answer, which may have no records. `insecure`: the zone is not signed.
 * `failed`: no answer, or one that did not validate (SERVFAIL); it must not be taken for an answer without records (RFC 7672 §2.1.1).
 */
type ValidatedAnswer =
  | { kind: 'secure' | 'insecure'; answers: readonly Answer[] }
  | { kind: 'failed'; answers?: undefined };

/** Asks validating resolvers, and keeps their answers. */
export interface ValidatedDns {
  /** Never rejects. */
  ask(name: string, type: RecordType): Promise<ValidatedAnswer>;
}

const TIMEOUT_MS = 2_500;
const TRIES = 2;
/** RFC 9715 §3: what passes any path in one datagram. */
const UDP_BYTES = 1_232;
/** Limits of how long an answer is kept, how long one without records and a failure are; milliseconds. */
const LONGEST_KEEP_MS = 300_000;
const NEGATIVE_KEEP_MS = 30_000;
const FAILURE_KEEP_MS = 5_000;
/** Size of all cached answers: a receiver decides how large its own are. Bytes, about. */
export const MAX_VALIDATED_ANSWERS = 10_000_000;
const USUAL_ANSWER = 500;
const NXDOMAIN = 3;
const RESPONSE_CODE = 0x0f;

/**
 * Creates a client of validating resolvers (`host:port` each). The AD bit of a reply says that the resolver validated it; that bit is only as
 * good as the path to the resolver, which should be on this machine (RFC 7672 §2.1.1). node:dns does not show the bit.
 */
export function createValidatedDns(servers: readonly string[]): ValidatedDns {
  const kept = createSizedCache<{ answer: Promise<ValidatedAnswer>; until: number; size: number }>({
    maxSize: MAX_VALIDATED_ANSWERS,
    size: ({ size }, key) => size + key.length,
  });
  return {
    ask(name, type) {
      const key = `${type} ${name.toLowerCase()}`;
      const known = kept.get(key);
      if (known !== undefined && known.until > performance.now()) return known.answer;
      const entry = { answer: askAll(servers, name, type), until: Number.POSITIVE_INFINITY, size: USUAL_ANSWER };
      kept.delete(key);
      kept.set(key, entry);
      void entry.answer.then((answer) => {
        entry.until = performance.now() + keepMs(answer);
        entry.size = JSON.stringify(answer).length;
        // The cache reads the size of an entry when it is added.
        if (kept.get(key) !== entry) return;
        kept.delete(key);
        kept.set(key, entry);
      });
      return entry.answer;
    },
  };
}

function keepMs({ kind, answers }: ValidatedAnswer): number {
  if (kind === 'failed') return FAILURE_KEEP_MS;
  const seconds = answers.map((answer) => ('ttl' in answer ? (answer.ttl ?? 0) : 0));
  return seconds.length === 0 ? NEGATIVE_KEEP_MS : Math.min(LONGEST_KEEP_MS, 1_000 * Math.min(...seconds));
}

async function askAll(servers: readonly string[], name: string, type: RecordType): Promise<ValidatedAnswer> {
  for (let round = 0; round < TRIES; round++)
    for (const server of servers) {
      const reply = await askOne(server, name, type);
      if (reply === null) continue;
      const code = Number(reply.flags) & RESPONSE_CODE;
      // SERVFAIL may be this resolver's own trouble, so the next one is asked.
      if (code !== 0 && code !== NXDOMAIN) continue;
      return { kind: reply.flag_ad ? 'secure' : 'insecure', answers: code === NXDOMAIN ? [] : (reply.answers ?? []) };
    }
  return { kind: 'failed' };
}

/** Returns null without a usable reply. */
async function askOne(server: string, name: string, type: RecordType): Promise<DecodedPacket | null> {
  const [, host = '', port = ''] = /^\[?(.*?)\]?:(\d+)$/.exec(server) ?? [];
  const query = {
    type: 'query' as const,
    id: randomInt(65_536),
    flags: dnsPacket.RECURSION_DESIRED | dnsPacket.AUTHENTIC_DATA,
    questions: [{ name, type, class: 'IN' as const }],
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
  const isReply = (packet: DecodedPacket | null): packet is DecodedPacket => {
    const [question] = packet?.questions ?? [];
    return (
      packet?.type === 'response' &&
      packet.id === query.id &&
      question?.type === type &&
      question.name.toLowerCase() === name.toLowerCase()
    );
  };
  const overUdp = await exchangeOverUdp(host, Number(port), dnsPacket.encode(query), (bytes) => {
    const packet = decoded(() => dnsPacket.decode(bytes));
    return isReply(packet) ? packet : null;
  });
  if (overUdp?.flag_tc !== true) return overUdp;
  const overTcp = await exchangeOverTcp(host, Number(port), dnsPacket.streamEncode(query));
  const packet = overTcp === null ? null : decoded(() => dnsPacket.decode(overTcp.subarray(2)));
  return isReply(packet) ? packet : null;
}

function decoded(decode: () => DecodedPacket): DecodedPacket | null {
  try {
    return decode();
  } catch {
    return null;
  }
}

/** Ignores packets that are no reply to the query. */
function exchangeOverUdp(
  host: string,
  port: number,
  query: Buffer,
  read: (bytes: Buffer) => DecodedPacket | null,
): Promise<DecodedPacket | null> {
  const { promise, resolve } = Promise.withResolvers<DecodedPacket | null>();
  const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4');
  const timer = setTimeout(() => resolve(null), TIMEOUT_MS);
  socket.on('error', () => resolve(null));
  // A connected socket takes packets of this server only.
  socket.connect(port, host, () => socket.send(query));
  socket.on('message', (bytes) => {
    const packet = read(bytes);
    if (packet !== null) resolve(packet);
  });
  return promise.finally(() => {
    clearTimeout(timer);
    socket.close();
  });
}

function exchangeOverTcp(host: string, port: number, query: Buffer): Promise<Buffer | null> {
  const { promise, resolve } = Promise.withResolvers<Buffer | null>();
  const socket = createConnection(port, host, () => socket.write(query));
  const timer = setTimeout(() => resolve(null), TIMEOUT_MS);
  let received = Buffer.alloc(0);
  socket.on('error', () => resolve(null));
  socket.on('close', () => resolve(null));
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk]);
    if (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) resolve(received);
  });
  return promise.finally(() => {
    clearTimeout(timer);
    socket.destroy();
  });
}
