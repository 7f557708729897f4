import { connect, type Socket } from 'node:net';

/** A TCP connection that is kept open and whatever the server wrote to it. For tests with thousands of them. */
export class HeldConnection {
  /** everything the server wrote so far */
  received = '';
  isClosed = false;
  /** resolves when the connection has ended, whichever side ended it */
  readonly closed: Promise<void>;
  readonly #socket: Socket;
  readonly #watchers = new Set<() => void>();

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.setEncoding('latin1');
    this.closed = new Promise((resolve) => {
      socket.once('close', () => {
        this.isClosed = true;
        this.#look();
        resolve();
      });
    });
    socket.on('error', () => undefined);
    socket.on('data', (text: string) => {
      this.received += text;
      this.#look();
    });
  }

  /** Connects from an address of 127.0.0.0/8. Connection `n` uses one of many, so that no limit per address applies. */
  static async open(port: number, n = 0): Promise<HeldConnection> {
    const socket = connect({
      port,
      host: '127.0.0.1',
      localAddress: `127.1.${Math.floor(n / 5_000)}.${(n % 250) + 1}`,
    });
    const held = new HeldConnection(socket);
    await new Promise<void>((resolve) => void socket.once('connect', () => resolve()).once('error', () => resolve()));
    return held;
  }

  /** Resolves once what was received matches, or the connection has ended. */
  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.received) && !this.isClosed) {
      await new Promise<void>((resolve) => {
        const watcher = () => {
          this.#watchers.delete(watcher);
          resolve();
        };
        this.#watchers.add(watcher);
      });
    }
    return this.received;
  }

  /** Writes and resolves once the system has the bytes. */
  async write(text: string | Uint8Array): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#socket.write(typeof text === 'string' ? Buffer.from(text, 'latin1') : text, () => resolve());
    });
  }

  /** Closes the connection as a client does that is done: FIN. */
  destroy(): void {
    this.#socket.destroy();
  }

  /** Closes the connection as a client does that crashed: RST. */
  reset(): void {
    this.#socket.resetAndDestroy();
  }

  #look(): void {
    for (const watcher of this.#watchers) watcher();
  }
}
