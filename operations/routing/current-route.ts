import { readWebhookConfig } from '../../core/endpoints/endpoint-config.ts';
import {
  decideJudged,
  type Judgement,
  judgeMail,
  normalRoute,
  type RouteDecision,
  type RouteFacts,
  type RouteTarget,
  type TriedRule,
  triedRules,
} from '../../core/routing/decide-route.ts';
import { holdForged } from '../../core/routing/forged-mail.ts';
import { type GuardRule, type ModelVerdict, readsText } from '../../core/routing/guard-rule.ts';
import { matchVerdicts, readStoredVerdicts } from '../../core/routing/stored-verdict.ts';
import { UserError } from '../../core/shared/errors.ts';
import * as deliveries from '../../db/queries/endpoints/delivery-retry.ts';
import { type GuardedContent, type GuardFactsExtent, readFacts } from '../../db/queries/routing/guard-facts.ts';
import { readActiveRules } from '../../db/queries/routing/guard-rules.ts';
import { emailNotFound, newIdentifier, type OperationContext } from '../context.ts';
import { requireGuardBudget, runWithinGuardBudget } from './guard-budget.ts';

export type Transaction = Parameters<typeof deliveries.lockReceived>[0];

/** Where a received email would go now, with the rules and endpoints behind the decision. */
export interface CurrentRoute {
  decision: RouteDecision;
  /** null unless the decision leads to an active endpoint */
  target: deliveries.TargetEndpoint | null;
  rules: GuardRule[];
  /** in evaluation order, each with its result; empty for an email that skips the rules */
  tried: TriedRule[];
}

/** A message to evaluate against the current rules and routes. */
export interface RoutableMail {
  facts: RouteFacts;
  /** whether a user released it: released emails skip the rules */
  isReleased: boolean;
  /** stored verdicts of models: see core/routing/decide-route.ts */
  verdicts: unknown;
  /** Reads what rules look at, if there are rules: with bodies, or without ('outline'). Null: the email no longer exists. */
  read: (extent: GuardFactsExtent) => Promise<GuardedContent | null>;
}

/** Returns a stored email as input of decideCurrentRoute. */
export function storedMail(
  transaction: Transaction,
  workspaceId: string,
  emailId: string,
  email: deliveries.LockedReceived,
): RoutableMail {
  return {
    facts: email.facts,
    isReleased: email.releasedAt !== null,
    verdicts: email.verdicts,
    read: (extent) => readFacts(transaction, workspaceId, emailId, extent),
  };
}

/**
 * Returns where the message would go if it arrived now, by the current guard rules and routes. Models are not asked: their stored verdicts
 * count, and where one is missing the outcome is `asking`. A released email skips the rules. Throws rate_limited.
 */
export async function decideCurrentRoute(
  context: OperationContext,
  transaction: Transaction,
  mail: RoutableMail,
): Promise<CurrentRoute> {
  const { workspaceId } = context;
  const rules = await readActiveRules(transaction, workspaceId);
  // A failure is dropped, because the model may respond today.
  const said = readStoredVerdicts(mail.verdicts).filter(({ kind }) => kind === 'answered');
  const verdicts = matchVerdicts(said, rules);
  const judgement = mail.isReleased ? NONE : await judge(context, mail, rules, verdicts);
  const named = judgement.verdict?.kind === 'matched' ? judgement.verdict.rule.endpointId : null;
  const targets = await listTargets(transaction, workspaceId, mail, named);
  const decision =
    (await holdNow(context, mail, judgement)) ?? decideJudged(judgement, mail.facts, (id) => targets.get(id));
  const tried = mail.isReleased ? [] : triedRules(rules, judgement, verdicts);
  return { decision, target: findTarget(decision, targets), rules, tried };
}

/** Returns the routes without guard rules for mail that has not been received. */
export async function readNormalRoutes(
  transaction: Transaction,
  workspaceId: string,
  all: readonly RouteFacts[],
): Promise<ReturnType<typeof normalRoute>[]> {
  const targets = await findTargets(transaction, workspaceId, all.flatMap(listEndpointIds));
  return all.map((facts) => normalRoute(facts, (id): RouteTarget | undefined => targets.get(id)));
}

