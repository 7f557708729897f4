/** A LIKE pattern that finds the text anywhere, whatever it holds; for columns that are in lower case. */
export function containsPattern(text: string): string {
  return `%${text.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`;
}
