import { connect, type Socket } from 'node:net';

/** One account's requests for large responses, all at once and over and over. */
export interface AttackOrder {
  port: number;
  /** the request as it goes on the wire */
  request: string;
  /** requests in flight */
  clients: number;
  /** true: the clients read nothing after the beginning of a response, and keep their connections */
  isSlow: boolean;
  /** true: the clients close their connections at the beginning of a response */
  isLeaving?: boolean;
  milliseconds: number;
}

/** What became of the requests. */
export interface AttackReport {
  /** by HTTP status, of responses that have begun */
  statuses: Record<string, number>;
  bytes: number;
}

/** How long a slow client waits after the beginning of its response, before it sends the next request. Milliseconds. */
const SLOW_PAUSE_MS = 500;

/** Attacks in a process of its own, so that reading large responses does not delay the requests that are measured. */
process.on('message', (order: AttackOrder) => {
  void attack(order).then((report) => process.send?.(report));
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });

async function attack({
  port,
  request,
  clients,
  isSlow,
  isLeaving = false,
  milliseconds,
}: AttackOrder): Promise<AttackReport> {
  const report: AttackReport = { statuses: {}, bytes: 0 };
  const sockets = new Set<Socket>();
  const endAt = performance.now() + milliseconds;

  /** Resolves when the response has ended; of a slow client, when it has begun. */
  const send = () =>
    new Promise<void>((resolve) => {
      const socket = connect(port, '127.0.0.1');
      sockets.add(socket);
      let hasBegun = false;
      socket.on('connect', () => socket.write(request));
      socket.on('data', (chunk: Buffer) => {
        report.bytes += chunk.length;
        if (hasBegun) return;
        hasBegun = true;
        const status = chunk.toString('latin1', 9, 12);
        report.statuses[status] = (report.statuses[status] ?? 0) + 1;
        if (isLeaving) socket.destroy();
        if (!isSlow) return;
        socket.pause();
        setTimeout(resolve, SLOW_PAUSE_MS);
      });
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        resolve();
      });
    });

  const ending = setTimeout(() => {
    for (const socket of sockets) socket.destroy();
  }, milliseconds);
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (performance.now() < endAt) await send();
    }),
  );
  clearTimeout(ending);
  for (const socket of sockets) socket.destroy();
  return report;
}
