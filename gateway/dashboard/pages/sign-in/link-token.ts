/** What a link of ours bears in its fragment, as `#TOKEN` or `#token=TOKEN`; null: nothing. */
export function linkToken(hash: string): string | null {
  const text = hash.replace(/^#/, '');
  const token = new URLSearchParams(text).get('token') ?? text;
  return /^[\w-]+$/.test(token) ? token : null;
}
