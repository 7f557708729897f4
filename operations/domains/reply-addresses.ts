import { type normalRoute, type RouteFacts } from '../../core/routing/decide-route.ts';
import { UserError } from '../../core/shared/errors.ts';
import type { KeysetPage, Page } from '../../core/shared/page.ts';
import { canonicalSender, deriveReplyAddressKey, makeReplyAddress } from '../../core/smtp/reply-address.ts';
import { asWorkspace, inWorkspaceTransaction } from '../../db/connection/transaction.ts';
import { isLockTimeout } from '../../db/errors.ts';
import * as lists from '../../db/queries/domains/reply-address-list.ts';
import { insertReplyAddress, nameThread } from '../../db/queries/domains/reply-address-state.ts';
import { readHypotheticalRoutes } from '../../db/queries/routing/hypothetical-route.ts';
import { THREADS_LOCK } from '../../db/queries/threads/thread-claim.ts';
import { withFullAccess } from '../accounts/key-reach.ts';
import { invalid, isValidId, newIdentifier, type OperationContext } from '../context.ts';
import { readNormalRoutes } from '../routing/current-route.ts';
import { resolveLivingThreads, threadNotFound } from '../threads/thread-transaction.ts';

/** Whether mail to a reply address is accepted, or why not. */
export const REPLY_ADDRESS_STATUSES = ['active', 'expired', 'used_up', 'revoked'] as const;

type Outcome = ReturnType<typeof normalRoute>['outcome'];

export interface ReplyAddress extends lists.StoredReplyAddress {
  /** `reply+TOKEN@domain` */
  address: string;
  status: (typeof REPLY_ADDRESS_STATUSES)[number];
}

export interface NewReplyAddress {
  /** id or name */
  domain: string;
  /** returned with each email that the address receives */
  metadata?: Record<string, unknown> | null | undefined;
  expiresAt?: Date | null | undefined;
  maxMessages?: number | null | undefined;
  /** the thread that its mail joins */
  threadId?: string | null | undefined;
  /** addresses and domains; null, omitted or empty: everyone */
  senders?: readonly string[] | null | undefined;
  /** the address of the domain that receives its mail, by id or name; null or omitted: `reply@` of the domain, whether it exists or not */
  deliverTo?: string | null | undefined;
}

/** Receives the mail of a reply address that names no other address. */
const DEFAULT_RECEIVER = 'reply';

/** Filters of the list; omitted or null filters match all. */
interface ReplyAddressQuery {
  /** id or name */
  domain?: string | null | undefined;
}

/** Milliseconds that a new reply address waits for the threading of the user's mail. */
const LOCK_TIMEOUT_MS = 3_000;

/** Creates an address that accepts mail of a verified domain under conditions. Throws validation, not_found, conflict. */
export async function createReplyAddress(context: OperationContext, input: NewReplyAddress): Promise<ReplyAddress> {
  const { database, workspaceId } = context;
  const { metadata = null, expiresAt = null, maxMessages = null, threadId = null, deliverTo = null } = input;
  const createdAt = context.now();
  if (expiresAt !== null && expiresAt <= createdAt) throw invalid('expires_at must be in the future', 'expires_at');
  // What the key of the request may not reach does not exist for it.
  const domain = await asWorkspace(database, workspaceId, async (transaction) => {
    const isKnown =
      threadId === null || (isValidId(threadId) && (await lists.hasThread(transaction, workspaceId, threadId)));
    if (!isKnown) throw threadNotFound();
    const found = await lists.findReplyDomain(transaction, workspaceId, input.domain, deliverTo);
    if (found === null) throw new UserError('not_found', 'Domain not found');
    if (deliverTo !== null && found.deliverTo === null) throw new UserError('not_found', 'Email address not found');
    return found;
  });
  if (!domain.isVerified) throw invalid('Domain must be verified', 'domain');
  const row = {
    id: newIdentifier(context, 'replyAddress'),
    domainId: domain.id,
    domain: domain.name,
    deliverTo: domain.deliverTo,
    metadata,
    threadId,
    senders: [...new Set((input.senders ?? []).map((sender) => canonicalSender(sender) ?? sender))],
    maxMessages,
    expiresAt,
    createdAt,
  };
  const full = withFullAccess(context).database;
  const locks = threadId === null ? [] : [{ name: THREADS_LOCK }];
  const named = await inWorkspaceTransaction(
    full,
    workspaceId,
    { locks, lockTimeoutMs: LOCK_TIMEOUT_MS },
    async (client) => {
      const [living = null] = threadId === null ? [] : await resolveLivingThreads(client, workspaceId, [threadId]);
      await insertReplyAddress(client, workspaceId, { ...row, threadId: living });
      if (living !== null) await nameThread(client, workspaceId, { id: row.id, threadId: living });
      return living;
    },
  ).catch(throwIfBusy);
  return toReplyAddress(context, { ...row, threadId: named, messageCount: 0, revokedAt: null });
}

function throwIfBusy(error: unknown): never {
  if (!isLockTimeout(error)) throw error;
  throw new UserError('conflict', 'The thread is being changed by another request. Try again in a moment.', {
    retryAfterSeconds: 1,
    cause: error,
  });
}

/** Returns a page, newest first, with the exact total. */
export async function listReplyAddresses(
  context: OperationContext,
  { domain = null }: ReplyAddressQuery,
  page: Page,
): Promise<{ rows: ReplyAddress[]; total: number }> {
  const { database, workspaceId } = context;
  const { rows, total } = await asWorkspace(database, workspaceId, (transaction) =>
    lists.listReplyAddresses(transaction, workspaceId, { domain }, page),
  );
  return { rows: rows.map((row) => toReplyAddress(context, row)), total };
}

