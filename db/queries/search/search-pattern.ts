/** Returns a LIKE pattern that finds the text anywhere, with its special characters escaped; for lower-case columns. */
export function containsPattern(text: string): string {
  return `%${text.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`;
}
