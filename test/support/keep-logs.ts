import { ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { channel } from 'node:diagnostics_channel';
import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import path from 'node:path';
import type { FastifyInstance } from 'fastify';
import { inject } from 'vitest';
import { KEPT_LOGS, keepLog, keepLogFile, keepSecrets } from './kept-logs.ts';
import { BodyCollector, bodiesIn, secretsGiven, secretsIn } from './printed-secrets.ts';

/**
 * vitest setupFiles: keeps what the product logs during the tests, and what must not stand there, for leaks.ts. In one place for all
 * tests, those to come included: every process that a test starts, by itself or through a shell, passes through ChildProcess, every
 * line that is logged within the test's process through pino, and what is said over connections or injected through node:net and Fastify.
 */
const isBegun = Symbol.for('postroom.keep-logs');
// Files that share a process run this again.
if (process.env[KEPT_LOGS] !== undefined && !Object.hasOwn(globalThis, isBegun)) {
  Object.assign(globalThis, { [isBegun]: true });
  keepLogs();
}

/** Begins with it, for as long as this process lives. */
export function keepLogs(): void {
  keepSecrets(secretsGiven([`DATABASE_URL=${inject('clusterUrl')}`], []));
  followProcesses();
  channel('tracing:pino_asJson:end').subscribe((message) =>
    keepLog(`within-${process.pid}`, String((message as { result?: unknown }).result)),
  );
  followConnections();
  channel('fastify.initialization').subscribe((message) =>
    followRequests((message as { fastify: FastifyInstance }).fastify),
  );
}

/** Of larger ones the middle is not looked at. Bytes. */
const LOOKED_AT = 65_536;
/** The end of data of SMTP is among these. Bytes. */
const LAST = 5;

/** What Node hands to a process that begins. */
interface Start {
  file: string;
  args?: string[];
  envPairs?: string[];
}

function followProcesses(): void {
  const prototype = ChildProcess.prototype as unknown as { spawn: (this: ChildProcess, start: Start) => number };
  const { spawn } = prototype;
  prototype.spawn = function spawnAndFollow(start) {
    const status = spawn.call(this, start);
    followProcess(this, start);
    return status;
  };
}

function followProcess(child: ChildProcess, { file, args = [], envPairs = [] }: Start): void {
  const words = [file, ...args];
  keepSecrets(secretsGiven(envPairs, words));
  const program = programIn(words);
  const name = `${program ?? path.basename(file)}-${child.pid}`;
  for (const stream of [child.stdout, child.stderr])
    if (stream !== null) {
      const lines = program === null ? new LogLines() : null;
      onChunks(stream, 'push', (bytes) => {
        keepLog(name, lines === null ? bytes : lines.take(bytes));
        keepSecrets(secretsIn(asText(bytes)));
      });
    }
  const directory = envPairs.find((pair) => pair.startsWith('DATA_DIR='))?.slice('DATA_DIR='.length);
  const clusters = [
    ...(directory === undefined ? [] : [path.join(directory, 'postgresql')]),
    ...(args.includes('-D') ? [args[args.indexOf('-D') + 1] ?? ''] : []),
  ];
  // Before anybody who awaits the end removes the folders.
  child.once('exit', () => {
    if (directory !== undefined) keepSecretsOfMachine(path.join(directory, 'secrets.json'));
    for (const cluster of clusters)
      keepLogFile(
        `postgresql-${createHash('sha256').update(cluster).digest('hex').slice(0, 12)}`,
        path.join(cluster, 'server.log'),
      );
  });
}

/** The product's program, or one of a cluster, that these words start; null when it is another. */
function programIn(words: readonly string[]): string | null {
  const own = words.find((word) => /^(?:.*\/)?bin\/[\w-]+\.ts$/.test(word));
  // What `postroom` prints is for its user, as a mail that was asked for, and no log.
  if (own !== undefined) return path.basename(own) === 'postroom.ts' ? null : path.basename(own, '.ts');
  return words.map((word) => path.basename(word)).find((word) => ['nats-server', 'haproxy'].includes(word)) ?? null;
}

/** Of what another program prints, the lines that are the product's log: a shell may have started it. */
class LogLines {
  #rest = '';

  take(bytes: Uint8Array): string {
    const lines = `${this.#rest}${Buffer.from(bytes).toString('latin1')}`.split('\n');
    this.#rest = lines.pop() ?? '';
    const logged = lines.filter((line) => line.startsWith('{"level":')).map((line) => `${line}\n`);
    return Buffer.from(logged.join(''), 'latin1').toString();
  }
}

function keepSecretsOfMachine(file: string): void {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    // It kept none, or is gone already.
    return;
  }
  for (const [, name = '', value = ''] of text.matchAll(/"(databasePassword|secretKey)":\s*"([^"]+)"/g))
    keepSecrets([{ kind: name === 'secretKey' ? 'SECRET_KEY' : 'password of a server', value }]);
}

/** TCP, TLS and Unix sockets alike, in both directions. */
function followConnections(): void {
  const directions = ['write', 'push'] as const;
  /** null: PostgreSQL's protocol, which begins with a length and says its secrets in no words */
  const connections = new WeakMap<object, Record<(typeof directions)[number], BodyCollector> | null>();
  for (const direction of directions)
    onChunks(Socket.prototype, direction, (bytes, socket) => {
      const known = connections.get(socket);
      const bodies =
        known === undefined && bytes[0] !== 0 ? { write: new BodyCollector(), push: new BodyCollector() } : known;
      if (known === undefined) connections.set(socket, bodies ?? null);
      if (bodies === undefined || bodies === null) return;
      const text = asText(bytes);
      keepSecrets([...secretsIn(text), ...bodies[direction].take(text)]);
    });
}

/** Requests that are injected pass no connection. */
function followRequests(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', (request, _reply, done) => {
    const { authorization, cookie } = request.headers;
    keepSecrets(secretsIn(`authorization: ${authorization}\r\ncookie: ${cookie}`));
    done();
  });
  fastify.addHook('preHandler', (request, _reply, done) => {
    const isSmall = Number(request.headers['content-length']) <= LOOKED_AT;
    const body = isSmall ? (JSON.stringify(request.body) ?? '') : '';
    keepSecrets([...secretsIn(body), ...bodiesIn(body)]);
    done();
  });
  fastify.addHook('onSend', (_request, reply, payload, done) => {
    const cookies = [reply.getHeader('set-cookie') ?? []].flat().join('\r\n');
    keepSecrets(secretsIn(`${cookies}\r\n${typeof payload === 'string' ? payload.slice(0, LOOKED_AT) : ''}`));
    done();
  });
}

/** Looks at what passes through a stream, or all of a kind, without being a reader, which would take it from others or begin too early. */
function onChunks(streams: object, method: 'push' | 'write', look: (bytes: Uint8Array, stream: object) => void): void {
  const methods = streams as Record<typeof method, (...words: unknown[]) => unknown>;
  const former = methods[method];
  methods[method] = function lookedAt(this: object, ...words) {
    const [chunk] = words;
    if (typeof chunk === 'string') look(Buffer.from(chunk), this);
    else if (chunk instanceof Uint8Array && chunk.length > 0) look(chunk, this);
    return former.apply(this, words);
  };
}

function asText(bytes: Uint8Array): string {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (all.length <= LOOKED_AT) return all.toString('latin1');
  return all.toString('latin1', 0, LOOKED_AT) + all.toString('latin1', all.length - LAST);
}
