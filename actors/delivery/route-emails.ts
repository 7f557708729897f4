import type { ClientBase, Pool, QueryConfig } from 'pg';
import { positionOfEmail, readOrder } from '../../core/endpoints/delivery-order.ts';
import { heldForReview, type RouteDecision } from '../../core/routing/decide-route.ts';
import { newIdentifier } from '../../core/shared/identifiers.ts';
import { createSemaphore } from '../../core/shared/semaphore.ts';
import { LEASE_SECONDS } from '../../db/claim.ts';
import { inTransaction, transactionOn } from '../../db/connection/transaction.ts';
import { isTransient } from '../../db/errors.ts';
import { lockEmails, setFlags } from '../../db/queries/emails/email-flags.ts';
import { type Admission } from '../../db/queries/emails/store-received.ts';
import type { Turn } from '../../db/queries/endpoints/delivery-order.ts';
import {
  appendRouteEventsSql,
  countRuleHitsSql,
  type RouteRecord,
  type StoredRouteContentRow,
  type StoredRouteRow,
  storeRoutesSql,
  takeOneUnroutedSql,
  takeUnroutedSql,
  type UnroutedRow,
} from '../../db/queries/routing/delivery-route.ts';
import { deliveryMetrics } from '../../schema/metrics.ts';
import type { ActorContext } from '../actor.ts';
import { MAX_CONTENT_BYTES } from '../direct-delivery.ts';
import { noteStage } from '../mail-spans.ts';
import { setAside } from '../set-aside.ts';
import type { Lane } from '../work/in-hand.ts';
import { type DecidedEmail, decideRoutes, type RoutingParts } from './decide-routes.ts';
import { type DeliveryJob, makeRoutedJobs } from './delivery-job.ts';
import type { DeliveryEndpoint, FindEndpoint } from './endpoint-lookup.ts';
import { isRawAlwaysNeeded } from './post-webhook.ts';

interface RoutedBatch {
  /** received emails with a decision */
  emailCount: number;
  /** those whose route another router stored first */
  lostCount: number;
  /** whether mail was left for another batch, because the rules of its users are slow */
  isMoreLeft: boolean;
  /** deliveries that this process claimed */
  jobs: DeliveryJob[];
  /** lanes of webhook deliveries that were created and not claimed, one entry per delivery */
  leftTo: Lane[];
  /** turns of webhook deliveries that were created and wait for them */
  turns: Turn[];
  /** deliveries for endpoints that forward */
  forwardCount: number;
  /** emails that wait for a model */
  askCount: number;
}

/** Routes mail of all users. */
export interface EmailRouter {
  /**
   * Routes up to `limit` threaded emails, oldest first, and creates their deliveries; `admit` is called once per webhook delivery, in order.
   * Mail without a destination is marked as routed too. When a batch fails, each of its emails is routed alone; one that cannot be routed is
   * held for review, and one that cannot be held is set aside. Mail of users whose rules just took long is routed when no other mail waits.
   * Batches follow each other.
   */
  route(limit: number, admit: (lane: Lane) => Admission): Promise<RoutedBatch>;
}

/** After another router stored a route first, mail is locked when it is read, for this long; milliseconds. */
const CROWDED_MS = 10_000;

const TAKE = {
  free: { name: 'delivery-take-unrouted', text: takeUnroutedSql({ ofOthers: false, locked: false }) },
  locked: { name: 'delivery-take-unrouted-locked', text: takeUnroutedSql({ ofOthers: false, locked: true }) },
};
const TAKE_OF_OTHERS = {
  free: { name: 'delivery-take-unrouted-of-others', text: takeUnroutedSql({ ofOthers: true, locked: false }) },
  locked: { name: 'delivery-take-unrouted-of-others-locked', text: takeUnroutedSql({ ofOthers: true, locked: true }) },
};

/**
 * Mail is read without a lock and its routes are stored in one statement, which leaves alone what another router stored meanwhile. Where
 * several routers take the same mail, that would repeat their work: then mail is locked when it is read.
 */
