import type { ClientBase, Pool } from 'pg';
import { holdForged } from '../../core/routing/forged-mail.ts';
import {
  answersOf,
  decideJudged,
  heldForReview,
  type Judgement,
  judgeMail,
  readAnswers,
  type StoredAnswer,
} from '../../core/routing/guard-judgement.ts';
import { type GuardFacts, type GuardRule, readsText } from '../../core/routing/guard-rule.ts';
import type { RouteDecision, RouteFacts } from '../../core/routing/route.ts';
import { type DmarcRules, noDmarcRules } from '../../core/screening/door/dmarc-enforcement.ts';
import type { UnroutedRow } from '../../db/queries/routing/delivery-route.ts';
import {
  type GuardFactsExtent,
  type GuardFactsRow,
  guardFactsOfRow,
  readGuardFacts,
  readGuardFactsSql,
  type StoredFactsRow,
} from '../../db/queries/routing/guard-facts.ts';
import { authenticationOf } from '../../operations/emails/stored-authentication.ts';
import type { ActorContext } from '../actor.ts';
import type { EndpointLookup, EndpointVersion, FindEndpoint } from './endpoint-lookup.ts';
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
  /** the model's answers so far */
  answers: StoredAnswer[];
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
  const facts = await readFactsOf(client, ruled, dmarc);
  const spent = new Map<string, number>();
  const judgedOf = ({ row, rules }: (typeof ruled)[number]): JudgedEmail => {
    if (rules !== null && rules.length === 0) return { row, judgement: NONE, answers: [] };
    const startedAt = performance.now();
    const judgement =
      rules === null ? null : attempted(context, row, () => judge(row, rules, facts.get(keyOf(row)), hasModel));
    spent.set(row.workspace_id, (spent.get(row.workspace_id) ?? 0) + performance.now() - startedAt);
    return { row, ...(judgement ?? { judgement: null, answers: [] }) };
  };
  const judged = await workInTurns(ruled, judgedOf, judgingLimits);
  for (const [workspaceId, ms] of spent) if (ms >= judgingLimits.workspaceMs) guard.setAside(workspaceId);
  const find = await endpoints.read(
    client,
    judged.flatMap(({ row, judgement }) =>
      candidatesOf(row, judgement).map((endpointId) => ({ workspaceId: row.workspace_id, endpointId })),
    ),
    versionsOf(rows, readAt),
  );
  const decided = judged.map(({ row, judgement, answers }) => ({
    row,
    answers,
    decision:
      judgement === null
        ? heldForReview()
        : (holdForged(judgement, authenticationOf(facts.get(keyOf(row))?.authentication ?? null), dmarc) ??
          decideJudged(judgement, routeFactsOf(row), (endpointId) =>
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
  answers: StoredAnswer[];
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

async function readFactsOf(
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
  return new Map(found.map((row) => [keyOf({ workspace_id: row.workspace_id, id: row.email_id }), row]));
}

function judge(
  row: UnroutedRow,
  rules: readonly GuardRule[],
  factsRow: FactsRow | undefined,
  hasModel: boolean,
): JudgedMail {
  if (factsRow === undefined) throw new Error('the email has no facts');
  const mail = { facts: guardFactsOfRow(factsRow), isParsed: factsRow.parse_error === null };
  const answers = readAnswers(row.answers);
  return { judgement: judgeMail(rules, mail, { answers: answersOf(answers, rules), hasModel }), answers };
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

function candidatesOf(row: UnroutedRow, judgement: Judgement | null): string[] {
  const verdict = judgement?.verdict ?? null;
  if (verdict === null || verdict.kind === 'ask' || verdict.kind === 'review') return [];
  if (verdict.kind === 'matched' && verdict.rule.action === 'block') return [];
  const named = verdict.kind === 'matched' ? verdict.rule.endpointId : null;
  return [named, row.address_endpoint_id, row.address_webhook_id, row.catch_all_endpoint_id].filter(
    (id) => id !== null,
  );
}

/** Each endpoint once. */
function versionsOf(rows: readonly UnroutedRow[], readAt: number): EndpointVersion[] {
  const versions = new Map<string, EndpointVersion>();
  for (const { workspace_id: workspaceId, endpoint_versions: known } of rows)
    for (const [endpointId, version] of Object.entries(known ?? {}))
      versions.set(`${workspaceId} ${endpointId}`, { workspaceId, endpointId, version, readAt });
  return [...versions.values()];
}

function routeFactsOf(row: UnroutedRow): RouteFacts {
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

function keyOf({ workspace_id: workspaceId, id }: Pick<UnroutedRow, 'workspace_id' | 'id'>): string {
  return `${workspaceId} ${id}`;
}
