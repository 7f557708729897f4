import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { inject } from 'vitest';
import { type EmbeddedCluster, startEmbeddedCluster } from '../../../db/cluster/embedded-cluster.ts';
import { databaseUrl, freePort } from '../cluster/cluster.ts';
import { copyCluster } from '../cluster/data-template.ts';
import { type DnsServer, startDnsServer } from '../servers/dns.ts';
import { makeServiceDirectory, notePid } from '../servers/orphans.ts';
import {
  awaitExit,
  createDomainAccount,
  type DomainAccount,
  greets,
  trustedDomains,
  until,
} from '../servers/service.ts';
import { type ComposeService, interpolate, readComposeServices, readEnvExample } from './compose-file.ts';
import { type Places, placed } from './compose-mapping.ts';
import type { StageGround } from './stage-ground.ts';

export interface ComposeStageOptions {
  /** of .env, in the place of what .env.example says; a name that it has not makes the start fail */
  env?: Record<string, string>;
  /** services that are not started with the others, by name */
  without?: readonly string[];
  /** hosts and PostgreSQL in the place of one machine with one server; made in the stage's folder */
  ground?: (directory: string) => Promise<StageGround>;
}

const root = path.resolve(import.meta.dirname, '../../..');

/** Where programs listen in their containers, for tests; docker-compose.yml has to agree, or nothing responds there. */
const HTTP_PORT = 3000;
const SMTP_PORT = 2525;
const MONITORING_PORT = 9464;
const NATS_PORT = 4222;
const NATS_MONITOR_PORT = 8222;
const PROXY_HTTP_PORT = 8080;
const PROXY_SMTP_PORT = 2525;

/** A start takes a second or two; of eighteen processes on a busy machine, minutes. */
const START_LIMIT_MS = 240_000;

/**
 * docker-compose.yml without containers: each service's very command with its very environment, as a local process. A container's
 * address is one of 127.0.0.0/8 of its own, so ports are those of the file; PostgreSQL alone is our embedded one, elsewhere. What the
 * file says that is not understood here (a key, an image, a host, a variable without a line in .env.example) makes the start fail.
 * For Linux, where all of 127.0.0.0/8 is this machine.
 */
export class ComposeStage {
  /** all of docker-compose.yml that starts by itself, in its order */
  readonly services: readonly ComposeService[] = readComposeServices().filter(({ profiles }) => profiles.length === 0);
  readonly directory: string;
  /** those that run or ran last, by the service's name */
  readonly processes = new Map<string, ChildProcess>();
  /** of .env */
  readonly env: Readonly<Record<string, string>>;
  readonly #outputs = new Map<string, string>();
  readonly #network: string;
  readonly #ground: StageGround | null;
  readonly #cluster: EmbeddedCluster;
  readonly #resolver: DnsServer;
  #accounts = 0;

  private constructor(parts: StageParts) {
    this.directory = parts.directory;
    this.env = parts.env;
    this.#network = parts.network;
    this.#ground = parts.ground;
    this.#cluster = parts.cluster;
    this.#resolver = parts.resolver;
    for (const { name } of this.services) this.#resolver.set(name, 'A', [this.readAddress(name)]);
  }

  /** Starts every service as docker-compose.yml orders them, and awaits that each does its work. */
  static async start(options: ComposeStageOptions = {}): Promise<ComposeStage> {
    const directory = await makeServiceDirectory(inject('runDirectory'), 'postroom-compose-');
    const ground = (await options.ground?.(directory)) ?? null;
    // A network of its own: other stages run beside it.
    const network = ground?.network ?? `127.${randomInt(20, 250)}.${randomInt(1, 250)}`;
    const { cluster, password } = ground ?? (await startCluster(path.join(directory, 'cluster')));
    const env = stageEnv({
      INSIDE_NETWORK: network,
      OUTSIDE_NETWORK: network,
      POSTGRES_PASSWORD: password,
      ...ground?.env,
      ...options.env,
    });
    const stage = new ComposeStage({ directory, env, network, ground, cluster, resolver: await startDnsServer() });
    try {
      await stage.start(options.without);
    } catch (error) {
      await stage.stop();
      throw error;
    }
    return stage;
  }

