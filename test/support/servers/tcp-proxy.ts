import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** What a proxy does with connections: hands bytes on, keeps them back as a paused server would, or cuts and refuses. */
type ProxyMode = 'pass' | 'stall' | 'refuse';

export interface TcpProxy {
  port: number;
  setMode(mode: ProxyMode): void;
  close(): Promise<void>;
}

/** A TCP proxy on loopback in front of another server, to take it away and bring it back. */
export async function startTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  let mode: ProxyMode = 'pass';
  const pairs = new Set<[Socket, Socket]>();

  const apply = ([client, upstream]: [Socket, Socket]) => {
    if (mode === 'refuse') {
      client.destroy();
      upstream.destroy();
    } else if (mode === 'stall') {
      client.pause();
      upstream.pause();
    } else {
      client.resume();
      upstream.resume();
    }
  };

  const server = createServer((client) => {
    const upstream = connect(target.port, target.host);
    const pair: [Socket, Socket] = [client, upstream];
    pairs.add(pair);
    for (const [one, other] of [pair, [upstream, client]] as const) {
      one.on('data', (bytes) => void other.write(bytes));
      one.on('error', () => other.destroy());
      one.on('close', () => {
        other.destroy();
        pairs.delete(pair);
      });
    }
    apply(pair);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    port: (server.address() as { port: number }).port,
    setMode(next) {
      mode = next;
      for (const pair of pairs) apply(pair);
    },
    async close() {
      for (const [client, upstream] of pairs) {
        client.destroy();
        upstream.destroy();
      }
      server.close();
      await once(server, 'close');
    },
  };
}
