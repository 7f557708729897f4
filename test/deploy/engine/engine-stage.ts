import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../../..');

export const SMTP_PORT = 12_525;
const ORIGIN = 'http://127.0.0.1:18080';
const LIMIT_MS = 300_000;

/** What clients saw while something was done. */
interface Probes {
  probes: number;
  /** each with its time and reason */
  failed: string[];
}

/** A clone of the repository with .env and certificates, as docs/deploy/compose.md says, and a Docker engine that has built its images. */
export class EngineStage {
  readonly clone: string;
  readonly environment: NodeJS.ProcessEnv;
  /** of the account that the tests use */
  key = '';
  readonly #directory: string;
  readonly #engine: ChildProcess | null;

  private constructor(directory: string, environment: NodeJS.ProcessEnv, engine: ChildProcess | null) {
    this.#directory = directory;
    this.clone = path.join(directory, 'postroom');
    this.environment = environment;
    this.#engine = engine;
  }

  /** Uses the engine of DOCKER_HOST, or starts one. */
  static async start(): Promise<EngineStage> {
    const directory = await mkdtemp('/var/tmp/postroom-engine-');
    const given = process.env['DOCKER_HOST'];
    const socket = given ?? `unix://${directory}/docker.sock`;
    const environment = { ...process.env, DOCKER_HOST: socket, COMPOSE_PROJECT_NAME: 'postroom' };
    const folders = { '--data-root': 'data', '--exec-root': 'exec', '--pidfile': 'pid' };
    const words = Object.entries(folders).flatMap(([option, name]) => [option, path.join(directory, name)]);
    // As docs/deploy/compose.md says of IPv6; engines since 27 do so by themselves.
    words.push('--experimental', '--ip6tables');
    const engine = given === undefined ? spawn('dockerd', [...words, '-H', socket], { stdio: 'ignore' }) : null;
    const stage = new EngineStage(directory, environment, engine);
    await until('dockerd responds', async () => spawnSync('docker', ['version'], { env: environment }).status === 0);
    // As a clone is under the strictest usual umask.
    await run('sh', ['-c', `umask 077 && git clone --quiet '${root}' '${stage.clone}'`]);
    await run(path.join(root, 'test/deploy/engine/make-images.sh'), { env: environment, maxBuffer: 64_000_000 });
    await stage.#configure();
    await stage.sh('docker compose --profile tools build');
    return stage;
  }

