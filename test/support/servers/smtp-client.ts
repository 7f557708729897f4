import { connect, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';

/** One reply of the server (RFC 5321 §4.2). */
export interface SmtpReply {
  code: number;
  /** without code and separator */
  lines: string[];
  /** the first line, code included */
  text: string;
}

const REPLY_LIMIT_MS = 120_000;

/** A client that says exactly what it is told, byte for byte, and reads replies in order. */
export class SmtpClient {
  #socket: Socket | TLSSocket;
  #input = '';
  #waiting: { resolve: (reply: SmtpReply) => void; reject: (error: Error) => void }[] = [];
  #failure: Error | null = null;
  /** resolves when the connection is gone, whoever ended it */
  readonly closed: Promise<void>;
  isClosed = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    this.closed = new Promise((resolve) => {
      socket.once('close', () => {
        this.isClosed = true;
        this.#fail(new Error('connection closed'));
        resolve();
      });
    });
    socket.on('error', (error) => this.#fail(error));
    this.#listen(socket);
  }

  /** Connects; the banner is the first reply. Throws when nobody listens. */
  static async connect(port: number, options: { localAddress?: string } = {}): Promise<SmtpClient> {
    const socket = connect({ port, host: '127.0.0.1', ...options });
    const client = new SmtpClient(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', () => resolve());
      socket.once('error', reject);
    });
    return client;
  }

  /** Connects, reads the banner and says EHLO. */
  static async greet(port: number, options: { localAddress?: string } = {}): Promise<SmtpClient> {
    const client = await SmtpClient.connect(port, options);
    await client.reply();
    await client.say('EHLO client.test');
    return client;
  }

  /** Writes these bytes and waits for nothing. */
  send(bytes: string | Uint8Array): void {
    this.#socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  }

  /** The next reply. Rejects when the connection ends before it, or after 30 s. */
  reply(): Promise<SmtpReply> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`no reply; so far ${JSON.stringify(this.#input)}`)),
        REPLY_LIMIT_MS,
      );
      const done = <T>(settle: (value: T) => void) => {
        return (value: T) => {
          clearTimeout(timer);
          settle(value);
        };
      };
      this.#waiting.push({ resolve: done(resolve), reject: done(reject) });
      this.#settle();
    });
  }

  /** One command line and its reply. */
  say(command: string): Promise<SmtpReply> {
    this.send(`${command}\r\n`);
    return this.reply();
  }

  /** A transaction up to the 354 of DATA. Throws at any other reply. */
  async begin(recipients: string[] = ['hello@inbox.test'], reversePath = 'sender@client.test'): Promise<void> {
    const replies = [await this.say(`MAIL FROM:<${reversePath}>`)];
    for (const recipient of recipients) replies.push(await this.say(`RCPT TO:<${recipient}>`));
    replies.push(await this.say('DATA'));
    const codes = replies.map(({ code }) => code).join(' ');
    const expected = [...recipients.map(() => 250), 250, 354].join(' ');
    if (codes !== expected) throw new Error(`expected ${expected}, got ${replies.map(({ text }) => text).join(' / ')}`);
  }

  /** A whole transaction; the message is given in wire form, with its end of data. */
  async deliver(wireForm: string | Uint8Array, recipients?: string[]): Promise<SmtpReply> {
    await this.begin(recipients);
    this.send(wireForm);
    return this.reply();
  }

  /** STARTTLS and the handshake; the certificate is not verified. */
  async startTls(): Promise<TLSSocket> {
    const reply = await this.say('STARTTLS');
    if (reply.code !== 220) throw new Error(reply.text);
    this.#socket.removeAllListeners('data');
    const tls = connectTls({ socket: this.#socket, rejectUnauthorized: false });
    this.#socket = tls;
    this.#listen(tls);
    tls.on('error', (error) => this.#fail(error));
    await new Promise<void>((resolve, reject) => {
      tls.once('secureConnect', () => resolve());
      tls.once('error', reject);
    });
    return tls;
  }

  /** Vanishes without QUIT. */
  destroy(): void {
    this.#socket.destroy();
  }

  /** Takes nothing more from the server, as a client does that does not read. */
  stopReading(): void {
    this.#socket.pause();
  }

  #listen(socket: Socket): void {
    socket.on('data', (bytes: Buffer) => {
      this.#input += bytes.toString('latin1');
      this.#settle();
    });
  }

  #settle(): void {
    for (;;) {
      const whole = /^(?:\d{3}-.*\r\n)*\d{3}(?: .*)?\r\n/.exec(this.#input);
      const next = this.#waiting[0];
      if (next === undefined) return;
      if (whole === null) {
        if (this.#failure !== null) for (const { reject } of this.#waiting.splice(0)) reject(this.#failure);
        return;
      }
      this.#waiting.shift();
      this.#input = this.#input.slice(whole[0].length);
      const raw = whole[0].split('\r\n').slice(0, -1);
      next.resolve({ code: Number(raw[0]?.slice(0, 3)), lines: raw.map((line) => line.slice(4)), text: raw[0] ?? '' });
    }
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#settle();
  }
}

/** The wire form of a message (RFC 5321 §4.5.2): dots stuffed, end of data added; a CRLF before it where the message has none at its end. */
export function toData(message: Uint8Array): Buffer {
  const text = Buffer.from(message).toString('latin1');
  const ended = text === '' || text.endsWith('\r\n') ? text : `${text}\r\n`;
  return Buffer.from(`${ended.replace(/(^|\r\n)\./g, '$1..')}.\r\n`, 'latin1');
}
