import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import dnsPacket, { type DecodedPacket, type Packet, type RecordType } from 'dns-packet';

/** One question to one server. */
export interface DnsQuestion {
  /** `host`, `host:port`, `IPv6` or `[IPv6]:port`, as node:dns writes servers */
  server: string;
  name: string;
  type: RecordType;
  /** beside `rd` */
  flags?: number;
  additionals?: Packet['additionals'];
  /** for UDP and TCP together; milliseconds */
  timeoutMs: number;
}

/**
 * Asks one server over UDP, and over TCP when the reply is truncated. Packets that are no reply to the question are ignored over UDP. Rejects
 * with an error that has the `code` of node:dns.
 */
export async function exchangeDns(question: DnsQuestion): Promise<DecodedPacket> {
  const { name, type, flags = 0, additionals = [], timeoutMs } = question;
  const query: Packet = {
    id: randomInt(65_536),
    type: 'query',
    flags: dnsPacket.RECURSION_DESIRED | flags,
    // The types of dns-packet know fewer types of questions than of records.
    questions: [{ name, type: type as 'A', class: 'IN' }],
    additionals,
  };
  const { host, port } = hostAndPort(question.server);
  const signal = AbortSignal.timeout(timeoutMs);
  const reply = await askOverUdp(query, host, port, signal);
  return reply.flag_tc ? askOverTcp(query, host, port, signal) : reply;
}

/** Returns an error that has the `code` of node:dns. */
export function dnsError(code: string, name: string): Error & { code: string } {
  return Object.assign(new Error(`${code} for ${name}`), { code });
}

function askOverUdp(query: Packet, host: string, port: number, signal: AbortSignal): Promise<DecodedPacket> {
  const socket = createSocket({ type: isIPv6(host) ? 'udp6' : 'udp4', signal });
  return new Promise<DecodedPacket>((resolve, reject) => {
    signal.addEventListener('abort', () => reject(dnsError('ETIMEOUT', host)));
    socket.once('error', reject);
    socket.on('message', (bytes) => {
      const reply = decode(() => dnsPacket.decode(bytes));
      if (reply === null) reject(dnsError('EBADRESP', host));
      else if (isReplyTo(query, reply)) resolve(reply);
    });
    // A connected socket receives from this server alone.
    socket.connect(port, host, () => socket.send(dnsPacket.encode(query)));
  }).finally(() => {
    if (!signal.aborted) socket.close();
  });
}

function askOverTcp(query: Packet, host: string, port: number, signal: AbortSignal): Promise<DecodedPacket> {
  const socket = connect({ host, port, signal });
  return new Promise<DecodedPacket>((resolve, reject) => {
    signal.addEventListener('abort', () => reject(dnsError('ETIMEOUT', host)));
    const pieces: Buffer[] = [];
    socket.once('error', reject);
    socket.once('close', () => reject(dnsError('EBADRESP', host)));
    socket.on('data', (piece) => {
      pieces.push(piece);
      const bytes = Buffer.concat(pieces);
      if (bytes.length < 2 || bytes.length < 2 + bytes.readUInt16BE(0)) return;
      const reply = decode(() => dnsPacket.decode(bytes.subarray(2)));
      if (reply === null || !isReplyTo(query, reply)) reject(dnsError('EBADRESP', host));
      else resolve(reply);
    });
    socket.write(dnsPacket.streamEncode(query));
  }).finally(() => socket.destroy());
}

function decode(read: () => DecodedPacket): DecodedPacket | null {
  try {
    return read();
  } catch {
    return null;
  }
}

function isReplyTo(query: Packet, reply: DecodedPacket): boolean {
  const [asked, repeated] = [query.questions?.[0], reply.questions?.[0]];
  return (
    reply.type === 'response' &&
    reply.id === query.id &&
    repeated?.type === asked?.type &&
    repeated?.name.toLowerCase() === asked?.name.toLowerCase()
  );
}

const DNS_PORT = 53;

function hostAndPort(server: string): { host: string; port: number } {
  const match = /^\[?([^\]]+?)\]?(?::(\d+))?$/.exec(server);
  const isBareIpv6 = !server.startsWith('[') && server.split(':').length > 2;
  return isBareIpv6 || match === null
    ? { host: server, port: DNS_PORT }
    : { host: match[1] ?? server, port: Number(match[2] ?? DNS_PORT) };
}
