import type { ClientBase, Pool, QueryConfig } from 'pg';
import { heldForReview } from '../../core/routing/guard-judgement.ts';
import { createSemaphore } from '../../core/shared/semaphore.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import { isTransient } from '../../db/errors.ts';
import { unpackSmall } from '../../db/packed-message.ts';
import { readPlaced } from '../../db/queries/emails/bodies-in-message.ts';
import type { Admission } from '../../db/queries/emails/take-mail.ts';
import type { StoredContentRow } from '../../db/queries/endpoints/delivery-body.ts';
import type { Turn } from '../../db/queries/endpoints/delivery-order.ts';
import {
  type StoredRouteContentRow,
  type StoredRouteRow,
  takeOneUnroutedSql,
  takeUnroutedSql,
  type UnroutedRow,
} from '../../db/queries/routing/delivery-route.ts';
import { deliveryMetrics } from '../../schema/metrics.ts';
import { noteStage } from '../mail-spans.ts';
import { setAside } from '../set-aside.ts';
import type { Lane } from '../work/in-hand.ts';
import { leaseEnd } from '../work/leases.ts';
import {
  type DecidedEmail,
  decideRoutes,
  listTurns,
  type RoutingParts,
  type StoredRoutes,
  storeRoutes,
} from './decide-routes.ts';
import type { DeliveryContent, DeliveryJob } from './delivery-job.ts';

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
    jobs: routes.flatMap((route) => toJob(route, sizes, storedAt)),
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

function toJob(
  { record, row }: StoredRoutes['routes'][number],
  sizes: ReadonlyMap<string, number>,
  storedAt: number,
): DeliveryJob[] {
  if (record.delivery_id === null || record.endpoint_id === null || !record.is_claimed) return [];
  return [
    {
      workspaceId: record.workspace_id,
      deliveryId: record.delivery_id,
      emailId: record.email_id,
      eventSeq: null,
      eventKind: null,
      endpointId: record.endpoint_id,
      attempts: 0,
      attemptsAllowed: record.attempts_allowed ?? 1,
      createdAt: row.delivery_created_at,
      threadId: record.thread_id,
      threadPosition: record.thread_position,
      orderKey: null,
      sizeBytes: sizes.get(record.email_id) ?? 0,
      content: findContent(row, storedAt),
      leaseUntil: leaseEnd(storedAt),
    },
  ];
}

function findContent(row: StoredRouteRow | StoredRouteContentRow, readAt: number): DeliveryContent | null {
  if (!hasContent(row)) return null;
  const { packed, sha256, size_bytes: sizeBytes } = row;
  const isThere = packed !== null && sha256 !== null && sizeBytes !== null;
  return { email: readPlaced(row), raw: isThere ? unpackSmall({ packed, sha256, sizeBytes }) : null, readAt };
}

function hasContent(
  row: StoredRouteRow | StoredRouteContentRow,
): row is StoredRouteContentRow & Pick<StoredContentRow, 'id'> {
  return 'id' in row && row.id !== null;
}
