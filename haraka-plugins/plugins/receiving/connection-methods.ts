import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import os from 'node:os';
import { Connection, cfg } from 'haraka/connection.js';
import plugins from 'haraka/plugins.js';
import constants from 'haraka-constants';
import type { Logger } from 'pino';
import { smtpMetrics } from '../../../schema/metrics.ts';
import type { SmtpLimits } from '../../settings.ts';
import type { DataReader } from './data-reader.ts';
import { readProxyLine } from './proxy-line.ts';
import type { Session, Sessions } from './session.ts';
import { DSN, trouble } from './smtp-reply.ts';

/** The version whose `connection.js` this file was written against. Read that file again before allowing another version. */
const HARAKA_VERSION = '3.3.4';
/** Bytes of pipelined commands above which we stop reading. */
const MAX_PIPELINED_BYTES = 64 * 1024;
/** Bytes of unread replies above which we end the connection. */
const MAX_UNREAD_BYTES = 256 * 1024;
/** Error replies of the kinds below before the connection ends (Postfix: smtpd_hard_error_limit). */
const MAX_SYNTAX_ERRORS = 20;
/** Commands without an accepted message before the connection ends: five times what the largest transaction needs. */
const MAX_IDLE_COMMANDS = 5_000;
const syntaxErrorCodes = new Set([500, 501, 502, 503, 555]);
const LF = 0x0a;
const { state: states } = constants.connection;

export interface ConnectionEquipment {
  sessions: Sessions;
  limits: SmtpLimits;
  log: () => Logger;
}

/**
 * Replaces how Haraka's `Connection` handles input and the outcome of `queue`. Haraka would cut long lines, drop header fields beyond the
 * first thousand, decode every field before we could refuse it, spin while a pipelined command waits, and replace our reply codes by its
 * own. Throws when Haraka is another version.
 */
export function replaceConnectionMethods(equipment: ConnectionEquipment): void {
  const { version } = createRequire(import.meta.url)('haraka/package.json') as { version: string };
  if (version !== HARAKA_VERSION)
    throw new Error(`connection-methods.ts was written for Haraka ${HARAKA_VERSION}, this is ${version}`);
  const { prototype } = Connection;
  // Haraka offers a console to anyone on this machine, and a way to claim another address in the middle of a session: neither is wanted.
  Reflect.deleteProperty(prototype, 'cmd_internalcmd');
  Reflect.deleteProperty(prototype, 'cmd_proxy');

  // Haraka queries the system with each reply, for a feature that is switched off: 11 % of the work of a session.
  const hostname = os.hostname();
  os.hostname = () => hostname;

  prototype._process_data = function (this: Connection): void {
    const session = equipment.sessions.get(this);
    if (session === undefined) return readProxyLine(this);
    try {
      readInput(this, session);
      holdBack(this, session);
    } catch (error) {
      equipment.log().error({ event: 'smtp.session-failed', session: this.uuid, err: error });
      this.client.destroy();
    }
  };

  prototype.queue_respond = function (this: Connection, verdict: number, message: unknown): void {
    const reply = message instanceof DSN ? message : troubleReply;
    this.respond(reply.code, reply, () => {
      if (verdict === constants.denydisconnect || verdict === constants.denysoftdisconnect) this.disconnect();
      else this.reset_transaction(() => this.resume());
    });
  };

  // oxlint-disable-next-line typescript/unbound-method -- called with its connection
  const { respond } = prototype;
  prototype.respond = function (this: Connection, code: number, text: unknown, after?: () => void): unknown {
    const session = equipment.sessions.get(this);
    if (session === undefined) return respond.call(this, code, text, after);
    session.commandDueAt = performance.now() + equipment.limits.commandSeconds * 1000;
    if (toSocket(this).writableLength > MAX_UNREAD_BYTES) return this.client.destroy();
    if (syntaxErrorCodes.has(code)) session.syntaxErrors += 1;
    if (session.syntaxErrors > MAX_SYNTAX_ERRORS || session.idleCommands > MAX_IDLE_COMMANDS) {
      smtpMetrics.sessionsEnded.inc({ reason: 'errors' });
      return respond.call(this, 421, '4.7.0 Too many errors or idle commands', () => this.disconnect());
    }
    const line = text instanceof DSN ? text.reply : text;
    const isPlain = typeof line === 'string' && line.trim() !== '' && !line.includes('\n');
    // Refuses what was pipelined behind the end of data, once per command.
    const isAfterData = this.awaiting_data_reply && (this.current_data?.length ?? 0) > 0;
    if (!isPlain || isAfterData || this.state === states.DISCONNECTED) return respond.call(this, code, text, after);
    return writeReply(this, session, `${text instanceof DSN ? text.code : code} ${line}\r\n`, after);
  };
}

