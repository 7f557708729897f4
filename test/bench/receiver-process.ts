import { createServer } from 'node:http';

/** Takes webhooks in a process of its own, answers 200 at once, and notes when each Message-ID came (milliseconds since the epoch). */
const arrivals = new Map<string, number>();
const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    const messageId = String(request.headers['x-message-id'] ?? '');
    if (!arrivals.has(messageId)) arrivals.set(messageId, performance.timeOrigin + performance.now());
    response.writeHead(200).end('ok');
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.({ port: address !== null && typeof address === 'object' ? address.port : 0 });
});

process.on('message', (order: { countOf: string } | { arrivalsOf: string }) => {
  const tag = 'countOf' in order ? order.countOf : order.arrivalsOf;
  const matching = [...arrivals].filter(([messageId]) => messageId.startsWith(`<${tag}.`));
  process.send?.('countOf' in order ? { count: matching.length } : { arrivals: matching });
});
process.on('disconnect', () => process.exit(0));
