import type pg from 'pg';
import { type DnsRecord, RETIRED_KEY_DAYS } from '../../core/domains/dns-records.ts';
import { type DomainCheck, readDomainCheck } from '../../core/domains/domain-check.ts';
import {
  CONTESTED_DAYS,
  type DomainFacts,
  findProof,
  findReason,
  isMailFromSeen,
  isReceivingSeen,
  judgeProof,
  lostRecords,
  REASONS,
  readDelay,
  seenSelectors,
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
  workspaceId: string;
  kind: 'domain.verified' | 'domain.failed' | 'domain.records_lost';
  data: Record<string, unknown>;
}

/**
 * Stores the result of a check and its consequences (verified, failed, proof lost, keys changed) in one transaction, which also claims the
 * name. A check that began before a stored one, and a domain that was deleted, change nothing.
 */
export async function storeCheck(context: ActorContext, look: Look): Promise<void> {
  const { workspaceId, id } = look.domain;
  const { events, seqs } = await inTransaction(context.database, async (client) => {
    const domain = await lockCheckedDomain(client, workspaceId, id);
    if (domain === null || isOutdated(look.domain, domain)) return { events: [], seqs: [] };
    const stored = await settle(client, domain, look);
    return { events: stored, seqs: await appendDomainEvents(context, client, stored) };
  });
  for (const { kind, data } of events) {
    context.log.info({ event: kind, workspaceId, domainId: data['domainId'] }, 'a domain changed');
    if (kind !== 'domain.records_lost') context.bus.publish('routing.changed', { name: String(data['domain']) });
  }
  for (const { workspaceId: of, lastSeq } of seqs) context.bus.publish('event.appended', { workspaceId: of, lastSeq });
}

function isOutdated(looked: CheckedDomain, stored: CheckedDomain): boolean {
  return stored.checkedAt !== null && stored.checkedAt > looked.now;
}

async function settle(client: pg.PoolClient, domain: CheckedDomain, look: Look): Promise<DomainEvent[]> {
  const { workspaceId, id, name, now } = domain;
  const { records, check } = look;
  const previous = readDomainCheck(domain.dnsCheck);
  const isProven = findProof(records, check);
  const verdict = judgeProof(toFacts(domain), isProven, now);
  const claim =
    verdict === 'claim'
      ? await claimName(client, { name, workspaceId, domainId: id }, { afterDays: CONTESTED_DAYS, reason: 'lost' })
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
  const facts = { ...toFacts(domain), status, verifiedAt };
  const isComplete = isMxSeen && isMailFrom && activated.length === waiting.length && proofLostAt === null;
  const reason = findReason(previous, { verdict, isProven, isTaken: claim?.kind === 'taken' });
  const change: DomainChange = {
    status,
    verifiedAt,
    proofLostAt,
    isMxSeen,
    mailFromVerifiedAt: isMailFrom ? (domain.mailFromVerifiedAt ?? now) : null,
    dnsCheck: { ...check, reason },
    delayMs: readDelay(facts, check, isComplete, now),
    activated,
  };
  await writeDomainCheck(client, domain, change, RETIRED_KEY_DAYS);
  const lost = lostRecords(previous, check);
  const about = { domainId: id, domain: name };
  return [
    ...(isOwner ? claim.lost.map((each): DomainEvent => failed(each, REASONS.lost)) : []),
    ...(isOwner ? [{ workspaceId, kind: 'domain.verified' as const, data: about }] : []),
    ...(verdict === 'fail' ? [failed(domain, REASONS.unproven)] : []),
    ...(lost.length > 0 && status === 'verified'
      ? [{ workspaceId, kind: 'domain.records_lost' as const, data: { ...about, records: lost } }]
      : []),
  ];
}

function failed(
  { workspaceId, id, name }: { workspaceId: string; id: string; name: string },
  reason: string,
): DomainEvent {
  return { workspaceId, kind: 'domain.failed', data: { domainId: id, domain: name, reason } };
}

function toFacts(domain: CheckedDomain): DomainFacts {
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
): Promise<{ workspaceId: string; lastSeq: number }[]> {
  const users = [...new Set(events.map(({ workspaceId }) => workspaceId))].toSorted();
  const seqs = [];
  for (const workspaceId of users) {
    const rows = events
      .filter((event) => event.workspaceId === workspaceId)
      .map(({ kind, data }) => ({
        id: newIdentifier(context, 'event'),
        kind,
        data,
      }));
    seqs.push({ workspaceId, lastSeq: (await appendEvents(client, workspaceId, rows)) ?? 0 });
  }
  return seqs;
}
