import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { createInProcessBus, type InProcessBus } from '../../actors/bus/in-process.ts';
import { type SocketBusServer, serveSocketBus } from '../../actors/bus/socket.ts';
import type { Reply, Request } from '../../schema/messages.ts';
import { freePort } from '../support/cluster/cluster.ts';
import { builtFirst } from '../support/runner.ts';
import { SmtpClient } from '../support/servers/smtp-client.ts';

type Recipient = Reply<'receiving.recipient.check'>;
type Message = Reply<'receiving.message.accept'>;

/** What the receiving actor of the test says; each can be replaced at any time. */
export interface Script {
  recipient: (recipient: string) => Recipient | Promise<Recipient>;
  message: (request: Request<'receiving.message.accept'>, bytes: Buffer) => Message | Promise<Message>;
  hasRoom: () => boolean | Promise<boolean>;
}

/** bin/smtp.ts in a process of its own, and the actor that it asks, played by the test over a real socket bus. */
export class SmtpServer {
  readonly port: number;
  readonly child: ChildProcess;
  readonly directory: string;
  readonly bus: InProcessBus;
  readonly script: Script;
  /** what was asked, in order */
  readonly recipients: string[] = [];
  readonly messages: { request: Request<'receiving.message.accept'>; bytes: Buffer }[] = [];
  /** what was kept of refusals */
  readonly refusals: Request<'receiving.refusals.keep'>['refusals'] = [];
  output = '';
  readonly exited: Promise<number | null>;
  #busServer: SocketBusServer | null = null;

  constructor(port: number, directory: string, environment: Record<string, string>) {
    this.port = port;
    this.directory = directory;
    this.bus = createInProcessBus({ log });
    this.script = ordinaryScript();
    this.bus.serve('receiving.capacity.check', async () => ({ hasRoom: await this.script.hasRoom() }));
    this.bus.serve('receiving.recipient.check', async ({ recipient }) => {
      this.recipients.push(recipient);
      return this.script.recipient(recipient);
    });
    this.bus.serve('receiving.message.accept', async (request, bytes) => {
      const message = { request, bytes: Buffer.from(bytes) };
      this.messages.push(message);
      return this.script.message(request, message.bytes);
    });
    this.bus.serve('receiving.refusals.keep', async ({ refusals }) => {
      this.refusals.push(...refusals);
      return {};
    });
    this.child = spawn(process.execPath, builtFirst(['bin/smtp.ts']), {
      cwd: path.join(import.meta.dirname, '../..'),
      env: {
        PATH: process.env['PATH'],
        NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
        HOST: '127.0.0.1',
        SMTP_PORT: String(port),
        DATA_DIR: directory,
        BUS_SOCKET: this.socketPath,
        MAIL_HOSTNAME: 'mx.postroom.test',
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    const take = (chunk: Buffer) => {
      this.output += chunk.toString();
    };
    this.child.stdout?.on('data', take);
    this.child.stderr?.on('data', take);
    this.exited = new Promise((resolve) => this.child.once('exit', (code) => resolve(code)));
  }

  /** Starts and awaits the banner. */
  static async start(environment: Record<string, string> = {}): Promise<SmtpServer> {
    const directory = await mkdtemp(path.join(tmpdir(), 'postroom-smtp-'));
    const server = new SmtpServer(await freePort(), directory, environment);
    await server.openBus();
    await server.awaitBanner();
    return server;
  }

  get socketPath(): string {
    return path.join(this.directory, 'bus.sock');
  }

  async openBus(): Promise<void> {
    this.#busServer = await serveSocketBus({ path: this.socketPath, bus: this.bus, log });
  }

  /** Takes the bus away from the child: connections end and none can be made. */
  async closeBus(): Promise<void> {
    await this.#busServer?.close();
    this.#busServer = null;
    await rm(this.socketPath, { force: true });
  }

  /** Resolves when a transaction can begin. */
  async awaitBanner(): Promise<void> {
    await until(async () => {
      if (this.child.exitCode !== null) throw new Error(`the process ended: ${this.output}`);
      const client = await SmtpClient.connect(this.port);
      await client.reply();
      await client.say('EHLO probe.test');
      const reply = await client.say('MAIL FROM:<>');
      client.destroy();
      return reply.code === 250;
    });
  }

  /** Ends the child as an operator would; returns its exit code. */
  async end(): Promise<number | null> {
    this.child.kill('SIGTERM');
    return this.exited;
  }

  async stop(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill('SIGKILL');
    await this.exited;
    await this.closeBus();
    await this.bus.close();
    await rm(this.directory, { recursive: true, force: true });
  }
}

const log = pino({ level: 'silent' });

/** Takes all mail. */
export function ordinaryScript(): Script {
  let count = 0;
  return {
    recipient: (recipient) => accepted(recipient),
    message: () => ({ verdict: 'accepted', emailIds: [`em_${++count}`] }),
    hasRoom: () => true,
  };
}

export function accepted(recipient: string): Recipient {
  const ownAddress = recipient.toLowerCase();
  return { verdict: 'accept', workspaceId: 'usr_1', addressId: 'addr_1', domainId: 'dom_1', ownAddress };
}

/** Tries until it is true; what it throws counts as false. Throws the last error after 120 s. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const endAt = performance.now() + 120_000;
  let failure: unknown = new Error('it never came true');
  while (performance.now() < endAt) {
    try {
      if (await isSo()) return;
    } catch (error) {
      failure = error;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw failure;
}
