import { setImmediate } from 'node:timers/promises';
import {
  evaluateRules,
  type GuardMatch,
  type GuardRule,
  type ModelVerdict,
  readsText,
} from '../../core/routing/guard-rule.ts';
import { matchVerdicts } from '../../core/routing/stored-verdict.ts';
import { DAY_MS } from '../../core/shared/durations.ts';
import { UserError } from '../../core/shared/errors.ts';
import type { KeysetCursor } from '../../core/shared/page.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import { type GuardedEmail, readGuardedEmails } from '../../db/queries/routing/guard-mail.ts';
import { isEndpointActive, readActiveRules } from '../../db/queries/routing/guard-rules.ts';
import { invalid, type OperationContext } from '../context.ts';
import { checkAction, checkConfig, type GuardAction, readGuardRule } from './guard-rules.ts';

export const MAX_BACKTEST_DAYS = 30;

/** A rule before it is saved. */
export interface TriedRule {
  type: GuardRule['type'];
  config: unknown;
  action: GuardAction;
  priority: number;
}

export interface BacktestSpan {
  /** 1 to {@link MAX_BACKTEST_DAYS} */
  days: number;
  /** maximum number of examples */
  limit: number;
}

export const BACKTEST_OUTCOMES = [
  'blocked',
  'review',
  'endpoint',
  'inactive',
  'stored',
  'asking',
  'normal',
  'unknown',
] as const;

/** Where a message went, or would go. `normal`: to the endpoint of its address or domain. */
interface BacktestOutcome {
  outcome: (typeof BACKTEST_OUTCOMES)[number];
  endpointId: string | null;
  /** the rule that decided; null: none, or the unsaved rule under test */
  ruleId: string | null;
}

/** A received message that the rule matches. */
interface BacktestExample {
  emailId: string;
  subject: string;
  from: string;
  createdAt: Date;
  matches: GuardMatch[];
  /** false: an earlier rule decides, or a model that was not asked */
  isDecisive: boolean;
  /** its current route; null while it has none */
  now: BacktestOutcome | null;
  wouldBe: BacktestOutcome;
}

export interface Backtest {
  /** received messages examined, newest first */
  scanned: number;
  /** how many of them the rule matches */
  matched: number;
  /** how many of the matches it would have decided, given its place among the active rules */
  decided: number;
  since: Date;
  /** whether all messages of the time span were examined */
  isComplete: boolean;
  /** the oldest message examined when time ran out */
  stoppedAt: Date | null;
  /** newest first */
  examples: BacktestExample[];
}

/** Tests an unsaved rule on recently received mail. Throws validation, not_found, rate_limited. */
export async function backtestRule(context: OperationContext, tried: TriedRule, span: BacktestSpan): Promise<Backtest> {
  if (tried.type === 'ai_prompt') throw noPrompts();
  const config = checkConfig(context, tried.type, tried.config);
  await asWorkspace(context.database, context.workspaceId, (transaction) =>
    checkAction(transaction, context.workspaceId, tried.action),
  );
  const { action, endpointId = null } = tried.action;
  const rule: GuardRule = {
    // Sorts after all others of the same instant, as the newest id would.
    id: UNSAVED,
    name: '',
    action,
    endpointId: action === 'route' ? endpointId : null,
    priority: tried.priority,
    createdAt: context.now(),
    ...config,
  };
  return backtest(context, rule, span);
}

/** Like backtestRule, for a saved rule at its own place, whether it is active or not. */
export async function backtestSavedRule(context: OperationContext, id: string, span: BacktestSpan): Promise<Backtest> {
  const rule = await readGuardRule(context, id);
  if (rule.type === 'ai_prompt') throw noPrompts();
  return backtest(context, rule, span);
}

const UNSAVED = '~';

/** Time limit of a back-test; milliseconds. A request has 9 s in total. */
const BUDGET_MS = 6_000;
/** Milliseconds reserved for the response. */
const SPARE_MS = 2_000;
/** Messages read at a time; a body may have 400,000 characters. */
const BATCH = { outline: 500, whole: 50 } as const;

/** Users with a running back-test in this process. One costs as much as thousands of other requests. */
const underWay = new Set<string>();
const MAX_UNDER_WAY = 2;

async function backtest(context: OperationContext, rule: GuardRule, span: BacktestSpan): Promise<Backtest> {
  const { workspaceId } = context;
  if (underWay.has(workspaceId) || underWay.size >= MAX_UNDER_WAY)
    throw new UserError('rate_limited', 'Another back-test is running. Try again when it has finished.', {
      retryAfterSeconds: Math.ceil(BUDGET_MS / 1_000),
    });
  underWay.add(workspaceId);
  try {
    return await scan(context, rule, span);
  } finally {
    underWay.delete(workspaceId);
  }
}

