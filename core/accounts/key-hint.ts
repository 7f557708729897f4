/** Shorter secrets would be weakened by what a hint shows of them. Characters. */
const LEAST_LENGTH = 32;
const SHOWN = 4;

/**
 * Returns the first and the last four characters of a secret, such as `Ab3d…x9Yz`, by which its owner recognizes it. Null for a secret shorter
 * than 32 characters. A generated secret has 43, of which 35 stay unknown: 210 bits.
 */
export function keyHint(secret: string): string | null {
  if (secret.length < LEAST_LENGTH) return null;
  return `${secret.slice(0, SHOWN)}…${secret.slice(-SHOWN)}`;
}
