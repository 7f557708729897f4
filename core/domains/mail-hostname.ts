/** Endings of names that the DNS of the world does not have: RFC 6761 §6.3, RFC 6762 §3, RFC 9476 §2 and the reserved `internal`. */
const LOCAL_ENDINGS = ['localhost', 'localdomain', 'local', 'internal', 'lan', 'home.arpa'];

/** Returns whether only this machine or network knows the name of the mail server, so that no DNS record may contain it. */
export function isLocalMailHostname(name: string): boolean {
  return !name.includes('.') || LOCAL_ENDINGS.some((ending) => name.endsWith(`.${ending}`));
}
