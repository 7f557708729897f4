import { createServer, type ServerResponse } from 'node:http';

/**
 * Takes webhooks in a process of its own and notes when each Message-ID came first (milliseconds since the epoch). It replies 200 at once;
 * requests to /hang get no reply until they are released.
 */
export type ReceiverOrder =
  /** how many came whose Message-ID begins with that tag and a dot */
  { countOf: string } | { arrivalsOf: string } | { release: true };

const arrivals = new Map<string, Map<string, number>>();
let held: ServerResponse[] = [];

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    const messageId = String(request.headers['x-message-id'] ?? '');
    const tag = /^<(\w+)\./.exec(messageId)?.[1] ?? '';
    const ofTag = arrivals.get(tag) ?? new Map<string, number>();
    arrivals.set(tag, ofTag);
    if (!ofTag.has(messageId)) ofTag.set(messageId, performance.timeOrigin + performance.now());
    if (request.url === '/hang') held.push(response);
    else response.writeHead(200).end('ok');
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.({ port: address !== null && typeof address === 'object' ? address.port : 0 });
});

process.on('message', (order: ReceiverOrder) => process.send?.(respondTo(order)));
process.on('disconnect', () => process.exit(0));

function respondTo(order: ReceiverOrder): object {
  if ('countOf' in order) return { count: arrivals.get(order.countOf)?.size ?? 0 };
  if ('arrivalsOf' in order) return { arrivals: [...(arrivals.get(order.arrivalsOf) ?? [])] };
  for (const response of held) response.writeHead(200).end('ok');
  held = [];
  return {};
}
