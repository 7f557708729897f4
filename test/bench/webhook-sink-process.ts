import { hash } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Takes webhooks in a process of its own, on a port for each endpoint, and notes when each webhook-id came (milliseconds since the epoch) and
 * the sha256 of its body. The last port never responds until it is told to release what it holds.
 */
type SinkOrder =
  | { listenOn: number }
  /** forgets what came */
  | { clear: true }
  | { count: true }
  /** answers what the last port holds, and from now on at once */
  | { release: true }
  | { hold: true }
  | { arrivals: true };

export interface SinkArrival {
  id: string;
  at: number;
  sha256: string;
  /** how often it came */
  count: number;
}

const arrivals = new Map<string, SinkArrival>();
let isHolding = true;
let held: (() => void)[] = [];

function listener(isSlow: boolean): RequestListener {
  return (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const respond = () => void response.writeHead(200).end('ok');
      if (isSlow) return isHolding ? void held.push(respond) : respond();
      const id = String(request.headers['webhook-id'] ?? '');
      const known = arrivals.get(id);
      const [first = Buffer.alloc(0)] = chunks;
      const sha256 = hash('sha256', chunks.length === 1 ? first : Buffer.concat(chunks), 'base64');
      if (known === undefined)
        arrivals.set(id, { id, at: performance.timeOrigin + performance.now(), sha256, count: 1 });
      else known.count++;
      respond();
    });
  };
}

async function listen(count: number): Promise<number[]> {
  const ports: number[] = [];
  for (let n = 0; n < count; n++) {
    const server = createServer({ keepAliveTimeout: 60_000 }, listener(n === count - 1));
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    ports.push((server.address() as AddressInfo).port);
  }
  return ports;
}

async function respondTo(order: SinkOrder): Promise<object> {
  if ('listenOn' in order) return { ports: await listen(order.listenOn) };
  if ('count' in order) return { count: arrivals.size };
  if ('arrivals' in order) return { arrivals: [...arrivals.values()] };
  if ('clear' in order) arrivals.clear();
  if ('hold' in order) isHolding = true;
  if ('release' in order) {
    isHolding = false;
    for (const respond of held) respond();
    held = [];
  }
  return {};
}

process.on('message', (order: SinkOrder) => {
  void respondTo(order).then((response) => process.send?.(response));
});
process.on('disconnect', () => process.exit(0));
