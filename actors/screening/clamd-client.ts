import { connect, type Socket } from 'node:net';
import type { ClamdAddress } from '../../core/screening/scanner-options.ts';

/** What clamd says about bytes. */
export type VirusCheck = { verdict: 'clean' } | { verdict: 'found'; name: string };

/** Bytes of a piece of the stream. */
const CHUNK_BYTES = 65_536;
const MAX_REPLY_BYTES = 4_096;
const MAX_NAME_LENGTH = 200;

/**
 * Sends bytes to clamd (INSTREAM, clamd(8)) and returns its verdict. Throws when it is away, when it does not scan them, such as those above
 * its StreamMaxLength, and when its reply has no form that it documents.
 */
export async function scanBytes(address: ClamdAddress, bytes: Uint8Array, signal: AbortSignal): Promise<VirusCheck> {
  const socket = connect(address);
  const abort = () => socket.destroy(new Error('clamd did not respond in time'));
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    const reply = readReply(socket);
    // clamd may reply before it has all, and close.
    await Promise.race([sendStream(socket, bytes), reply]);
    return parseReply(await reply);
  } finally {
    signal.removeEventListener('abort', abort);
    socket.destroy();
  }
}

async function sendStream(socket: Socket, bytes: Uint8Array): Promise<void> {
  socket.write('zINSTREAM\0');
  for (let start = 0; start < bytes.length; start += CHUNK_BYTES) {
    const chunk = bytes.subarray(start, start + CHUNK_BYTES);
    socket.write(writeSize(chunk.length));
    if (!socket.write(chunk)) await drained(socket);
    if (socket.destroyed) return;
  }
  socket.write(writeSize(0));
}

function writeSize(length: number): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(length);
  return size;
}

function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      socket.off('drain', done).off('close', done);
      resolve();
    };
    socket.on('drain', done).on('close', done);
  });
}

/** Resolves with the text before the first NUL, or before the end. */
function readReply(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const text = () => Buffer.concat(chunks).toString('utf8');
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      const end = chunk.indexOf(0);
      if (end >= 0) resolve(text().split('\0', 1)[0] ?? '');
      else if (bytes > MAX_REPLY_BYTES) reject(new Error('clamd replied with too much'));
    });
    socket.on('end', () => resolve(text()));
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('clamd closed the connection')));
  });
}

function parseReply(reply: string): VirusCheck {
  if (/^stream: OK\s*$/.test(reply)) return { verdict: 'clean' };
  const name = /^stream: (.+) FOUND\s*$/.exec(reply)?.[1];
  if (name !== undefined) return { verdict: 'found', name: storableName(name) };
  const words = reply.replace(/[^\x20-\x7e]/g, ' ').slice(0, MAX_NAME_LENGTH);
  throw new Error(`clamd did not scan the message: ${words}`);
}

function storableName(name: string): string {
  return (
    name
      .replace(/[^\x21-\x7e]+/g, ' ')
      .trim()
      .slice(0, MAX_NAME_LENGTH) || 'unnamed'
  );
}
