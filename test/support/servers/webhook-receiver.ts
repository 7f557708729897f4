import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { makeCertificate } from '../../../haraka-plugins/self-made-certificate.ts';

/** One request as it came in. */
interface ReceivedRequest {
  method: string;
  path: string;
  /** lower-case names */
  headers: IncomingHttpHeaders;
  body: string;
  /** the end of the body */
  receivedAt: Date;
  /** null over plain HTTP or without SNI */
  serverName: string | null;
  /** of the connection: two requests with the same one shared a socket */
  remotePort: number;
  /** `webhook-id`; empty when absent */
  webhookId: string;
}

/** What the receiver does with a request. */
export type ScriptedResponse =
  | number
  | {
      status?: number;
      headers?: Record<string, string>;
      body?: string | Buffer;
      /** instead of a body: that many bytes, written at the pace of the client */
      bodyBytes?: number;
      /** milliseconds before the response */
      delayMs?: number;
    }
  /** never responds */
  | 'hang'
  /** resets the connection */
  | 'reset'
  /** header fields without end */
  | 'endless headers'
  /** 200 with a body without end */
  | 'endless body';

/** Decides by the request and by how many requests with this webhook-id came before it (0 for the first). */
type Script = (request: ReceivedRequest, earlier: number) => ScriptedResponse | Promise<ScriptedResponse>;

export interface WebhookReceiverOptions {
  /** HTTPS with a self-made certificate for this name */
  tlsName?: string;
  /** 127.0.0.1 unless told */
  host?: string;
  /** a free one unless told */
  port?: number;
  /** 200 to everything unless told; a list answers its items in turn, the last one for ever */
  script?: Script | readonly ScriptedResponse[];
}

export interface WebhookReceiver {
  /** base URL, without a slash at its end */
  url: string;
  port: number;
  /** certificate of the TLS server in PEM; null over plain HTTP */
  certificate: string | null;
  /** in the order of their ends */
  requests: ReceivedRequest[];
  /** connections ever taken */
  connectionCount(): number;
  /** connections open now */
  openConnections(): number;
  /** Closes every connection, as a restart would. */
  closeConnections(): void;
  /** bytes written to clients so far */
  bytesSent(): number;
  /** Replaces the script from now on. */
  respond(script: Script | readonly ScriptedResponse[]): void;
  /** Resolves when that many requests came in all; rejects with what came after the limit (two minutes unless told). */
  received(count: number, limitMs?: number): Promise<ReceivedRequest[]>;
  /** Resolves when the requests so far meet the condition; rejects after the limit. */
  until(isMet: (requests: readonly ReceivedRequest[]) => boolean, limitMs?: number): Promise<ReceivedRequest[]>;
  stop(): Promise<void>;
}

/** A real HTTP or HTTPS server on loopback that records webhooks and answers them by script. */
export async function startWebhookReceiver(options: WebhookReceiverOptions = {}): Promise<WebhookReceiver> {
  const host = options.host ?? '127.0.0.1';
  const requests: ReceivedRequest[] = [];
  const earlierById = new Map<string, number>();
  const sockets = new Set<Socket>();
  const watchers = new Set<() => void>();
  let script = asScript(options.script ?? [200]);
  let connections = 0;
  let closedBytes = 0;

  const listener: RequestListener = (message, response) => {
    const chunks: Buffer[] = [];
    message.on('error', () => undefined);
    response.on('error', () => undefined);
    message.on('data', (chunk: Buffer) => chunks.push(chunk));
    message.on('end', () => {
      const request = record(message, Buffer.concat(chunks).toString('utf8'));
      const earlier = earlierById.get(request.webhookId) ?? 0;
      earlierById.set(request.webhookId, earlier + 1);
      requests.push(request);
      for (const look of watchers) look();
      void perform(script, request, earlier, response);
    });
  };
  const tls = options.tlsName === undefined ? null : makeCertificate(options.tlsName, new Date());
  const server = tls === null ? createServer(listener) : createTlsServer(tls, listener);
  server.on('connection', (socket: Socket) => {
    connections++;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      closedBytes += socket.bytesWritten;
      sockets.delete(socket);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, host, resolve);
  });
  const port = (server.address() as AddressInfo).port;

  const until = (isMet: (requests: readonly ReceivedRequest[]) => boolean, limitMs = 120_000) =>
    new Promise<ReceivedRequest[]>((resolve, reject) => {
      const look = () => {
        if (!isMet(requests)) return;
        watchers.delete(look);
        clearTimeout(timer);
        resolve(requests);
      };
      const timer = setTimeout(() => {
        watchers.delete(look);
        const seen = requests.map((request) => `${request.webhookId} ${request.path}`).slice(-20);
        reject(
          new Error(`the awaited webhooks did not come in ${limitMs} ms; ${requests.length} came: ${seen.join(', ')}`),
        );
      }, limitMs);
      watchers.add(look);
      look();
    });

  return {
    url: `${tls === null ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    certificate: tls?.cert ?? null,
    requests,
    connectionCount: () => connections,
    openConnections: () => sockets.size,
    closeConnections() {
      for (const socket of sockets) socket.destroy();
    },
    bytesSent: () => [...sockets].reduce((sum, socket) => sum + socket.bytesWritten, closedBytes),
    respond(next) {
      script = asScript(next);
    },
    received: (count, limitMs) => until((all) => all.length >= count, limitMs),
    until,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

function asScript(script: Script | readonly ScriptedResponse[]): Script {
  if (typeof script === 'function') return script;
  let next = 0;
  return () => script[Math.min(next++, script.length - 1)] ?? 200;
}

function record(message: IncomingMessage, body: string): ReceivedRequest {
  const serverName = (message.socket as { servername?: string | false }).servername;
  return {
    method: message.method ?? '',
    path: message.url ?? '',
    headers: message.headers,
    body,
    receivedAt: new Date(),
    serverName: typeof serverName === 'string' ? serverName : null,
    remotePort: message.socket.remotePort ?? 0,
    webhookId: String(message.headers['webhook-id'] ?? ''),
  };
}

async function perform(script: Script, request: ReceivedRequest, earlier: number, response: ServerResponse) {
  const result = await script(request, earlier);
  switch (result) {
    case 'hang':
      return;
    case 'reset':
      response.socket?.resetAndDestroy();
      return;
    case 'endless headers':
      response.socket?.write('HTTP/1.1 200 OK\r\n');
      flood(response.socket, (n) => `X-Field-${n}: ${'x'.repeat(50)}\r\n`);
      return;
    case 'endless body':
      response.socket?.write('HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n');
      flood(response.socket, () => 'x'.repeat(1_000));
      return;
    default: {
      const {
        status = 200,
        headers = {},
        body = '',
        bodyBytes,
        delayMs = 0,
      } = typeof result === 'number' ? { status: result } : result;
      if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
      if (bodyBytes === undefined) return void response.writeHead(status, headers).end(body);
      response.socket?.write(`HTTP/1.1 ${status} OK\r\nContent-Length: ${bodyBytes}\r\n\r\n`);
      flood(response.socket, () => 'x'.repeat(1_000), bodyBytes / 1_000);
    }
  }
}

/** Writes pieces, at the pace of the client, until they are done or the connection closes. */
function flood(socket: Socket | null, piece: (n: number) => string, pieces = Number.POSITIVE_INFINITY): void {
  let n = 0;
  const write = () => {
    while (socket !== null && !socket.destroyed && n < pieces) if (!socket.write(piece(n++))) return;
  };
  socket?.on('drain', write);
  write();
}
