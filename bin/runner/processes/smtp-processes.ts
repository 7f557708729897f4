import { type ChildProcess, spawn } from 'node:child_process';
import { connect } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { MetricsSnapshot } from '../monitoring/process-metrics.ts';
import { askProcess } from '../monitoring/process-questions.ts';

/** The SMTP side as a child process that is started again whenever it dies. */
export interface SmtpProcesses {
  /** The metrics of the child and of those that it started; none while it is away. */
  snapshots(): Promise<MetricsSnapshot[]>;
  /**
   * Resolves when the server takes mail, or, once it greets, after 10 s: then what it needs to decide is away (it answers 451 until
   * that is back). Throws when it has not greeted within a minute.
   */
  awaitService(): Promise<void>;
  /** Lets transactions in hand end, then ends the child; 9 s at most. */
  stop(): Promise<void>;
}

export interface SmtpProcessesOptions {
  host: string;
  port: number;
  /** whether connections from this address have to begin with a PROXY line */
  isProxied: boolean;
  /** of the child, whole */
  environment: Record<string, string | undefined>;
  log: Logger;
}

/** Milliseconds. */
const FIRST_BACKOFF_MS = 100;
const LONGEST_BACKOFF_MS = 10_000;
/** A child that lived this long did not die of its start: the next back-off begins anew. */
const STEADY_MS = 30_000;
const GREETING_LIMIT_MS = 60_000;
const DECISION_LIMIT_MS = 10_000;
const REPLY_LIMIT_MS = 10_000;
const STOP_LIMIT_MS = 9_000;

/**
 * Runs bin/smtp.ts. The child has a session of its own, so that a Ctrl-C at the terminal reaches us alone, and an IPC channel:
 * when that closes, because we were killed, it ends by itself.
 */
export function runSmtpProcesses(options: SmtpProcessesOptions): SmtpProcesses {
  const { log } = options;
  let child: ChildProcess | null = null;
  let backoffMs = FIRST_BACKOFF_MS;
  let isStopping = false;
  let restart: NodeJS.Timeout | undefined;

  const start = () => {
    const startedAt = performance.now();
    const started = spawn(process.execPath, [path.join(import.meta.dirname, '../../smtp.ts')], {
      env: options.environment,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      detached: true,
    });
    child = started;
    const onEnd = (code: number | null, signal: string | null) => {
      if (child !== started) return;
      child = null;
      if (isStopping) return;
      if (performance.now() - startedAt > STEADY_MS) backoffMs = FIRST_BACKOFF_MS;
      log.error({ code, signal, backoffMs }, 'smtp: process died, starting it again');
      restart = setTimeout(start, backoffMs);
      backoffMs = Math.min(LONGEST_BACKOFF_MS, backoffMs * 2);
    };
    started.once('exit', onEnd);
    // Also of a message that could not be sent to it: only one that never ran has no end of its own.
    started.on('error', (error) => {
      log.error({ err: error }, 'smtp: trouble with the process');
      if (started.pid === undefined) onEnd(null, null);
    });
  };
  start();

  return {
    async snapshots() {
      const answer = child === null ? null : await askProcess(child, 'metrics');
      // Our own program gave it.
      return answer === null ? [] : [answer as MetricsSnapshot];
    },
    async awaitService() {
      const greetingDeadline = performance.now() + GREETING_LIMIT_MS;
      let decisionDeadline: number | null = null;
      for (;;) {
        const reply = await replyToMail(options);
        if (reply !== null && !reply.startsWith('4')) return;
        const now = performance.now();
        if (reply !== null) decisionDeadline ??= now + DECISION_LIMIT_MS;
        if (decisionDeadline === null && now > greetingDeadline) throw new Error('the SMTP process does not greet');
        if (decisionDeadline !== null && now > decisionDeadline) {
          log.warn({ reply }, 'smtp: greets but cannot take mail yet');
          return;
        }
        await sleep(50);
      }
    },
    async stop() {
      isStopping = true;
      clearTimeout(restart);
      const running = child;
      if (running === null) return;
      const ended = new Promise<void>((resolve) => void running.once('exit', () => resolve()));
      running.kill('SIGTERM');
      const end = setTimeout(() => running.kill('SIGKILL'), STOP_LIMIT_MS);
      await ended;
      clearTimeout(end);
    },
  };
}

/** The reply to MAIL, which asks the receiving actor for room; null when nobody greets. The transaction is given up. */
function replyToMail({ host, port, isProxied }: SmtpProcessesOptions): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect(port, host);
    // As a proxy that asks for itself (haproxy.org, The PROXY protocol §2.1).
    if (isProxied) socket.write('PROXY UNKNOWN\r\n');
    const commands = ['EHLO localhost', 'MAIL FROM:<>'];
    let lines = '';
    socket.setTimeout(REPLY_LIMIT_MS, () => socket.destroy());
    socket.on('data', (bytes) => {
      lines += bytes.toString('latin1');
      // The last line of a reply has a space behind its code (RFC 5321 §4.2.1).
      const last = /^(\d{3}) .*\r\n$/m.exec(lines);
      if (last === null) return;
      lines = '';
      const command = commands.shift();
      socket.write(`${command ?? 'QUIT'}\r\n`);
      if (command !== undefined) return;
      resolve(last[0]);
      socket.end();
    });
    socket.once('error', () => resolve(null));
    socket.once('close', () => resolve(null));
  });
}
