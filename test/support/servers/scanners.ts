import { createServer as createHttpServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { pino } from 'pino';
import { openScanners, type Scanners } from '../../../actors/screening/scanners.ts';
import type { ScannerOptions, SpamOptions, VirusOptions } from '../../../core/screening/scanner-options.ts';

/** The test message of spam filters, and of virus scanners: https://www.eicar.org. In pieces, so that no scanner finds it here. */
export const GTUBE = ['XJS*C4JDBQADN1.NSBN3*2IDNEN*', 'GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X'].join('');
export const EICAR = ['X5O!P%@AP[4\\PZX54(P^)7CC)7}$', 'EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*'].join('');

/** What was asked of the spam filter. */
export interface FilterRequest {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface FilterServer {
  url: string;
  requests: FilterRequest[];
  stop(): Promise<void>;
}

/** Replies of rspamd 3.4 as it sent them. */
export const filterReplies = {
  gtube:
    '{"is_skipped":true,"score":15.0,"required_score":15.0,"action":"reject","symbols":{"GTUBE":{"name":"GTUBE","score":0.0,"metric_score":0.0}},"messages":{"smtp_message":"Gtube pattern"},"message-id":"x@example.com","time_real":0.266804}',
  clean:
    '{"is_skipped":false,"score":-0.100000,"required_score":15.0,"action":"no action","symbols":{"MIME_TRACE":{"name":"MIME_TRACE","score":0.0,"metric_score":0.0,"options":["0:+"]},"FROM_NO_DN":{"name":"FROM_NO_DN","score":0.0,"metric_score":0.0,"description":"From header does not have a display name"},"MIME_GOOD":{"name":"MIME_GOOD","score":-0.100000,"metric_score":-0.100000,"description":"Known content-type","options":["text/plain"]}},"messages":{},"message-id":"x@example.com","time_real":0.002583}',
  suspected:
    '{"is_skipped":false,"score":4.5,"required_score":15.0,"action":"greylist","symbols":{"BAYES_SPAM":{"name":"BAYES_SPAM","score":4.5,"metric_score":4.5,"description":"Message probably spam, probability: 97.9%"}},"messages":{},"message-id":"x@example.com"}',
  learned: '{"success":true}',
};

/** An HTTP server on loopback that speaks the protocol of rspamd: mail with GTUBE is spam. `reply` replaces what it does. */
export async function startFilter(
  reply?: (request: FilterRequest, response: ServerResponse) => boolean,
): Promise<FilterServer> {
  const requests: FilterRequest[] = [];
  const server = createHttpServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('latin1');
      const seen = { path: request.url ?? '', headers: request.headers, body };
      requests.push(seen);
      if (reply?.(seen, response) === true) return;
      response.setHeader('connection', 'close');
      response.setHeader('content-type', 'application/json');
      if (seen.path.startsWith('/learn')) return void response.end(filterReplies.learned);
      response.end(
        body.includes(GTUBE)
          ? filterReplies.gtube
          : body.includes('suspect')
            ? filterReplies.suspected
            : filterReplies.clean,
      );
    });
  });
  await listen(server);
  return {
    url: `http://127.0.0.1:${readPort(server)}`,
    requests,
    stop() {
      server.closeAllConnections();
      return close(server);
    },
  };
}

export interface VirusServer {
  address: { host: string; port: number };
  /** the streams that were scanned */
  streams: Buffer[];
  stop(): Promise<void>;
}

/** A TCP server on loopback that speaks INSTREAM as clamd 1.4 does. `reply` replaces what it says; null: it says nothing. */
export async function startVirusScanner(reply?: (stream: Buffer) => string | null): Promise<VirusServer> {
  const streams: Buffer[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
    let input = Buffer.alloc(0);
    let isDone = false;
    socket.on('data', (chunk: Buffer) => {
      input = Buffer.concat([input, chunk]);
      const stream = readStream(input);
      if (stream === null || isDone) return;
      isDone = true;
      streams.push(stream);
      const said = (reply ?? sayAsClamd)(stream);
      if (said !== null) socket.end(said);
    });
  });
  await listen(server);
  return {
    address: { host: '127.0.0.1', port: readPort(server) },
    streams,
    stop() {
      for (const socket of sockets) socket.destroy();
      return close(server);
    },
  };
}

function sayAsClamd(stream: Buffer): string {
  return stream.includes(EICAR) ? 'stream: Eicar-Signature.UNOFFICIAL FOUND\0' : 'stream: OK\0';
}

/** Returns the bytes of a complete stream; null: more is to come. */
function readStream(input: Buffer): Buffer | null {
  const command = 'zINSTREAM\0';
  const chunks: Buffer[] = [];
  for (let at = command.length; at + 4 <= input.length; ) {
    const length = input.readUInt32BE(at);
    if (length === 0) return Buffer.concat(chunks);
    chunks.push(input.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  return null;
}

/** Opens scanners over such servers. */
export function openTestScanners(options: {
  filter?: Partial<SpamOptions> & Pick<SpamOptions, 'url'>;
  virus?: Partial<VirusOptions> & Pick<VirusOptions, 'address'>;
  /** how long a scanner that is away is not asked; milliseconds */
  pauseMs?: number;
}): Scanners {
  const { filter, virus } = options;
  const given: ScannerOptions = {
    spam:
      filter === undefined
        ? null
        : {
            controllerUrl: filter.url,
            password: null,
            limitMs: 10_000,
            whenAway: 'accept',
            rejectScore: null,
            ...filter,
          },
    virus: virus === undefined ? null : { limitMs: 10_000, whenAway: 'accept', action: 'refuse', ...virus },
  };
  const scanners = openScanners(given, pino({ level: 'silent' }), options.pauseMs);
  if (scanners === null) throw new Error('no scanner was given');
  return scanners;
}

function listen(server: Server): Promise<void> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
}

function readPort(server: Server): number {
  return (server.address() as AddressInfo).port;
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
