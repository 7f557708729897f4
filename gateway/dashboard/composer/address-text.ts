/** A person in GraphQL. */
export interface Person {
  name: string | null;
  address: string;
}

/** Detects typing errors only; the service validates addresses. */
const ADDRESS = /^[^\s@<>(),;:"[\]\\]+@[^\s@<>(),;:"[\]\\]+\.[^\s@<>(),;:"[\]\\.]+$/u;

/** Returns `ann@example.com` for `Ann <ann@example.com>`, and text without angle brackets unchanged. */
export function addressIn(text: string): string {
  return /<([^<>]*)>\s*$/.exec(text)?.[1]?.trim() ?? text.trim();
}

/** Returns whether a text looks like `address` or `Name <address>`. */
export function looksLikeMailbox(text: string): boolean {
  return ADDRESS.test(addressIn(text));
}

/** Returns `Ann <ann@example.com>`, with the name in quotes if needed (RFC 5322 §3.2.4), or the address if there is no name. */
export function mailboxLine({ name, address }: Person): string {
  const shown = name?.trim() ?? '';
  if (shown === '') return address;
  const isPlain = /^[\p{L}\p{N}\s'_-]+$/u.test(shown);
  return `${isPlain ? shown : `"${shown.replaceAll(/["\\]/g, '\\$&')}"`} <${address}>`;
}

/** Returns an error message for invalid mailboxes, or null. */
export function refusalOfMailboxes(texts: readonly string[]): string | null {
  const wrong = texts.filter((text) => !looksLikeMailbox(text));
  if (wrong.length === 0) return null;
  return wrong.length === 1
    ? `"${wrong[0]}" is not a valid address`
    : `These are not valid addresses: ${wrong.join(', ')}`;
}

/** Returns `ann@example.com` for `ann+news@example.com`, in lower case. */
export function withoutTag(address: string): string {
  return address.toLowerCase().replace(/^([^+]+)\+.*@/, '$1@');
}
