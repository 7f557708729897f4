/**
 * The passwords of the service's roles follow SECRET_KEY. While that is replaced, the server has those of the previous key until
 * bin/rotate-secret.ts sets the others, so a process that knows both keys tries the other password when one is refused
 * (docs/decisions/0259).
 */
const passwords = new Map<string, { previous: string; isPreviousTaken: boolean }>();

/** invalid_password */
export const WRONG_PASSWORD = '28P01';

/** Keeps the password that follows from the previous SECRET_KEY. Both are base64url, which URLs need not escape. */
export function keepPreviousPassword(password: string, previous: string): void {
  if (!passwords.has(password)) passwords.set(password, { previous, isPreviousTaken: false });
}

/** Logs in with the passwords of the present key only, from now on. */
export function forgetPreviousPasswords(): void {
  passwords.clear();
}

/** Returns the URL with the password that the server took last. */
export function withTakenPassword(url: string): string {
  if (passwords.size === 0) return url;
  const password = readPassword(url);
  const known = passwords.get(password);
  return known?.isPreviousTaken === true ? url.replace(`:${password}@`, `:${known.previous}@`) : url;
}

/** Returns whether another password may be taken than that of `tried`, the URL with which connecting failed. */
export function hasOtherPassword(url: string, tried: string, error: unknown): boolean {
  const known = passwords.get(readPassword(url));
  if (known === undefined || (error as { code?: unknown }).code !== WRONG_PASSWORD) return false;
  // Unless another connection learned it meanwhile.
  if (withTakenPassword(url) === tried) known.isPreviousTaken = !known.isPreviousTaken;
  return true;
}

/** Connects, and once more with the role's other password if the server refuses the first. Throws what it says of the last one. */
export async function withEitherPassword<T>(url: string, connect: () => Promise<T>): Promise<T> {
  const tried = withTakenPassword(url);
  try {
    return await connect();
  } catch (error) {
    if (!hasOtherPassword(url, tried, error)) throw error;
    return connect();
  }
}

function readPassword(url: string): string {
  return /^[a-z]+:\/\/[^/?#]*?:([^/?#]*)@/i.exec(url)?.[1] ?? '';
}
