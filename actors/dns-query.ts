import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { getServers } from 'node:dns';
import { connect } from 'node:net';
import dnsPacket, { type Answer, type Packet, type StringRecordType } from 'dns-packet';

/** Types whose records {@link queryDns} returns. */
const TYPES: ReadonlySet<string> = new Set(['A', 'AAAA', 'MX', 'PTR', 'TXT']);
/** Maximum characters of a name and of its labels (RFC 1035 §2.3.4). */
const MAX_NAME = 253;
const MAX_LABEL = 63;

/**
 * Returns whether node:dns rejects a name without a lookup although DNS allows it (RFC 2181 §11): macros of SPF put parts of an address into
 * names, `+` and `=` among them.
 */
export function isBeyondHostNames(name: string): boolean {
  return !/^[\w.*/-]*$/.test(name) && name.length <= MAX_NAME && name.split('.').every(isLabel);
}

function isLabel(label: string): boolean {
  return label.length > 0 && label.length <= MAX_LABEL && /^[\x20-\x7e]+$/.test(label);
}

/**
 * Looks up a name with any characters, over UDP and, if the reply is truncated, over TCP. Tries the servers in order, those of the system if
 * none is given. Returns the records as node:dns does; rejects with an error that has the `code` of node:dns.
 */
export async function queryDns(
  servers: readonly string[],
  name: string,
  type: string,
  timeoutMs: number,
): Promise<string[] | string[][]> {
  if (!TYPES.has(type)) throw failure('ENOTIMP', name);
  let last = failure('ECONNREFUSED', name);
  for (const server of servers.length > 0 ? servers : getServers()) {
    const reply = await ask(server, name, type, timeoutMs).catch((error: unknown) => {
      last = error instanceof Error && 'code' in error ? failure(String(error.code), name) : failure('EBADRESP', name);
      return null;
    });
    if (reply !== null) return recordsOf(reply, name, type) as string[] | string[][];
  }
  throw last;
}

async function ask(server: string, name: string, type: string, timeoutMs: number): Promise<Packet> {
  const id = randomInt(65_536);
  const query: Packet = {
    id,
    type: 'query',
    flags: dnsPacket.RECURSION_DESIRED,
    questions: [{ name, type: type as StringRecordType }],
  };
  const { host, port } = hostAndPort(server);
  const signal = AbortSignal.timeout(timeoutMs);
  const reply = await askOverUdp(query, host, port, signal);
  return ((reply.flags ?? 0) & dnsPacket.TRUNCATED_RESPONSE) === 0 ? reply : askOverTcp(query, host, port, signal);
}

function askOverUdp(query: Packet, host: string, port: number, signal: AbortSignal): Promise<Packet> {
  const socket = createSocket({ type: host.includes(':') ? 'udp6' : 'udp4', signal });
  return new Promise<Packet>((resolve, reject) => {
    signal.addEventListener('abort', () => reject(failure('ETIMEOUT', host)));
    socket.once('error', reject);
    socket.on('message', (bytes) => {
      const reply = decode(() => dnsPacket.decode(bytes));
      if (reply === null) reject(failure('EBADRESP', host));
      else if (isReplyTo(query, reply)) resolve(reply);
    });
    // A connected socket receives from this server alone.
    socket.connect(port, host, () => socket.send(dnsPacket.encode(query)));
  }).finally(() => {
    if (!signal.aborted) socket.close();
  });
}

function askOverTcp(query: Packet, host: string, port: number, signal: AbortSignal): Promise<Packet> {
  const socket = connect({ host, port, signal });
  return new Promise<Packet>((resolve, reject) => {
    signal.addEventListener('abort', () => reject(failure('ETIMEOUT', host)));
    const pieces: Buffer[] = [];
    socket.once('error', reject);
    socket.once('close', () => reject(failure('EBADRESP', host)));
    socket.on('data', (piece) => {
      pieces.push(piece);
      const bytes = Buffer.concat(pieces);
      if (bytes.length < 2 || bytes.length < 2 + bytes.readUInt16BE(0)) return;
      const reply = decode(() => dnsPacket.streamDecode(bytes));
      if (reply === null || !isReplyTo(query, reply)) reject(failure('EBADRESP', host));
      else resolve(reply);
    });
    socket.write(dnsPacket.streamEncode(query));
  }).finally(() => socket.destroy());
}

function decode(read: () => Packet): Packet | null {
  try {
    return read();
  } catch {
    return null;
  }
}

function isReplyTo(query: Packet, reply: Packet): boolean {
  const [asked, told] = [query.questions?.[0], reply.questions?.[0]];
  return (
    reply.type === 'response' &&
    reply.id === query.id &&
    told?.type === asked?.type &&
    told?.name.toLowerCase() === asked?.name.toLowerCase()
  );
}

/** Response codes (RFC 1035 §4.1.1) as node:dns names them. */
const CODES: Readonly<Record<number, string>> = {
  1: 'EFORMERR',
  2: 'ESERVFAIL',
  3: 'ENOTFOUND',
  4: 'ENOTIMP',
  5: 'EREFUSED',
};

function recordsOf(reply: Packet, name: string, type: string): unknown[] {
  const code = (reply.flags ?? 0) & 0xf;
  if (code !== 0) throw failure(CODES[code] ?? 'EBADRESP', name);
  const records = (reply.answers ?? []).filter((answer) => answer.type === type).map(dataOf);
  if (records.length === 0) throw failure('ENODATA', name);
  return records;
}

function dataOf(answer: Answer): unknown {
  if (answer.type === 'MX') return { priority: answer.data.preference ?? 0, exchange: answer.data.exchange };
  if (answer.type === 'TXT') return [answer.data].flat().map(String);
  return 'data' in answer ? answer.data : null;
}

/** `host`, `host:port`, `IPv6` or `[IPv6]:port`, as node:dns writes servers. */
function hostAndPort(server: string): { host: string; port: number } {
  const match = /^\[?([^\]]+?)\]?(?::(\d+))?$/.exec(server);
  const isBareIpv6 = !server.startsWith('[') && server.split(':').length > 2;
  return isBareIpv6 || match === null
    ? { host: server, port: DNS_PORT }
    : { host: match[1] ?? server, port: Number(match[2] ?? DNS_PORT) };
}

const DNS_PORT = 53;

function failure(code: string, name: string): Error & { code: string } {
  return Object.assign(new Error(`${code} for ${name}`), { code });
}
