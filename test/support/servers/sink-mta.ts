import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { makeCertificate } from '../../../haraka-plugins/self-made-certificate.ts';
import { SinkSession } from './sink-session.ts';

/**
 * What the sink does at a step: a reply of one line or more, the same after a while, nothing for ever, or the end of the connection
 * without a word. Undefined: what an ordinary server says.
 */
export type SinkResponse = SinkReply | { reply: SinkReply; afterMs: number } | 'hang' | 'drop' | undefined;

/** `550 5.1.1 text`; further lines are separated by CRLF and bear the code as well. */
export type SinkReply = `${number}${' ' | '-'}${string}`;

type SinkResponseOrPromise = SinkResponse | Promise<SinkResponse>;

/** What the sink says, by step. A function that answers late is a slow server. */
export interface SinkScript {
  banner?: (connection: SinkConnection) => SinkResponseOrPromise;
  ehlo?: (connection: SinkConnection) => SinkResponseOrPromise;
  mail?: (transaction: SinkTransaction, connection: SinkConnection) => SinkResponseOrPromise;
  rcpt?: (address: string, transaction: SinkTransaction, connection: SinkConnection) => SinkResponseOrPromise;
  data?: (transaction: SinkTransaction, connection: SinkConnection) => SinkResponseOrPromise;
  /** while the message comes in: `drop` or `hang` at its first bytes */
  body?: (transaction: SinkTransaction, connection: SinkConnection) => 'drop' | 'hang' | undefined;
  /** after the final dot; 2xx takes the message, and so does `drop` here: it is taken and the reply is lost */
  message?: (message: SinkMessage, connection: SinkConnection) => SinkResponseOrPromise;
}

export interface SinkOptions {
  /** 127.0.0.1 unless told; any loopback address, of IPv6 too */
  host?: string;
  /** a free one unless told: several sinks share a port on different addresses */
  port?: number;
  /** in the banner and the certificate; `sink.test` unless told */
  name?: string;
  /** `absent` unless told; `refused` is offered and answered with 454, `broken` is offered and fails in the handshake */
  startTls?: 'offered' | 'absent' | 'refused' | 'broken';
  /** TLS from the first byte */
  isTlsFromStart?: boolean;
  /** AUTH PLAIN and LOGIN are offered, and required before MAIL */
  auth?: { user: string; pass: string };
  /** AUTH is offered on connections without TLS too; true unless told */
  isAuthOfferedInClear?: boolean;
  /** recipients of one transaction; more get 452 4.5.3 */
  mostRecipients?: number;
  /** messages of one connection; then 421 and the end */
  mostMessages?: number;
  /** EHLO keywords beside STARTTLS and AUTH */
  extensions?: readonly string[];
  /** false keeps no bytes of messages, for load */
  isKeepingBytes?: boolean;
  script?: SinkScript;
}

/** One connection and all that was said. */
export interface SinkConnection {
  /** 1 is the first */
  number: number;
  remoteAddress: string;
  /** `C: line` and `S: line` without line ends; message bytes are left out */
  transcript: string[];
  isTls: boolean;
  /** SNI; null without */
  serverName: string | null;
  /** what the client called itself */
  helo: string | null;
  /** who authenticated; null when nobody did */
  user: string | null;
  /** messages offered on it so far */
  messageCount: number;
}

/** One transaction, whatever came of it. */
export interface SinkTransaction {
  /** reverse-path without brackets */
  from: string;
  /** behind MAIL FROM, as `SIZE=100` */
  parameters: string[];
  /** those that were taken */
  recipients: string[];
  /** every RCPT with the code it got */
  offered: { address: string; code: number }[];
}

/** A message up to its final dot. */
export interface SinkMessage extends SinkTransaction {
  /** without dot-stuffing and final dot */
  bytes: Buffer;
  /** as they came, final dot included */
  wireBytes: Buffer;
  isTls: boolean;
  user: string | null;
  connection: SinkConnection;
  receivedAt: Date;
  /** its reply had 2xx, or was lost after it was taken */
  isTaken: boolean;
}

