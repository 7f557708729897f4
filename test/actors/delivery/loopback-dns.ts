import { createSocket } from 'node:dgram';
import type { AddressInfo } from 'node:net';
import { type Answer, decode, encode } from 'dns-packet';

/** What a name answers; the items of a list come in turn, the last one for ever. */
interface NameScript {
  A?: readonly (readonly string[])[];
  AAAA?: readonly (readonly string[])[];
  CNAME?: string;
}

export interface LoopbackDns {
  /** `host:port` */
  server: string;
  /** `TYPE name` of every question */
  queries: string[];
  set(name: string, script: NameScript): void;
  stop(): Promise<void>;
}

/** A DNS server over UDP whose responses change from question to question, with a TTL of 0. */
export async function startLoopbackDns(): Promise<LoopbackDns> {
  const names = new Map<string, NameScript>();
  const asked = new Map<string, number>();
  const queries: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (message, peer) => {
    const packet = decode(message);
    const [question] = packet.questions ?? [];
    if (question === undefined) return;
    const { name, type } = question;
    const key = `${type} ${name}`;
    queries.push(key);
    const script = names.get(name);
    const lists = type === 'A' || type === 'AAAA' ? (script?.[type] ?? []) : [];
    const turn = asked.get(key) ?? 0;
    asked.set(key, turn + 1);
    const owner = script?.CNAME ?? name;
    const responses: Answer[] = (lists[Math.min(turn, lists.length - 1)] ?? []).map((data) => ({
      name: owner,
      type: type as 'A',
      ttl: 0,
      data,
    }));
    if (script?.CNAME !== undefined) responses.unshift({ name, type: 'CNAME', ttl: 0, data: script.CNAME });
    const nameError = 3;
    const flags = 0x8180 | (script === undefined ? nameError : 0);
    const response = encode({ type: 'response', id: packet.id ?? 0, flags, questions: [question], answers: responses });
    socket.send(response, peer.port, peer.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    server: `127.0.0.1:${(socket.address() as AddressInfo).port}`,
    queries,
    set(name, script) {
      names.set(name, script);
      for (const type of ['A', 'AAAA']) asked.delete(`${type} ${name}`);
    },
    stop: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}
