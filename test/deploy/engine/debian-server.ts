import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:https';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type SinkMta, startSinkMta } from '../../support/servers/sink-mta.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../../..');

/** Public addresses, because Postroom sends to no others. While a server of this file runs, this machine routes them to it and nowhere else. */
export const SERVER = '5.75.10.7';
const NEIGHBOR = '5.75.10.1';
const RESOLVER = '5.75.20.53';
const GMAIL = '5.75.20.25';
export const ELSEWHERE = '5.75.20.80';

const LIMIT_MS = 300_000;
const ACME = 'acme-v02.api.letsencrypt.org';
const PACKAGES = 'systemd-sysv,dbus,libpam-systemd,openssh-server,ca-certificates,iproute2,cron';

/**
 * A Debian 12 with systemd as its first process (systemd-nspawn) in a network namespace of its own, and around it what docs/deploy/one-server.md
 * takes for granted: DNS, Let's Encrypt (Pebble, under its name), a repository, Gmail, and Debian's and npm's registries as this machine reaches
 * them. Needs root.
 */
export class DebianServer {
  readonly gmail: SinkMta;
  readonly repository = `git://${ELSEWHERE}/postroom`;
  readonly #directory: string;
  readonly #processes = new Map<string, ChildProcess>();
  readonly #acme: Server;
  #records: readonly string[] = [];

  private constructor(directory: string, gmail: SinkMta, acme: Server) {
    this.#directory = directory;
    this.gmail = gmail;
    this.#acme = acme;
  }

