import { checkGuardConfig, type GuardConfig } from '../../core/routing/guard-config.ts';
import {
  evaluateRules,
  findPrompt,
  type GuardMatch,
  type ModelVerdict,
  type RuleCursor,
} from '../../core/routing/guard-rule.ts';
import { UserError } from '../../core/shared/errors.ts';
import type { KeysetPage, Page } from '../../core/shared/page.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import { GuardRule as GuardRuleEntity, GuardRuleStat } from '../../db/entities/routing.ts';
import { holdWorkspace } from '../../db/queries/accounts/key-grant.ts';
import { readGuardedEmail } from '../../db/queries/routing/guard-mail.ts';
import * as rules from '../../db/queries/routing/guard-rules.ts';
import { BusTimeout, BusUnavailable } from '../../schema/messages.ts';
import { type Grant, requireGrant } from '../accounts/key-grants.ts';
import { emailNotFound, invalid, isValidId, newIdentifier, type OperationContext } from '../context.ts';
import { MAX_SEARCH_LENGTH } from '../emails/emails.ts';
import { requireGuardBudget, runWithinGuardBudget } from './guard-budget.ts';

export const MAX_GUARD_PRIORITY = 1_000;

/** Maximum rules of a user, and maximum values in all of them: each message is compared with all. */
export const MAX_GUARD_RULES = 1_000;
export const MAX_GUARD_VALUES_IN_ALL = 5_000;
/** Maximum of those values that are words searched for in bodies: up to two milliseconds each. */
export const MAX_GUARD_WORDS_IN_ALL = 500;

export type GuardRule = rules.ListedGuardRule;
type Transaction = Parameters<typeof rules.findGuardRule>[0];

/** What a rule does with messages that it matches. `endpointId` belongs to the action `route`. */
export interface GuardAction {
  action: GuardRule['action'];
  endpointId?: string | null | undefined;
}

export interface GuardRuleInput {
  name: string;
  description: string | null;
  type: GuardRule['type'];
  /** checked by core/routing/guard-config.ts */
  config: unknown;
  action: GuardAction;
  priority: number;
  isActive: boolean;
}

/** Changed fields; omitted fields stay. A new type needs a config. */
export type GuardRuleChanges = { [Field in keyof GuardRuleInput]?: GuardRuleInput[Field] | undefined };

/** Filters of a list; omitted filters match all. */
export interface GuardRuleQuery {
  type?: GuardRule['type'] | undefined;
  isActive?: boolean | undefined;
  search?: string | undefined;
}

/** Returns a page in evaluation order, with the exact total. */
export async function listGuardRules(
  { database, workspaceId }: OperationContext,
  query: GuardRuleQuery,
  page: Page,
): Promise<{ rows: GuardRule[]; total: number }> {
  const conditions = toConditions(query);
  return asWorkspace(database, workspaceId, async (transaction) => {
    const found = await rules.listGuardRules(transaction, workspaceId, conditions, page);
    return { rows: found.rules, total: found.total };
  });
}

/** Returns the rules between two cursors in evaluation order; inverted: last first. */
export function pageGuardRules(
  { database, workspaceId }: OperationContext,
  query: GuardRuleQuery,
  page: KeysetPage<RuleCursor>,
): Promise<GuardRule[]> {
  const conditions = toConditions(query);
  return asWorkspace(database, workspaceId, (transaction) =>
    rules.pageGuardRules(transaction, workspaceId, conditions, page),
  );
}

export function countGuardRules({ database, workspaceId }: OperationContext, query: GuardRuleQuery): Promise<number> {
  const conditions = toConditions(query);
  return asWorkspace(database, workspaceId, (transaction) =>
    rules.countGuardRules(transaction, workspaceId, conditions),
  );
}

/** Returns one rule per id, null where the user has none. */
export async function loadGuardRules(
  { database, workspaceId }: OperationContext,
  ids: readonly string[],
): Promise<(GuardRule | null)[]> {
  const found = await asWorkspace(database, workspaceId, (transaction) =>
    rules.findGuardRules(transaction, workspaceId, ids.filter(isValidId)),
  );
  const byId = new Map(found.map((rule) => [rule.id, rule]));
  return ids.map((id) => byId.get(id) ?? null);
}

/** Throws not_found. */
export async function readGuardRule({ database, workspaceId }: OperationContext, id: string): Promise<GuardRule> {
  if (!isValidId(id)) throw ruleNotFound();
  return asWorkspace(database, workspaceId, (transaction) => findRule(transaction, workspaceId, id));
}

/** Creates a rule, which applies from the next message on. Throws validation, not_found. */
export async function createGuardRule(context: OperationContext, input: GuardRuleInput): Promise<GuardRule> {
  const config = checkConfig(context, input.type, input.config);
  const id = newIdentifier(context, 'guardRule');
  return write(context, id, async (transaction) => {
    await checkAction(transaction, context.workspaceId, input.action);
    return {
      ...input,
      ...config,
      ...findAction(input.action),
      ...(await toRuleGrant(context, transaction, input.action)),
    };
  });
}

