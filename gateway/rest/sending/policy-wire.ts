import { z } from 'zod';
import { BUDGET_RULES } from '../../../core/sending/send-policy.ts';
import type { PolicyUsage } from '../../../operations/sending/policy-usage.ts';
import { instant, wireInstant } from '../shapes.ts';

const budgetUse = z
  .object({
    limit: z.number().int(),
    used: z.number().int().meta({ description: 'Emails that count now, sent, scheduled or cancelled.' }),
    remaining: z.number().int(),
    next_at: instant.nullable().meta({ description: 'When the next email can be sent. Null: now.' }),
  })
  .optional();

/** What is left of the budgets of a send policy. */
export const policyUsageBody = z
  .object({ per_hour: budgetUse, per_day: budgetUse })
  .meta({ id: 'PolicyUsage', description: 'What is left of each budget of the policy.' });

/** Returns the budgets by their rule; null when there is none. */
export function policyUsageBodyOf(usage: readonly PolicyUsage[]): z.infer<typeof policyUsageBody> | null {
  if (usage.length === 0) return null;
  const body: z.infer<typeof policyUsageBody> = {};
  for (const rule of BUDGET_RULES) {
    const found = usage.find((each) => each.rule === rule);
    if (found === undefined) continue;
    const { limit, used, remaining, nextAt } = found;
    body[rule] = { limit, used, remaining, next_at: wireInstant(nextAt) };
  }
  return body;
}