  static async start(): Promise<DebianServer> {
    const directory = await mkdtemp('/var/tmp/postroom-server-');
    await run('sh', ['-euc', NETWORK]);
    await run('sh', ['-euc', AUTHORITY], { cwd: directory });
    const gmail = await startSinkMta({
      host: GMAIL,
      port: 25,
      name: 'gmail-smtp-in.l.google.com',
      startTls: 'offered',
    });
    const server = new DebianServer(directory, gmail, await startAcme(directory));
    await server.publish([]);
    await writeFile(path.join(directory, 'pebble.json'), JSON.stringify(pebbleConfiguration(directory)));
    server.#spawn('pebble', ['-config', 'pebble.json', '-dnsserver', `${RESOLVER}:53`], { PEBBLE_VA_NOSLEEP: '1' });
    await run('git', ['clone', '--quiet', '--bare', root, path.join(directory, 'git/postroom')]);
    server.#spawn('git', [
      'daemon',
      '--export-all',
      '--reuseaddr',
      `--base-path=${directory}/git`,
      `--listen=${ELSEWHERE}`,
    ]);
    await server.#install();
    await server.boot();
    return server;
  }

  get #root(): string {
    return path.join(this.#directory, 'root');
  }

  #spawn(command: string, words: string[], environment: NodeJS.ProcessEnv = {}): ChildProcess {
    const child = spawn(command, words, {
      cwd: this.#directory,
      env: { ...process.env, ...environment },
      stdio: 'ignore',
    });
    this.#processes.set(command, child);
    return child;
  }

  async #install(): Promise<void> {
    await run('debootstrap', [`--include=${PACKAGES}`, 'bookworm', this.#root], { maxBuffer: 16_000_000 });
    const authorities = path.join(this.#root, 'usr/local/share/ca-certificates');
    const own = '/usr/local/share/ca-certificates';
    // What this machine trusts, for its way to the registries.
    for (const name of await readdir(own).catch(() => []))
      await writeFile(path.join(authorities, name), await readFile(path.join(own, name)));
    await writeFile(
      path.join(authorities, 'stand-in.crt'),
      await readFile(path.join(this.#directory, 'authority.pem')),
    );
    await run('chroot', [this.#root, 'update-ca-certificates']);
    const files = {
      'etc/resolv.conf': `nameserver ${RESOLVER}\n`,
      'etc/hostname': 'server\n',
      'etc/hosts': '127.0.0.1 localhost\n127.0.1.1 server\n',
      'etc/network/interfaces': '',
      // npm of Debian and Node know authorities of their own only.
      'etc/environment': 'NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt\n',
    };
    for (const [name, text] of Object.entries(files)) await writeFile(path.join(this.#root, name), text);
  }

  /** Starts the machine, and waits until systemd has started everything. */
  async boot(): Promise<void> {
    const words = `netns exec one systemd-nspawn --quiet --boot --register=no --keep-unit --machine=server --capability=all --resolv-conf=off --timezone=off --console=pipe`;
    this.#spawn('ip', [...words.split(' '), `--directory=${this.#root}`]);
    const states = ['running', 'degraded'];
    await until('systemd has started', async () =>
      states.includes((await this.run('systemctl is-system-running || true')).trim()),
    );
  }

  /** Runs a script as root on the server, as at its console, and returns what it printed. Throws with that when it fails. */
  async run(script: string): Promise<string> {
    const pid = this.#processes.get('ip')?.pid;
    const init = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ')[0] ?? '';
    const login = 'HOME=/root USER=root TERM=dumb LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive'.split(' ');
    const words = ['-t', init, '-m', '-u', '-i', '-n', '-p', 'env', '-i', ...login, 'bash', '-lec', script];
    const { stdout } = await run('nsenter', words, { maxBuffer: 64_000_000 });
    return stdout;
  }

  /** Replaces the records of example.com but those of its hosts: lines of dnsmasq's configuration. */
  async publish(records: readonly string[]): Promise<void> {
    this.#records = records;
    await writeFile(path.join(this.#directory, 'dns.conf'), [...ZONE, ...this.#records, ''].join('\n'));
    await end(this.#processes.get('dnsmasq'));
    this.#spawn('dnsmasq', ['--no-daemon', '--conf-file=dns.conf']);
    await until('DNS responds', async () => {
      const { stdout } = await run('ip', ['netns', 'exec', 'one', 'getent', 'hosts', 'mx.example.com']);
      return stdout.includes(SERVER);
    });
  }

  async stop(): Promise<void> {
    await this.run('systemctl poweroff').catch(() => undefined);
    await this.gmail.stop();
    this.#acme.close();
    for (const child of this.#processes.values()) await end(child);
    await run('sh', ['-c', NETWORK_END]);
    await rm(this.#directory, { recursive: true, force: true });
  }
}

const NETWORK = `
ip netns add one
ip link add pr0 type veth peer name host0 netns one
for address in ${[NEIGHBOR, RESOLVER, GMAIL, ELSEWHERE].join(' ')}; do ip addr add $address/32 dev pr0; done
ip link set pr0 up
ip route add ${SERVER}/32 dev pr0
ip netns exec one sh -euc 'ip link set lo up; ip addr add ${SERVER}/32 dev host0; ip link set host0 up
  ip route add ${NEIGHBOR}/32 dev host0; ip route add default via ${NEIGHBOR}'
sysctl --quiet --write net.ipv4.ip_forward=1
iptables -t nat -A POSTROUTING -s ${SERVER}/32 ! -o pr0 -j MASQUERADE
mkdir -p /etc/netns/one && echo nameserver ${RESOLVER} >/etc/netns/one/resolv.conf
`;

const NETWORK_END = `
iptables -t nat -D POSTROUTING -s ${SERVER}/32 ! -o pr0 -j MASQUERADE
ip netns delete one
ip link delete pr0
rm -r /etc/netns/one
`;

/** An authority that stands in for those of the web, and a certificate for the front of Let's Encrypt. */
const AUTHORITY = `
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj '/CN=Stand-in' -keyout authority.key -out authority.pem
openssl req -newkey rsa:2048 -nodes -subj '/CN=${ACME}' -keyout acme.key -out acme.csr
echo subjectAltName=DNS:${ACME} >acme.ext
openssl x509 -req -in acme.csr -CA authority.pem -CAkey authority.key -CAcreateserial -days 2 -extfile acme.ext -out acme.pem
`;

const ZONE = [
  'no-hosts',
  'bind-interfaces',
  `listen-address=${RESOLVER}`,
  ...['example.com', 'gmail.com', 'google.com', 'letsencrypt.org', 'elsewhere.net'].map((name) => `local=/${name}/`),
  `host-record=mx.example.com,${SERVER}`,
  `host-record=mail.example.com,${SERVER}`,
  `host-record=gmail-smtp-in.l.google.com,${GMAIL}`,
  'mx-host=gmail.com,gmail-smtp-in.l.google.com,5',
  `txt-record=gmail.com,"v=spf1 ip4:${GMAIL} -all"`,
  `host-record=${ACME},${ELSEWHERE}`,
  `host-record=elsewhere.net,${ELSEWHERE}`,
];

const pebbleConfiguration = (directory: string) => ({
  pebble: {
    listenAddress: '127.0.0.1:14000',
    managementListenAddress: '127.0.0.1:15000',
    certificate: path.join(directory, 'acme.pem'),
    privateKey: path.join(directory, 'acme.key'),
    httpPort: 80,
    tlsPort: 443,
    ocspResponderURL: '',
    externalAccountBindingRequired: false,
  },
});

/** Gives Pebble the address, the name and the path of Let's Encrypt. */
async function startAcme(directory: string): Promise<Server> {
  const [key, cert] = await Promise.all(
    ['acme.key', 'acme.pem'].map((name) => readFile(path.join(directory, name), 'utf8')),
  );
  const server = createServer({ key, cert }, (asked, response) => {
    const { method, headers, url } = asked;
    const target = {
      port: 14_000,
      path: url === '/directory' ? '/dir' : url,
      method,
      headers,
      rejectUnauthorized: false,
    };
    const onward = request({ ...target, host: '127.0.0.1' }, (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(response);
    });
    onward.on('error', () => response.writeHead(502).end());
    asked.pipe(onward);
  });
  await once(server.listen(443, ELSEWHERE), 'listening');
  return server;
}

async function until(what: string, isMet: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + LIMIT_MS;
  while (!(await isMet().catch(() => false))) {
    if (Date.now() > deadline) throw new Error(`Not within ${LIMIT_MS / 1000} s: ${what}`);
    await pause(250);
  }
}

async function end(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill();
  await ended;
}