/** Changes the given fields and keeps the counters. Throws validation, not_found. */
export async function updateGuardRule(
  context: OperationContext,
  id: string,
  changes: GuardRuleChanges,
): Promise<GuardRule> {
  if (!isValidId(id)) throw ruleNotFound();
  return write(context, id, async (transaction) => {
    const old = await findRule(transaction, context.workspaceId, id);
    const { type = old.type, action = { action: old.action, endpointId: old.endpointId } } = changes;
    if (changes.config === undefined && type !== old.type)
      throw invalid('Changing the type requires a config', 'config');
    // The endpoint of the rule may be deleted by now, and the user must still be able to disable the rule.
    if (changes.action !== undefined) await checkAction(transaction, context.workspaceId, action);
    const isSwitchedOn = changes.isActive === true && !old.isActive;
    // What it does is now the work of who changes it. Anyone who may change it may switch it off or rename it.
    const isOther = DOING.some((field) => changes[field] !== undefined) || isSwitchedOn;
    const config =
      changes.config === undefined && !isSwitchedOn ? old : checkConfig(context, type, changes.config ?? old.config);
    return {
      name: changes.name ?? old.name,
      description: changes.description === undefined ? old.description : changes.description,
      priority: changes.priority ?? old.priority,
      isActive: changes.isActive ?? old.isActive,
      ...({ type: config.type, config: config.config } as GuardConfig),
      ...findAction(action),
      ...(isOther ? await toRuleGrant(context, transaction, action) : {}),
    };
  });
}

/** Fields that decide what a rule does. */
const DOING = ['type', 'config', 'action', 'priority'] as const;

/**
 * As requireGrant: what a rule does with an email tells whether the email has its words, and one that routes shows mail to the receiver of its
 * endpoint.
 */
function toRuleGrant(context: OperationContext, transaction: Transaction, { action }: GuardAction): Promise<Grant> {
  return requireGrant(context, transaction, `A guard rule with the action ${action}`, ['manage', 'read']);
}

/** Throws not_found. */
export async function deleteGuardRule({ bus, entities, workspaceId }: OperationContext, id: string): Promise<void> {
  const isGone =
    isValidId(id) &&
    (await entities.asWorkspace(workspaceId, async (unit) => {
      await rules.lockGuardRules(unit.transaction, workspaceId);
      await unit.entities.nativeDelete(GuardRuleStat, { workspaceId, ruleId: id });
      return (await unit.entities.nativeDelete(GuardRuleEntity, { workspaceId, id })) > 0;
    }));
  if (!isGone) throw ruleNotFound();
  bus.publish('guard.changed', { workspaceId });
}

/** Checks a user's config for a rule of this type. Throws validation, also for prompts when no model is configured. */
export function checkConfig(context: OperationContext, type: GuardRule['type'], input: unknown): GuardConfig {
  if (type === 'ai_prompt' && !context.settings.hasGuardModel)
    throw invalid(
      'Rules of type ai_prompt need a model, and none is configured on this service (GUARD_MODEL_URL)',
      'type',
    );
  const { config, error } = checkGuardConfig(type, input);
  if (config === undefined)
    throw new UserError('validation', error, { details: [{ field: error.split(':')[0], message: error }] });
  return config;
}

/** Requires that the endpoint of an action exists and is active. Throws validation, not_found. */
export async function checkAction(transaction: Transaction, workspaceId: string, action: GuardAction): Promise<void> {
  if (action.action !== 'route') return;
  const { endpointId } = action;
  if (endpointId == null || endpointId === '')
    throw invalid('The action route needs an endpointId', 'action.endpointId');
  const isActive = isValidId(endpointId) ? await rules.isEndpointActive(transaction, workspaceId, endpointId) : null;
  if (isActive === null) throw new UserError('not_found', 'Endpoint not found');
  if (!isActive) throw invalid('Endpoint is inactive', 'action.endpointId');
}

async function findRule(transaction: Transaction, workspaceId: string, id: string): Promise<GuardRule> {
  const rule = await rules.findGuardRule(transaction, workspaceId, id);
  if (rule === null) throw ruleNotFound();
  return rule;
}

/** The stored fields of a rule. */
type GuardRuleFields = Omit<GuardRuleInput, 'type' | 'config' | 'action'> &
  ReturnType<typeof findAction> &
  GuardConfig &
  Partial<Grant>;

