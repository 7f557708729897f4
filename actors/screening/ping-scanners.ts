import { createConnection } from 'node:net';
import type { ClamdAddress, ScannerOptions } from '../../core/screening/scanner-options.ts';

/** Milliseconds. */
const LIMIT_MS = 5_000;
const MAX_REPLY_LENGTH = 100;

/** What is wrong with a scanner, and what to do; null: it responds. */
export type ScannerFault = { detail: string; fix: string } | null;

/** Asks rspamd whether it is there, on the port that checks or the one that learns. `limitMs`: 5 s by default. */
export async function pingRspamd(url: string, setting = 'RSPAMD_URL', limitMs = LIMIT_MS): Promise<ScannerFault> {
  try {
    const response = await fetch(`${url}/ping`, { signal: AbortSignal.timeout(limitMs), redirect: 'error' });
    const text = (await response.text()).trim();
    return text === 'pong' ? null : { detail: `${url} responds, but not as rspamd`, fix: `Check ${setting}` };
  } catch (error) {
    const isTimeout = error instanceof Error && error.name === 'TimeoutError';
    return {
      detail: explain(url, isTimeout ? error : ((error as Error).cause ?? error), limitMs),
      fix: `Start rspamd, or check ${setting}. Without DNS, rspamd takes minutes to start and 8 s for each message: docs/screening.md says how to switch its network off`,
    };
  }
}

/** Asks clamd whether it is there. `limitMs`: 5 s by default. */
export async function pingClamd(address: ClamdAddress, limitMs = LIMIT_MS): Promise<ScannerFault> {
  const where = 'path' in address ? address.path : `${address.host}:${address.port}`;
  try {
    const reply = await askClamd(address, limitMs);
    return reply === 'PONG' ? null : { detail: `${where} responds, but not as clamd`, fix: 'Check CLAMD_ADDRESS' };
  } catch (error) {
    return {
      detail: explain(where, error, limitMs),
      fix: 'Start clamd, or check CLAMD_ADDRESS. clamd starts when it has signatures, and then reads them for about a minute',
    };
  }
}

/** Returns what is wrong with each scanner that does not respond. */
export async function findScannerFaults({
  spam,
  virus,
}: ScannerOptions): Promise<{ scanner: 'rspamd' | 'clamd'; detail: string; fix: string }[]> {
  const faults = await Promise.all([
    spam === null ? null : pingRspamd(spam.url).then((fault) => fault && { scanner: 'rspamd' as const, ...fault }),
    virus === null ? null : pingClamd(virus.address).then((fault) => fault && { scanner: 'clamd' as const, ...fault }),
  ]);
  return faults.filter((fault) => fault !== null);
}

function explain(where: string, error: unknown, limitMs: number): string {
  const { name, code, message } = error as { name?: string; code?: string; message?: string };
  if (name === 'TimeoutError' || code === 'ETIMEDOUT')
    return `${where} takes connections, but did not respond in ${limitMs / 1_000} s: it is still starting, or hangs`;
  if (code === 'ECONNREFUSED' || code === 'ENOENT') return `nothing listens at ${where}: it is not running yet`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `the host of ${where} has no address`;
  if (code === 'EACCES') return `Postroom may not open ${where}: add its user to the group of the socket`;
  return `${where} does not respond: ${message ?? String(error)}`;
}

function askClamd(address: ClamdAddress, limitMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(address, () => socket.write('zPING\0'));
    let reply = '';
    socket.setTimeout(limitMs, () => socket.destroy(Object.assign(new Error('no response'), { code: 'ETIMEDOUT' })));
    socket.on('data', (chunk: Buffer) => {
      reply += chunk.toString('latin1');
      if (!reply.includes('\0') && reply.length <= MAX_REPLY_LENGTH) return;
      resolve(reply.split('\0', 1)[0] ?? '');
      socket.destroy();
    });
    socket.on('error', reject).on('close', () => reject(new Error('it closed the connection')));
  });
}
