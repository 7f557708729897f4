import type pg from 'pg';
import { storableText } from '../../../core/shared/text.ts';
import { replyThreadKey } from '../../../core/smtp/reply-address.ts';
import type { Database } from '../../connection/database.ts';
import { isOnce, type Offer } from '../emails/accept-group.ts';
import { PAUSE_COLUMN, PAUSE_JOIN, type Pause } from '../routing/recipient-route.ts';
import type { StoredReplyAddress } from './reply-address-list.ts';

/** The conditions under which a reply address accepts mail, and how much it has accepted. */
export interface ReplyAddressState {
  /** addresses and domains, lower case; empty: everyone */
  senders: string[];
  /** null: no limit */
  maxMessages: number | null;
  messageCount: number;
  /** whether it was revoked, or has expired */
  isEnded: boolean;
}

/** A verified domain, and a reply address of it. */
export interface ReplyAddressOwner {
  workspaceId: string;
  domainId: string;
  /** null when its row is gone */
  state: ReplyAddressState | null;
  /** the address that receives its mail; null when the workspace has none of that name */
  receiver: { addressId: string; address: string; isActive: boolean } | null;
  /** whether the sender lately sent a message to it that was accepted, and may repeat because the reply was lost */
  mayRepeat: boolean;
  /** why mail for the workspace is deferred; null: it is not */
  pause: Pause | null;
}

/** The address of an SMTP transaction as the routing tables use it. */
export interface ReplyRecipient {
  replyAddressId: string;
  domain: string;
  /** receives its mail unless the row names another one: `reply@domain` */
  untagged: string;
  /** as given */
  forwardPath: string;
  reversePath: string;
}

/** Within this time, servers repeat a message to which they saw no reply. */
const REPEATED_WITHIN = '1 hour';

/** Finds the owner of a reply address whose signature is ours. Null when its domain is not a verified domain of this service. */
export async function findReplyAddressOwner(
  database: Database,
  { replyAddressId, domain, untagged, forwardPath, reversePath }: ReplyRecipient,
  timeoutMs: number,
): Promise<ReplyAddressOwner | null> {
  const { rows } = await database.pool.query<OwnerRow>({
    name: 'find-reply-address-owner',
    text: OWNER_SQL,
    values: [domain, replyAddressId, untagged, storableText(forwardPath), storableText(reversePath)],
    query_timeout: timeoutMs,
  });
  const [row] = rows;
  if (row === undefined) return null;
  const { address_id: addressId, address, is_active: isActive } = row;
  return {
    workspaceId: row.workspace_id,
    domainId: row.domain_id,
    state: row.id === null ? null : toState(row),
    receiver:
      addressId === null || address === null || isActive === null ? null : { addressId, address, isActive: isActive },
    mayRepeat: row.may_repeat,
    pause: row.pause,
  };
}

interface StateRow {
  senders: string[];
  max_messages: number | null;
  message_count: number;
  is_ended: boolean;
}

type OwnerRow = StateRow & {
  workspace_id: string;
  domain_id: string;
  id: string | null;
  address_id: string | null;
  address: string | null;
  is_active: boolean | null;
  may_repeat: boolean;
  pause: Pause | null;
};

function toState(row: StateRow): ReplyAddressState {
  const { senders, max_messages: maxMessages, message_count: messageCount, is_ended: isEnded } = row;
  return { senders, maxMessages, messageCount, isEnded };
}

const STATE_COLUMNS = `r.senders, r.max_messages, r.message_count,
  r.revoked_at is not null or coalesce(r.expires_at <= (select postroom_now()), false) as is_ended`;

// Only equality with parameters on unique keys, as at RCPT of every other address (db/queries/routing/recipient-route.ts).
const OWNER_SQL = `
  select v.workspace_id, v.domain_id, r.id, ${STATE_COLUMNS}, a.id as address_id, a.address, a.is_active,
    exists (select from smtp_offer o where o.workspace_id = v.workspace_id and o.recipient = $4 and o.reverse_path = $5
      and o.accepted_at > (select postroom_now()) - interval '${REPEATED_WITHIN}') as may_repeat,
    ${PAUSE_COLUMN}
  from verified_domain_name v
  join domain d on d.workspace_id = v.workspace_id and d.id = v.domain_id and d.status = 'verified'
  ${PAUSE_JOIN}
  left join reply_address r on r.workspace_id = v.workspace_id and r.id = $2 and r.domain_id = v.domain_id
  left join email_address_name n on n.address = coalesce(r.deliver_to, $3) and n.workspace_id = v.workspace_id
  left join email_address a on a.workspace_id = n.workspace_id and a.id = n.address_id
  where v.name = $1`;

/** Names a reply address of a workspace. */
export interface ReplyAddressKey {
  workspaceId: string;
  id: string;
}