export function createEmailRouter(parts: RoutingParts): EmailRouter {
  const batches = createSemaphore(1);
  let crowdedUntil = 0;

  const routeTogether = async (
    take: { aside: readonly string[] | null; limit: number },
    admit: (lane: Lane) => Admission,
  ): Promise<RoutedBatch> => {
    const locked = performance.now() < crowdedUntil;
    const { aside, limit } = take;
    const statement = aside === null ? TAKE : TAKE_OF_OTHERS;
    const query = {
      ...(locked ? statement.locked : statement.free),
      values: aside === null ? [limit] : [limit, aside],
    };
    let taken: UnroutedRow[] = [];
    try {
      const batch = await routeTaken(parts, { query, locked }, admit, (rows) => {
        taken = rows;
      });
      if (batch.lostCount > 0) crowdedUntil = performance.now() + CROWDED_MS;
      return batch;
    } catch (error) {
      if (isTransient(error) || taken.length === 0) throw error;
      parts.context.log.error(
        { err: error, count: taken.length },
        'delivery: a batch failed, its mail is routed one by one',
      );
    }
    const alone = [];
    for (const row of taken) alone.push(await routeAlone(parts, row, admit));
    return joined(alone);
  };

  return {
    route: (limit, admit) =>
      batches.run(async () => {
        const aside = parts.guard.workspacesAside();
        if (aside.length > 0) {
          const batch = await routeTogether({ aside, limit }, admit);
          if (batch.emailCount > 0) return { ...batch, isMoreLeft: true };
        }
        return routeTogether({ aside: null, limit }, admit);
      }),
  };
}

async function routeAlone(
  parts: RoutingParts,
  { workspace_id: workspaceId, id }: UnroutedRow,
  admit: (lane: Lane) => Admission,
): Promise<RoutedBatch> {
  const query = { name: 'delivery-take-one-unrouted', text: takeOneUnroutedSql, values: [workspaceId, id] };
  const take = { query, locked: true };
  // Its content may be what failed.
  const admitAlone = (lane: Lane) => (admit(lane) === 'left' ? 'left' : 'claimed');
  try {
    return await routeTaken(parts, take, admitAlone);
  } catch (error) {
    if (isTransient(error)) throw error;
    parts.context.log.error({ err: error, emailId: id }, 'delivery: mail cannot be routed and is held for review');
  }
  try {
    return await routeTaken({ ...parts, decide: holdAll }, take, admitAlone);
  } catch (error) {
    if (isTransient(error)) throw error;
    await setAside(parts.context, { workspaceId, step: 'route', subjectId: id, error });
    return joined([]);
  }
}

const holdAll: typeof decideRoutes = (_, __, rows) =>
  Promise.resolve({
    decided: rows.map((row) => ({ row, decision: heldForReview(), verdicts: [] })),
    find: () => undefined,
  });

async function routeTaken(
  parts: RoutingParts & { decide?: typeof decideRoutes },
  { query, locked }: { query: QueryConfig; locked: boolean },
  admit: (lane: Lane) => Admission,
  onTaken?: (rows: UnroutedRow[]) => void,
): Promise<RoutedBatch> {
  const { context, decide = decideRoutes } = parts;
  const { database } = context;
  const askedAt = performance.now();
  const routeOn = async (client: ClientBase | Pool) => {
    const { rows } = await client.query<UnroutedRow>(query);
    onTaken?.(rows);
    if (rows.length === 0) return null;
    const { decided, find } = await decide(parts, client, rows, askedAt);
    const storedAt = performance.now();
    return { rows, decided, storedAt, ...(await storeRoutes(client, { context, decided, find, admit })) };
  };
  const stored = locked ? await inTransaction(database, routeOn) : await routeOn(database.pool);
  if (stored === null) return joined([]);
  deliveryMetrics.routeSeconds.observe((performance.now() - askedAt) / 1_000);
  for (const { record } of stored.routes) {
    const { outcome, workspace_id: workspaceId, email_id: emailId } = record;
    deliveryMetrics.routed.inc({ outcome });
    const attributes = { 'postroom.route.outcome': outcome };
    noteStage(database, [{ workspaceId, emailId }], { name: 'route', startedTick: askedAt, attributes });
  }
  for (const { workspaceId, lastSeq } of stored.grown) context.bus.publish('event.appended', { workspaceId, lastSeq });
  return toBatch(stored);
}

interface RoutedTake extends StoredRoutes {
  rows: readonly UnroutedRow[];
  decided: readonly DecidedEmail[];
  /** when the routes began to be stored, on performance.now() */
  storedAt: number;
}

function toBatch({ routes, rows, decided, storedAt }: RoutedTake): RoutedBatch {
  const sizes = new Map(rows.map((row) => [row.id, row.size_bytes ?? 0]));
  const records = routes.map(({ record }) => record);
  return {
    emailCount: decided.length,
    lostCount: decided.length - routes.length,
    isMoreLeft: decided.length < rows.length,
    jobs: routes.flatMap((route) => makeRoutedJobs(route, sizes, storedAt)),
    leftTo: records.flatMap((record) =>
      record.is_claimed ||
      record.order_key !== null ||
      record.endpoint_id === null ||
      record.delivery_type !== 'webhook'
        ? []
        : [{ workspaceId: record.workspace_id, key: record.endpoint_id }],
    ),
    turns: listTurns({ routes }),
    forwardCount: records.filter(({ delivery_type: type }) => type === 'email' || type === 'email_group').length,
    askCount: records.filter(({ outcome }) => outcome === 'asking').length,
  };
}

