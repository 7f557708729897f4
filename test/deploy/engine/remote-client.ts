import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Another machine, as far as the engine sees: a network namespace that is connected to this machine by a cable of its own. */
export interface RemoteClient {
  /** its addresses */
  ipv4: string;
  ipv6: string;
  /** those of this machine at the other end of the cable */
  hostIpv4: string;
  hostIpv6: string;
  /** Runs a program there; returns what it printed. */
  run(program: string, ...words: string[]): Promise<string>;
  remove(): Promise<void>;
}

/** Connects a client. Wants root. */
export async function connectRemoteClient(): Promise<RemoteClient> {
  const [name, near, far] = ['postroom-client', 'postroom-near', 'postroom-far'];
  const ip = (words: string) => run('ip', words.split(' '));
  const client = { ipv4: '198.51.100.2', ipv6: 'fd99:7e57::2', hostIpv4: '198.51.100.1', hostIpv6: 'fd99:7e57::1' };
  await ip(`netns add ${name}`);
  await ip(`link add ${near} type veth peer name ${far} netns ${name}`);
  for (const [where, device, ipv4, ipv6] of [
    ['', near, client.hostIpv4, client.hostIpv6],
    [`-n ${name} `, far, client.ipv4, client.ipv6],
  ]) {
    await ip(`${where}addr add ${ipv4}/24 dev ${device}`);
    await ip(`${where}addr add ${ipv6}/64 dev ${device} nodad`);
    await ip(`${where}link set ${device} up`);
  }
  return {
    ...client,
    async run(program, ...words) {
      const { stdout } = await run('ip', ['netns', 'exec', name, program, ...words]);
      return stdout;
    },
    // The cable goes with its far end.
    remove: async () => void (await ip(`netns delete ${name}`)),
  };
}