/** Returns a page of reply addresses, newest first; inverted: oldest first. */
export async function pageReplyAddresses(
  context: OperationContext,
  { domain = null }: ReplyAddressQuery,
  page: KeysetPage,
): Promise<ReplyAddress[]> {
  const { database, workspaceId } = context;
  const rows = await asWorkspace(database, workspaceId, (transaction) =>
    lists.pageReplyAddresses(transaction, workspaceId, { domain }, page),
  );
  return rows.map((row) => toReplyAddress(context, row));
}

export function countReplyAddresses(
  { database, workspaceId }: OperationContext,
  { domain = null }: ReplyAddressQuery,
): Promise<number> {
  return asWorkspace(database, workspaceId, (transaction) =>
    lists.countReplyAddresses(transaction, workspaceId, { domain }),
  );
}

/** Returns one reply address per id, null where the user has none. */
export async function loadReplyAddresses(
  context: OperationContext,
  ids: readonly string[],
): Promise<(ReplyAddress | null)[]> {
  const { database, workspaceId } = context;
  const found = await asWorkspace(database, workspaceId, (transaction) =>
    lists.findReplyAddresses(transaction, workspaceId, ids.filter(isValidId)),
  );
  const byId = new Map(found.map((row) => [row.id, toReplyAddress(context, row)]));
  return ids.map((id) => byId.get(id) ?? null);
}

/** Throws not_found. */
export async function readReplyAddress(context: OperationContext, id: string): Promise<ReplyAddress> {
  const [address] = await loadReplyAddresses(context, [id]);
  if (address == null) throw new UserError('not_found', 'Reply address not found');
  return address;
}

/** Revokes a reply address: it accepts no more mail, from this moment on. Safe to repeat. Throws not_found. */
export async function revokeReplyAddress(context: OperationContext, id: string): Promise<ReplyAddress> {
  const { workspaceId } = context;
  const address = await readReplyAddress(context, id);
  const revokedAt = context.now();
  await asWorkspace(withFullAccess(context).database, workspaceId, (transaction) =>
    lists.revokeReplyAddress(transaction, workspaceId, address.id, revokedAt),
  );
  return readReplyAddress(context, id);
}

/**
 * Returns for each reply address why its mail would be delivered nowhere, and what to do; null where an endpoint gets it, or the user has no
 * such address. Guard rules, which may route mail anywhere, are not considered.
 */
export async function loadReplyWarnings(context: OperationContext, ids: readonly string[]): Promise<(string | null)[]> {
  const addresses = await loadReplyAddresses(context, ids);
  const { database } = withFullAccess(context);
  const { workspaceId } = context;
  const chooseReceiver = ({ deliverTo, domain }: ReplyAddress) => deliverTo ?? `${DEFAULT_RECEIVER}@${domain}`;
  const domainOf = new Map(
    addresses.flatMap((address) => (address === null ? [] : [[chooseReceiver(address), address.domainId]])),
  );
  const receivers = [...domainOf.keys()];
  if (receivers.length === 0) return addresses.map(() => null);
  const warnings = await asWorkspace(database, workspaceId, async (transaction) => {
    const addressIds = await lists.findReplyReceivers(transaction, workspaceId, receivers);
    const places = [...domainOf].map(([ownAddress, domainId]) => ({
      ownAddress,
      addressId: addressIds.get(ownAddress) ?? null,
      domainId,
      dmarcDomain: null,
    }));
    const facts = await readHypotheticalRoutes(transaction, workspaceId, places);
    const routes = await readNormalRoutes(transaction, workspaceId, facts);
    return new Map(
      facts.map((fact, at) => [fact.ownAddress, findWarning(fact.ownAddress, fact, routes[at]?.outcome ?? 'stored')]),
    );
  });
  return addresses.map((address) => (address === null ? null : (warnings.get(chooseReceiver(address)) ?? null)));
}

/** Names no endpoint: the key of the request may not be allowed to see it. */
function findWarning(receiver: string, { address, domain }: RouteFacts, outcome: Outcome): string | null {
  if (address?.isActive === false)
    return `Mail to this address is refused, because ${receiver} is disabled. Enable it, or name another address in deliver_to.`;
  if (outcome === 'endpoint') return null;
  if (outcome === 'inactive')
    return 'Mail to this address is only stored, because its endpoint is disabled. Enable it.';
  const nowhere = 'Mail to this address is only stored, and no endpoint gets it';
  if (address?.endpointId != null || address?.webhookId != null)
    return `${nowhere}: the endpoint of ${receiver} does not take it. Check its events and filter.`;
  if (address !== null) return `${nowhere}: ${receiver} has none. Give it an endpoint.`;
  if (domain?.isCatchAllEnabled === true && domain.catchAllEndpointId !== null)
    return `${nowhere}: the endpoint of the catch-all does not take it. Check its events and filter.`;
  return `${nowhere}: there is no address ${receiver}, and the domain has no catch-all with an endpoint. Create ${receiver} with an endpoint, or name another address in deliver_to.`;
}

function toReplyAddress({ settings, now }: OperationContext, row: lists.StoredReplyAddress): ReplyAddress {
  const address = makeReplyAddress(deriveReplyAddressKey(settings.secretKey), row, row.domain);
  return { ...row, address, status: toStatus(row, now()) };
}

function toStatus(row: lists.StoredReplyAddress, now: Date): ReplyAddress['status'] {
  const { revokedAt, expiresAt, maxMessages, messageCount } = row;
  if (revokedAt !== null) return 'revoked';
  if (expiresAt !== null && expiresAt <= now) return 'expired';
  return maxMessages !== null && messageCount >= maxMessages ? 'used_up' : 'active';
}
