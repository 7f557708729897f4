import { isAscii } from 'node:buffer';
import { X509Certificate } from 'node:crypto';
import { isIP, isIPv4, isIPv6, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { type DetailedPeerCertificate, type SecureContext, TLSSocket } from 'node:tls';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import type { SmtpReply } from '../../core/smtp/delivery-status.ts';
import { connectionErrorCode, describeConnectionError, isTimeout } from './connection-error.ts';
import {
  findReply,
  INTERRUPTED,
  type Interruption,
  isInterruption,
  listRefusals,
  type SendReport,
  type StepError,
  type TrackedEnvelope,
  toSendEnd,
} from './send-report.ts';

/** How a session gets TLS: from the first byte, by STARTTLS or not at all, by STARTTLS when it is offered, never. */
export type TlsMode = 'immediate' | 'required' | 'opportunistic' | 'none';

export interface SessionOptions {
  /** connected */
  socket: Socket;
  /** name of the server */
  hostName: string;
  /** for SNI */
  serverName: string;
  /** judges the certificates that the server presents, its own first; null: accepts any */
  acceptsChain: ((chain: readonly X509Certificate[], now: Date) => boolean) | null;
  /** our host name */
  ehloName: string;
  tls: TlsMode;
  /** false: any certificate is accepted */
  isCertificateVerified: boolean;
  /** with the authorities that certificates are verified with; null: the default ones */
  secureContext: SecureContext | null;
  credentials: { user: string; pass: string } | null;
  limits: SessionLimits;
}

/** Milliseconds. */
export interface SessionLimits {
  /** greeting, EHLO, TLS and AUTH together */
  greetingMs: number;
  /** MAIL, RCPT and DATA up to the go-ahead */
  envelopeMs: number;
  /** the message up to the reply to its final dot */
  messageMs: number;
}

/** Why there is no session. */
export type OpeningFailure =
  | { kind: 'refused'; phase: 'connection' | 'greeting'; reply: SmtpReply }
  /** `code`: of the error; null without one */
  | { kind: 'tls-failed'; code: string | null; text: string }
  | { kind: 'lost' | 'late' | 'interrupted'; text: string };

/** A dialogue with one server, for one transaction after another. */
export interface SmtpSession {
  readonly hostName: string;
  readonly remoteAddress: string;
  readonly isTls: boolean;
  /** code of what is wrong with the certificate of the server, although it was accepted; null: it is valid, or there is no TLS */
  readonly certificateFlaw: string | null;
  /** transactions started */
  readonly transactionCount: number;
  /** false once the connection is lost or unusable */
  readonly isUsable: boolean;
  /** Called when the server closes the connection while nothing is being sent. */
  onIdleEnd: (() => void) | null;
  /** Runs one transaction; never rejects. One at a time. */
  send(envelope: { from: string; to: readonly string[] }, bytes: Buffer): Promise<SendReport>;
  /** whether the message of the transaction in progress is completely written, so that only its reply tells the result */
  readonly isMessageOut: boolean;
  /** Ends a transaction or an opening in progress as `interrupted`, with the connection. */
  interrupt(why: Interruption): void;
  /** Sends QUIT and closes; for an idle session. */
  quit(): void;
}

/** Opens a session over a connected socket, which is closed on failure. Never rejects. */
export async function openSmtpSession(
  options: SessionOptions,
  onSession: (session: Pick<SmtpSession, 'interrupt'>) => void,
): Promise<{ session: SmtpSession } | { failure: OpeningFailure }> {
  const session = new NodemailerSession(options);
  onSession(session);
  const failure = await session.open();
  return failure === null ? { session } : { failure };
}

/** Bytes per write. */
const CHUNK_BYTES = 65_536;

class NodemailerSession implements SmtpSession {
  readonly hostName: string;
  readonly remoteAddress: string;
  transactionCount = 0;
  onIdleEnd: (() => void) | null = null;
  readonly #options: SessionOptions;
  readonly #connection: SMTPConnection;
  #isEnded = false;
  #needsReset = false;
  #progress: MessageProgress = { isBegun: false, isMessageOut: false };
  /** ends the step in progress */
  #end: ((error: StepError) => void) | null = null;

  constructor(options: SessionOptions) {
    const { socket, hostName, tls } = options;
    this.#options = options;
    this.hostName = hostName;
    this.remoteAddress = socket.remoteAddress ?? '';
    this.#connection = new SMTPConnection({
      connection: socket,
      host: hostName,
      name: ehloArgument(options.ehloName),
      secure: tls === 'immediate',
      requireTLS: tls === 'required',
      ignoreTLS: tls === 'none',
      opportunisticTLS: tls === 'opportunistic',
      // Each phase has our own time limit; these would only be shorter.
      connectionTimeout: options.limits.greetingMs,
      greetingTimeout: options.limits.greetingMs,
      socketTimeout: options.limits.messageMs,
      socketCloseTimeout: 0,
      tls: {
        rejectUnauthorized: options.isCertificateVerified,
        ...(isIP(options.serverName) === 0 ? { servername: options.serverName } : {}),
        ...(options.secureContext === null ? {} : { secureContext: options.secureContext }),
      },
    });
    this.#connection.on('error', (error: SMTPConnection.SMTPError) => this.#end?.(error));
    this.#connection.once('end', () => {
      this.#isEnded = true;
      this.onIdleEnd?.();
    });
  }

  get isTls(): boolean {
    return this.#connection.secure && this.#connection.upgrading !== true;
  }

  get certificateFlaw(): string | null {
    const { _socket: socket } = this.#connection;
    if (!(socket instanceof TLSSocket) || socket.authorized) return null;
    // Node declares an Error, and sets its code.
    return String(socket.authorizationError);
  }

  /** Nothing of what was passed to the socket is still in this process. */
  get #isWritten(): boolean {
    const { _socket: socket } = this.#connection;
    return !socket || socket.writableLength === 0;
  }

  get isMessageOut(): boolean {
    return this.#progress.isMessageOut;
  }

  get isUsable(): boolean {
    return !this.#isEnded;
  }

  async open(): Promise<OpeningFailure | null> {
    const error = await this.#during(this.#options.limits.greetingMs, (done) => {
      this.#connection.connect((failure) => (failure === undefined ? this.#login(done) : done(failure)));
    });
    if (error === null && this.#acceptsServer()) return null;
    if (error === null) {
      this.#close();
      return { kind: 'tls-failed', code: 'TLSA_MISMATCH', text: 'TLS failed: the certificate does not match' };
    }
    const wasUpgrading = this.#connection.upgrading === true;
    this.#close();
    if (isInterruption(error)) return { kind: 'interrupted', text: INTERRUPTED[error] };
    if (error === 'late' || isTimeout(error))
      return wasUpgrading
        ? { kind: 'tls-failed', code: 'ETIMEDOUT', text: 'TLS timed out' }
        : { kind: 'late', text: 'The server did not respond in time' };
    // Before the reply: 502 to a STARTTLS that the server does not offer says nothing about the message.
    if (wasUpgrading || error.code === 'ETLS')
      return {
        kind: 'tls-failed',
        code: connectionErrorCode(error),
        text: `TLS failed: ${describeConnectionError(error)}`,
      };
    const reply = findReply(error);
    if (reply !== null) return { kind: 'refused', phase: error.command === 'CONN' ? 'connection' : 'greeting', reply };
    return { kind: 'lost', text: describeConnectionError(error) };
  }

  async send(envelope: { from: string; to: readonly string[] }, bytes: Buffer): Promise<SendReport> {
    const progress = { isBegun: false, isMessageOut: false };
    this.#progress = progress;
    if (this.#needsReset) await this.#reset();
    this.transactionCount++;
    // nodemailer notes the result of each recipient on this object.
    const tracked: TrackedEnvelope = {
      from: envelope.from,
      to: [...envelope.to],
      size: bytes.length,
      use8BitMime: !isAscii(bytes),
    };
    let response = '';
    const { limits } = this.#options;
    const error = await this.#during(limits.envelopeMs, (done, extend) => {
      const message = makeStream(bytes, progress, () => {
        extend(limits.messageMs);
        if (bytes.length <= CHUNK_BYTES) this.#writeTogether();
      });
      this.#connection.send(tracked, message, (failure, info) => {
        // oxlint-disable-next-line typescript/no-unnecessary-condition -- undefined after a failure
        response = info?.response ?? '';
        done(failure);
      });
    });
    const end = toSendEnd(error, response, progress.isMessageOut);
    this.#needsReset = end.kind !== 'taken';
    if (end.kind === 'lost' || end.kind === 'late' || end.kind === 'interrupted') this.#close();
    // If the server replies before the whole message was written, the rest would arrive where it expects commands.
    if (progress.isBegun && !(progress.isMessageOut && this.#isWritten)) this.#close();
    // After a rejected MAIL, pipelined recipients are rejected only because of it.
    const refused =
      end.kind === 'refused' && end.phase === 'sender' ? new Map<string, SmtpReply>() : listRefusals(tracked);
    return { accepted: tracked.accepted ?? [], refused, end };
  }

  interrupt(why: Interruption): void {
    this.#end?.(why);
  }

  quit(): void {
    this.onIdleEnd = null;
    if (this.#isEnded) return;
    const timer = setTimeout(() => this.#close(), QUIT_MS);
    this.#connection.once('end', () => clearTimeout(timer));
    this.#connection.quit();
  }

  #login(done: (error: SMTPConnection.SMTPError | null) => void): void {
    const { credentials } = this.#options;
    if (credentials === null) done(null);
    else this.#connection.login({ credentials }, (failure) => done(failure));
  }

  #acceptsServer(): boolean {
    const { acceptsChain } = this.#options;
    if (acceptsChain === null) return true;
    const { _socket: socket } = this.#connection;
    return socket instanceof TLSSocket && acceptsChain(listChain(socket), new Date());
  }

  /** Writes the message and the line that ends it with one call of the system, instead of one for each. */
  #writeTogether(): void {
    const { _socket: socket } = this.#connection;
    if (!socket) return;
    socket.cork();
    setImmediate(() => socket.uncork());
  }

  /** Resets a transaction that did not complete; a server that fails at that is disconnected. */
  async #reset(): Promise<void> {
    const error = await this.#during(this.#options.limits.greetingMs, (done) => {
      this.#connection.reset((failure) => done(failure));
    });
    if (error !== null) this.#close();
  }

  #close(): void {
    this.#isEnded = true;
    this.#connection.close();
  }

  /** Runs a step until it is done, fails, is interrupted or times out. `extend` gives it that much time from now. */
  async #during(
    limitMs: number,
    step: (done: (error: SMTPConnection.SMTPError | null) => void, extend: (limitMs: number) => void) => void,
  ): Promise<StepError | null> {
    const { promise, resolve } = Promise.withResolvers<StepError | null>();
    let timer = setTimeout(() => resolve('late'), limitMs);
    this.#end = resolve;
    step(resolve, (moreMs) => {
      clearTimeout(timer);
      timer = setTimeout(() => resolve('late'), moreMs);
    });
    const error = await promise;
    clearTimeout(timer);
    this.#end = null;
    return error;
  }
}

