import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { canMakeHosts, SecondHost } from './second-host.ts';
import { awaitExit } from './service.ts';

// Not in `npm test`: Chromium aborts requests when the machine gets or loses an address (ERR_NETWORK_CHANGED).
test.runIf(await canMakeHosts())(
  'a second host responds, is silent when it is cut off, and responds again',
  async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'postroom-second-host-'));
    const host = await SecondHost.make(directory);
    const at = host.address(201);
    const program = `require('net').createServer((socket) => socket.end('here')).listen(5000, '${at}', () => console.log('up'))`;
    const [first, ...words] = [...host.within, process.execPath, '-e', program];
    const server = spawn(first, words, { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      await once(server.stdout, 'data');
      expect(await hear(at)).toBe('here');
      await host.cut();
      expect(await hear(at)).toBe('nothing');
      await host.mend();
      expect(await hear(at)).toBe('here');
    } finally {
      server.kill('SIGKILL');
      await awaitExit(server);
      await host.remove();
      await rm(directory, { recursive: true, force: true });
    }
  },
);

/** What comes from there; `nothing` when nothing comes for seconds. */
function hear(address: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(5000, address);
    socket.setTimeout(3_000, () => {
      socket.destroy();
      resolve('nothing');
    });
    socket.once('data', (bytes) => resolve(bytes.toString()));
    socket.once('error', (error) => resolve(error.message));
  });
}
