import type { ClientBase, Pool } from 'pg';
import { positionOfEmail, readOrder } from '../../core/endpoints/delivery-order.ts';
import { holdForged } from '../../core/routing/forged-mail.ts';
import {
  decideJudged,
  heldForReview,
  type Judgement,
  judgeMail,
  matchVerdicts,
  readStoredVerdicts,
  type StoredVerdict,
} from '../../core/routing/guard-judgement.ts';
import { type GuardFacts, type GuardRule, readsText } from '../../core/routing/guard-rule.ts';
import type { RouteDecision, RouteFacts } from '../../core/routing/route.ts';
import { type DmarcRules, noDmarcRules } from '../../core/screening/door/dmarc-enforcement.ts';
import { newIdentifier } from '../../core/shared/identifiers.ts';
import { LEASE_SECONDS } from '../../db/claim.ts';
import { inTransaction, transactionOn } from '../../db/connection/transaction.ts';
import { lockEmails, setFlags } from '../../db/queries/emails/email-flags.ts';
import type { Admission } from '../../db/queries/emails/take-mail.ts';
import type { Turn } from '../../db/queries/endpoints/delivery-order.ts';
import {
  appendRouteEventsSql,
  countRuleHitsSql,
  type RouteRecord,
  type StoredRouteContentRow,
  type StoredRouteRow,
  storeRoutesSql,
  type UnroutedRow,
} from '../../db/queries/routing/delivery-route.ts';
import {
  type GuardFactsExtent,
  type GuardFactsRow,
  guardFactsOfRow,
  readGuardFacts,
  readGuardFactsSql,
  type StoredFactsRow,
} from '../../db/queries/routing/guard-facts.ts';
import { readAuthentication } from '../../operations/emails/stored-authentication.ts';
import type { ActorContext } from '../actor.ts';
import { MAX_CONTENT_BYTES } from '../direct-delivery.ts';
import type { Lane } from '../work/in-hand.ts';
import type { DeliveryEndpoint, EndpointLookup, EndpointVersion, FindEndpoint } from './endpoint-lookup.ts';
import { type JudgingLimits, workInTurns } from './evaluation-turns.ts';
import type { GuardLookup } from './guard-lookup.ts';
import { isRawAlwaysNeeded } from './post-webhook.ts';

/** The lookups of routing. */
export interface RoutingParts {
  context: ActorContext;
  endpoints: EndpointLookup;
  guard: GuardLookup;
  judgingLimits: JudgingLimits;
  /** whether guard rules may ask a model */
  hasModel: boolean;
  /** mail that fails DMARC is held by these; nothing by default */
  dmarc?: DmarcRules;
}

/** An email with its decision. */
export interface DecidedEmail {
  row: UnroutedRow;
  decision: RouteDecision;
  /** the model's verdicts so far */
  verdicts: StoredVerdict[];
}

/**
 * Decides the routes of emails that were read at `readAt` (performance.now()). Mail of users without guard rules costs one lookup in memory;
 * for others, the facts that their rules use are read. Mail whose rules cannot be evaluated is held for review. When rules take long, the last emails are left undecided, never the
 * first. Users whose rules took much of the time are set aside.
 */
export async function decideRoutes(
  parts: RoutingParts,
  client: ClientBase | Pool,
  rows: readonly UnroutedRow[],
  readAt: number,
): Promise<{ decided: DecidedEmail[]; find: FindEndpoint }> {
  const { context, endpoints, guard, judgingLimits, hasModel, dmarc = noDmarcRules } = parts;
  const rulesOf = await guard.read(
    client,
    rows.filter((row) => row.has_guard_rules).map((row) => row.workspace_id),
  );
  const ruled = rows.map((row) => ({
    row,
    rules: row.has_guard_rules ? attempted(context, row, () => rulesOf(row.workspace_id)) : [],
  }));
  const facts = await readFactsByEmail(client, ruled, dmarc);
  const spent = new Map<string, number>();
  const judgeOne = ({ row, rules }: (typeof ruled)[number]): JudgedEmail => {
    if (rules !== null && rules.length === 0) return { row, judgement: NONE, verdicts: [] };
    const startedAt = performance.now();
    const judgement =
      rules === null ? null : attempted(context, row, () => judge(row, rules, facts.get(makeKey(row)), hasModel));
    spent.set(row.workspace_id, (spent.get(row.workspace_id) ?? 0) + performance.now() - startedAt);
    return { row, ...(judgement ?? { judgement: null, verdicts: [] }) };
  };
  const judged = await workInTurns(ruled, judgeOne, judgingLimits);
  for (const [workspaceId, ms] of spent) if (ms >= judgingLimits.workspaceMs) guard.setAside(workspaceId);
  const find = await endpoints.read(
    client,
    judged.flatMap(({ row, judgement }) =>
      listCandidates(row, judgement).map((endpointId) => ({ workspaceId: row.workspace_id, endpointId })),
    ),
    listVersions(rows, readAt),
  );
  const decided = judged.map(({ row, judgement, verdicts }) => ({
    row,
    verdicts,
    decision:
      judgement === null
        ? heldForReview()
        : (holdForged(judgement, readAuthentication(facts.get(makeKey(row))?.authentication ?? null), dmarc) ??
          decideJudged(judgement, toRouteFacts(row), (endpointId) =>
            find({ workspaceId: row.workspace_id, endpointId }),
          )),
  }));
  return { decided, find };
}