/** Creates the rule that `make` returns, or replaces the one with that id. Writers of one user's rules take turns. */
async function write(
  context: OperationContext,
  id: string,
  make: (transaction: Transaction) => Promise<GuardRuleFields>,
): Promise<GuardRule> {
  const { bus, workspaceId } = context;
  const rule = await context.entities.asWorkspace(workspaceId, async ({ entities, transaction }) => {
    await holdWorkspace(transaction, workspaceId);
    await rules.lockGuardRules(transaction, workspaceId);
    const fields = await make(transaction);
    const updatedAt = context.now();
    const stored = await entities.findOne(GuardRuleEntity, { workspaceId, id });
    if (stored === null)
      entities.create(GuardRuleEntity, { workspaceId, id, ...fields, createdAt: updatedAt, updatedAt });
    else Object.assign(stored, fields, { updatedAt });
    await entities.flush();
    const { rules: count, values, words } = await rules.measureGuardRules(transaction, workspaceId);
    if (count > MAX_GUARD_RULES) throw invalid(`An account has at most ${MAX_GUARD_RULES} guard rules`, 'name');
    if (values > MAX_GUARD_VALUES_IN_ALL)
      throw invalid(`The guard rules of an account have at most ${MAX_GUARD_VALUES_IN_ALL} values in all`, 'config');
    if (words > MAX_GUARD_WORDS_IN_ALL)
      throw invalid(
        `The guard rules of an account have at most ${MAX_GUARD_WORDS_IN_ALL} words in all`,
        'config.hasWords',
      );
    return findRule(transaction, workspaceId, id);
  });
  bus.publish('guard.changed', { workspaceId });
  return rule;
}

function findAction({ action, endpointId }: GuardAction): { action: GuardRule['action']; endpointId: string | null } {
  return { action, endpointId: action === 'route' ? (endpointId ?? null) : null };
}

function toConditions(query: GuardRuleQuery): rules.GuardRuleConditions {
  const search = query.search?.trim() ?? '';
  if (search.length > MAX_SEARCH_LENGTH)
    throw invalid(`Search text must not be longer than ${MAX_SEARCH_LENGTH} characters`, 'search');
  return { ids: null, type: query.type ?? null, isActive: query.isActive ?? null, search: search || null };
}

function ruleNotFound(): UserError {
  return new UserError('not_found', 'Guard rule not found');
}

export const CHECK_OUTCOMES = ['matched', 'none', 'review'] as const satisfies readonly GuardCheck['outcome'][];

/** The result of one rule for a received email. */
export type GuardCheck =
  | { outcome: 'matched'; matches: GuardMatch[]; reason: string | null }
  /** reason: given by the model; null for explicit rules */
  | { outcome: 'none'; reason: string | null }
  /** the model did not respond, so the email would be held for review */
  | { outcome: 'review'; reason: string };

/** Tests a rule, active or not, on a stored received email. Throws not_found, rate_limited. */
export async function checkGuardRule(context: OperationContext, id: string, emailId: string): Promise<GuardCheck> {
  const { database, workspaceId } = context;
  const rule = await readGuardRule(context, id);
  requireGuardBudget(workspaceId);
  const facts = isValidId(emailId)
    ? await asWorkspace(database, workspaceId, (transaction) => readGuardedEmail(transaction, workspaceId, emailId))
    : null;
  if (facts === null) throw emailNotFound();
  const prompt = findPrompt(rule);
  const verdicts = new Map<string, ModelVerdict>();
  if (prompt !== null) verdicts.set(rule.id, await askModel(context, emailId, prompt));
  const verdict = runWithinGuardBudget(workspaceId, () => evaluateRules([rule], facts, verdicts));
  switch (verdict.kind) {
    case 'matched':
      return { outcome: 'matched', matches: verdict.matches, reason: verdict.reason };
    case 'review':
      return { outcome: 'review', reason: verdict.reason };
    case 'ask':
    case 'none': {
      const known = verdicts.get(rule.id);
      return { outcome: 'none', reason: known?.reason ?? null };
    }
  }
}

/** Milliseconds reserved for the response. */
const SPARE_MS = 500;

async function askModel(context: OperationContext, emailId: string, prompt: string): Promise<ModelVerdict> {
  const { bus, workspaceId, respondBy } = context;
  if (!context.settings.hasGuardModel) return { kind: 'failed', reason: 'No model is configured on this service' };
  const limitMs = Math.max(1, respondBy - performance.now() - SPARE_MS);
  try {
    const reply = await bus.ask('delivery.guard.ask', { workspaceId, emailId, prompt }, { limitMs });
    switch (reply.verdict) {
      case 'answered':
        return { kind: 'answered', isMatch: reply.isMatch, reason: reply.reason };
      case 'failed':
        return { kind: 'failed', reason: reply.reason };
      case 'not-found':
        throw emailNotFound();
    }
  } catch (error) {
    if (error instanceof BusTimeout || error instanceof BusUnavailable)
      return { kind: 'failed', reason: 'The model did not respond in time' };
    throw error;
  }
}
