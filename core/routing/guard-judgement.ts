import { createHash } from 'node:crypto';
import { z } from 'zod';
import {
  evaluateRules,
  type GuardFacts,
  type GuardMatch,
  type GuardRule,
  type GuardVerdict,
  type ModelAnswer,
  promptOf,
  sortRules,
} from './guard-rule.ts';
import { decideRoute, type RouteDecision, type RouteFacts, type RouteTarget } from './route.ts';

/** What guard rules make of a mail; without a verdict it is held for review, for this reason. */
export type Judgement = { verdict: GuardVerdict; reason?: undefined } | { verdict: null; reason: string };

/** Told to the user of mail that could not be decided on by our own fault. */
const INTERNAL_ERROR = 'internal error';
/** ... or because its sender wrote it so, lest rules be passed by mail that no parser can read. */
const NOT_PARSED = 'it could not be parsed, and guard rules look at what is inside';
const NO_MODEL = 'no model is configured';

/** What models have said of the mail, by rule id, and whether one can be asked. */
interface ModelKnowledge {
  answers: ReadonlyMap<string, ModelAnswer>;
  hasModel: boolean;
}

/** What active rules make of a mail: for mail that comes in, and for what would become of it alike. */
export function judgeMail(
  rules: readonly GuardRule[],
  mail: { facts: GuardFacts; isParsed: boolean },
  { answers, hasModel }: ModelKnowledge,
): Judgement {
  const verdict = evaluateRules(rules, mail.facts, answers);
  if (!mail.isParsed && dependsOnParsing(rules, verdict)) return { verdict: null, reason: NOT_PARSED };
  if (verdict.kind !== 'ask' || hasModel) return { verdict };
  return { verdict: { kind: 'review', rule: verdict.rule, reason: NO_MODEL } };
}

/** Where a judged mail goes. */
export function decideJudged(
  { verdict, reason }: Judgement,
  facts: RouteFacts,
  find: (endpointId: string) => RouteTarget | undefined,
): RouteDecision {
  return verdict === null ? heldForReview(reason) : decideRoute(facts, verdict, find);
}

/** What is decided on mail that cannot be decided on: a human has to. */
export function heldForReview(reason = INTERNAL_ERROR): RouteDecision {
  return { outcome: 'review', via: null, endpointId: null, ruleId: null, reason, matches: null };
}

/** What became of one rule when a mail was judged. */
export interface TriedRule {
  id: string;
  name: string;
  type: GuardRule['type'];
  action: GuardRule['action'];
  priority: number;
  /** asking: its model has to say first; failed: its model did not answer; not-reached: another rule decided before */
  outcome: 'matched' | 'not-matched' | 'asking' | 'failed' | 'not-reached';
  /** what of the mail fitted it */
  matches: GuardMatch[];
  /** the model's, null of explicit rules and where no model was asked */
  reason: string | null;
}

/** The rules in the order in which they are asked, each with what came of it. */
export function triedRules(
  rules: readonly GuardRule[],
  { verdict }: Judgement,
  answers: ReadonlyMap<string, ModelAnswer>,
): TriedRule[] {
  const sorted = sortRules(rules);
  const decisive = verdict === null || verdict.kind === 'none' ? null : verdict;
  const place = decisive === null ? sorted.length : sorted.findIndex(({ id }) => id === decisive.rule.id);
  return sorted.map((rule, at) => {
    const { id, name, type, action, priority } = rule;
    const tried = { id, name, type, action, priority, matches: [], reason: answers.get(id)?.reason ?? null };
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

/** Whether any of the rules that were asked for that verdict looks at what parsing a mail brings: bodies, attachments, verdicts on the sender. */
function dependsOnParsing(rules: readonly GuardRule[], verdict: GuardVerdict): boolean {
  const sorted = sortRules(rules);
  const decisive = verdict.kind === 'none' ? -1 : sorted.findIndex(({ id }) => id === verdict.rule.id);
  // A model would be asked in vain.
  const asked = decisive === -1 ? sorted : sorted.slice(0, verdict.kind === 'ask' ? decisive + 1 : decisive);
  return asked.some((rule) => {
    if (rule.type === 'ai_prompt') return true;
    const { from, hasWords, hasAttachment, attachments, spf, dkim, dmarc } = rule.config;
    return (
      from?.aligned === true ||
      [hasWords, hasAttachment, attachments, spf, dkim, dmarc].some((one) => one !== undefined)
    );
  });
}

/** What a model said of an email, as table route keeps it: one per rule that asked. */
export interface StoredAnswer {
  ruleId: string;
  /** of the prompt that was asked: an answer to another prompt of the same rule counts no more */
  promptDigest: string;
  kind: 'answered' | 'failed';
  /** null when it failed */
  isMatch: boolean | null;
  /** the model's, or why it failed */
  reason: string;
  /** ISO 8601: when it answered, or failed for the last time */
  at: string;
  durationMs: number;
}

/** Reads the column; null is none. Throws when it is anything else. */
export function readAnswers(stored: unknown): StoredAnswer[] {
  return answers.parse(stored ?? []);
}

/** What a rule was answered, to be stored. `at` and the duration are of the question. */
export function storedAnswer(rule: GuardRule, answer: ModelAnswer, at: Date, durationMs: number): StoredAnswer {
  return {
    ruleId: rule.id,
    promptDigest: digestOf(promptOf(rule) ?? ''),
    kind: answer.kind,
    isMatch: answer.kind === 'answered' ? answer.isMatch : null,
    reason: answer.reason,
    at: at.toISOString(),
    durationMs,
  };
}

/** The answers that still count, by rule id, as evaluateRules wants them. */
export function answersOf(stored: readonly StoredAnswer[], rules: readonly GuardRule[]): Map<string, ModelAnswer> {
  const found = new Map<string, ModelAnswer>();
  for (const rule of rules) {
    const prompt = promptOf(rule);
    const answer =
      prompt === null
        ? undefined
        : stored.find(({ ruleId, promptDigest }) => ruleId === rule.id && promptDigest === digestOf(prompt));
    if (answer !== undefined) found.set(rule.id, modelAnswer(answer));
  }
  return found;
}

function modelAnswer({ kind, isMatch, reason }: StoredAnswer): ModelAnswer {
  return kind === 'failed' || isMatch === null ? { kind: 'failed', reason } : { kind: 'answered', isMatch, reason };
}

function digestOf(prompt: string): string {
  return createHash('sha256').update(prompt).digest('hex').slice(0, 16);
}

const answers = z.array(
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
