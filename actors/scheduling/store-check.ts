import type pg from 'pg';
import { type DnsRecord, RETIRED_KEY_DAYS } from '../../core/domains/dns-records.ts';
import { type DomainCheck, readDomainCheck } from '../../core/domains/domain-check.ts';
import {
  CONTESTED_DAYS,
  type DomainFacts,
  delayOf,
  isMailFromSeen,
  isReceivingSeen,
  lostRecords,
  proofOf,
  REASONS,
  reasonOf,
  seenSelectors,
  verdictOf,
} from '../../core/domains/domain-state.ts';
import { newIdentifier } from '../../core/shared/identifiers.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import {
  type CheckedDomain,
  type DomainChange,
  lockCheckedDomain,
  writeDomainCheck,
} from '../../db/queries/domains/domain-check.ts';
import { claimName } from '../../db/queries/domains/domain-owner.ts';
import { appendEvents } from '../../db/queries/events/append-events.ts';
import type { ActorContext } from '../actor.ts';

/** The result of a check of a domain's DNS. */
export interface Look {
  /** status when the check began */
  domain: CheckedDomain;
  records: readonly DnsRecord[];
  check: DomainCheck;
}

/** An event for a user's feed. */
interface DomainEvent {
  userId: string;
  kind: 'domain.verified' | 'domain.failed' | 'domain.records_lost';
  data: Record<string, unknown>;
}

/**
 * Stores the result of a check and its consequences (verified, failed, proof lost, keys changed) in one transaction, which also claims the
 * name. A check that began before a stored one, and a domain that was deleted, change nothing.
 */
export async function storeCheck(context: ActorContext, look: Look): Promise<void> {
  const { userId, id } = look.domain;
  const { events, seqs } = await inTransaction(context.database, async (client) => {
    const domain = await lockCheckedDomain(client, userId, id);
    if (domain === null || isOutdated(look.domain, domain)) return { events: [], seqs: [] };
    const stored = await settle(client, domain, look);
    return { events: stored, seqs: await appendDomainEvents(context, client, stored) };
  });
  for (const { kind, data } of events) {
    context.log.info({ event: kind, userId, domainId: data['domainId'] }, 'a domain changed');
    if (kind !== 'domain.records_lost') context.bus.publish('routing.changed', { name: String(data['domain']) });
  }
  for (const { userId: of, lastSeq } of seqs) context.bus.publish('event.appended', { userId: of, lastSeq });
}

function isOutdated(looked: CheckedDomain, stored: CheckedDomain): boolean {
  return stored.checkedAt !== null && stored.checkedAt > looked.now;
}

async function settle(client: pg.PoolClient, domain: CheckedDomain, look: Look): Promise<DomainEvent[]> {
  const { userId, id, name, now } = domain;
  const { records, check } = look;
  const former = readDomainCheck(domain.dnsCheck);
  const isProven = proofOf(records, check);
  const verdict = verdictOf(factsOf(domain), isProven, now);
  const claim =
    verdict === 'claim'
      ? await claimName(client, { name, userId, domainId: id }, { afterDays: CONTESTED_DAYS, reason: 'lost' })
      : null;
  const isOwner = claim?.kind === 'owned';
  const status = isOwner ? 'verified' : verdict === 'fail' ? 'failed' : domain.status;
  const verifiedAt = isOwner ? now : domain.verifiedAt;
  const proofLostAt =
    verdict === 'lose proof' ? (domain.proofLostAt ?? now) : isProven === null ? domain.proofLostAt : null;
  const waiting = domain.keys.filter(({ state }) => state === 'waiting');
  const activated = seenSelectors(waiting, records, check);
  const isMailFrom = isMailFromSeen(records, check);
  const isMxSeen = isReceivingSeen(records, check);
  const facts = { ...factsOf(domain), status, verifiedAt };
  const isComplete = isMxSeen && isMailFrom && activated.length === waiting.length && proofLostAt === null;
  const reason = reasonOf(former, { verdict, isProven, isTaken: claim?.kind === 'taken' });
  const change: DomainChange = {
    status,
    verifiedAt,
    proofLostAt,
    isMxSeen,
    mailFromVerifiedAt: isMailFrom ? (domain.mailFromVerifiedAt ?? now) : null,
    dnsCheck: { ...check, reason },
    delayMs: delayOf(facts, check, isComplete, now),
    activated,
  };
  await writeDomainCheck(client, domain, change, RETIRED_KEY_DAYS);
  const lost = lostRecords(former, check);
  const about = { domainId: id, domain: name };
  return [
    ...(isOwner ? claim.lost.map((each): DomainEvent => failed(each, REASONS.lost)) : []),
    ...(isOwner ? [{ userId, kind: 'domain.verified' as const, data: about }] : []),
    ...(verdict === 'fail' ? [failed(domain, REASONS.unproven)] : []),
    ...(lost.length > 0 && status === 'verified'
      ? [{ userId, kind: 'domain.records_lost' as const, data: { ...about, records: lost } }]
      : []),
  ];
}

function failed({ userId, id, name }: { userId: string; id: string; name: string }, reason: string): DomainEvent {
  return { userId, kind: 'domain.failed', data: { domainId: id, domain: name, reason } };
}

function factsOf(domain: CheckedDomain): DomainFacts {
  const since = domain.keys.find(({ state }) => state === 'waiting')?.createdAt;
  return {
    status: domain.status,
    isTrusted: domain.isTrusted,
    isInherited: domain.parentId !== null,
    createdAt: domain.createdAt,
    verifiedAt: domain.verifiedAt,
    proofLostAt: domain.proofLostAt,
    waitingKeySince: since === undefined ? null : new Date(since),
  };
}

/** Last in the transaction, because the event counters stay locked until the commit. In the order of users, to prevent deadlocks. */
async function appendDomainEvents(
  context: ActorContext,
  client: pg.PoolClient,
  events: readonly DomainEvent[],
): Promise<{ userId: string; lastSeq: number }[]> {
  const users = [...new Set(events.map(({ userId }) => userId))].toSorted();
  const seqs = [];
  for (const userId of users) {
    const rows = events
      .filter((event) => event.userId === userId)
      .map(({ kind, data }) => ({
        id: newIdentifier(context, 'event'),
        kind,
        data,
      }));
    seqs.push({ userId, lastSeq: (await appendEvents(client, userId, rows)) ?? 0 });
  }
  return seqs;
}
