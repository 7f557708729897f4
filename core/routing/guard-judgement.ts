import { createHash } from 'node:crypto';
import { z } from 'zod';
import {
  evaluateRules,
  findPrompt,
  type GuardFacts,
  type GuardMatch,
  type GuardRule,
  type GuardVerdict,
  type ModelVerdict,
  sortRules,
} from './guard-rule.ts';
import { decideRoute, type RouteDecision, type RouteFacts, type RouteTarget } from './route.ts';

/** Result of the guard rules for a message. Without a verdict it is held for review, for `reason`. */
export type Judgement = { verdict: GuardVerdict; reason?: undefined } | { verdict: null; reason: string };

/** Shown to the user when a message could not be evaluated because of our own error. */
const INTERNAL_ERROR = 'internal error';
/** Shown when parsing failed, so that a malformed message cannot bypass rules. */
const NOT_PARSED = 'it could not be parsed, and guard rules need its content';
const NO_MODEL = 'no model is configured';

/** Known verdicts of models by rule id, and whether a model can be asked. */
interface ModelKnowledge {
  verdicts: ReadonlyMap<string, ModelVerdict>;
  hasModel: boolean;
}

/** Evaluates active rules, both for new mail and for route previews. */
export function judgeMail(
  rules: readonly GuardRule[],
  mail: { facts: GuardFacts; isParsed: boolean },
  { verdicts, hasModel }: ModelKnowledge,
): Judgement {
  const verdict = evaluateRules(rules, mail.facts, verdicts);
  if (!mail.isParsed && dependsOnParsing(rules, verdict)) return { verdict: null, reason: NOT_PARSED };
  if (verdict.kind !== 'ask' || hasModel) return { verdict };
  return { verdict: { kind: 'review', rule: verdict.rule, reason: NO_MODEL } };
}

/** Returns the route of an evaluated message. */
export function decideJudged(
  { verdict, reason }: Judgement,
  facts: RouteFacts,
  find: (endpointId: string) => RouteTarget | undefined,
): RouteDecision {
  return verdict === null ? heldForReview(reason) : decideRoute(facts, verdict, find);
}

/** Returns the route of a message that cannot be evaluated: a user must review it. */
export function heldForReview(reason = INTERNAL_ERROR): RouteDecision {
  return { outcome: 'review', via: null, endpointId: null, ruleId: null, reason, matches: null };
}

/** Result of one rule in an evaluation. */
export interface TriedRule {
  id: string;
  name: string;
  type: GuardRule['type'];
  action: GuardRule['action'];
  priority: number;
  /** asking: its model must respond first; failed: its model did not respond; not-reached: an earlier rule decided */
  outcome: 'matched' | 'not-matched' | 'asking' | 'failed' | 'not-reached';
  /** what matched */
  matches: GuardMatch[];
  /** the model's reason; null for explicit rules and when no model was asked */
  reason: string | null;
}

/** Returns the rules in evaluation order, each with its result. */
export function triedRules(
  rules: readonly GuardRule[],
  { verdict }: Judgement,
  verdicts: ReadonlyMap<string, ModelVerdict>,
): TriedRule[] {
  const sorted = sortRules(rules);
  const decisive = verdict === null || verdict.kind === 'none' ? null : verdict;
  const place = decisive === null ? sorted.length : sorted.findIndex(({ id }) => id === decisive.rule.id);
  return sorted.map((rule, at) => {
    const { id, name, type, action, priority } = rule;
    const tried = { id, name, type, action, priority, matches: [], reason: verdicts.get(id)?.reason ?? null };
    if (at < place) return { ...tried, outcome: 'not-matched' };
    if (at > place || decisive === null) return { ...tried, outcome: 'not-reached', reason: null };
    switch (decisive.kind) {
      case 'matched':
        return { ...tried, outcome: 'matched', matches: decisive.matches, reason: decisive.reason };
      case 'ask':
        return { ...tried, outcome: 'asking', reason: null };
      case 'review':
        return { ...tried, outcome: 'failed', reason: decisive.reason };
    }
  });
}

/** Returns whether a rule that took part in the verdict looks at parsed data: bodies, attachments, authentication results. */
function dependsOnParsing(rules: readonly GuardRule[], verdict: GuardVerdict): boolean {
  const sorted = sortRules(rules);
  const decisive = verdict.kind === 'none' ? -1 : sorted.findIndex(({ id }) => id === verdict.rule.id);
  // Asking a model would be pointless.
  const asked = decisive === -1 ? sorted : sorted.slice(0, verdict.kind === 'ask' ? decisive + 1 : decisive);
  return asked.some((rule) => {
    if (rule.type === 'ai_prompt') return true;
    const { from, hasWords, hasAttachment, attachments, spf, dkim, dmarc, injection, spam, minSpamScore } = rule.config;
    return (
      from?.aligned === true ||
      [hasWords, hasAttachment, attachments, spf, dkim, dmarc, injection, spam, minSpamScore].some(
        (one) => one !== undefined,
      )
    );
  });
}

/** A model's verdict on an email, as stored in table route; one per rule that asked. */
export interface StoredVerdict {
  ruleId: string;
  /** of the prompt: verdicts on an earlier prompt of the same rule no longer count */
  promptDigest: string;
  kind: 'answered' | 'failed';
  /** null when the model failed */
  isMatch: boolean | null;
  /** the model's reason, or why it failed */
  reason: string;
  /** ISO 8601: when it responded, or failed for the last time */
  at: string;
  durationMs: number;
}

/** Parses the column; null means none. Throws for anything else. */
export function readStoredVerdicts(stored: unknown): StoredVerdict[] {
  return storedVerdicts.parse(stored ?? []);
}

/** Returns a verdict in its stored form. `at` and the duration are those of the question. */
export function toStoredJudgement(rule: GuardRule, verdict: ModelVerdict, at: Date, durationMs: number): StoredVerdict {
  return {
    ruleId: rule.id,
    promptDigest: makeDigest(findPrompt(rule) ?? ''),
    kind: verdict.kind,
    isMatch: verdict.kind === 'answered' ? verdict.isMatch : null,
    reason: verdict.reason,
    at: at.toISOString(),
    durationMs,
  };
}

/** Returns the verdicts that still count by rule id, as evaluateRules needs them. */
export function matchVerdicts(
  stored: readonly StoredVerdict[],
  rules: readonly GuardRule[],
): Map<string, ModelVerdict> {
  const found = new Map<string, ModelVerdict>();
  for (const rule of rules) {
    const prompt = findPrompt(rule);
    const verdict =
      prompt === null
        ? undefined
        : stored.find(({ ruleId, promptDigest }) => ruleId === rule.id && promptDigest === makeDigest(prompt));
    if (verdict !== undefined) found.set(rule.id, toModelVerdict(verdict));
  }
  return found;
}

function toModelVerdict({ kind, isMatch, reason }: StoredVerdict): ModelVerdict {
  return kind === 'failed' || isMatch === null ? { kind: 'failed', reason } : { kind: 'answered', isMatch, reason };
}

function makeDigest(prompt: string): string {
  return createHash('sha256').update(prompt).digest('hex').slice(0, 16);
}

const storedVerdicts = z.array(
  z.object({
    ruleId: z.string(),
    promptDigest: z.string(),
    kind: z.enum(['answered', 'failed']),
    isMatch: z.boolean().nullable(),
    reason: z.string(),
    at: z.string(),
    durationMs: z.number(),
  }),
);
