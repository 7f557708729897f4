import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** How long the sockets of a killed run may keep a port. Milliseconds. */
const PATIENCE_MS = 6_000;

/** Resolves with null when the port can be opened, or with the reason if it is still taken after the limit. */
export async function reasonNotToListen(host: string, port: number): Promise<string | null> {
  for (const deadline = performance.now() + PATIENCE_MS; ; await sleep(100)) {
    const code = await tryToListen(host, port);
    if (code === null) return null;
    if (code === 'EADDRINUSE' && performance.now() < deadline) continue;
    switch (code) {
      case 'EADDRINUSE':
        return `${host}:${port} is in use by another program`;
      case 'EACCES':
        return `this user may not listen on ${host}:${port}`;
      default:
        return `cannot listen on ${host}:${port} (${code})`;
    }
  }
}

function tryToListen(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, host, () => server.close(() => resolve(null)));
  });
}
