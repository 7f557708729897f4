import { domainToASCII } from 'node:url';
import type { Database } from '../../db/database.ts';
import type { Reply } from '../../schema/messages.ts';

export type RecipientVerdict = Reply<'receiving.recipient.check'>;

/** Milliseconds; with the 5 s for a connection it stays within the 8 s that the question at RCPT has. */
const LOOK_UP_TIMEOUT_MS = 2_500;

const NO_SUCH_MAILBOX: RecipientVerdict = {
  verdict: 'reject',
  code: 550,
  enhancedCode: '5.1.1',
  text: 'No such mailbox',
};
const RELAY_DENIED: RecipientVerdict = { verdict: 'reject', code: 550, enhancedCode: '5.7.1', text: 'Relay denied' };

/**
 * Whether mail to this forward-path is taken, and by which of our addresses: the exact address, else the address without its
 * plus-tag, else the catch-all of the domain. An address that is switched off takes nothing, whatever the catch-all says.
 * Only verified domains are ours; all else is relaying (RFC 5321 §3.6.2). Local-parts are compared without regard to case and
 * otherwise literally: no `%`, `!` or quoted `@` is looked into. Throws when PostgreSQL does not answer.
 */
export async function checkRecipient(database: Database, forwardPath: string): Promise<RecipientVerdict> {
  const mailbox = splitMailbox(forwardPath);
  if (mailbox === null) return RELAY_DENIED;
  const { exact, untagged, domain } = mailbox;
  const { rows } = await database.pool.query<RouteRow>({
    name: 'check-recipient',
    text: ROUTE_SQL,
    values: [domain, exact, untagged],
    query_timeout: LOOK_UP_TIMEOUT_MS,
  });
  const route = rows[0];
  if (route === undefined) return RELAY_DENIED;
  const { user_id: userId, domain_id: domainId } = route;
  if (route.address_id !== null && route.address !== null) {
    if (!route.is_active) return NO_SUCH_MAILBOX;
    return { verdict: 'accept', userId, addressId: route.address_id, domainId, ownAddress: route.address };
  }
  if (!route.is_catch_all_enabled) return NO_SUCH_MAILBOX;
  return { verdict: 'accept', userId, addressId: null, domainId, ownAddress: untagged };
}

interface RouteRow {
  user_id: string;
  domain_id: string;
  is_catch_all_enabled: boolean;
  address_id: string | null;
  address: string | null;
  is_active: boolean | null;
}

// Equalities with the parameters on unique keys all the way: the plan stays right from the empty table to a million rows.
const ROUTE_SQL = `
  select v.user_id, v.domain_id, d.is_catch_all_enabled, coalesce(e.id, u.id) as address_id,
    coalesce(e.address, u.address) as address, coalesce(e.is_active, u.is_active) as is_active
  from verified_domain_name v
  join domain d on d.user_id = v.user_id and d.id = v.domain_id and d.status = 'verified'
  left join email_address_name en on en.address = $2 and en.user_id = v.user_id
  left join email_address e on e.user_id = en.user_id and e.id = en.address_id
  left join email_address_name un on un.address = $3 and un.user_id = v.user_id
  left join email_address u on u.user_id = un.user_id and u.id = un.address_id
  where v.name = $1`;

/** The forward-path as the routing tables write it: lower case, domain in ASCII; null when it names no domain. */
function splitMailbox(forwardPath: string): { exact: string; untagged: string; domain: string } | null {
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
