import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';

/** Returns a name for claims that no other process has. */
export function makeClaimant(): string {
  return `${hostname()}-${process.pid}-${randomBytes(4).toString('hex')}`;
}