/** Returns the state of reply addresses by replyKeyText, locked in the order of their keys until the transaction ends. */
export async function lockReplyAddresses(
  client: pg.ClientBase,
  keys: readonly ReplyAddressKey[],
): Promise<Map<string, ReplyAddressState>> {
  const { rows } = await client.query<StateRow & { workspace_id: string; id: string }>({
    name: 'lock-reply-addresses',
    text: `
      select r.workspace_id, r.id, ${STATE_COLUMNS} from reply_address r
      where (r.workspace_id, r.id) in (select * from unnest($1::text[], $2::text[]))
      order by r.workspace_id, r.id for no key update`,
    values: [keys.map(({ workspaceId }) => workspaceId), keys.map(({ id }) => id)],
    query_timeout: LOCK_TIMEOUT_MS,
  });
  return new Map(rows.map((row) => [replyKeyText({ workspaceId: row.workspace_id, id: row.id }), toState(row)]));
}

/** Milliseconds. */
const LOCK_TIMEOUT_MS = 5_000;

export function replyKeyText({ workspaceId, id }: ReplyAddressKey): string {
  return `${workspaceId} ${id}`;
}

/**
 * Returns offerKey of what was accepted before: the same bytes from the same client and sender to the same recipient, or a test or
 * an import with the same email id. In a statement after lockReplyAddresses, so that it shows what the holder before committed.
 */
export async function findRepeatedOffers(client: pg.ClientBase, offers: readonly Offer[]): Promise<Set<string>> {
  const asked = offers.flatMap((offer) =>
    offer.envelope.recipients.map((recipient, at) => ({
      key: offerKey(offer, at),
      workspace_id: recipient.workspaceId,
      recipient: storableText(recipient.recipient),
      reverse_path: storableText(offer.envelope.reversePath),
      sha256: offer.sha256,
      remote_address: storableText(offer.envelope.remoteAddress),
      email_id: offer.emailIds[at],
      is_once: isOnce(offer.envelope),
    })),
  );
  const { rows } = await client.query<{ key: string }>({
    name: 'find-repeated-offers',
    text: `
      select g.key from json_to_recordset($1) as g (key text, workspace_id text, recipient text, reverse_path text, sha256 text,
        remote_address text, email_id text, is_once boolean)
      where case when g.is_once
        then exists (select from reception o where o.workspace_id = g.workspace_id and o.email_id = g.email_id)
        else exists (select from smtp_offer o where o.workspace_id = g.workspace_id and o.recipient = g.recipient
          and o.reverse_path = g.reverse_path and o.sha256 = decode(g.sha256, 'hex') and o.remote_address = g.remote_address
          and not offer_has_ended(o)) end`,
    values: [JSON.stringify(asked)],
    query_timeout: LOCK_TIMEOUT_MS,
  });
  return new Set(rows.map(({ key }) => key));
}

/** Returns what makes an offer to one of its recipients the same as another one (table smtp_offer). */
export function offerKey({ envelope, sha256, emailIds }: Offer, at: number): string {
  const recipient = envelope.recipients[at];
  const what = isOnce(envelope) ? emailIds[at] : [sha256, envelope.reversePath, envelope.remoteAddress];
  return JSON.stringify([recipient?.workspaceId, recipient?.recipient, what]);
}

/** Adds accepted messages to the counts of reply addresses, which the transaction has locked. */
export async function countReplies(
  client: pg.ClientBase,
  counts: readonly (ReplyAddressKey & { count: number })[],
): Promise<void> {
  if (counts.length === 0) return;
  await client.query({
    name: 'count-replies',
    text: `
      update reply_address r set message_count = r.message_count + c.count
      from unnest($1::text[], $2::text[], $3::integer[]) as c(workspace_id, id, count)
      where r.workspace_id = c.workspace_id and r.id = c.id`,
    values: [
      counts.map(({ workspaceId }) => workspaceId),
      counts.map(({ id }) => id),
      counts.map(({ count }) => count),
    ],
    query_timeout: LOCK_TIMEOUT_MS,
  });
}

/** Makes mail to the reply address join the thread, in a transaction that holds the lock of the workspace's threads. */
export async function nameThread(
  client: pg.ClientBase,
  workspaceId: string,
  { id, threadId }: { id: string; threadId: string },
): Promise<void> {
  await client.query({
    name: 'reply-address-thread',
    text: 'insert into thread_message_id (workspace_id, message_id, thread_id) values ($1, $2, $3)',
    values: [workspaceId, replyThreadKey(id), threadId],
  });
}

/** Creates a reply address, in the transaction of its workspace. */
export async function insertReplyAddress(
  client: pg.ClientBase,
  workspaceId: string,
  row: Omit<StoredReplyAddress, 'messageCount' | 'revokedAt'>,
): Promise<void> {
  await client.query({
    name: 'reply-address-insert',
    text: `
      insert into reply_address (workspace_id, id, domain_id, domain, deliver_to, metadata, thread_id, senders, max_messages, expires_at, created_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    values: [
      workspaceId,
      row.id,
      row.domainId,
      row.domain,
      row.deliverTo,
      row.metadata === null ? null : JSON.stringify(row.metadata),
      row.threadId,
      row.senders,
      row.maxMessages,
      row.expiresAt,
      row.createdAt,
    ],
  });
}