/** A scriptable SMTP server on loopback that records everything. */
export interface SinkMta {
  host: string;
  port: number;
  /** PEM certificate for its name; null without TLS */
  certificate: string | null;
  /** the messages that were taken, in order */
  messages: SinkMessage[];
  /** every message whose final dot came, refused ones too */
  offered: SinkMessage[];
  /** every MAIL */
  transactions: SinkTransaction[];
  connections: SinkConnection[];
  openConnections(): number;
  /** most connections open at once so far */
  peakConnections(): number;
  /** Replaces the script from now on. */
  respond(script: SinkScript): void;
  /** Resolves when that many messages were taken in all; rejects with what came after the limit (two minutes unless told). */
  received(count: number, limitMs?: number): Promise<SinkMessage[]>;
  /** Resolves when the condition, which is looked at whenever anything was said, holds; rejects after the limit. */
  until(isMet: (sink: SinkMta) => boolean, limitMs?: number): Promise<void>;
  /** Ends every connection and listens no more. */
  stop(): Promise<void>;
}

const FIRST_WAIT_MS = 120_000;
const ORDINARY_EXTENSIONS = ['PIPELINING', '8BITMIME', 'ENHANCEDSTATUSCODES', 'SIZE 30000000'];

export async function startSinkMta(options: SinkOptions = {}): Promise<SinkMta> {
  const host = options.host ?? '127.0.0.1';
  const name = options.name ?? 'sink.test';
  const certificate =
    options.isTlsFromStart === true || options.startTls === 'offered' ? makeCertificate(name, new Date()) : null;
  const open = new Set<Socket>();
  const watchers = new Set<() => void>();
  let peak = 0;
  let script = options.script ?? {};

  const server: Server = createServer((socket) => {
    open.add(socket);
    peak = Math.max(peak, open.size);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      open.delete(socket);
      look();
    });
    const connection: SinkConnection = {
      number: sink.connections.length + 1,
      remoteAddress: socket.remoteAddress ?? '',
      transcript: [],
      isTls: false,
      serverName: null,
      helo: null,
      user: null,
      messageCount: 0,
    };
    sink.connections.push(connection);
    const session = new SinkSession({
      connection,
      name,
      startTls: options.startTls ?? 'absent',
      certificate,
      auth: options.auth ?? null,
      isAuthOfferedInClear: options.isAuthOfferedInClear ?? true,
      mostRecipients: options.mostRecipients ?? Number.POSITIVE_INFINITY,
      mostMessages: options.mostMessages ?? Number.POSITIVE_INFINITY,
      extensions: options.extensions ?? ORDINARY_EXTENSIONS,
      isKeepingBytes: options.isKeepingBytes ?? true,
      script: () => script,
      onTransaction: (transaction) => void sink.transactions.push(transaction),
      onMessage(message) {
        sink.offered.push(message);
        if (message.isTaken) sink.messages.push(message);
      },
      onChange: look,
    });
    if (options.isTlsFromStart === true && certificate !== null) session.secure(socket);
    else session.listen(socket);
    look();
  });

  const look = () => {
    for (const watcher of watchers) watcher();
  };

  const until = (isMet: (sink: SinkMta) => boolean, limitMs = FIRST_WAIT_MS) =>
    new Promise<void>((resolve, reject) => {
      const watcher = () => {
        if (!isMet(sink)) return;
        watchers.delete(watcher);
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        watchers.delete(watcher);
        const said = sink.connections.slice(-5).flatMap((connection) => connection.transcript.slice(-15));
        reject(
          new Error(
            `it did not come to that in ${limitMs} ms: ${sink.messages.length} messages, ${sink.connections.length} connections\n${said.join('\n')}`,
          ),
        );
      }, limitMs);
      watchers.add(watcher);
      watcher();
    });

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, host, resolve);
  });
  const sink: SinkMta = {
    host,
    port: (server.address() as AddressInfo).port,
    certificate: certificate?.cert ?? null,
    messages: [],
    offered: [],
    transactions: [],
    connections: [],
    openConnections: () => open.size,
    peakConnections: () => peak,
    respond(next) {
      script = next;
    },
    async received(count, limitMs) {
      await until((all) => all.messages.length >= count, limitMs);
      return sink.messages;
    },
    until,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
  return sink;
}