/** Returns the endpoint for an email without guard rules; null when there is no active one. */
export async function normalTarget(
  transaction: Transaction,
  workspaceId: string,
  email: deliveries.LockedReceived,
): Promise<deliveries.TargetEndpoint | null> {
  const targets = await listTargets(transaction, workspaceId, email, null);
  return findTarget(
    normalRoute(email.facts, (id): RouteTarget | undefined => targets.get(id)),
    targets,
  );
}

/**
 * Delivers a locked email to an endpoint immediately. A delivery that is still pending there is attempted now instead. Returns the
 * delivery's id. Throws not_found when the endpoint has been deleted.
 */
export async function deliverTo(
  context: Pick<OperationContext, 'workspaceId' | 'now' | 'random'>,
  transaction: Transaction,
  emailId: string,
  email: deliveries.LockedReceived,
  target: deliveries.TargetEndpoint,
  cause: deliveries.NewDelivery['cause'],
): Promise<string> {
  if (!(await deliveries.holdTarget(transaction, context.workspaceId, target.id))) throw endpointNotFound();
  return deliveries.deliverNow(transaction, context.workspaceId, {
    id: newIdentifier(context, 'delivery'),
    emailId,
    endpointId: target.id,
    type: target.type,
    threadId: email.threadId,
    threadPosition: email.threadPosition,
    // A forward has one attempt: it hands the mail to the sending queue, which retries on its own.
    attemptsAllowed: target.type === 'webhook' ? 1 + readWebhookConfig(target.config).retryAttempts : 1,
    cause,
  });
}

/** Returns whether a guard rule holds the email and no user has released it. */
export function isHeld(email: Pick<deliveries.LockedReceived, 'outcome' | 'releasedAt'>): boolean {
  return (email.outcome === 'blocked' || email.outcome === 'review') && email.releasedAt === null;
}

/** Clients rely on this text. */
export function endpointNotFound(): UserError {
  return new UserError('not_found', 'Endpoint not found or is inactive');
}

const NONE: Judgement = { verdict: { kind: 'none' } };

/** Returns the route of mail that DMARC_ENFORCE holds; null for other mail, and for mail that a user released. */
async function holdNow(
  { settings: { dmarc } }: OperationContext,
  mail: RoutableMail,
  judgement: Judgement,
): Promise<RouteDecision | null> {
  if (dmarc.enforcement === 'off' || mail.isReleased) return null;
  const content = await mail.read('outline');
  return content === null ? null : holdForged(judgement, content.facts.authentication, dmarc);
}

async function judge(
  { workspaceId, settings }: OperationContext,
  mail: RoutableMail,
  rules: readonly GuardRule[],
  verdicts: ReadonlyMap<string, ModelVerdict>,
): Promise<Judgement> {
  if (rules.length === 0) return NONE;
  requireGuardBudget(workspaceId);
  const content = await mail.read(readsText(rules) ? 'whole' : 'outline');
  if (content === null) throw emailNotFound();
  const { hasGuardModel: hasModel } = settings;
  return runWithinGuardBudget(workspaceId, () => judgeMail(rules, content, { verdicts, hasModel }));
}

async function listTargets(
  transaction: Transaction,
  workspaceId: string,
  { facts }: Pick<RoutableMail, 'facts'>,
  named: string | null,
): Promise<Map<string, deliveries.TargetEndpoint>> {
  return findTargets(transaction, workspaceId, [...(named === null ? [] : [named]), ...listEndpointIds(facts)]);
}

function listEndpointIds({ address, domain }: RouteFacts): string[] {
  return [address?.endpointId, address?.webhookId, domain?.catchAllEndpointId].filter((id) => id != null);
}

async function findTargets(
  transaction: Transaction,
  workspaceId: string,
  ids: readonly string[],
): Promise<Map<string, deliveries.TargetEndpoint>> {
  const found = await deliveries.findTargets(transaction, workspaceId, [...new Set(ids)]);
  return new Map(found.map((target) => [target.id, target]));
}

function findTarget(
  { outcome, endpointId }: Pick<RouteDecision, 'outcome' | 'endpointId'>,
  targets: ReadonlyMap<string, deliveries.TargetEndpoint>,
): deliveries.TargetEndpoint | null {
  return outcome === 'endpoint' && endpointId !== null ? (targets.get(endpointId) ?? null) : null;
}
