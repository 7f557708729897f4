import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type GuardRule, type ModelAnswer, promptOf } from './guard-rule.ts';

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
