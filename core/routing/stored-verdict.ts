import { createHash } from 'node:crypto';
import { z } from 'zod';
import { findPrompt, type GuardRule, type ModelVerdict } from './guard-rule.ts';

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
