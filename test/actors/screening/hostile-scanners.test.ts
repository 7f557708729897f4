import { createServer, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { openTestScanners } from '../../support/servers/scanners.ts';

/** The time limit of a question here. Milliseconds. */
const LIMIT_MS = 500;
/** Beyond the limit, a busy machine needs so long to notice. Milliseconds. */
const LATE_MS = 10_000;
const MESSAGE = Buffer.from('Subject: Hello\r\n\r\nHello\r\n');
const LARGE_MESSAGE = Buffer.concat([MESSAGE, Buffer.alloc(8_000_000, 'a')]);

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** Listens on loopback, and leaves each connection to `serve`. Returns the port. */
async function listen(serve: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    serve(socket);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Writes until the connection ends, slower than the other side reads. */
function flood(socket: Socket, chunk: string): void {
  const write = () => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on('drain', write);
  write();
}

function drip(socket: Socket, chunk: string): void {
  const timer = setInterval(() => socket.write(chunk), 20);
  socket.on('close', () => clearInterval(timer));
}

const reply = (body: string, headers = '') =>
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
const checked = (fields: string) => `{"score":1,"required_score":15,"action":"no action","symbols":{}${fields}}`;

const FILTERS: Record<string, (socket: Socket) => void> = {
  'takes the message and says nothing': () => undefined,
  'never reads': (socket) => void socket.pause(),
  'sends its reply a byte at a time': (socket) => drip(socket, 'H'),
  'sends spaces without an end in its body': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
    drip(socket, '1\r\n \r\n');
  },
  'dies in the middle of its reply': (socket) =>
    void socket.on('data', () => {
      socket.write(reply(checked('')).slice(0, -10));
      socket.destroy();
    }),
  'dies while it reads': (socket) => void socket.once('data', () => socket.resetAndDestroy()),
  'sends a reply without an end': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
    flood(socket, `10000\r\n${'a'.repeat(65_536)}\r\n`);
  },
  'sends fields without an end': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    flood(socket, `X: ${'a'.repeat(1_000)}\r\n`);
  },
  'sends interim replies without an end': (socket) => flood(socket, 'HTTP/1.1 102 Processing\r\n\r\n'),
  'redirects to another address': (socket) =>
    void socket.on('data', () =>
      socket.write('HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n'),
    ),
  'speaks another protocol': (socket) => void socket.write('220 mail.example.com ESMTP\r\n'),
  'nests its JSON': (socket) => void socket.on('data', () => socket.write(reply('['.repeat(500_000)))),
  'gives a score that is no number': (socket) =>
    void socket.on('data', () => socket.write(reply('{"score":1e999,"action":"no action"}'))),
  'gives a score beyond any limit': (socket) =>
    void socket.on('data', () => socket.write(reply('{"score":1e308,"action":"reject"}'))),
  'gives a score of a rule beyond any limit': (socket) =>
    void socket.on('data', () => socket.write(reply(checked(',"symbols":{"A":{"score":-1e308}}')))),
};

test.each(Object.keys(FILTERS))(
  'a filter that %s has not checked the message, and costs no more than the limit',
  async (what) => {
    const port = await listen(FILTERS[what] ?? (() => undefined));
    const scanners = openTestScanners({ filter: { url: `http://127.0.0.1:${port}`, limitMs: LIMIT_MS } });
    closing.push(() => scanners.stop());
    const envelope = { reversePath: '', recipients: ['a@b.test'], remoteAddress: '192.0.2.1', helo: 'x' };
    for (const message of [MESSAGE, LARGE_MESSAGE]) {
      const startedAt = performance.now();
      await expect(scanners.spam?.check('wsp', envelope, message)).rejects.toMatchObject({ name: 'ScannerAway' });
      expect(performance.now() - startedAt).toBeLessThan(LIMIT_MS + LATE_MS);
    }
  },
);

test('a filter that names ten thousand rules has 25 of them stored, cut to what fits', async () => {
  const symbols = Object.fromEntries(
    Array.from({ length: 10_000 }, (_, n) => [`R${n}`, { score: n, description: 'a\u0000\n'.repeat(3) }]),
  );
  const port = await listen(
    (socket) => void socket.once('data', () => socket.write(reply(checked(`,"symbols":${JSON.stringify(symbols)}`)))),
  );
  const scanners = openTestScanners({ filter: { url: `http://127.0.0.1:${port}` } });
  closing.push(() => scanners.stop());
  const envelope = { reversePath: '', recipients: ['a@b.test'], remoteAddress: '192.0.2.1', helo: 'x' };
  const check = await scanners.spam?.check('wsp', envelope, MESSAGE);
  expect(check?.symbols.map(({ name }) => name)).toEqual(Array.from({ length: 25 }, (_, n) => `R${9_999 - n}`));
  expect(JSON.stringify(check)).not.toMatch(/\\u0000|\\n/);
});

test.each(['discard', 'quarantine', 'add header'])('mail for which the filter advises %s is spam', async (action) => {
  const port = await listen(
    (socket) => void socket.once('data', () => socket.write(reply(`{"score":20,"action":"${action}"}`))),
  );
  const scanners = openTestScanners({ filter: { url: `http://127.0.0.1:${port}` } });
  closing.push(() => scanners.stop());
  const envelope = { reversePath: '', recipients: ['a@b.test'], remoteAddress: '192.0.2.1', helo: 'x' };
  expect(await scanners.spam?.check('wsp', envelope, MESSAGE)).toMatchObject({ verdict: 'spam', score: 20 });
});

const VIRUS_SCANNERS: Record<string, (socket: Socket) => void> = {
  'takes the message and says nothing': (socket) => void socket.resume(),
  'never reads': (socket) => void socket.pause(),
  'sends its reply a byte at a time': (socket) => drip(socket, 's'),
  'sends a reply without an end': (socket) => flood(socket, 'a'.repeat(65_536)),
  'dies while it reads': (socket) => void socket.once('data', () => socket.resetAndDestroy()),
  'closes while it reads': (socket) => void socket.once('data', () => socket.end()),
  'dies in the middle of its reply': (socket) => void socket.once('data', () => socket.end('stream: Eicar FOU')),
  'speaks another protocol': (socket) => void socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
  'hides a verdict behind another line': (socket) => void socket.once('data', () => socket.end('x\nstream: OK\0')),
};

test.each(Object.keys(VIRUS_SCANNERS))(
  'a clamd that %s has not scanned the message, and costs no more than the limit',
  async (what) => {
    const port = await listen(VIRUS_SCANNERS[what] ?? (() => undefined));
    const scanners = openTestScanners({ virus: { address: { host: '127.0.0.1', port }, limitMs: LIMIT_MS } });
    closing.push(() => scanners.stop());
    for (const message of [MESSAGE, LARGE_MESSAGE]) {
      const startedAt = performance.now();
      await expect(scanners.virus?.scan(message)).rejects.toMatchObject({ name: 'ScannerAway' });
      expect(performance.now() - startedAt).toBeLessThan(LIMIT_MS + LATE_MS);
    }
  },
);
