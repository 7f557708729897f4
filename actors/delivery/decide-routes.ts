import type { ClientBase, Pool } from 'pg';
import {
  decideJudged,
  decideRoute,
  heldForReview,
  type Judgement,
  judgeMail,
  type RouteDecision,
  type RouteFacts,
} from '../../core/routing/decide-route.ts';
import { holdForged } from '../../core/routing/forged-mail.ts';
import { type GuardFacts, type GuardRule, readsText } from '../../core/routing/guard-rule.ts';
import { matchVerdicts, readStoredVerdicts, type StoredVerdict } from '../../core/routing/stored-verdict.ts';
import { type DmarcRules, noDmarcRules } from '../../core/screening/door/dmarc-enforcement.ts';
import { createSizedCache } from '../../core/shared/sized-cache.ts';
import { type RouteFactsRow, readRouteFacts, type UnroutedRow } from '../../db/queries/routing/delivery-route.ts';
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
import type { MailToRoute } from '../direct-delivery.ts';
import type { DeliveryEndpoint, EndpointLookup, EndpointVersion, FindEndpoint } from './endpoint-lookup.ts';
import { type JudgingLimits, workInTurns } from './evaluation-turns.ts';
import type { GuardLookup } from './guard-lookup.ts';

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
  return { ownAddress: row.own_address, isDmarcReport: row.is_dmarc_report, ...readRouteSettings(row) };
}

function makeKey({ workspace_id: workspaceId, id }: Pick<UnroutedRow, 'workspace_id' | 'id'>): string {
  return `${workspaceId} ${id}`;
}

/** A route that can be stored with its mail. */
export interface Plan {
  version: string;
  decision: RouteDecision;
  /** null: no delivery is created */
  endpoint: DeliveryEndpoint | null;
}

/** Plans routes from facts that are cached, as long as their version is the current one: the statement that stores the mail compares it. */
export interface RoutePlanner {
  /** Returns a plan for each, null where the router decides. Facts that are not cached are read in one statement. */
  plan(mails: readonly MailToRoute[]): Promise<(Plan | null)[]>;
  /** Notes that the facts of this mail were current at `readAt` (performance.now()). */
  confirm(mail: MailToRoute, readAt: number): void;
  forget(mail: MailToRoute): void;
}

interface Known {
  /** null: the user has guard rules */
  version: string | null;
  facts: RouteSettings;
  versions: readonly Omit<EndpointVersion, 'readAt'>[];
  endpoints: readonly DeliveryEndpoint[];
  readAt: number;
}

/** Size of all cached facts with their endpoints. Bytes, about. @limit */
export const MAX_ROUTE_FACTS = 20_000_000;
/** How long it is believed that a user has guard rules: nothing compares that. Milliseconds. */
const GUARDED_MS = 5_000;

export function createRoutePlanner({
  context,
  endpoints,
}: {
  context: ActorContext;
  endpoints: EndpointLookup;
}): RoutePlanner {
  const known = createSizedCache<Known>({
    maxSize: MAX_ROUTE_FACTS,
    size: ({ facts, endpoints: own }) => JSON.stringify([facts, own]).length,
  });

  const read = async (mails: readonly MailToRoute[]): Promise<void> => {
    const distinct = [...new Map(mails.map((mail) => [makePlanKey(mail), mail])).values()];
    const readAt = performance.now();
    const rows = await readRouteFacts(context.database.pool, distinct);
    const versions = rows.flatMap(toVersions);
    const find = await endpoints.read(
      context.database.pool,
      versions,
      versions.map((version) => ({ ...version, readAt })),
    );
    for (const [at, mail] of distinct.entries()) {
      const row = rows[at];
      if (row === undefined) continue;
      const own = toVersions(row);
      const found = own.flatMap((key) => find(key) ?? []);
      known.set(makePlanKey(mail), {
        version: row.version,
        facts: readRouteSettings(row),
        versions: own,
        endpoints: found,
        readAt,
      });
    }
  };

  const isUsable = (entry: Known | undefined): boolean =>
    entry !== undefined && (entry.version !== null || entry.readAt > performance.now() - GUARDED_MS);

  const planOne = (mail: MailToRoute): Plan | null => {
    const entry = known.get(makePlanKey(mail));
    if (entry === undefined || entry.version === null) return null;
    const facts = { ...entry.facts, ownAddress: mail.ownAddress, isDmarcReport: false };
    const find = (endpointId: string) => entry.endpoints.find(({ id }) => id === endpointId);
    const decision = decideRoute(facts, { kind: 'none' }, find);
    const endpoint =
      decision.endpointId === null || decision.outcome !== 'endpoint' ? undefined : find(decision.endpointId);
    if (endpoint !== undefined && (endpoint.type !== 'webhook' || endpoint.ordering !== 'none')) return null;
    return { version: entry.version, decision, endpoint: endpoint ?? null };
  };

  return {
    async plan(mails) {
      const missing = mails.filter((mail) => !isUsable(known.get(makePlanKey(mail))));
      if (missing.length > 0) await read(missing);
      return mails.map(planOne);
    },
    confirm(mail, readAt) {
      const versions = known.get(makePlanKey(mail))?.versions ?? [];
      endpoints.confirm(versions.map((version) => ({ ...version, readAt })));
    },
    forget: (mail) => void known.delete(makePlanKey(mail)),
  };
}

function makePlanKey({ workspaceId, addressId, domainId }: MailToRoute): string {
  return `${workspaceId} ${addressId ?? ''} ${domainId}`;
}

function toVersions({ workspace_id: workspaceId, endpoint_versions: versions }: RouteFactsRow) {
  return Object.entries(versions ?? {}).map(([endpointId, version]) => ({ workspaceId, endpointId, version }));
}

type RouteSettings = Omit<RouteFacts, 'ownAddress' | 'isDmarcReport'>;

/** Returns what the rows of the address and its domain say about routes. */
function readRouteSettings(row: Omit<RouteFactsRow, 'workspace_id' | 'endpoint_versions' | 'version'>): RouteSettings {
  return {
    address:
      row.address_is_active === null
        ? null
        : { isActive: row.address_is_active, endpointId: row.address_endpoint_id, webhookId: row.address_webhook_id },
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