  /** Starts what is not running, and awaits that it does its work. */
  async start(without: readonly string[] = []): Promise<void> {
    const wanted = this.services.filter(({ name }) => name !== 'postgres' && !without.includes(name));
    for (const service of wanted.filter(({ image }) => image.startsWith('nats:'))) this.startService(service.name);
    await Promise.all(wanted.filter(({ image }) => image.startsWith('nats:')).map(({ name }) => this.awaitReady(name)));
    if (!without.includes('migrate')) {
      const code = await awaitExit(this.startService('migrate'));
      if (code !== 0) throw new Error(`migrate: ${code}\n${this.readOutput('migrate')}`);
    }
    const others = wanted.map(({ name }) => name).filter((name) => name !== 'migrate' && !this.isRunning(name));
    for (const name of others) this.startService(name);
    await Promise.all(others.map((name) => this.awaitReady(name)));
  }

  /** Ends everything and removes its files. */
  async stop(): Promise<void> {
    const names = [...this.processes.keys()];
    const isNats = (name: string) => name.startsWith('nats-');
    await this.end('proxy', 'SIGKILL');
    await Promise.all(names.filter((name) => name.startsWith('smtp-')).map((name) => this.end(name, 'SIGTERM')));
    await Promise.all(names.filter((name) => !isNats(name)).map((name) => this.end(name, 'SIGTERM')));
    await Promise.all(names.filter(isNats).map((name) => this.end(name, 'SIGKILL')));
    await this.#cluster.stop();
    await this.#ground?.remove();
    await this.#resolver.stop();
    await rm(this.directory, { recursive: true, force: true });
  }

