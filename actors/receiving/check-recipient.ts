import { MAIL_FROM_LABEL } from '../../core/domains/dns-records.ts';
import { isReturnAddress, readReturnAddress } from '../../core/smtp/return-address.ts';
import type { Database } from '../../db/connection/database.ts';
import { findReturnAddressOwner } from '../../db/queries/sending/return-address-owner.ts';
import type { Reply } from '../../schema/messages.ts';
import { type OwnMailbox, readMailbox } from './mailbox.ts';

export type RecipientVerdict = Reply<'receiving.recipient.check'>;

export interface RecipientCheckOptions {
  database: Database;
  /** see core/smtp/return-address.ts */
  returnAddressKey: Uint8Array;
}

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
 * What has the form of a return address is taken by none of these: it leads to the From address of the email that bears it, or nowhere.
 * Only verified domains are ours; all else is relaying (RFC 5321 §3.6.2). The verdict hangs on the recipient alone. Throws when
 * PostgreSQL does not answer.
 */
export async function checkRecipient(options: RecipientCheckOptions, forwardPath: string): Promise<RecipientVerdict> {
  const mailbox = readMailbox(forwardPath);
  if (mailbox === null) return RELAY_DENIED;
  return isReturnAddress(mailbox.exact) ? checkReturnAddress(options, mailbox) : checkAddress(options, mailbox);
}

async function checkAddress({ database }: RecipientCheckOptions, mailbox: OwnMailbox): Promise<RecipientVerdict> {
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

/** Whoever got a mail of ours may write to its return address, also when its From address takes no mail: a DSN has to come through. */
async function checkReturnAddress(
  { database, returnAddressKey }: RecipientCheckOptions,
  { exact, domain }: OwnMailbox,
): Promise<RecipientVerdict> {
  const recipientId = readReturnAddress(returnAddressKey, exact);
  const names = domain.startsWith(MAIL_FROM_PREFIX) ? [domain, domain.slice(MAIL_FROM_PREFIX.length)] : [domain];
  const owner = await findReturnAddressOwner(database, names, recipientId, LOOK_UP_TIMEOUT_MS);
  if (owner === null) return RELAY_DENIED;
  if (owner.ownAddress === null) return NO_SUCH_MAILBOX;
  return { verdict: 'accept', ...owner, ownAddress: owner.ownAddress };
}

const MAIL_FROM_PREFIX = `${MAIL_FROM_LABEL}.`;

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
