import { UserError, VIRUS_FOUND } from '../../core/shared/errors.ts';
import type { OutgoingScan } from '../context.ts';

/** Emails that are scanned at the same time. */
const SCANNED_AT_ONCE = 8;

/** Throws validation with the name of the virus, and unavailable when the scanner is away and mail is not sent unchecked. */
export async function requireClean(
  scan: (bytes: Uint8Array) => Promise<OutgoingScan>,
  emails: readonly { bytes: Uint8Array }[],
): Promise<void> {
  for (let start = 0; start < emails.length; start += SCANNED_AT_ONCE) {
    const scanned = emails.slice(start, start + SCANNED_AT_ONCE);
    const results = await Promise.all(scanned.map(({ bytes }) => scan(bytes)));
    const index = results.findIndex(({ verdict }) => verdict !== 'clean');
    const result = results[index];
    if (result === undefined) continue;
    if (result.verdict === 'found')
      throw new UserError('validation', `The email has a virus: ${result.name}`, {
        reason: VIRUS_FOUND,
        members: { virus: result.name, index: start + index },
      });
    throw new UserError('unavailable', 'The email cannot be checked for viruses now. Send it again in a moment.', {
      reason: SCANNER_AWAY,
      retryAfterSeconds: 10,
    });
  }
}

const SCANNER_AWAY = 'SCANNER_AWAY';

/** Returns whether an error says that mail cannot be checked now. */
export function isScannerAway(error: unknown): boolean {
  return error instanceof UserError && error.reason === SCANNER_AWAY;
}
