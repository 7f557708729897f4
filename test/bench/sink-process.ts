import { createServer, type Socket } from 'node:net';
import { bodyDigest, readSubject } from './messages.ts';

/** One message that the sink took. */
interface SinkArrival {
  n: number;
  /** milliseconds since the epoch, when its end of data had come */
  at: number;
  messageId: string;
  recipients: string[];
  /** bodyDigest of its body as it came */
  body: string;
  sizeBytes: number;
}

type SinkOrder = { countOf: string } | { arrivalsOf: string };
export interface SinkReport {
  arrivals: SinkArrival[];
  /** whole bytes of one in a hundred, base64 */
  samples: string[];
}

/** One message in so many is kept whole. */
const SAMPLE_EVERY = 100;

/**
 * An SMTP server in a process of its own that takes everything at once (PIPELINING, 8BITMIME, SIZE, no TLS) and notes by the round's tag
 * what came. It does no more than reading, one hash, and a reply, so that it costs every contestant the same little.
 */
const arrivals = new Map<string, SinkArrival[]>();
const samples = new Map<string, string[]>();

const END_OF_DATA = Buffer.from('\r\n.\r\n');
const EHLO_REPLY =
  '250-sink.test\r\n250-PIPELINING\r\n250-SIZE 52428800\r\n250-8BITMIME\r\n250 ENHANCEDSTATUSCODES\r\n';

const server = createServer({ noDelay: true }, (socket) => {
  socket.on('error', () => socket.destroy());
  socket.write('220 sink.test ESMTP\r\n');
  serve(socket);
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.({ port: address !== null && typeof address === 'object' ? address.port : 0 });
});

process.on('message', (order: SinkOrder) => {
  if ('countOf' in order) return void process.send?.({ count: arrivals.get(order.countOf)?.length ?? 0 });
  const tag = order.arrivalsOf;
  process.send?.({ arrivals: arrivals.get(tag) ?? [], samples: samples.get(tag) ?? [] } satisfies SinkReport);
  arrivals.delete(tag);
  samples.delete(tag);
});
process.on('disconnect', () => process.exit(0));

function serve(socket: Socket): void {
  let pending: Buffer = Buffer.alloc(0);
  let recipients: string[] = [];
  let isInData = false;
  socket.on('data', (chunk: Buffer) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    let replies = '';
    for (;;) {
      const end = pending.indexOf(isInData ? END_OF_DATA : '\r\n');
      if (end === -1) break;
      const taken = pending.subarray(0, isInData ? end + 2 : end);
      pending = pending.subarray(end + (isInData ? END_OF_DATA.length : 2));
      if (isInData) {
        take(taken, recipients);
        recipients = [];
        isInData = false;
        replies += '250 2.0.0 taken\r\n';
        continue;
      }
      const command = taken.toString('latin1');
      const verb = command.slice(0, 4).toUpperCase();
      if (verb === 'QUIT') return void socket.end(`${replies}221 2.0.0 bye\r\n`);
      if (verb === 'RCPT') recipients.push(/<([^>]*)>/.exec(command)?.[1] ?? '');
      if (verb === 'MAIL' || verb === 'RSET') recipients = [];
      isInData = verb === 'DATA';
      replies += verb === 'EHLO' ? EHLO_REPLY : isInData ? '354 go on\r\n' : '250 2.1.0 ok\r\n';
    }
    if (replies !== '') socket.write(replies);
  });
}

function take(bytes: Buffer, recipients: string[]): void {
  const at = performance.timeOrigin + performance.now();
  const wire = bytes.toString('latin1');
  const text = wire.includes('\r\n..') ? wire.replaceAll('\r\n..', '\r\n.') : wire;
  const endOfHeader = text.indexOf('\r\n\r\n');
  const header = text.slice(0, endOfHeader + 2);
  const subject = readSubject(/^subject: *(.*)\r$/im.exec(header)?.[1] ?? '');
  if (subject === null) return;
  const { tag, n } = subject;
  const ofTag = arrivals.get(tag) ?? [];
  arrivals.set(tag, ofTag);
  const messageId = /^message-id:\s*(<[^>]*>)/im.exec(header)?.[1] ?? '';
  ofTag.push({ n, at, messageId, recipients, body: bodyDigest(text.slice(endOfHeader + 4)), sizeBytes: text.length });
  if (n % SAMPLE_EVERY !== 0) return;
  samples.set(tag, [...(samples.get(tag) ?? []), Buffer.from(text, 'latin1').toString('base64')]);
}
