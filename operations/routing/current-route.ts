import { readWebhookConfig } from '../../core/endpoints/endpoint-config.ts';
import {
  answersOf,
  decideJudged,
  type Judgement,
  judgeMail,
  readAnswers,
  type TriedRule,
  triedRules,
} from '../../core/routing/guard-judgement.ts';
import { type GuardRule, type ModelAnswer, readsText } from '../../core/routing/guard-rule.ts';
import { normalRoute, type RouteDecision, type RouteFacts, type RouteTarget } from '../../core/routing/route.ts';
import { UserError } from '../../core/shared/errors.ts';
import * as deliveries from '../../db/queries/endpoints/delivery-retry.ts';
import type { GuardFactsExtent } from '../../db/queries/routing/guard-facts.ts';
import { type GuardedContent, readActiveRules, readFacts } from '../../db/queries/routing/guard-of-route.ts';
import { newIdentifier, type OperationContext } from '../context.ts';
import { requireGuardBudget, runWithinGuardBudget } from './guard-budget.ts';

export type Transaction = Parameters<typeof deliveries.lockReceived>[0];

/** Where a received email would go now, with the rules and endpoints that this hangs on. */
export interface CurrentRoute {
  decision: RouteDecision;
  /** null unless the decision leads to an active endpoint */
  target: deliveries.TargetEndpoint | null;
  rules: GuardRule[];
  /** the rules in their order, each with what came of it; none of an email that is past them */
  tried: TriedRule[];
}

/** A mail that the rules and the route as they stand are asked about. */
export interface RoutableMail {
  facts: RouteFacts;
  /** whether a user let it through, so that it is past the rules */
  isReleased: boolean;
  /** what models said of it: see core/routing/guard-judgement.ts */
  answers: unknown;
  /** what rules look at, read when there are rules; with the bodies, or (outline) without. Null: it is gone */
  read: (extent: GuardFactsExtent) => Promise<GuardedContent | null>;
}

/** A stored email as decideCurrentRoute wants it. */
export function storedMail(
  transaction: Transaction,
  userId: string,
  emailId: string,
  email: deliveries.LockedReceived,
): RoutableMail {
  return {
    facts: email.facts,
    isReleased: email.releasedAt !== null,
    answers: email.answers,
    read: (extent) => readFacts(transaction, userId, emailId, extent),
  };
}

/**
 * What would become of the mail if it came in now: the guard rules and the route as they stand. Models are not asked: what they have said
 * of it counts, and where they have said nothing the outcome is `asking`. An email that a user let through is past the rules.
 * Throws rate_limited.
 */
export async function decideCurrentRoute(
  context: OperationContext,
  transaction: Transaction,
  mail: RoutableMail,
): Promise<CurrentRoute> {
  const { userId } = context;
  const rules = await readActiveRules(transaction, userId);
  // What a model could not say then it may say now.
  const said = readAnswers(mail.answers).filter(({ kind }) => kind === 'answered');
  const answers = answersOf(said, rules);
  const judgement = mail.isReleased ? NONE : await judge(context, mail, rules, answers);
  const named = judgement.verdict?.kind === 'matched' ? judgement.verdict.rule.endpointId : null;
  const targets = await targetsOf(transaction, userId, mail, named);
  const decision = decideJudged(judgement, mail.facts, (id) => targets.get(id));
  const tried = mail.isReleased ? [] : triedRules(rules, judgement, answers);
  return { decision, target: targetOf(decision, targets), rules, tried };
}

/** The endpoint that the email goes to when no guard rule is asked; null when there is none that is active. */
export async function normalTarget(
  transaction: Transaction,
  userId: string,
  email: deliveries.LockedReceived,
): Promise<deliveries.TargetEndpoint | null> {
  const targets = await targetsOf(transaction, userId, email, null);
  return targetOf(
    normalRoute(email.facts, (id): RouteTarget | undefined => targets.get(id)),
    targets,
  );
}

/**
 * Delivers a locked email to an endpoint, at once; where one delivery is still pending there, that is tried now. Answers its id. Throws
 * not_found when the endpoint is gone meanwhile.
 */
export async function deliverTo(
  context: OperationContext,
  transaction: Transaction,
  emailId: string,
  email: deliveries.LockedReceived,
  target: deliveries.TargetEndpoint,
  cause: deliveries.NewDelivery['cause'],
): Promise<string> {
  if (!(await deliveries.holdTarget(transaction, context.userId, target.id))) throw endpointNotFound();
  return await deliveries.deliverNow(transaction, context.userId, {
    id: newIdentifier(context, 'delivery'),
    emailId,
    endpointId: target.id,
    type: target.type,
    threadId: email.threadId,
    threadPosition: email.threadPosition,
    // One attempt of a forward is the hand-over to the sending queue, which has tries of its own.
    attemptsAllowed: target.type === 'webhook' ? 1 + readWebhookConfig(target.config).retryAttempts : 1,
    cause,
  });
}

/** Whether a guard rule holds the email back, and nobody has let it through. */
export function isHeld(email: Pick<deliveries.LockedReceived, 'outcome' | 'releasedAt'>): boolean {
  return (email.outcome === 'blocked' || email.outcome === 'review') && email.releasedAt === null;
}

export function emailNotFound(): UserError {
  return new UserError('not_found', 'Email not found');
}

/** Texts that clients expect. */
export function endpointNotFound(): UserError {
  return new UserError('not_found', 'Endpoint not found or is inactive');
}

const NONE: Judgement = { verdict: { kind: 'none' } };

async function judge(
  { userId, settings }: OperationContext,
  mail: RoutableMail,
  rules: readonly GuardRule[],
  answers: ReadonlyMap<string, ModelAnswer>,
): Promise<Judgement> {
  if (rules.length === 0) return NONE;
  requireGuardBudget(userId);
  const content = await mail.read(readsText(rules) ? 'whole' : 'outline');
  if (content === null) throw emailNotFound();
  const { hasGuardModel: hasModel } = settings;
  return runWithinGuardBudget(userId, () => judgeMail(rules, content, { answers, hasModel }));
}

async function targetsOf(
  transaction: Transaction,
  userId: string,
  { facts }: Pick<RoutableMail, 'facts'>,
  named: string | null,
): Promise<Map<string, deliveries.TargetEndpoint>> {
  const { address, domain } = facts;
  const ids = [named, address?.endpointId, address?.webhookId, domain?.catchAllEndpointId].filter((id) => id != null);
  return new Map((await deliveries.findTargets(transaction, userId, ids)).map((target) => [target.id, target]));
}

function targetOf(
  { outcome, endpointId }: Pick<RouteDecision, 'outcome' | 'endpointId'>,
  targets: ReadonlyMap<string, deliveries.TargetEndpoint>,
): deliveries.TargetEndpoint | null {
  return outcome === 'endpoint' && endpointId !== null ? (targets.get(endpointId) ?? null) : null;
}