/** The certificates that a server presented, its own first. */
function listChain(socket: TLSSocket): X509Certificate[] {
  const chain: X509Certificate[] = [];
  // A self-signed certificate is its own issuer.
  const seen = new Set<object>();
  let certificate: Partial<DetailedPeerCertificate> | undefined = socket.getPeerCertificate(true);
  while (certificate?.raw !== undefined && !seen.has(certificate)) {
    seen.add(certificate);
    chain.push(new X509Certificate(certificate.raw));
    certificate = certificate.issuerCertificate;
  }
  return chain;
}

/** How long to wait for the reply to QUIT; milliseconds. */
const QUIT_MS = 2_000;

/** How much of a transaction's message was written. */
interface MessageProgress {
  isBegun: boolean;
  isMessageOut: boolean;
}

/** The message as a stream: its first read means the server's go-ahead. */
function makeStream(bytes: Buffer, progress: MessageProgress, onBegin: () => void): Readable {
  let at = 0;
  return new Readable({
    read() {
      if (!progress.isBegun) onBegin();
      progress.isBegun = true;
      if (at < bytes.length) {
        this.push(bytes.subarray(at, at + CHUNK_BYTES));
        at += CHUNK_BYTES;
      } else {
        progress.isMessageOut = true;
        this.push(null);
      }
    },
  });
}

/** RFC 5321 §4.1.3: an address is written in brackets. */
function ehloArgument(name: string): string {
  if (isIPv4(name)) return `[${name}]`;
  return isIPv6(name) ? `[IPv6:${name}]` : name;
}
