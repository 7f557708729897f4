import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, type Socket } from 'node:net';
import { vi } from 'vitest';
import { keepLog } from '../kept-logs.ts';

/** A span as OTLP has it in JSON, with what its process is. */
export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId: string;
  name: string;
  /** 1 internal, 2 server, 3 client */
  kind: number;
  /** `postroom-receiving`, ... */
  service: string;
  /** of one process */
  instance: string;
  attributes: Record<string, unknown>;
  isFailed: boolean;
  startedAtNs: bigint;
  endedAtNs: bigint;
}

/** A collector on loopback that takes OTLP/HTTP in JSON. */
export interface OtlpReceiver {
  url: string;
  spans: ReceivedSpan[];
  /** everything that came, as text */
  text(): string;
  /** header fields of the requests */
  headers: NodeJS.Dict<string | string[]>[];
  /** Resolves when these spans hold the condition. */
  until(what: (spans: ReceivedSpan[]) => void): Promise<void>;
  close(): Promise<void>;
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const texts: string[] = [];
  const headers: NodeJS.Dict<string | string[]>[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    void read(request).then((text) => {
      texts.push(text);
      keepLog(`traces-${process.pid}`, `${text}\n`);
      headers.push(request.headers);
      if (request.url === '/v1/traces') spans.push(...listSpans(JSON.parse(text)));
      response.writeHead(request.url === '/v1/traces' ? 200 : 404, { 'content-type': 'application/json' }).end('{}');
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    text: () => texts.join('\n'),
    headers,
    until: (what) => vi.waitFor(() => what(spans), { timeout: 120_000, interval: 100 }),
    async close() {
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

interface Value {
  stringValue?: string;
  intValue?: number | string;
  boolValue?: boolean;
  arrayValue?: { values: Value[] };
}
type Attributes = { key: string; value: Value }[];
interface Exported {
  resourceSpans: {
    resource: { attributes: Attributes };
    scopeSpans: {
      spans: {
        traceId: string;
        spanId: string;
        parentSpanId?: string;
        name: string;
        kind: number;
        attributes: Attributes;
        status: { code?: number };
        startTimeUnixNano: string;
        endTimeUnixNano: string;
      }[];
    }[];
  }[];
}

function listSpans(body: unknown): ReceivedSpan[] {
  return (body as Exported).resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const of = readAttributes(resource.attributes);
    return scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId ?? '',
        name: span.name,
        kind: span.kind,
        service: String(of['service.name']),
        instance: String(of['service.instance.id']),
        attributes: readAttributes(span.attributes),
        isFailed: span.status.code === 2,
        startedAtNs: BigInt(span.startTimeUnixNano),
        endedAtNs: BigInt(span.endTimeUnixNano),
      })),
    );
  });
}

function readAttributes(attributes: Attributes): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, readValue(value)]));
}

function readValue(value: Value): unknown {
  if (value.arrayValue !== undefined) return value.arrayValue.values.map(readValue);
  return value.stringValue ?? value.intValue ?? value.boolValue;
}
