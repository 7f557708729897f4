import type { Logger } from 'pino';
import type { ScannerOptions, SpamOptions, VirusOptions } from '../../core/screening/scanner-options.ts';
import type { SpamCheck } from '../../core/screening/spam-check.ts';
import type { OutgoingScan } from '../../operations/context.ts';
import { screeningMetrics } from '../../schema/metrics.ts';
import { type Circuit, createCircuit, ScannerAway } from './circuit.ts';
import { scanBytes, type VirusCheck } from './clamd-client.ts';
import { createRspamdClient, type MailEnvelope, type RspamdClient } from './rspamd-client.ts';

/** The scanners, each behind its circuit. A method throws ScannerAway when its scanner does not respond. */
export interface Scanners {
  spam: (SpamOptions & { check: CheckSpam; learn: Learn }) | null;
  virus: (VirusOptions & { scan: (bytes: Uint8Array) => Promise<VirusCheck> }) | null;
  stop(): Promise<void>;
}

type CheckSpam = (workspaceId: string, envelope: MailEnvelope, bytes: Uint8Array) => Promise<SpamCheck | null>;
type Learn = (workspaceId: string, as: 'spam' | 'ham', bytes: Uint8Array) => Promise<void>;
type Scanner = 'rspamd' | 'clamd';

/** Returns null without any scanner. `pauseMs`: how long one that is away is not asked; the default is that of the circuit. */
export function openScanners({ spam, virus }: ScannerOptions, log: Logger, pauseMs?: number): Scanners | null {
  if (spam === null && virus === null) return null;
  const rspamd = spam === null ? null : createRspamdClient(spam);
  return {
    spam: spam === null || rspamd === null ? null : { ...spam, ...openSpam(spam, rspamd, { log, pauseMs }) },
    virus: virus === null ? null : { ...virus, scan: openVirus(virus, { log, pauseMs }) },
    stop: async () => rspamd?.destroy(),
  };
}

interface Circuits {
  log: Logger;
  pauseMs: number | undefined;
}

function openSpam(
  { limitMs }: SpamOptions,
  rspamd: RspamdClient,
  circuits: Circuits,
): { check: CheckSpam; learn: Learn } {
  const checking = guard('rspamd', limitMs, circuits);
  const learning = createCircuit({ limitMs, onChange: () => undefined });
  return {
    check: (workspaceId, envelope, bytes) =>
      timed('rspamd', () => checking.ask((signal) => rspamd.check(workspaceId, envelope, bytes, signal))),
    learn: (workspaceId, as, bytes) => learning.ask((signal) => rspamd.learn(workspaceId, as, bytes, signal)),
  };
}

function openVirus({ address, limitMs }: VirusOptions, circuits: Circuits): (bytes: Uint8Array) => Promise<VirusCheck> {
  const circuit = guard('clamd', limitMs, circuits);
  return (bytes) => timed('clamd', () => circuit.ask((signal) => scanBytes(address, bytes, signal)));
}

function guard(scanner: Scanner, limitMs: number, { log, pauseMs }: Circuits): Circuit {
  screeningMetrics.isAway.set({ scanner }, 0);
  return createCircuit({
    limitMs,
    ...(pauseMs === undefined ? {} : { pauseMs }),
    onChange(isAway, reason) {
      screeningMetrics.isAway.set({ scanner }, isAway ? 1 : 0);
      if (isAway) log.warn({ scanner, reason }, 'scanner is away');
      else log.info({ scanner }, 'scanner is back');
    },
  });
}

/** Checks mail that a user sends. While the scanner is away, it is sent unchecked if WHEN_AWAY accepts mail. */
export async function scanOutgoing(
  { scan, whenAway }: NonNullable<Scanners['virus']>,
  bytes: Uint8Array,
): Promise<OutgoingScan> {
  try {
    const found = await scan(bytes);
    return found.verdict === 'found' ? found : { verdict: 'clean' };
  } catch (error) {
    if (!(error instanceof ScannerAway)) throw error;
    return { verdict: whenAway === 'accept' ? 'clean' : 'away' };
  }
}

async function timed<T>(scanner: Scanner, ask: () => Promise<T>): Promise<T> {
  const end = screeningMetrics.scanSeconds.startTimer();
  let outcome: 'checked' | 'away' = 'away';
  try {
    const reply = await ask();
    outcome = 'checked';
    return reply;
  } finally {
    end({ scanner, outcome });
  }
}
