import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Takes webhooks in a process of its own, on a port for each endpoint, and notes when each request began and how it ended. The first requests
 * about some emails fail: with a 503, or without any response.
 */
export type OrderingSinkOrder =
  | { listenOn: number }
  /** forgets what came, and lets the first request about each of these emails fail */
  | { failing: { emailId: string; how: 'error' | 'silence' }[] }
  | { count: true }
  | { requests: true };

/** A request, in the order in which they began; milliseconds since the epoch. */
export interface SinkRequest {
  emailId: string;
  beganAt: number;
  /** null: it got no response */
  endedAt: number | null;
  isAccepted: boolean;
}

let requests: SinkRequest[] = [];
let failing = new Map<string, 'error' | 'silence'>();
let acceptedCount = 0;

const now = () => performance.timeOrigin + performance.now();

const listener: RequestListener = (request, response) => {
  const emailId = String(request.headers['x-email-id'] ?? '');
  const entry: SinkRequest = { emailId, beganAt: now(), endedAt: null, isAccepted: false };
  requests.push(entry);
  request.resume();
  request.on('end', () => {
    const how = failing.get(emailId);
    failing.delete(emailId);
    if (how === 'silence') return;
    entry.isAccepted = how === undefined;
    entry.endedAt = now();
    if (entry.isAccepted) acceptedCount++;
    response.writeHead(entry.isAccepted ? 200 : 503).end();
  });
};

async function listen(count: number): Promise<number[]> {
  const ports: number[] = [];
  for (let n = 0; n < count; n++) {
    const server = createServer({ keepAliveTimeout: 60_000 }, listener);
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    ports.push((server.address() as AddressInfo).port);
  }
  return ports;
}

async function respondTo(order: OrderingSinkOrder): Promise<object> {
  if ('listenOn' in order) return { ports: await listen(order.listenOn) };
  if ('count' in order) return { count: acceptedCount };
  if ('requests' in order) return { requests };
  requests = [];
  acceptedCount = 0;
  failing = new Map(order.failing.map(({ emailId, how }) => [emailId, how]));
  return {};
}

process.on('message', (order: OrderingSinkOrder) => {
  void respondTo(order).then((response) => process.send?.(response));
});
process.on('disconnect', () => process.exit(0));
