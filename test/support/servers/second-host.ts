import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { readlink } from 'node:fs/promises';
import { promisify } from 'node:util';
import { notePid } from './orphans.ts';
import { awaitExit, until } from './service.ts';

/** Whether this process may make hosts: it is root on Linux, with `ip` and `unshare`, and not forbidden to by a sandbox. */
export async function canMakeHosts(): Promise<boolean> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  return execute('unshare', ['-n', 'ip', 'link', 'add', 'probe', 'type', 'veth']).then(
    () => true,
    () => false,
  );
}

/**
 * A second host beside this machine: a network namespace of its own, with one cable between the two. This machine has the addresses
 * NETWORK.1 to NETWORK.199, the other one NETWORK.200 and above. It goes when its keeper, a process, does, and so do cable and addresses.
 */
export class SecondHost {
  /** three of four numbers of an address */
  readonly network: string;
  readonly #keeper: ChildProcess;
  readonly #cable: { here: string; there: string };
  readonly #forwarders: ChildProcess[] = [];
  /** says whose the processes are */
  readonly #environment: { STAGE_DIRECTORY: string };
  #hardware = { here: '', there: '' };

  private constructor(network: string, keeper: ChildProcess, environment: { STAGE_DIRECTORY: string }) {
    const name = randomBytes(4).toString('hex');
    this.network = network;
    this.#keeper = keeper;
    this.#environment = environment;
    this.#cable = { here: `prh${name}`, there: `prt${name}` };
  }

  /** The keeper's end is seen to with that of the folder's other processes. */
  static async make(directory: string): Promise<SecondHost> {
    const environment = { ...process.env, STAGE_DIRECTORY: directory };
    const keeper = spawn('unshare', ['-n', 'sleep', 'infinity'], { stdio: 'ignore', env: environment });
    notePid(directory, keeper.pid);
    const host = new SecondHost(`10.${randomInt(64, 250)}.${randomInt(1, 250)}`, keeper, environment);
    const own = await readlink('/proc/self/ns/net');
    await until(
      'the keeper has a network of its own',
      () => '',
      async () => (await readlink(`/proc/${keeper.pid}/ns/net`)) !== own,
    );
    await host.#connect();
    return host;
  }

  /** The words before a command that runs it there. */
  get within(): string[] {
    return ['nsenter', '-t', String(this.#keeper.pid), '-n'];
  }

  /** The n-th address of this machine, from 1, or of the other one, from 200. */
  address(n: number): string {
    return `${this.network}.${n}`;
  }

  /** From now on every packet between the two vanishes without a word. */
  async cut(): Promise<void> {
    // Frames to a card that is not there: nobody refuses anything, and no sender learns that nobody listens.
    await this.#setNeighbours('02:00:00:00:00:01', '02:00:00:00:00:02');
  }

  async mend(): Promise<void> {
    await this.#setNeighbours(this.#hardware.there, this.#hardware.here);
  }

  /** Has what connects to the port of the other host's loopback reach the port of this machine. */
  async forward(port: number): Promise<void> {
    const program = `
      const net = require('node:net');
      net.createServer((one) => {
        const other = net.connect(${port}, '${this.address(1)}');
        for (const [from, to] of [[one, other], [other, one]]) from.on('error', () => to.destroy()).pipe(to);
      }).listen(${port}, '127.0.0.1', () => console.log('listening'));`;
    const [first, ...words] = [...this.within, process.execPath, '-e', program];
    const forwarder = spawn(first, words, { stdio: ['ignore', 'pipe', 'inherit'], env: this.#environment });
    this.#forwarders.push(forwarder);
    notePid(this.#environment.STAGE_DIRECTORY, forwarder.pid);
    await once(forwarder.stdout, 'data');
  }

  async remove(): Promise<void> {
    for (const child of [...this.#forwarders, this.#keeper]) {
      child.kill('SIGKILL');
      await awaitExit(child);
    }
  }

  async #connect(): Promise<void> {
    const { here, there } = this.#cable;
    const [one, other] = [this.address(1), this.address(200)];
    const addresses = (from: number, to: number, device: string) =>
      Array.from({ length: to - from }, (_, n) => `addr add ${this.address(from + n)}/32 dev ${device}`);
    await ip(
      [],
      [
        `link add ${here} type veth peer name ${there}`,
        `link set ${there} netns ${this.#keeper.pid}`,
        ...addresses(1, 200, here),
        `link set ${here} up`,
        `route add ${other}/32 dev ${here} src ${one}`,
        `route add ${this.network}.0/24 via ${other} dev ${here} src ${one}`,
      ],
    );
    await ip(this.within, [
      'link set lo up',
      ...addresses(200, 255, there),
      `link set ${there} up`,
      `route add ${one} dev ${there} src ${other}`,
      `route add default via ${one} dev ${there} src ${other}`,
    ]);
    this.#hardware = {
      here: await hardwareAddress([], here),
      there: await hardwareAddress(this.within, there),
    };
    await this.mend();
  }

  async #setNeighbours(there: string, here: string): Promise<void> {
    const entry = (address: string, hardware: string, device: string) =>
      `neigh replace ${address} lladdr ${hardware} dev ${device} nud permanent`;
    await ip([], [entry(this.address(200), there, this.#cable.here)]);
    await ip(this.within, [entry(this.address(1), here, this.#cable.there)]);
  }
}

const execute = promisify(execFile);

/** Runs commands of `ip` in their order, here or behind those words; throws with what the first that failed said. */
async function ip(within: readonly string[], commands: readonly string[]): Promise<void> {
  const [program, ...words] = [...within, 'ip', '-batch', '-'];
  const running = execute(program, words);
  running.child.stdin?.end(`${commands.join('\n')}\n`);
  await running;
}

async function hardwareAddress(within: readonly string[], device: string): Promise<string> {
  const [program, ...words] = [...within, 'ip', '-json', 'link', 'show', 'dev', device];
  const { stdout } = await execute(program, words);
  const [link] = JSON.parse(stdout) as { address: string }[];
  return link?.address ?? '';
}
