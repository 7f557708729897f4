import { connect } from 'node:net';

/** A bounded load of HTTP requests over kept connections, one in flight on each. */
export interface HttpLoadOptions {
  port: number;
  count: number;
  connections: number;
  /** request number n as it goes on the wire */
  request: (n: number) => Uint8Array;
}

export interface HttpLoadResult {
  /** instants in milliseconds since the epoch, in the order of n */
  startedAt: number[];
  endedAt: number[];
  /** answers other than 2xx, and connections that broke: the first lines of some */
  failures: string[];
}

/** The bytes of a request to loopback; a body is JSON. */
export function httpRequest(method: string, path: string, apiKey: string | null, body?: string): Buffer {
  const fields = [
    `${method} ${path} HTTP/1.1`,
    'host: 127.0.0.1',
    ...(apiKey === null ? [] : [`authorization: Bearer ${apiKey}`]),
    ...(body === undefined ? [] : ['content-type: application/json', `content-length: ${Buffer.byteLength(body)}`]),
  ];
  return Buffer.from(`${fields.join('\r\n')}\r\n\r\n${body ?? ''}`);
}

/**
 * Sends all requests and returns when the last reply has come. It reads of a reply the status and the Content-Length and skips the rest:
 * a whole HTTP client would take a good part of a small machine from what is measured. Throws when a reply has no Content-Length.
 */
export async function httpLoad(options: HttpLoadOptions): Promise<HttpLoadResult> {
  const result: HttpLoadResult = { startedAt: [], endedAt: [], failures: [] };
  let next = 0;
  const session = () =>
    new Promise<void>((resolve, reject) => {
      const socket = connect({ port: options.port, host: '127.0.0.1', noDelay: true });
      let n = -1;
      let missing = -1;
      let head = '';
      const ask = () => {
        n = next++;
        if (n >= options.count) {
          socket.end();
          return resolve();
        }
        head = '';
        missing = -1;
        result.startedAt[n] = instant();
        socket.write(options.request(n));
      };
      socket.on('connect', ask);
      socket.on('error', reject);
      socket.on('close', () => (n < options.count ? reject(new Error('connection closed')) : resolve()));
      socket.on('data', (chunk: Buffer) => {
        if (missing >= 0) missing -= chunk.length;
        else {
          head += chunk.toString('latin1');
          const end = head.indexOf('\r\n\r\n');
          if (end === -1) return;
          const length = /\r\ncontent-length: *(\d+)\r\n/i.exec(head.slice(0, end + 2))?.[1];
          if (length === undefined) return reject(new Error(`reply without Content-Length: ${head.slice(0, end)}`));
          missing = Number(length) - (head.length - end - 4);
        }
        if (missing > 0) return;
        result.endedAt[n] = instant();
        if (!head.startsWith('HTTP/1.1 2') && result.failures.length < 20) result.failures.push(head.slice(0, 1_000));
        ask();
      });
    });
  await Promise.all(Array.from({ length: options.connections }, session));
  return result;
}

function instant(): number {
  return performance.timeOrigin + performance.now();
}
