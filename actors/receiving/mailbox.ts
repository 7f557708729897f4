import { domainToASCII } from 'node:url';

/** A forward-path in the form that the routing tables use: lower case, domain in ASCII. */
export interface OwnMailbox {
  /** `local-part@domain` */
  exact: string;
  /** without its plus-tag */
  untagged: string;
  domain: string;
}

/**
 * Parses a forward-path; null when it has no domain. Local-parts are case-insensitive and otherwise literal: `%`, `!` and a quoted `@` have
 * no meaning.
 */
export function readMailbox(forwardPath: string): OwnMailbox | null {
  const at = forwardPath.lastIndexOf('@');
  if (at < 1 || forwardPath.includes('\0')) return null;
  const written = forwardPath.slice(at + 1).toLowerCase();
  const domain = /^[\x20-\x7e]*$/.test(written) ? written : domainToASCII(written);
  if (domain === '') return null;
  const local = withoutNeedlessQuotes(forwardPath.slice(0, at)).toLowerCase().toWellFormed();
  const plus = local.startsWith('"') ? -1 : local.indexOf('+');
  const base = plus > 0 ? local.slice(0, plus) : local;
  return { exact: `${local}@${domain}`, untagged: `${base}@${domain}`, domain };
}

/** `"joe"@x.test` is the mailbox `joe@x.test` (RFC 5321 §4.1.2). */
function withoutNeedlessQuotes(local: string): string {
  const quoted = /^"([a-z0-9!#$%&'*+/=?^_`{|}~.-]+)"$/i.exec(local)?.[1];
  return quoted !== undefined && !/^\.|\.\.|\.$/.test(quoted) ? quoted : local;
}
