import { DAY_MS } from '../../core/shared/durations.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import * as faults from '../../db/queries/upkeep/overview-faults.ts';
import { countSendsLeft } from '../accounts/account.ts';
import type { OperationContext } from '../context.ts';
import { makeDomainView } from '../domains/domains.ts';
import { describePosition } from '../endpoints/payload-queries.ts';

export const FINDING_KINDS = [
  'domain-unproven',
  'domain-proof-lost',
  'domain-records-missing',
  'endpoint-disabled',
  'endpoint-failing',
  'endpoint-query-outdated',
  'address-without-endpoint',
  'sending-limit',
  'api-key-expired',
  'api-key-expiring',
  'mail-to-review',
] as const;
type FindingKind = (typeof FINDING_KINDS)[number];

/** Of a finding. error: mail is lost, rejected or stuck; warning: it will be; notice: the user has to decide. */
export const FINDING_SEVERITIES = ['error', 'warning', 'notice'] as const;

/** A problem that the user should look at. */
export interface Finding {
  kind: FindingKind;
  severity: (typeof FINDING_SEVERITIES)[number];
  title: string;
  /** the effect and the remedy, in full sentences */
  detail: string;
  /** since when, or when it will happen; null: unknown */
  at: Date | null;
  /** the object concerned; null: the account */
  nodeId: string | null;
}

/** The share of the limit at which a finding appears. */
const NEAR_LIMIT = 0.9;
const EXPIRING_DAYS = 7;
const EXPIRED_DAYS = 30;

const RANK = { error: 0, warning: 1, notice: 2 } as const;

/** Returns the findings, most severe first. The number of statements is constant. */
export async function listFindings(context: OperationContext): Promise<Finding[]> {
  const { database, workspaceId } = context;
  const now = context.now();
  const keySpan = {
    from: new Date(now.getTime() - EXPIRED_DAYS * DAY_MS),
    until: new Date(now.getTime() + EXPIRING_DAYS * DAY_MS),
  };
  const found = await asWorkspace(database, workspaceId, async (transaction) => ({
    domains: await faults.readFaultyDomains(transaction, workspaceId),
    endpoints: await faults.readFaultyEndpoints(transaction, workspaceId),
    queries: await faults.readPayloadQueries(transaction, workspaceId),
    deadEnds: await faults.readDeadEnds(transaction, workspaceId),
    keys: await faults.readExpiringKeys(transaction, workspaceId, keySpan),
    reviews: await faults.readReviews(transaction, workspaceId),
  }));
  const things = [
    ...found.domains.flatMap((domain) => domainFinding(context, domain)),
    ...found.endpoints.map(endpointFinding),
    ...(await Promise.all(found.queries.map((endpoint) => queryFinding(context, endpoint)))).flat(),
    ...found.deadEnds.map(deadEndFinding),
    ...limitFinding(context, await countSendsLeft(context)),
    ...found.keys.map((key) => keyFinding(key, now)),
    ...(found.reviews === null ? [] : [reviewFinding(found.reviews)]),
  ];
  return things.toSorted((a, b) => RANK[a.severity] - RANK[b.severity]);
}

type FaultyDomain = Awaited<ReturnType<typeof faults.readFaultyDomains>>[number];

function domainFinding(context: OperationContext, row: FaultyDomain): Finding[] {
  const domain = makeDomainView(context, row);
  const { name, id: nodeId, addressCount } = domain;
  const addresses = addressCount === 0 ? '' : ` It has ${counted(addressCount, 'active address', 'active addresses')}.`;
  const missing = domain.dnsRecords.filter(({ isRequired, isSeen }) => isRequired && !isSeen);
  const records = missing.map(({ type, name: at, error }) => `${type} at ${at}${error === null ? '' : ` (${error})`}`);
  if (domain.status !== 'verified')
    return [
      {
        kind: 'domain-unproven',
        severity: 'error',
        title: domain.status === 'failed' ? `${name} could not be verified` : `${name} is not verified yet`,
        detail: `${domain.reason ?? 'Publish its DNS records, then check the domain.'}${describeMissing(records)}${addresses}`,
        at: domain.createdAt,
        nodeId,
      },
    ];
  if (domain.proofLostAt !== null)
    return [
      {
        kind: 'domain-proof-lost',
        severity: 'error',
        title: `${name} is no longer proven to be yours`,
        detail: `The record that proves your ownership of the domain is missing from DNS, so another account may claim the domain.${describeMissing(records)}`,
        at: domain.proofLostAt,
        nodeId,
      },
    ];
  if (domain.isFullyVerified) return [];
  const effect = domain.canReceive ? '' : ' Its mail does not arrive here.';
  return [
    {
      kind: 'domain-records-missing',
      severity: domain.canReceive ? 'warning' : 'error',
      title: `${name} is missing ${counted(missing.length, 'DNS record', 'DNS records')}`,
      detail: `Publish the missing records.${effect}${describeMissing(records)}${domain.canReceive ? '' : addresses}`,
      at: null,
      nodeId,
    },
  ];
}