/** Returns the facts of one email for its rules, with its bodies; null when the user has no email with that id. */
export async function readWholeFacts(
  client: ClientBase | Pool,
  workspaceId: string,
  emailId: string,
): Promise<GuardFacts | null> {
  const [found] = await queryFacts(client, 'whole', [{ workspace_id: workspaceId, id: emailId }]);
  return found === undefined ? null : guardFactsOfRow(found);
}

const NONE: Judgement = { verdict: { kind: 'none' } };

interface JudgedMail {
  /** null when the rules could not be evaluated because of an internal fault */
  judgement: Judgement | null;
  verdicts: StoredVerdict[];
}

type JudgedEmail = JudgedMail & { row: UnroutedRow };

type FactsRow = GuardFactsRow & { workspace_id: string; email_id: string };

async function queryFacts(
  client: ClientBase | Pool,
  extent: GuardFactsExtent,
  rows: readonly Pick<UnroutedRow, 'workspace_id' | 'id'>[],
): Promise<FactsRow[]> {
  if (rows.length === 0) return [];
  const found = await client.query<FactsRow & StoredFactsRow>({
    name: `delivery-read-guard-facts-${extent}`,
    text: readGuardFactsSql(extent),
    values: [rows.map((row) => row.workspace_id), rows.map((row) => row.id)],
  });
  return found.rows.map(readGuardFacts);
}

async function readFactsByEmail(
  client: ClientBase | Pool,
  ruled: readonly { row: UnroutedRow; rules: readonly GuardRule[] | null }[],
  { enforcement }: DmarcRules,
): Promise<Map<string, FactsRow>> {
  const guarded = ruled.filter(({ rules }) => rules !== null && (rules.length > 0 || enforcement !== 'off'));
  const [whole, outline] = [true, false].map((isWhole) =>
    guarded.filter(({ rules }) => readsText(rules ?? []) === isWhole).map(({ row }) => row),
  );
  const found = [
    ...(await queryFacts(client, 'whole', whole ?? [])),
    ...(await queryFacts(client, 'outline', outline ?? [])),
  ];
  return new Map(found.map((row) => [makeKey({ workspace_id: row.workspace_id, id: row.email_id }), row]));
}

function judge(
  row: UnroutedRow,
  rules: readonly GuardRule[],
  factsRow: FactsRow | undefined,
  hasModel: boolean,
): JudgedMail {
  if (factsRow === undefined) throw new Error('the email has no facts');
  const mail = { facts: guardFactsOfRow(factsRow), isParsed: factsRow.parse_error === null };
  const verdicts = readStoredVerdicts(row.verdicts);
  return { judgement: judgeMail(rules, mail, { verdicts: matchVerdicts(verdicts, rules), hasModel }), verdicts };
}

/** Returns null, and logs the error, when the work throws. */
function attempted<T>(context: ActorContext, row: UnroutedRow, work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    context.log.error({ err: error, emailId: row.id }, 'delivery: guard rules failed, mail is held for review');
    return null;
  }
}

function listCandidates(row: UnroutedRow, judgement: Judgement | null): string[] {
  const verdict = judgement?.verdict ?? null;
  if (verdict === null || verdict.kind === 'ask' || verdict.kind === 'review') return [];
  if (verdict.kind === 'matched' && verdict.rule.action === 'block') return [];
  const named = verdict.kind === 'matched' ? verdict.rule.endpointId : null;
  return [named, row.address_endpoint_id, row.address_webhook_id, row.catch_all_endpoint_id].filter(
    (id) => id !== null,
  );
}

/** Each endpoint once. */
function listVersions(rows: readonly UnroutedRow[], readAt: number): EndpointVersion[] {
  const versions = new Map<string, EndpointVersion>();
  for (const { workspace_id: workspaceId, endpoint_versions: known } of rows)
    for (const [endpointId, version] of Object.entries(known ?? {}))
      versions.set(`${workspaceId} ${endpointId}`, { workspaceId, endpointId, version, readAt });
  return [...versions.values()];
}

function toRouteFacts(row: UnroutedRow): RouteFacts {
  return {
    ownAddress: row.own_address,
    isDmarcReport: row.is_dmarc_report,
    address:
      row.address_is_active === null
        ? null
        : {
            isActive: row.address_is_active,
            endpointId: row.address_endpoint_id,
            webhookId: row.address_webhook_id,
          },
    domain:
      row.is_catch_all_enabled === null
        ? null
        : {
            isCatchAllEnabled: row.is_catch_all_enabled,
            catchAllEndpointId: row.catch_all_endpoint_id,
            receivesDmarcEmails: row.receive_dmarc_emails === true,
          },
  };
}

function makeKey({ workspace_id: workspaceId, id }: Pick<UnroutedRow, 'workspace_id' | 'id'>): string {
  return `${workspaceId} ${id}`;
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
