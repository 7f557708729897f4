/** Returns the token in the fragment of one of our links, `#TOKEN` or `#token=TOKEN`; null if there is none. */
export function linkToken(hash: string): string | null {
  const text = hash.replace(/^#/, '');
  const token = new URLSearchParams(text).get('token') ?? text;
  return /^[\w-]+$/.test(token) ? token : null;
}