  /** Starts one service by its name, with further environment; when it runs already, a second process of it. */
  startService(name: string, more: Record<string, string> = {}): ChildProcess {
    const service = this.#service(name);
    const { program, words } = this.#makeCommand(service);
    const [first = '', ...rest] = [...(this.#ground?.within(name) ?? []), program, ...words];
    const child = spawn(first, rest, {
      cwd: root,
      env: { ...inherited(), STAGE_DIRECTORY: this.directory, ...this.readEnvironment(name), ...more },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    notePid(this.directory, child.pid);
    const take = (chunk: Buffer) => this.#outputs.set(name, this.readOutput(name) + chunk.toString());
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.once('error', (error) => take(Buffer.from(`${program}: ${error.message}\n`)));
    this.processes.set(name, child);
    return child;
  }

  /** Ends one process by a signal and awaits its end; returns the exit code, null when the signal ended it or it did not run. */
  async end(name: string, signal: NodeJS.Signals): Promise<number | null> {
    const child = this.processes.get(name);
    if (child === undefined || !this.isRunning(name)) return null;
    child.kill(signal);
    return awaitExit(child);
  }

  /** Drains one service, starts it anew, and awaits that it does its work, as `docker compose up --wait` does with a new image. */
  async restart(name: string, more: Record<string, string> = {}): Promise<void> {
    await this.end(name, 'SIGTERM');
    this.startService(name, more);
    await this.awaitReady(name);
  }

  isRunning(name: string): boolean {
    const child = this.processes.get(name);
    return child !== undefined && child.exitCode === null && child.signalCode === null;
  }

  /** Resolves when the service does its work: what its health check asks. */
  async awaitReady(name: string): Promise<void> {
    const isReady = this.#readiness(name);
    const about = () => this.readOutput(name).slice(-3000);
    await until(`${name} is ready`, about, isReady, START_LIMIT_MS);
  }

  /** The address of a service's container: the file's own, or one of the upper half. */
  readAddress(name: string): string {
    const { addresses } = this.#service(name);
    const given = Object.values(addresses).find((address) => address !== null);
    if (given !== undefined && given !== null) return interpolate(given, this.env);
    const elsewhere = this.#ground?.readAddress(name) ?? null;
    if (elsewhere !== null) return elsewhere;
    return `${this.#network}.${10 + this.services.findIndex((service) => service.name === name)}`;
  }

  /** What the service finds in its environment. */
  readEnvironment(name: string): Record<string, string> {
    const service = this.#service(name);
    return Object.fromEntries(
      Object.entries(service.environment).map(([variable, text]) => [variable, this.#place(text, service)]),
    );
  }

  /** The words of the service's health check, with this machine's addresses; null when it has none. */
  readHealthcheck(name: string): string[] | null {
    const service = this.#service(name);
    return service.healthcheck?.map((word) => this.#place(word, service)) ?? null;
  }

  /** HTTP and SMTP as the world sees them: at the proxy. */
  get url(): string {
    return `http://${this.readAddress('proxy')}:${PROXY_HTTP_PORT}`;
  }

  get smtp(): { host: string; port: number } {
    return { host: this.readAddress('proxy'), port: PROXY_SMTP_PORT };
  }

  /** One gateway, past the proxy. */
  readUrl(gateway: string): string {
    return `http://${this.readAddress(gateway)}:${HTTP_PORT}`;
  }

  /** One SMTP server, past the proxy. */
  findSmtp(name: string): { host: string; port: number } {
    return { host: this.readAddress(name), port: SMTP_PORT };
  }

  /** /health, /ready and /metrics of one process. */
  readMonitoringUrl(name: string): string {
    return `http://${this.readAddress(name)}:${MONITORING_PORT}`;
  }

  /** All NATS servers, as that role. */
  readNatsUrl(role: string): string {
    const nodes = this.services.filter(({ image }) => image.startsWith('nats:'));
    const places = nodes.map(({ name }) => `${this.readAddress(name)}:${NATS_PORT}`);
    const password = this.env[`NATS_${role.toUpperCase()}_PASSWORD`] ?? '';
    return places.map((place, n) => (n === 0 ? `nats://${role}:${password}@${place}` : `nats://${place}`)).join(',');
  }

  /** The URL of the database's owner. */
  get databaseUrl(): string {
    return databaseUrl(this.#cluster.url, 'postroom');
  }

  get cluster(): EmbeddedCluster {
    return this.#cluster;
  }

  /** What one service wrote to stdout and stderr. */
  readOutput(name: string): string {
    return this.#outputs.get(name) ?? '';
  }

  /** What all wrote. */
  get output(): string {
    return [...this.#outputs.values()].join('');
  }

  /** An account that owns a trusted domain; its calls go to the proxy, or to the gateway that is named. */
  async createAccount(gateway?: string): Promise<DomainAccount> {
    const url = gateway === undefined ? this.url : this.readUrl(gateway);
    return createDomainAccount(url, this.databaseUrl, trustedDomains[this.#accounts++] ?? '');
  }

  #readiness(name: string): () => Promise<boolean> {
    const service = this.#service(name);
    const asks = (url: string) => async () => (await fetch(url)).ok;
    if (service.image.startsWith('nats:')) return asks(`http://${this.readAddress(name)}:${NATS_MONITOR_PORT}/healthz`);
    if (name === 'proxy')
      return async () => (await asks(`${this.url}/ready`)()) && greets(this.smtp.port, this.smtp.host);
    return asks(`${this.readMonitoringUrl(name)}/ready`);
  }

  #service(name: string): ComposeService {
    const service = this.services.find((each) => each.name === name);
    if (service === undefined) throw new Error(`docker-compose.yml has no service ${name}`);
    return service;
  }

  #makeCommand(service: ComposeService): { program: string; words: string[] } {
    const [first = '', ...rest] = service.command.map((word) => this.#place(word, service));
    const [image = ''] = service.image.split(':');
    switch (image) {
      case 'postroom':
        if (first !== 'node') throw new Error(`${service.name}: not a plain node command`);
        return { program: process.execPath, words: rest };
      case 'nats':
        return { program: 'nats-server', words: [first, ...rest] };
      case 'haproxy':
        // Twice as many files as connections, which not every machine lets a test have.
        return { program: first, words: [...rest, '-n', '2000'] };
      default:
        throw new Error(`${service.name}: no program stands for the image ${service.image}`);
    }
  }

  #place(text: string, service: ComposeService): string {
    const places: Places = {
      readAddress: (name) => this.readAddress(name),
      elsewhere: {
        'postgres:5432': this.#ground?.postgres ?? `127.0.0.1:${this.#cluster.port}`,
        // where a container asks for the others
        '127.0.0.11:53': this.#resolver.address,
        // One address of the proxy stands for those that it has in several networks.
        ...Object.fromEntries(this.#otherAddresses().map(([other, first]) => [other, first])),
      },
      readPath: (of, inside) => this.#readPath(of, inside),
    };
    const names = this.services.map(({ name }) => name);
    return interpolate(placed(text, service, names, places), this.env);
  }

  /** Further addresses that the file gives to a service, each with the first one of that service. */
  #otherAddresses(): [other: string, first: string][] {
    return this.services.flatMap(({ addresses }) => {
      const [first = '', ...others] = Object.values(addresses).filter((address) => address !== null);
      return others.map((other): [string, string] => [other, first]);
    });
  }

  #readPath(service: ComposeService, inside: string): string {
    for (const volume of service.volumes) {
      const [source = '', target = ''] = interpolate(volume, this.env).split(':');
      if (inside !== target && !inside.startsWith(`${target}/`)) continue;
      const place = source.startsWith('.') ? path.join(root, source) : path.join(this.directory, 'volumes', source);
      return place + inside.slice(target.length);
    }
    // In the image, which no other container sees.
    return path.join(this.directory, service.name, inside);
  }
}

interface StageParts {
  directory: string;
  env: Readonly<Record<string, string>>;
  /** three of four numbers */
  network: string;
  ground: StageGround | null;
  cluster: EmbeddedCluster;
  resolver: DnsServer;
}

async function startCluster(directory: string): Promise<{ cluster: EmbeddedCluster; password: string }> {
  const password = await copyCluster(directory);
  const settings = readSettings(readComposeServices());
  return { password, cluster: await startEmbeddedCluster({ directory, password, port: await freePort(), settings }) };
}

/** .env as an operator makes it of .env.example, with what tests want of the world. */
function stageEnv(given: Record<string, string>): Record<string, string> {
  const example = readEnvExample();
  const chosen: Record<string, string> = {
    MAIL_HOSTNAME: 'mx.postroom.test',
    TRUSTED_DOMAINS: trustedDomains.join(','),
    ALLOWED_PRIVATE_NETWORKS: '127.0.0.0/8',
    RATE_LIMIT_PER_SECOND: '0',
    // a closed port: every look-up of the tests' senders fails at once
    DNS_SERVERS: '127.0.0.1:1',
    ...given,
  };
  const unknown = Object.keys(chosen).filter((name) => !Object.hasOwn(example, name));
  if (unknown.length > 0) throw new Error(`.env.example has no ${unknown.join(', ')}`);
  const secrets = Object.keys(example)
    .filter((name) => name.endsWith('_PASSWORD'))
    .map((name) => [name, randomBytes(16).toString('hex')]);
  return {
    ...example,
    ...Object.fromEntries(secrets),
    SECRET_KEY: randomBytes(32).toString('base64url'),
    ...chosen,
  };
}

/** The server settings in the command of `postgres`. */
function readSettings(services: readonly ComposeService[]): Record<string, string> {
  const [program, ...words] = services.find(({ name }) => name === 'postgres')?.command ?? [];
  if (program !== 'postgres') throw new Error(`postgres: the command is ${program}`);
  const settings: Record<string, string> = {};
  for (let at = 0; at < words.length; at += 2) {
    const [, name = '', value = ''] = /^([a-z_]+)=(.*)$/.exec(words[at + 1] ?? '') ?? [];
    if (words[at] !== '-c' || name === '') throw new Error(`postgres: not understood: ${words[at]} ${words[at + 1]}`);
    settings[name] = value;
  }
  return settings;
}

/** What an image sets, and what makes starts fast. */
function inherited(): Record<string, string> {
  const { PATH = '', NODE_COMPILE_CACHE } = process.env;
  return { PATH, ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }) };
}
