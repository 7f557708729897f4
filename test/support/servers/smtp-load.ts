import { connect, type Socket } from 'node:net';

/** A bounded load of distinct messages over plain SMTP (RFC 5321), one command at a time as ordinary MTAs send them. */
export interface SmtpLoadOptions {
  host: string;
  port: number;
  /** messages in all */
  count: number;
  /** sessions at once */
  sessions: number;
  /** many messages per connection, or a new connection for each */
  isReusingConnections: boolean;
  reversePath: string;
  /** forward-paths of message number n */
  recipients: (n: number) => string[];
  /** message number n as it goes on the wire: CRLF, dot-stuffed, ended by CRLF.CRLF */
  message: (n: number) => Uint8Array;
  /** messages per second in all; absent = as fast as they are taken */
  perSecond?: number;
  /** whether a session ends at its first message that is not taken, instead of going on with the next */
  isEndingAtFailure?: boolean;
  /** the address that connection number n comes from; the system's choice by default */
  localAddress?: (connection: number) => string;
  /** give up on a transaction after this long; milliseconds */
  limitMs?: number;
}

/** What became of message n: the reply to its end of data, or why there was none. */
export interface SmtpLoadResult {
  n: number;
  /** reply code to the refused command or to the final dot; null when the connection ended without one */
  code: number | null;
  reply: string;
  /** monotonic instants in milliseconds (performance.timeOrigin + now): first byte of the transaction, and the reply */
  startedAt: number;
  endedAt: number;
  /** whether the final dot had been sent */
  isDataSent: boolean;
}

/** Sends one message on a connection of its own, and returns what became of it. Never throws for a refused or dropped message. */
export async function sendOne(options: {
  host?: string;
  port: number;
  reversePath: string;
  recipients: string[];
  /** with CRLF line ends, before dot-stuffing */
  bytes: Uint8Array;
  limitMs?: number;
}): Promise<SmtpLoadResult> {
  const { host = '127.0.0.1', port, reversePath, recipients, bytes, limitMs } = options;
  const [result] = await smtpLoad({
    host,
    port,
    count: 1,
    sessions: 1,
    isReusingConnections: false,
    reversePath,
    recipients: () => recipients,
    message: () => toWireForm(bytes),
    ...(limitMs === undefined ? {} : { limitMs }),
  });
  if (result === undefined) throw new Error('smtpLoad returned no result');
  return result;
}

/** Sends all messages and returns what became of each, in the order of n. Never throws for a refused or dropped message. */
export async function smtpLoad(options: SmtpLoadOptions): Promise<SmtpLoadResult[]> {
  const results: SmtpLoadResult[] = [];
  let next = 0;
  const begin = instant();
  let connections = 0;
  const take = async (): Promise<number | null> => {
    if (next >= options.count) return null;
    const n = next++;
    if (options.perSecond !== undefined) {
      const wait = begin + (n / options.perSecond) * 1000 - instant();
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    }
    return n;
  };
  await Promise.all(
    Array.from({ length: options.sessions }, async () => {
      let session: Session | null = null;
      for (let n = await take(); n !== null; n = await take()) {
        const startedAt = instant();
        const outcome = { n, startedAt, isDataSent: false };
        try {
          session ??= await Session.open(options, options.localAddress?.(connections++));
          const transaction = await session.transact(
            options.reversePath,
            options.recipients(n),
            options.message(n),
            outcome,
          );
          results.push({ ...outcome, ...transaction, endedAt: instant() });
          if (options.isEndingAtFailure === true && transaction.code !== 250) break;
          if (!options.isReusingConnections || transaction.code === 421) {
            session.quit();
            session = null;
          }
        } catch (error) {
          results.push({ ...outcome, code: null, reply: String(error), endedAt: instant() });
          session?.destroy();
          session = null;
          if (options.isEndingAtFailure === true) break;
        }
      }
      session?.quit();
    }),
  );
  return results.toSorted((a, b) => a.n - b.n);
}

/** A message in wire form: LF becomes CRLF, leading dots are stuffed, the end of data is added. */
export function toWireForm(message: Uint8Array): Buffer {
  const lines = Buffer.from(message).toString('latin1').replace(/\r?\n/g, '\r\n');
  const ended = lines.endsWith('\r\n') ? lines : `${lines}\r\n`;
  const stuffed = ended.replace(/(^|\r\n)\./g, '$1..');
  return Buffer.from(`${stuffed}.\r\n`, 'latin1');
}

function instant(): number {
  return performance.timeOrigin + performance.now();
}

/** One SMTP connection; replies are read one at a time. */
class Session {
  readonly #socket: Socket;
  #pending: { resolve: (reply: string) => void; reject: (error: Error) => void } | null = null;
  #buffer = '';
  #failure: Error | null = null;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => this.#take(text));
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new Error('connection closed')));
  }

  static async open(options: SmtpLoadOptions, localAddress: string | undefined): Promise<Session> {
    const { host, port } = options;
    const socket = connect({ host, port, ...(localAddress === undefined ? {} : { localAddress }) });
    const session = new Session(socket);
    socket.setTimeout(options.limitMs ?? 60_000, () => socket.destroy(new Error('no reply within the limit')));
    const banner = await session.#read();
    if (!banner.startsWith('220')) throw new Error(banner);
    await session.#say('EHLO load.test\r\n');
    return session;
  }

  async transact(
    reversePath: string,
    recipients: string[],
    message: Uint8Array,
    outcome: { isDataSent: boolean },
  ): Promise<{ code: number; reply: string }> {
    const refused = (reply: string) => ({ code: Number(reply.slice(0, 3)), reply });
    const mail = await this.#say(`MAIL FROM:<${reversePath}>\r\n`);
    if (!mail.startsWith('250')) return refused(mail);
    for (const recipient of recipients) {
      const rcpt = await this.#say(`RCPT TO:<${recipient}>\r\n`);
      if (!rcpt.startsWith('250')) {
        await this.#say('RSET\r\n');
        return refused(rcpt);
      }
    }
    const data = await this.#say('DATA\r\n');
    if (!data.startsWith('354')) return refused(data);
    outcome.isDataSent = true;
    return refused(await this.#say(message));
  }

  quit(): void {
    this.#socket.end('QUIT\r\n');
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #say(bytes: string | Uint8Array): Promise<string> {
    this.#socket.write(bytes);
    return this.#read();
  }

  #read(): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#pending = { resolve, reject };
      // What was said before the connection ended comes first: a 421 between two messages, for one.
      this.#take('');
      if (this.#failure !== null) this.#fail(this.#failure);
    });
  }

  #take(text: string): void {
    this.#buffer += text;
    if (this.#pending === null) return;
    const reply = /^(?:\d{3}-.*\r\n)*\d{3} .*\r\n/.exec(this.#buffer);
    if (reply === null) return;
    this.#buffer = this.#buffer.slice(reply[0].length);
    const { resolve } = this.#pending;
    this.#pending = null;
    resolve(reply[0].trimEnd());
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#pending?.reject(this.#failure);
    this.#pending = null;
  }
}
