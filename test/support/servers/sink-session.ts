import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { TLSSocket } from 'node:tls';
import type { SinkConnection, SinkMessage, SinkReply, SinkResponse, SinkScript, SinkTransaction } from './sink-mta.ts';

export interface SinkSessionOptions {
  connection: SinkConnection;
  name: string;
  startTls: 'offered' | 'absent' | 'refused' | 'broken';
  certificate: { key: string; cert: string } | null;
  auth: { user: string; pass: string } | null;
  isAuthOfferedInClear: boolean;
  mostRecipients: number;
  mostMessages: number;
  extensions: readonly string[];
  isKeepingBytes: boolean;
  script: () => SinkScript;
  onTransaction: (transaction: SinkTransaction) => void;
  onMessage: (message: SinkMessage) => void;
  onChange: () => void;
}

const END_OF_DATA = Buffer.from('\r\n.\r\n');
const LINE_END = Buffer.from('\r\n');

/** One connection's dialogue: commands one after another, however they come in. */
export class SinkSession {
  readonly #options: SinkSessionOptions;
  #socket: Socket | null = null;
  #input: Buffer[] = [];
  #wake: (() => void) | null = null;
  #isEnded = false;
  #transaction: SinkTransaction | null = null;

  constructor(options: SinkSessionOptions) {
    this.#options = options;
  }

  /** Greets and goes on until the connection ends. */
  listen(socket: Socket): void {
    this.#attach(socket);
    void this.#talk();
  }

