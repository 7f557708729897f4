import { createConnection } from 'node:net';
import type { ClamdAddress } from '../../core/screening/scanner-options.ts';
import type { Config } from '../config.ts';
import { describeError, type Finding, toFindings } from './finding.ts';

const { ok, skip, warn, fail } = toFindings('scanners');

/** Milliseconds. */
const LIMIT_MS = 5_000;

/** Checks whether the scanners for spam and viruses respond. */
export async function checkScanners({ scanners: { spam, virus } }: Config): Promise<Finding[]> {
  if (spam === null && virus === null)
    return [skip('scanners', 'mail is not checked for spam and viruses: RSPAMD_URL and CLAMD_ADDRESS are not set')];
  return Promise.all([
    ...(spam === null
      ? []
      : [
          checkRspamd('rspamd', spam.url, spam.whenAway),
          checkRspamd(
            'learning',
            spam.controllerUrl,
            'accept',
            'Check RSPAMD_CONTROLLER_URL. Until then, the filter learns nothing from users',
          ),
        ]),
    ...(virus === null ? [] : [checkClamd(virus.address, virus.whenAway)]),
  ]);
}

async function checkRspamd(name: string, url: string, whenAway: string, fix?: string): Promise<Finding> {
  try {
    const response = await fetch(`${url}/ping`, { signal: AbortSignal.timeout(LIMIT_MS), redirect: 'error' });
    const text = (await response.text()).trim();
    return text === 'pong'
      ? ok(name, `${url} responds`)
      : warn(name, `${url} responds, but not as rspamd`, 'Check RSPAMD_URL');
  } catch (error) {
    return away(
      name,
      `${url} does not respond: ${describeError(error)}`,
      whenAway,
      fix ?? 'Start rspamd, or check RSPAMD_URL',
    );
  }
}

async function checkClamd(address: ClamdAddress, whenAway: string): Promise<Finding> {
  const where = 'path' in address ? address.path : `${address.host}:${address.port}`;
  try {
    const reply = await ping(address);
    return reply === 'PONG'
      ? ok('clamd', `${where} responds`)
      : warn('clamd', `${where} responds, but not as clamd`, 'Check CLAMD_ADDRESS');
  } catch (error) {
    return away(
      'clamd',
      `${where} does not respond: ${describeError(error)}`,
      whenAway,
      'Start clamd, or check CLAMD_ADDRESS',
    );
  }
}

/** Mail that is accepted unchecked is a warning; mail that waits or is refused is a failure. */
function away(name: string, detail: string, whenAway: string, fix: string): Finding {
  return whenAway === 'accept' ? warn(name, detail, fix) : fail(name, detail, fix);
}

const MAX_REPLY_LENGTH = 100;

function ping(address: ClamdAddress): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(address, () => socket.write('zPING\0'));
    let reply = '';
    socket.setTimeout(LIMIT_MS, () => socket.destroy(new Error('no response in 5 s')));
    socket.on('data', (chunk: Buffer) => {
      reply += chunk.toString('latin1');
      if (!reply.includes('\0') && reply.length <= MAX_REPLY_LENGTH) return;
      resolve(reply.split('\0', 1)[0] ?? '');
      socket.destroy();
    });
    socket.on('error', reject).on('close', () => reject(new Error('it closed the connection')));
  });
}