function joined(batches: readonly RoutedBatch[]): RoutedBatch {
  return {
    emailCount: sum(batches.map((batch) => batch.emailCount)),
    lostCount: sum(batches.map((batch) => batch.lostCount)),
    isMoreLeft: batches.some((batch) => batch.isMoreLeft),
    jobs: batches.flatMap((batch) => batch.jobs),
    leftTo: batches.flatMap((batch) => batch.leftTo),
    turns: batches.flatMap((batch) => batch.turns),
    forwardCount: sum(batches.map((batch) => batch.forwardCount)),
    askCount: sum(batches.map((batch) => batch.askCount)),
  };
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

/** What was stored. */
export interface StoredRoutes {
  /** with their rows; without emails whose route another router stored */
  routes: { record: RouteRecord; row: StoredRouteRow | StoredRouteContentRow }[];
  /** feeds with new events, to announce after the commit */
  grown: { workspaceId: string; lastSeq: number }[];
}

export interface StoreRoutesOptions {
  context: ActorContext;
  decided: readonly DecidedEmail[];
  find: FindEndpoint;
  /** called once per webhook delivery, in order */
  admit: (lane: Lane) => Admission;
}

/**
 * Stores decisions: creates the deliveries, counts matches of rules, and creates events for mail that is held. `client` is in a transaction,
 * or is a pool: then everything is stored in one transaction, too.
 */
export async function storeRoutes(client: ClientBase | Pool, options: StoreRoutesOptions): Promise<StoredRoutes> {
  const { context, decided } = options;
  const hasMore = decided.some((email) => isHit(email) || isHeld(email));
  if (client === context.database.pool && hasMore)
    return inTransaction(context.database, (transaction) => storeRoutes(transaction, options));
  const now = context.now();
  const room = { bytes: MAX_CONTENT_BYTES_OF_BATCH };
  const records = decided.map((email) => toRecord(options, email, room, now));
  const withContent = records.some((record) => record.wants_content);
  const stored = await client.query<StoredRouteRow | StoredRouteContentRow>({
    ...(withContent ? STORE_WITH_CONTENT : STORE),
    values: [context.name, JSON.stringify(records), LEASE_SECONDS],
  });
  const rows = new Map(stored.rows.map((row) => [`${row.workspace_id} ${row.email_id}`, row]));
  const routes = records.flatMap((record) => {
    const row = rows.get(`${record.workspace_id} ${record.email_id}`);
    return row === undefined ? [] : [{ record, row }];
  });
  if (!hasMore) return { routes, grown: [] };
  const own = decided.filter(({ row }) => rows.has(`${row.workspace_id} ${row.id}`));
  const hits = listHits(own);
  if (hits.length > 0)
    await client.query({ name: 'delivery-count-rule-hits', text: countRuleHitsSql, values: [JSON.stringify(hits)] });
  await archiveHeld(client, own);
  return { routes, grown: await appendEvents(context, client, own) };
}

/** Returns the turns of the deliveries that were created and wait for them. */
export function listTurns({ routes }: Pick<StoredRoutes, 'routes'>): Turn[] {
  return routes.flatMap(({ record: { workspace_id: workspaceId, endpoint_id: endpointId, order_key: orderKey } }) =>
    orderKey === null || endpointId === null ? [] : [{ workspaceId, endpointId, orderKey }],
  );
}

const STORE = { name: 'delivery-store-routes', text: storeRoutesSql({ withContent: false }) };
const STORE_WITH_CONTENT = {
  name: 'delivery-store-routes-with-content',
  text: storeRoutesSql({ withContent: true }),
};

/** Maximum bytes of the messages whose content is read with their routes, see MAX_CONTENT_BYTES. */
const MAX_CONTENT_BYTES_OF_BATCH = 2_097_152;

function toRecord(
  { context, find, admit }: StoreRoutesOptions,
  { row, decision, verdicts }: DecidedEmail,
  room: { bytes: number },
  now: Date,
): RouteRecord {
  const endpoint = findEndpoint(context, row, decision, find);
  const webhook = endpoint?.webhook ?? null;
  const order =
    endpoint?.type === 'webhook'
      ? readOrder(endpoint.ordering, {
          position: positionOfEmail(row.id),
          threadId: row.thread_id,
          fromAddress: row.from_address,
        })
      : null;
  const admission =
    endpoint?.type === 'webhook' && order === null
      ? admit({ workspaceId: row.workspace_id, key: endpoint.id })
      : 'left';
  const sizeBytes = row.size_bytes ?? 0;
  const hasRoom = sizeBytes <= Math.min(MAX_CONTENT_BYTES, room.bytes);
  const wantsContent = admission === 'started' && hasRoom && webhook !== null;
  if (wantsContent) room.bytes -= sizeBytes;
  return {
    workspace_id: row.workspace_id,
    email_id: row.id,
    thread_id: row.thread_id,
    thread_position: row.thread_position,
    order_key: order?.key ?? null,
    order_position: order?.position ?? null,
    outcome: decision.outcome,
    via: decision.via,
    route_endpoint_id: decision.endpointId,
    rule_id: decision.ruleId,
    reason: decision.reason,
    matches: decision.matches,
    verdicts: verdicts.length === 0 ? null : verdicts,
    delivery_id: endpoint === null ? null : newIdentifier(context, 'delivery', now),
    endpoint_id: endpoint?.id ?? null,
    delivery_type: endpoint?.type ?? null,
    attempts_allowed: endpoint === null ? null : 1 + (endpoint.webhook?.config.retryAttempts ?? 0),
    is_claimed: admission !== 'left',
    wants_content: wantsContent,
    wants_raw:
      wantsContent &&
      endpoint !== null &&
      isRawAlwaysNeeded({ endpoint, webhook }) &&
      row.raw_id !== null &&
      !context.bytes.has(row.raw_id),
  };
}

/** Returns the endpoint that gets a delivery; null when the mail is only stored, which is logged when the reason is not obvious. */
function findEndpoint(
  context: ActorContext,
  row: DecidedEmail['row'],
  { outcome, endpointId }: RouteDecision,
  find: FindEndpoint,
): DeliveryEndpoint | null {
  if (outcome === 'inactive')
    context.log.info({ emailId: row.id, endpointId }, 'delivery: endpoint is inactive, mail is stored only');
  if (outcome !== 'endpoint' || endpointId === null) return null;
  return find({ workspaceId: row.workspace_id, endpointId }) ?? null;
}

function isHit({ decision }: DecidedEmail): boolean {
  return decision.ruleId !== null && decision.matches !== null;
}

function isHeld({ decision }: DecidedEmail): boolean {
  return decision.outcome === 'blocked' || decision.outcome === 'review';
}

/** A rule matched if it says so; a rule whose model failed did not. */
function listHits(decided: readonly DecidedEmail[]): { workspace_id: string; rule_id: string; count: number }[] {
  const counts = new Map<string, { workspace_id: string; rule_id: string; count: number }>();
  for (const { row, decision } of decided) {
    if (decision.ruleId === null || decision.matches === null) continue;
    const key = `${row.workspace_id} ${decision.ruleId}`;
    const hit = counts.get(key) ?? { workspace_id: row.workspace_id, rule_id: decision.ruleId, count: 0 };
    hit.count++;
    counts.set(key, hit);
  }
  return [...counts.values()];
}

/** Held mail leaves the inbox until it is released. */
async function archiveHeld(client: ClientBase | Pool, decided: readonly DecidedEmail[]): Promise<void> {
  const byWorkspace = Map.groupBy(decided.filter(isHeld), ({ row }) => row.workspace_id);
  for (const workspaceId of [...byWorkspace.keys()].toSorted()) {
    const emailIds = (byWorkspace.get(workspaceId) ?? []).map(({ row }) => row.id);
    const transaction = transactionOn(client as ClientBase);
    await lockEmails(transaction, workspaceId, emailIds);
    await setFlags(transaction, workspaceId, emailIds, { isArchived: true });
  }
}

async function appendEvents(
  context: ActorContext,
  client: ClientBase | Pool,
  decided: readonly DecidedEmail[],
): Promise<StoredRoutes['grown']> {
  const held = decided.filter(isHeld);
  if (held.length === 0) return [];
  const now = context.now();
  const events = [...Map.groupBy(held, ({ row }) => row.workspace_id)].map(([workspaceId, emails]) => ({
    workspace_id: workspaceId,
    events: emails.map(({ row, decision }) => ({
      id: newIdentifier(context, 'event', now),
      kind: decision.outcome === 'blocked' ? 'email.blocked' : 'email.held',
      emailId: row.id,
      threadId: row.thread_id,
      data: { ruleId: decision.ruleId, reason: decision.reason },
    })),
  }));
  const { rows } = await client.query<{ workspace_id: string; last_seq: number }>({
    name: 'delivery-append-route-events',
    text: appendRouteEventsSql,
    values: [JSON.stringify(events)],
  });
  return rows.map((row) => ({ workspaceId: row.workspace_id, lastSeq: row.last_seq }));
}
