import type { Logger } from 'pino';
import type { OutgoingScan } from '../../../operations/context.ts';
import type { Config } from '../../config.ts';

/** Returns what checks outgoing mail; null: it is not checked, and the code of the scanners is not loaded. */
export async function openOutgoingScan(
  { scanners, scansOutgoing }: Pick<Config, 'scanners' | 'scansOutgoing'>,
  log: Logger,
): Promise<((bytes: Uint8Array) => Promise<OutgoingScan>) | null> {
  if (!scansOutgoing || scanners.virus === null) return null;
  const { openScanners, scanOutgoing } = await import('../../../actors/screening/scanners.ts');
  const { virus } = openScanners({ spam: null, virus: scanners.virus }, log) ?? {};
  return virus == null ? null : (bytes) => scanOutgoing(virus, bytes);
}