/** What Haraka's `respond` does with a reply of one line, without formatting it for logs, and without a turn of the event loop for no input. */
function writeReply(connection: Connection, session: Session, line: string, after?: () => void): void {
  connection.awaiting_data_reply = false;
  connection.client.write(line);
  if (connection.state !== states.LOOP) connection.state = states.CMD;
  after?.();
  if (session.isHeldBack || (connection.current_data?.length ?? 0) > 0) setImmediate(() => connection._process_data());
}

const troubleReply = new DSN(trouble.kind === 'pass' ? 451 : trouble.code, trouble.kind === 'pass' ? '' : trouble.text);

/**
 * Processes input: the bytes of DATA, or one command when none is in progress. Only one, because its reply calls this again in a later turn
 * of the event loop, so that a client that pipelines thousands of commands delays no other.
 */
function readInput(connection: Connection, session: Session): void {
  const data = connection.current_data;
  if (data === null || data.length === 0) return;
  if (connection.state === states.DATA) {
    connection.current_data = null;
    return readData(connection, session, data);
  }
  if (connection.state !== states.CMD && connection.state !== states.LOOP) return;
  const lf = data.subarray(0, cfg.max.line_length).indexOf(LF);
  if (lf === -1) {
    if (data.length < cfg.max.line_length) return;
    connection.client.pause();
    connection.current_data = null;
    connection.respond(521, '5.5.2 Command line too long', () => connection.disconnect());
    return;
  }
  connection.current_data = data.subarray(lf + 1);
  session.commandDueAt = Number.POSITIVE_INFINITY;
  session.idleCommands += 1;
  const line = data.subarray(0, lf + 1);
  if (data.length > lf + 1 && mustWait(line)) session.door.talkedEarly = true;
  const { takeLine } = session;
  if (takeLine === null) return connection.process_line(line);
  session.takeLine = null;
  connection.state = states.PAUSE_SMTP;
  takeLine(line.toString('latin1').trim());
}

/** Whether nothing may be sent behind this command before its reply: HELO and EHLO, which say whether the server knows PIPELINING (RFC 2920 §3.1). */
function mustWait(line: Buffer): boolean {
  return /^(?:EH|HE)LO\b/i.test(line.toString('latin1', 0, 5));
}

/** What Haraka does at the end of data, without its own parsing of the message: pause, decide, and refuse what was pipelined behind it. */
function readData(connection: Connection, session: Session, data: Buffer): void {
  const { reader } = session;
  const behind = reader?.take(data);
  if (behind === null) {
    if (reader?.isBehind === true) awaitDisk(connection, session, reader);
    return;
  }
  connection.current_data = behind === undefined || behind.length === 0 ? null : behind;
  connection.prev_state = connection.state;
  connection.state = states.PAUSE_DATA;
  connection.awaiting_data_reply = true;
  connection.totalbytes += session.reader?.receivedBytes ?? 0;
  session.commandDueAt = Number.POSITIVE_INFINITY;
  plugins.run_hooks('queue', connection);
}

/** Pauses reading until the disk has what was read. */
function awaitDisk(connection: Connection, session: Session, reader: DataReader): void {
  connection.client.pause();
  reader.whenReady(() => {
    if (!session.isHeldBack) connection.client.resume();
  });
}

/** Pauses reading while much is unanswered, and resumes after. */
function holdBack(connection: Connection, session: Session): void {
  const isMuch = (connection.current_data?.length ?? 0) > MAX_PIPELINED_BYTES;
  if (isMuch === session.isHeldBack) return;
  session.isHeldBack = isMuch;
  if (isMuch) connection.client.pause();
  else connection.client.resume();
}

/** Returns the socket of the client. */
export function toSocket({ client }: Connection): Socket {
  // With TLS from the start the client is a socket itself.
  return client.targetsocket ?? (client as unknown as Socket);
}
