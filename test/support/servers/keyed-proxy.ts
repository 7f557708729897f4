import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

/** Opens a proxy to a server that adds an API key to every request, for programs that cannot send one. Returns its origin. */
export async function openKeyedProxy(target: string, key: string): Promise<{ url: string; close: () => void }> {
  const server = http.createServer((request, response) => {
    const { method, url } = request;
    const headers = { ...request.headers, authorization: `Bearer ${key}` };
    const forwarded = http.request(new URL(url ?? '/', target), { method, headers }, (result) => {
      response.writeHead(result.statusCode ?? 502, result.headers);
      result.pipe(response);
    });
    forwarded.on('error', () => response.destroy());
    request.pipe(forwarded);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
