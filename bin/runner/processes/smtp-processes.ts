import { type ChildProcess, spawn } from 'node:child_process';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import type { MetricsSnapshot } from '../monitoring/process-metrics.ts';
import { askProcess } from '../monitoring/process-questions.ts';

/** The SMTP server as a child process that is restarted whenever it ends. */
export interface SmtpProcesses {
  /** Returns the metrics of the child and its worker processes; none while it is not running. */
  snapshots(): Promise<MetricsSnapshot[]>;
  /**
   * Resolves when the server accepts mail, or 10 s after its greeting if PostgreSQL or the receiving actor is unreachable (it replies 451
   * until they are back). Throws if it has not greeted within a minute.
   */
  awaitService(): Promise<void>;
  /** Lets running transactions end and then stops the child, within 9 s. */
  stop(): Promise<void>;
}

export interface SmtpProcessesOptions {
  host: string;
  port: number;
  /** whether connections from this address must begin with a PROXY line */
  isProxied: boolean;
  /** complete environment of the child */
  environment: Record<string, string | undefined>;
  log: Logger;
}

const PROGRAM = new URL('../../smtp.ts', import.meta.url);

/** Milliseconds. */
const FIRST_BACKOFF_MS = 100;
const LONGEST_BACKOFF_MS = 10_000;
/** A child that ran this long did not fail at its start, so the back-off starts again. */
const STEADY_MS = 30_000;
const GREETING_LIMIT_MS = 60_000;
const DECISION_LIMIT_MS = 10_000;
const REPLY_LIMIT_MS = 10_000;
const STOP_LIMIT_MS = 9_000;

/**
 * Runs bin/smtp.ts. The child has its own session, so that a Ctrl-C in the terminal reaches only this process, and an IPC channel: if this
 * process is killed, the channel closes and the child ends.
 */
export function runSmtpProcesses(options: SmtpProcessesOptions): SmtpProcesses {
  const { log } = options;
  let child: ChildProcess | null = null;
  let backoffMs = FIRST_BACKOFF_MS;
  let isStopping = false;
  let restart: NodeJS.Timeout | undefined;

  const start = () => {
    const startedAt = performance.now();
    // With the settings of Node that this process got: package.json limits the heap of both.
    const words = [...process.execArgv, fileURLToPath(PROGRAM)];
    const started = spawn(process.execPath, words, {
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
    // Also emitted when a message could not be sent. Only a child that never ran emits no `exit`.
    started.on('error', (error) => {
      log.error({ err: error }, 'smtp: error of the process');
      if (started.pid === undefined) onEnd(null, null);
    });
  };
  start();

  return {
    async snapshots() {
      const result = child === null ? null : await askProcess(child, 'metrics');
      // It comes from our own program.
      return result === null ? [] : [result as MetricsSnapshot];
    },
    async awaitService() {
      const greetingDeadline = performance.now() + GREETING_LIMIT_MS;
      let decisionDeadline: number | null = null;
      for (;;) {
        const reply = await replyToMail(options);
        if (reply !== null && !reply.startsWith('4')) return;
        const now = performance.now();
        if (reply !== null) decisionDeadline ??= now + DECISION_LIMIT_MS;
        if (decisionDeadline === null && now > greetingDeadline) throw new Error('the SMTP process sends no greeting');
        if (decisionDeadline !== null && now > decisionDeadline) {
          log.warn({ reply }, 'smtp: cannot accept mail yet');
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

/**
 * Returns the reply to MAIL, for which the SMTP server asks the receiving actor whether there is room; null if there is no greeting. The
 * transaction is aborted.
 */
function replyToMail({ host, port, isProxied }: SmtpProcessesOptions): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect(port, host);
    // As a proxy that connects on its own behalf (haproxy.org, The PROXY protocol §2.1).
    if (isProxied) socket.write('PROXY UNKNOWN\r\n');
    const commands = ['EHLO localhost', 'MAIL FROM:<>'];
    let lines = '';
    socket.setTimeout(REPLY_LIMIT_MS, () => socket.destroy());
    socket.on('data', (bytes) => {
      lines += bytes.toString('latin1');
      // The last line of a reply has a space after its code (RFC 5321 §4.2.1).
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