function endpointFinding(endpoint: faults.FaultyEndpoint): Finding {
  const { id: nodeId, name, isActive, inactiveReason, failingSince: at, pending } = endpoint;
  if (!isActive)
    return {
      kind: 'endpoint-disabled',
      severity: 'error',
      title: `Endpoint “${name}” was disabled`,
      detail: `${inactiveReason ?? ''} Its mail is stored: enable the endpoint and replay the failed deliveries.`,
      at,
      nodeId,
    };
  const waiting = pending === 0 ? '' : ` ${counted(pending, 'delivery is', 'deliveries are')} waiting for a retry.`;
  return {
    kind: 'endpoint-failing',
    severity: 'warning',
    title: `Endpoint “${name}” fails`,
    detail: `No delivery has succeeded since the first failure.${waiting} After five days without success it is disabled.`,
    at,
    nodeId,
  };
}

/** Stored queries were checked when they were saved, so that one with errors is of an earlier schema. */
async function queryFinding(
  { payloadQueries }: OperationContext,
  { id: nodeId, name, query, filter }: faults.EndpointWithQuery,
): Promise<Finding[]> {
  const [error] = await payloadQueries.check({ query, filter });
  if (error === undefined) return [];
  return [
    {
      kind: 'endpoint-query-outdated',
      severity: 'warning',
      title: `The payload query of endpoint “${name}” no longer fits`,
      detail: `${describePosition(error)} Until you change the query, the endpoint gets the default payload.`,
      at: null,
      nodeId,
    },
  ];
}

function deadEndFinding({ id, address, endpointName }: faults.DeadEndAddress): Finding {
  return {
    kind: 'address-without-endpoint',
    severity: 'notice',
    title: `Mail for ${address} is only stored`,
    detail: `Its endpoint “${endpointName}” is disabled.`,
    at: null,
    nodeId: id,
  };
}

function limitFinding({ settings }: OperationContext, left: number | null): Finding[] {
  const { sendLimitPerHour: limit } = settings;
  if (left === null || limit - left < limit * NEAR_LIMIT) return [];
  return [
    {
      kind: 'sending-limit',
      severity: left === 0 ? 'error' : 'warning',
      title: left === 0 ? 'The hourly sending limit is reached' : 'The hourly sending limit is nearly reached',
      detail: `${limit - left} of ${limit} emails were sent within the last hour.`,
      at: null,
      nodeId: null,
    },
  ];
}

function keyFinding({ id, name, expiresAt }: faults.ExpiringKey, now: Date): Finding {
  const isOver = expiresAt <= now;
  return {
    kind: isOver ? 'api-key-expired' : 'api-key-expiring',
    severity: isOver ? 'notice' : 'warning',
    title: isOver ? `API key “${name}” has expired` : `API key “${name}” expires soon`,
    detail: isOver
      ? 'Programs that use it are rejected. Create another key, or revoke this one when it is no longer needed.'
      : 'Create another key for the programs that use this one.',
    at: expiresAt,
    nodeId: id,
  };
}

function reviewFinding({ emailId, since, count }: { emailId: string; since: Date; count: number }): Finding {
  const many =
    count >= faults.MAX_REVIEWS
      ? `${faults.MAX_REVIEWS} or more emails wait`
      : counted(count, 'email waits', 'emails wait');
  return {
    kind: 'mail-to-review',
    severity: 'notice',
    title: `${many} for your review`,
    detail: 'A guard rule could not be evaluated for them. Release them, or leave them stored.',
    at: since,
    nodeId: emailId,
  };
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

function describeMissing(records: readonly string[]): string {
  return records.length === 0 ? '' : ` Missing: ${records.join('; ')}.`;
}
