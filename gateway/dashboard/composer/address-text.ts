/** Somebody as the graph tells of him. */
export interface Person {
  name: string | null;
  address: string;
}

/** Good enough to tell a slip of the hand from an address; the service judges. */
const ADDRESS = /^[^\s@<>(),;:"[\]\\]+@[^\s@<>(),;:"[\]\\]+\.[^\s@<>(),;:"[\]\\.]+$/u;

/** `ann@example.com` of `Ann <ann@example.com>`; the text itself where there are no angle brackets. */
export function addressIn(text: string): string {
  return /<([^<>]*)>\s*$/.exec(text)?.[1]?.trim() ?? text.trim();
}

/** Whether a text looks like `address` or `Name <address>`. */
export function looksLikeMailbox(text: string): boolean {
  return ADDRESS.test(addressIn(text));
}

/** `Ann <ann@example.com>`, its name in quotes where it needs them (RFC 5322 §3.2.4); the address alone without a name. */
export function mailboxLine({ name, address }: Person): string {
  const shown = name?.trim() ?? '';
  if (shown === '') return address;
  const isPlain = /^[\p{L}\p{N}\s'_-]+$/u.test(shown);
  return `${isPlain ? shown : `"${shown.replaceAll(/["\\]/g, '\\$&')}"`} <${address}>`;
}

/** What is wrong with these; null: nothing. */
export function refusalOfMailboxes(texts: readonly string[]): string | null {
  const wrong = texts.filter((text) => !looksLikeMailbox(text));
  if (wrong.length === 0) return null;
  return wrong.length === 1
    ? `"${wrong[0]}" is not a valid address`
    : `These are not valid addresses: ${wrong.join(', ')}`;
}

/** `ann@example.com` of `ann+news@example.com`, in lower case. */
export function withoutTag(address: string): string {
  return address.toLowerCase().replace(/^([^+]+)\+.*@/, '$1@');
}