  /** The same over TLS. */
  secure(socket: Socket): void {
    this.listen(this.#upgrade(socket));
  }

  #attach(socket: Socket): void {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => {
      this.#input.push(chunk);
      this.#wake?.();
    });
    socket.once('close', () => {
      if (this.#socket !== socket) return;
      this.#isEnded = true;
      this.#wake?.();
    });
  }

  #upgrade(socket: Socket): TLSSocket {
    const { certificate, connection } = this.#options;
    const secured = new TLSSocket(socket, {
      isServer: true,
      key: certificate?.key ?? '',
      cert: certificate?.cert ?? '',
    });
    secured.on('error', () => secured.destroy());
    secured.once('secure', () => {
      connection.isTls = true;
      const { servername } = secured as { servername?: string | false };
      connection.serverName = typeof servername === 'string' ? servername : null;
    });
    return secured;
  }

  async #talk(): Promise<void> {
    const { connection, name } = this.#options;
    await this.#say(await this.#options.script().banner?.(connection), `220 ${name} ESMTP`);
    for (;;) {
      const line = await this.#readLine();
      if (line === null) return;
      connection.transcript.push(`C: ${line}`);
      await this.#obey(line);
      this.#options.onChange();
    }
  }

  async #obey(line: string): Promise<void> {
    const [verb = '', ...rest] = line.split(' ');
    switch (verb.toUpperCase()) {
      case 'EHLO':
      case 'HELO':
        return this.#hello(rest.join(' '));
      case 'STARTTLS':
        return this.#startTls();
      case 'AUTH':
        return this.#authenticate(rest);
      case 'MAIL':
        return this.#mail(line);
      case 'RCPT':
        return this.#rcpt(line);
      case 'DATA':
        return this.#data();
      case 'RSET':
        this.#transaction = null;
        return void (await this.#say(undefined, '250 2.0.0 reset'));
      case 'NOOP':
        return void (await this.#say(undefined, '250 2.0.0 well'));
      case 'QUIT':
        await this.#say(undefined, '221 2.0.0 bye');
        return void this.#socket?.end();
      default:
        return void (await this.#say(undefined, '500 5.5.2 what?'));
    }
  }

  async #hello(helo: string): Promise<void> {
    const { connection, startTls, auth, isAuthOfferedInClear, extensions, name, script } = this.#options;
    connection.helo = helo;
    const keywords = [
      name,
      ...extensions,
      ...(startTls === 'absent' || connection.isTls ? [] : ['STARTTLS']),
      ...(auth === null || !(connection.isTls || isAuthOfferedInClear) ? [] : ['AUTH PLAIN LOGIN']),
    ];
    const separator = keywords.length > 1 ? '-' : ' ';
    const last = keywords.length > 1 ? `\r\n250 ${keywords.at(-1)}` : '';
    const between = keywords.slice(1, -1).map((keyword) => `\r\n250-${keyword}`);
    await this.#say(await script().ehlo?.(connection), `250${separator}${name}${between.join('')}${last}`);
  }

  async #startTls(): Promise<void> {
    const { startTls, certificate } = this.#options;
    if (startTls === 'absent') return void (await this.#say(undefined, '502 5.5.1 not here'));
    if (startTls === 'refused') return void (await this.#say(undefined, '454 4.7.0 TLS not available'));
    await this.#say(undefined, '220 2.0.0 go ahead');
    const socket = this.#socket;
    if (socket === null) return;
    if (startTls === 'broken' || certificate === null) {
      await this.#waitForInput();
      socket.end('this is no TLS\r\n');
      return;
    }
    socket.removeAllListeners('data');
    this.#attach(this.#upgrade(socket));
  }

  async #authenticate([mechanism = '', initial]: string[]): Promise<void> {
    const { auth, connection } = this.#options;
    const credentials = { user: '', pass: '' };
    if (mechanism.toUpperCase() === 'PLAIN') {
      const response = initial ?? (await this.#challenge(''));
      const [, user = '', pass = ''] = Buffer.from(response, 'base64').toString('utf8').split('\0');
      Object.assign(credentials, { user, pass });
    } else {
      credentials.user = Buffer.from(await this.#challenge('VXNlcm5hbWU6'), 'base64').toString('utf8');
      credentials.pass = Buffer.from(await this.#challenge('UGFzc3dvcmQ6'), 'base64').toString('utf8');
    }
    if (auth === null || credentials.user !== auth.user || credentials.pass !== auth.pass)
      return void (await this.#say(undefined, '535 5.7.8 authentication failed'));
    connection.user = credentials.user;
    await this.#say(undefined, '235 2.7.0 welcome');
  }

  async #challenge(text: string): Promise<string> {
    await this.#say(undefined, `334 ${text}`);
    return (await this.#readLine()) ?? '';
  }

  async #mail(line: string): Promise<void> {
    const { auth, connection, script, mostMessages, onTransaction } = this.#options;
    if (auth !== null && connection.user === null)
      return void (await this.#say(undefined, '530 5.7.0 authenticate first'));
    if (connection.messageCount >= mostMessages) {
      await this.#say(undefined, '421 4.7.0 enough of this connection');
      return void this.#socket?.end();
    }
    const match = /^MAIL FROM:<([^>]*)>(.*)$/i.exec(line);
    const transaction: SinkTransaction = {
      from: match?.[1] ?? '',
      parameters: (match?.[2] ?? '').split(' ').filter((parameter) => parameter !== ''),
      recipients: [],
      offered: [],
    };
    onTransaction(transaction);
    const reply = await this.#say(await script().mail?.(transaction, connection), '250 2.1.0 sender well');
    this.#transaction = reply.startsWith('2') ? transaction : null;
  }

  async #rcpt(line: string): Promise<void> {
    const { connection, script, mostRecipients } = this.#options;
    const transaction = this.#transaction;
    if (transaction === null) return void (await this.#say(undefined, '503 5.5.1 MAIL first'));
    const address = /^RCPT TO:<([^>]*)>/i.exec(line)?.[1] ?? '';
    const isFull = transaction.recipients.length >= mostRecipients;
    const response = isFull ? '452 4.5.3 too many recipients' : await script().rcpt?.(address, transaction, connection);
    const reply = await this.#say(response, '250 2.1.5 recipient well');
    transaction.offered.push({ address, code: Number(reply.slice(0, 3)) });
    if (reply.startsWith('2')) transaction.recipients.push(address);
  }

  async #data(): Promise<void> {
    const { connection, script, onMessage, isKeepingBytes } = this.#options;
    const transaction = this.#transaction;
    if (transaction === null || transaction.recipients.length === 0)
      return void (await this.#say(undefined, '554 5.5.1 no valid recipients'));
    const go = await this.#say(await script().data?.(transaction, connection), '354 go ahead');
    if (!go.startsWith('3')) return;
    const fate = script().body?.(transaction, connection);
    if (fate !== undefined) {
      await this.#waitForInput();
      return void (await this.#say(fate, ''));
    }
    const wire = await this.#readMessage();
    if (wire === null) return;
    connection.messageCount++;
    this.#transaction = null;
    const message: SinkMessage = {
      ...transaction,
      bytes: isKeepingBytes ? withoutDotStuffing(wire) : Buffer.alloc(0),
      wireBytes: isKeepingBytes ? wire : Buffer.alloc(0),
      isTls: connection.isTls,
      user: connection.user,
      connection,
      receivedAt: new Date(),
      isTaken: true,
    };
    const response = await script().message?.(message, connection);
    const reply = typeof response === 'object' ? response.reply : response;
    message.isTaken = reply === undefined || reply === 'drop' || reply.startsWith('2');
    onMessage(message);
    await this.#say(response, `250 2.0.0 taken as ${connection.number}-${connection.messageCount}`);
  }

  /** Returns what was said; empty when the connection was ended instead. */
  async #say(response: SinkResponse, ordinary: SinkReply | ''): Promise<string> {
    const { connection, onChange } = this.#options;
    if (response === 'drop') {
      connection.transcript.push('S: (drops the connection)');
      this.#isEnded = true;
      this.#socket?.resetAndDestroy();
      onChange();
      return '';
    }
    if (response === 'hang') {
      connection.transcript.push('S: (says nothing any more)');
      onChange();
      await this.#ended();
      return '';
    }
    if (typeof response === 'object') await pause(response.afterMs, undefined, { ref: false });
    const reply = (typeof response === 'object' ? response.reply : response) ?? ordinary;
    connection.transcript.push(...reply.split('\r\n').map((line) => `S: ${line}`));
    this.#socket?.write(`${reply}\r\n`);
    if (reply.startsWith('421')) this.#socket?.end();
    onChange();
    return reply;
  }

  async #readLine(): Promise<string | null> {
    for (;;) {
      const held = this.#held();
      const end = held.indexOf(LINE_END);
      if (end >= 0) {
        this.#input = end + 2 < held.length ? [held.subarray(end + 2)] : [];
        return held.toString('latin1', 0, end);
      }
      if (!(await this.#waitForInput())) return null;
    }
  }

  /** Up to the final dot; null when the connection ends before. */
  async #readMessage(): Promise<Buffer | null> {
    const pieces: Buffer[] = [];
    // A message may begin with its final dot.
    let tail: Buffer = LINE_END;
    for (;;) {
      const piece = this.#held();
      const joint = Buffer.concat([tail, piece]);
      const end = joint.indexOf(END_OF_DATA);
      if (end !== -1) {
        const length = end + END_OF_DATA.length - tail.length;
        this.#input = length < piece.length ? [piece.subarray(length)] : [];
        return Buffer.concat([...pieces, piece.subarray(0, length)]);
      }
      pieces.push(piece);
      this.#input = [];
      tail = joint.subarray(-(END_OF_DATA.length - 1));
      if (!(await this.#waitForInput())) return null;
    }
  }

  #held(): Buffer {
    if (this.#input.length > 1) this.#input = [Buffer.concat(this.#input)];
    return this.#input[0] ?? Buffer.alloc(0);
  }

  /** Whether more came; false when the connection ended. */
  async #waitForInput(): Promise<boolean> {
    if (this.#isEnded) return false;
    const count = this.#input.length;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = null;
    return this.#input.length > count || !this.#isEnded;
  }

  async #ended(): Promise<void> {
    while (!this.#isEnded) await this.#waitForInput();
  }
}

/** RFC 5321 §4.5.2 */
function withoutDotStuffing(wire: Buffer): Buffer {
  const text = wire.subarray(0, Math.max(0, wire.length - 3)).toString('latin1');
  return Buffer.from(
    text.replace(/^\./gm, (dot, at: number) => (at === 0 || text.startsWith('\r\n', at - 2) ? '' : dot)),
    'latin1',
  );
}