async function scan(context: OperationContext, rule: GuardRule, { days, limit }: BacktestSpan): Promise<Backtest> {
  const { database, workspaceId } = context;
  const until = Math.min(performance.now() + BUDGET_MS, context.respondBy - SPARE_MS);
  const since = new Date(context.now().getTime() - days * DAY_MS);
  const { others, isLeadingOn } = await asWorkspace(database, workspaceId, async (transaction) => ({
    others: (await readActiveRules(transaction, workspaceId)).filter(({ id }) => id !== rule.id),
    isLeadingOn:
      rule.endpointId !== null && (await isEndpointActive(transaction, workspaceId, rule.endpointId)) === true,
  }));
  const rules = [rule, ...others];
  const extent = readsText(rules) ? 'whole' : 'outline';
  const result: Backtest = {
    scanned: 0,
    matched: 0,
    decided: 0,
    since,
    isComplete: false,
    stoppedAt: null,
    examples: [],
  };
  let before: KeysetCursor | null = null;
  while (performance.now() < until) {
    const part: Parameters<typeof readGuardedEmails>[2] = { since, before, limit: BATCH[extent] };
    const emails: GuardedEmail[] = await asWorkspace(database, workspaceId, (transaction) =>
      readGuardedEmails(transaction, workspaceId, part, extent),
    );
    for (const email of emails) {
      // Let other requests run between two messages.
      await setImmediate();
      if (performance.now() >= until) return result;
      const example = tryOn(email, rule, rules, isLeadingOn);
      result.scanned++;
      result.stoppedAt = email.createdAt;
      if (example === null) continue;
      result.matched++;
      if (example.isDecisive) result.decided++;
      if (result.examples.length < limit) result.examples.push(example);
    }
    const last = emails.at(-1);
    if (last === undefined || emails.length < part.limit) return { ...result, isComplete: true, stoppedAt: null };
    before = { at: last.createdAt, id: last.id };
  }
  return result;
}

const NO_VERDICTS: ReadonlyMap<string, ModelVerdict> = new Map();

/** Returns null when the rule does not match. */
function tryOn(
  email: GuardedEmail,
  rule: GuardRule,
  rules: readonly GuardRule[],
  isLeadingOn: boolean,
): BacktestExample | null {
  const alone = evaluateRules([rule], email.facts, NO_VERDICTS);
  if (alone.kind !== 'matched') return null;
  // Models are not asked again: without a stored verdict the result is unknown.
  const verdict = evaluateRules(rules, email.facts, matchVerdicts(email.verdicts, rules));
  const isDecisive = verdict.kind === 'matched' && verdict.rule.id === rule.id;
  const now = findOutcome(email.route);
  return {
    emailId: email.id,
    subject: email.subject,
    from: email.fromText,
    createdAt: email.createdAt,
    matches: alone.matches,
    isDecisive,
    now,
    wouldBe: isDecisive ? outcomeOfRule(rule, isLeadingOn) : wouldBeWithout(verdict, now),
  };
}

function outcomeOfRule(rule: GuardRule, isLeadingOn: boolean): BacktestOutcome {
  const ruleId = rule.id === UNSAVED ? null : rule.id;
  if (rule.action === 'block') return { outcome: 'blocked', endpointId: null, ruleId };
  return isLeadingOn
    ? { outcome: 'endpoint', endpointId: rule.endpointId, ruleId }
    : { outcome: 'normal', endpointId: null, ruleId };
}

/** An earlier rule decides the route. */
function wouldBeWithout(verdict: ReturnType<typeof evaluateRules>, now: BacktestOutcome | null): BacktestOutcome {
  if (verdict.kind === 'none') throw new Error('a rule matched by itself but not among the others');
  const ruleId = verdict.rule.id;
  if (now?.ruleId === ruleId) return now;
  if (verdict.kind !== 'matched') return { outcome: 'unknown', endpointId: null, ruleId };
  const { action, endpointId } = verdict.rule;
  if (action === 'block') return { outcome: 'blocked', endpointId: null, ruleId };
  return { outcome: action === 'route' ? 'endpoint' : 'normal', endpointId, ruleId };
}

function findOutcome(route: GuardedEmail['route']): BacktestOutcome | null {
  if (route?.outcome == null) return null;
  return { outcome: route.outcome, endpointId: route.endpoint_id, ruleId: route.rule_id };
}

function noPrompts(): UserError {
  return invalid(
    'Rules of type ai_prompt cannot be back-tested, because the model would have to read all stored mail',
    'type',
  );
}
