import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** One of several servers of a kind. */
export interface Backend {
  port: number;
  /** returns 200 while it wants work */
  readyUrl: string;
}

/** In front of them, on loopback: a new connection goes to the next one that is ready, as a load balancer of the ordinary kind does it. */
export interface Balancer {
  port: number;
  close(): Promise<void>;
}

/** How often the servers are asked. */
const ASK_EVERY_MS = 100;

export async function startBalancer(backends: readonly Backend[]): Promise<Balancer> {
  const ready = new Set<Backend>();
  const sockets = new Set<Socket>();
  let isClosed = false;
  let turn = 0;

  const watch = async (backend: Backend) => {
    while (!isClosed) {
      const isReady = await fetch(backend.readyUrl, { headers: { connection: 'close' } }).then(
        ({ ok }) => ok,
        () => false,
      );
      if (isReady) ready.add(backend);
      else ready.delete(backend);
      await sleep(ASK_EVERY_MS);
    }
  };
  const watched = backends.map(watch);

  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const usable = backends.filter((backend) => ready.has(backend));
    const backend = usable[turn++ % usable.length];
    if (backend === undefined) return client.destroy();
    const upstream = connect({ port: backend.port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one);
      one.pipe(other);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  while (ready.size < backends.length) await sleep(20);
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      isClosed = true;
      await Promise.all(watched);
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
