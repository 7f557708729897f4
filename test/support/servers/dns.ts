import { createSocket, type Socket } from 'node:dgram';
import { createServer, type Server } from 'node:net';
import dnsPacket, { type Answer, type Packet, type StringRecordType } from 'dns-packet';

/** Records of one name and type, in the forms of dns-packet: TXT strings of any length, `{ preference, exchange }` for MX. */
export type DnsRecords = unknown[] | 'NXDOMAIN' | 'SERVFAIL' | 'silent' | 'garbage';

/** A real DNS server, for whatever takes DNS_SERVERS. */
export interface DnsServer {
  port: number;
  /** host:port */
  address: string;
  /** What it answers from now on. A name that was set for some type has no records of the others; unknown names are NXDOMAIN. */
  set(name: string, type: string, records: DnsRecords): void;
  /** names whose responses, and those below them, count as validated (AD) */
  secure: Set<string>;
  /** Forgets what was set. */
  clear(): void;
  /** all questions so far, `TYPE name` */
  queries: string[];
  stop(): Promise<void>;
}

/** By type and name, `TXT example.com`. */
export type DnsZone = ReadonlyMap<string, DnsRecords>;

/** Starts it on a free port of an IPv4 address, UDP and TCP. */
export async function startDnsServer(host = '127.0.0.1'): Promise<DnsServer> {
  const zone = new Map<string, DnsRecords>();
  const queries: string[] = [];
  const secure = new Set<string>();
  const server = await serveDns(host, () => zone, queries, secure);
  return {
    ...server,
    set: (name, type, records) => void zone.set(`${type} ${name.toLowerCase()}`, records),
    secure,
    clear() {
      zone.clear();
      secure.clear();
    },
    queries,
  };
}

/** Serves what `findZone` returns for a name, SERVFAIL where that is null, and adds each question to `queries`. */
export async function serveDns(
  host: string,
  findZone: (name: string) => DnsZone | null,
  queries: string[],
  secure: ReadonlySet<string> = new Set(),
): Promise<Pick<DnsServer, 'port' | 'address' | 'stop'>> {
  const respond = (query: Packet) => respondFrom(query, findZone, queries, secure);
  const tcp = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', (data) => {
      const reply = respond(dnsPacket.streamDecode(data));
      if (reply === 'garbage') socket.destroy();
      else if (reply !== null) socket.end(dnsPacket.streamEncode(reply));
    });
  });
  const udp = await listenOnOnePort(tcp, host);
  udp.on('message', (message, from) => {
    const reply = respond(dnsPacket.decode(message));
    if (reply === 'garbage') udp.send(garbageFor(message), from.port, from.address);
    else if (reply !== null) udp.send(readDatagram(reply), from.port, from.address);
  });
  const { port } = udp.address();
  return {
    port,
    address: `${host}:${port}`,
    async stop() {
      await new Promise<void>((resolve) => udp.close(() => resolve()));
      await new Promise<void>((resolve) => tcp.close(() => resolve()));
    },
  };
}

/** Listens for TCP at the port of the UDP socket that it returns. A port that is free for UDP may be taken for TCP: then another is tried. */
async function listenOnOnePort(tcp: Server, host: string): Promise<Socket> {
  for (;;) {
    const udp = createSocket('udp4');
    await new Promise<void>((resolve) => udp.bind(0, host, resolve));
    const isListening = await new Promise<boolean>((resolve) => {
      const refuse = () => resolve(false);
      tcp.once('error', refuse).listen(udp.address().port, host, () => {
        tcp.off('error', refuse);
        resolve(true);
      });
    });
    if (isListening) return udp;
    await new Promise<void>((resolve) => udp.close(() => resolve()));
  }
}

function respondFrom(
  query: Packet,
  findZone: (name: string) => DnsZone | null,
  queries: string[],
  secure: ReadonlySet<string>,
): Packet | 'garbage' | null {
  const [question] = query.questions ?? [];
  if (question === undefined) return null;
  const name = question.name.toLowerCase();
  queries.push(`${question.type} ${name}`);
  const zone = findZone(name);
  const records = zone === null ? 'SERVFAIL' : readRecords(zone, question.type, name);
  if (records === 'silent') return null;
  if (records === 'garbage') return 'garbage';
  const code = records === 'NXDOMAIN' ? NXDOMAIN : records === 'SERVFAIL' ? SERVFAIL : 0;
  const isSecure = [...secure].some((zoneName) => name === zoneName || name.endsWith(`.${zoneName}`));
  return {
    id: query.id ?? 0,
    type: 'response',
    flags:
      dnsPacket.RECURSION_DESIRED | dnsPacket.RECURSION_AVAILABLE | (isSecure ? dnsPacket.AUTHENTIC_DATA : 0) | code,
    questions: [question],
    answers:
      typeof records === 'string' || zone === null ? [] : listRecords(zone, question.name, question.type, records),
  };
}

/** The records, or the alias that the name is (RFC 1034 §3.6.2) with the records of its target, as a recursive server returns them. */
function listRecords(zone: DnsZone, name: string, type: string, records: unknown[]): Answer[] {
  const [alias] = type === 'CNAME' ? [] : readRecords(zone, 'CNAME', name.toLowerCase());
  if (typeof alias !== 'string' || records.length > 0) return records.map((data) => toRecord(name, type, data));
  const target = readRecords(zone, type, alias.toLowerCase());
  const found = typeof target === 'string' ? [] : target.map((data) => toRecord(alias, type, data));
  return [toRecord(name, 'CNAME', alias), ...found];
}

function readRecords(zone: DnsZone, type: string, name: string): DnsRecords {
  const isKnown = [...zone].some(([key, records]) => key.endsWith(` ${name}`) && records !== 'NXDOMAIN');
  return zone.get(`${type} ${name}`) ?? (isKnown ? [] : 'NXDOMAIN');
}

/** What is too large for a datagram is asked for again over TCP (RFC 1035 §4.2.1). */
function readDatagram(reply: Packet): Buffer {
  const bytes = dnsPacket.encode(reply);
  if (bytes.length <= MAX_DATAGRAM_BYTES) return bytes;
  return dnsPacket.encode({ ...reply, flags: (reply.flags ?? 0) | dnsPacket.TRUNCATED_RESPONSE, answers: [] });
}

const MAX_DATAGRAM_BYTES = 1_232;

/** A header that promises many records, and none of them. */
function garbageFor(query: Buffer): Buffer {
  const reply = Buffer.concat([query, Buffer.alloc(64, 0xc0)]);
  reply.writeUInt16BE(0x8180, 2);
  reply.writeUInt16BE(0xffff, 6);
  return reply;
}

const SERVFAIL = 2;
const NXDOMAIN = 3;
/** Bytes of one string of a TXT record (RFC 1035 §3.3). */
const TXT_STRING = /[^]{1,255}/g;

function toRecord(name: string, type: string, data: unknown): Answer {
  const given = type === 'TXT' && typeof data === 'string' ? (data.match(TXT_STRING) ?? ['']) : data;
  return { name, type: type as StringRecordType, ttl: 60, class: 'IN', data: given as string };
}