  async #configure(): Promise<void> {
    const secret = () => randomBytes(24).toString('hex');
    const example = await readFile(path.join(this.clone, '.env.example'), 'utf8');
    const filled = example.replaceAll(/^([A-Z_]*PASSWORD)=$/gm, (_, name: string) => `${name}=${secret()}`);
    await writeFile(path.join(this.clone, '.env'), filled);
    await this.set({
      SECRET_KEY: randomBytes(32).toString('base64url'),
      PUBLIC_URL: 'http://localhost:18080',
      MAIL_HOSTNAME: 'localhost',
      HTTP_PUBLISHED: '127.0.0.1:18080',
      SMTP_PUBLISHED: `127.0.0.1:${SMTP_PORT}`,
      TRUSTED_DOMAINS: 'inbox.test',
      OUTBOUND_RELAY_URL: 'smtp://try-sink:2526',
      ALLOWED_PRIVATE_NETWORKS: '172.31.254.0/24',
      WEBHOOK_CA_FILE: '/certificates/try.pem',
    });
    await mkdir(path.join(this.clone, 'certificates'), { mode: 0o755 });
    await this.sh(`openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=try-webhook -addext subjectAltName=DNS:try-webhook \
      -keyout certificates/try-key.pem -out certificates/try.pem 2>&1 && chmod 644 certificates/*`);
  }

  /** Ends everything, unless KEEP_ENGINE is set. */
  async stop(): Promise<void> {
    if (process.env['KEEP_ENGINE'] !== undefined) return;
    await this.sh('docker compose --profile "*" down --volumes --timeout 5').catch(() => undefined);
    const started = this.#engine;
    if (started !== null) {
      started.kill('SIGTERM');
      await new Promise((resolve) => started.once('exit', resolve));
    }
    await rm(this.#directory, { recursive: true, force: true });
  }

  /** Runs a command in the clone; returns what it printed. Throws with its stderr. */
  async sh(command: string): Promise<string> {
    const options = { cwd: this.clone, env: this.environment, maxBuffer: 64_000_000 };
    const { stdout } = await run('sh', ['-c', command], options);
    return stdout;
  }

  /** Runs a program of Node in a service's container; returns what it printed. */
  async node(service: string, program: string, ...words: string[]): Promise<string> {
    const all = ['compose', 'exec', '-T', service, 'node', '-e', program, ...words];
    const { stdout } = await run('docker', all, { cwd: this.clone, env: this.environment });
    return stdout;
  }

  /** Changes lines of .env. */
  async set(values: Readonly<Record<string, string>>): Promise<void> {
    const file = path.join(this.clone, '.env');
    let text = await readFile(file, 'utf8');
    for (const [name, value] of Object.entries(values)) {
      const line = new RegExp(`^${name}=.*$`, 'm');
      if (!line.test(text)) throw new Error(`.env has no ${name}`);
      text = text.replace(line, `${name}=${value}`);
    }
    await writeFile(file, text);
  }

  async fetch(route: string, body?: unknown): Promise<Response> {
    return fetch(ORIGIN + route, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${this.key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  /** Asks REST: GET without a body, POST with one. */
  async call(route: string, body?: unknown) {
    const response = await this.fetch(`/api/e2${route}`, body);
    // oxlint-disable-next-line typescript/no-explicit-any -- tests read into the responses of many routes
    return { status: response.status, body: (await response.json()) as any };
  }

  /** Asks the API and SMTP through the proxy, over and over, while `work` runs. */
  async probeWhile(work: () => Promise<unknown>): Promise<Probes> {
    const failed: string[] = [];
    let probes = 0;
    let isOver = false;
    const ask = async () => {
      const { status } = await this.call('/emails?limit=1');
      if (status !== 200) throw new Error(`HTTP ${status}`);
    };
    const probe = async (attempt: () => Promise<void>) => {
      while (!isOver) {
        probes++;
        await attempt().catch((error: unknown) => failed.push(`${new Date().toISOString()} ${String(error)}`));
        await pause(100);
      }
    };
    const probing = [probe(ask), probe(async () => void (await greeted()).destroy())];
    try {
      await work();
    } finally {
      isOver = true;
      await Promise.all(probing);
    }
    return { probes, failed };
  }
}

/** Waits until it is so. Throws after 300 s. */
export async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + LIMIT_MS; !(await isSo().catch(() => false)); await pause(500))
    if (Date.now() > deadline) throw new Error(`not within ${LIMIT_MS / 1_000} s: ${what}`);
}

/** Connects to the SMTP port; returns the connection when its greeting has come. */
export async function greeted(): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port: SMTP_PORT });
  socket.setTimeout(30_000, () => socket.destroy(new Error('no greeting')));
  await new Promise<void>((resolve, reject) => {
    socket.once('data', (banner) => {
      if (banner.toString().startsWith('220')) resolve();
      else reject(new Error(banner.toString()));
    });
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('closed')));
  });
  socket.on('error', () => {});
  return socket;
}

/** Sends a message in a session of its own; returns the last reply, that to its end or to what was refused before. */
export async function sendMail(to: string, subject: string, text: string): Promise<string> {
  const message = `From: you@example.com\r\nTo: ${to}\r\nSubject: ${subject}\r\nMessage-ID: <${subject.replaceAll(' ', '-')}@example.com>\r\n\r\n${text}\r\n.`;
  const lines = ['EHLO client.example', 'MAIL FROM:<you@example.com>', `RCPT TO:<${to}>`, 'DATA', message];
  const socket = await greeted();
  try {
    let reply = '';
    for (const line of lines) {
      socket.write(`${line}\r\n`);
      reply = await readReply(socket);
      if (!/^[23]/.test(reply)) break;
    }
    return reply;
  } finally {
    socket.destroy();
  }
}

function readReply(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const closed = () => reject(new Error(`closed after ${JSON.stringify(text)}`));
    const read = (chunk: Buffer) => {
      text += chunk.toString();
      if (!/^\d{3}(?: .*)?\r\n$/m.test(text)) return;
      socket.off('data', read).off('close', closed);
      resolve(text);
    };
    socket.on('data', read).once('close', closed);
  });
}
