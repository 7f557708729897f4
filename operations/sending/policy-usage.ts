import { z } from 'zod';
import { BUDGET_RULES, BUDGET_SECONDS, type BudgetRule, type HeldPolicy } from '../../core/sending/send-policy.ts';
import { graphqlOnly, named, nameType, restOnly } from '../../core/shared/field-notes.ts';
import { oneOf } from '../../core/shared/vocabulary.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import { type BudgetUse, readBudgetUse } from '../../db/queries/sending/policy-facts.ts';
import type { OperationContext } from '../context.ts';

const use = z.object({
  limit: z.number().int().meta({ description: 'Emails that the rule allows.' }),
  used: z.number().int().meta({ description: 'Emails that count now, sent, scheduled or cancelled.' }),
  remaining: z.number().int().meta({ description: 'Emails that can be sent now.' }),
});
const nextAt = 'When the next email can be sent. Null: now.';
const usage = nameType(
  z.object({
    rule: named(
      oneOf(BUDGET_RULES, {
        name: 'PolicyBudget',
        description: 'A rule of a send policy that counts emails.',
        values: { per_hour: 'Emails in any 60 minutes.', per_day: 'Emails in any 24 hours.' },
      }),
      { graphqlName: 'budget' },
    ).meta({ description: 'The rule that counts.' }),
    ...use.shape,
    nextAt: z.date().nullable().meta({ description: nextAt }),
  }),
  { type: 'PolicyUsage', description: 'What is left of a budget of a send policy.' },
);
const useInRest = use
  .extend({ next_at: z.string().nullable().meta({ format: 'date-time', description: nextAt }) })
  .optional();

const usageByRuleShape = z
  .object({ per_hour: useInRest, per_day: useInRest })
  .meta({ id: 'PolicyUsage', description: 'What is left of each budget of the policy.' });

/** Fields of an object that has a send policy: what is left of its budgets, as a list in GraphQL and by rule in REST. */
export const policyUsageFields = (restName: string) => ({
  policyUsage: graphqlOnly(z.array(usage)).meta({
    description: 'What is left of the budgets of the policy. Empty without budgets.',
  }),
  policyUsageByRule: restOnly(usageByRuleShape.nullable(), restName),
});

/** Returns how `policyUsageFields` are loaded; `hold` says whose policy a row has. */
export function loadPolicyUsage<Row>(hold: (row: Row) => HeldPolicy | null) {
  const load = (context: OperationContext, rows: readonly Row[]) => readPolicyUsage(context, rows.map(hold));
  return {
    policyUsage: { isInLists: true, load },
    policyUsageByRule: {
      isInLists: true,
      load: async (context: OperationContext, rows: readonly Row[]) => (await load(context, rows)).map(usageByRule),
    },
  };
}

function usageByRule(found: readonly PolicyUsage[]): object | null {
  if (found.length === 0) return null;
  return Object.fromEntries(
    found.map(({ rule, limit, used, remaining, nextAt: at }) => [
      rule,
      { limit, used, remaining, next_at: at === null ? null : at.toISOString() },
    ]),
  );
}

/** What is left of a budget of a send policy. */
export interface PolicyUsage extends BudgetUse {
  rule: BudgetRule;
  limit: number;
  remaining: number;
}

/** Returns for each policy what is left of its budgets; a policy without budgets has none. */
async function readPolicyUsage(
  { database, workspaceId }: OperationContext,
  policies: readonly (HeldPolicy | null)[],
): Promise<PolicyUsage[][]> {
  const budgets = policies.flatMap((held, at) =>
    BUDGET_RULES.flatMap((rule) => {
      const limit = held?.policy[rule];
      if (held === null || limit === undefined) return [];
      return [{ at, rule, limit, of: held.of, owner: held.owner, spanSeconds: BUDGET_SECONDS[rule], most: limit }];
    }),
  );
  if (budgets.length === 0) return policies.map(() => []);
  const uses = await asWorkspace(database, workspaceId, (transaction) =>
    readBudgetUse(transaction, workspaceId, budgets),
  );
  const read = budgets.map(({ at, rule, limit }, place) => {
    const { used, nextAt } = uses[place] ?? { used: 0, nextAt: null };
    return { at, usage: { rule, limit, used, remaining: Math.max(0, limit - used), nextAt } };
  });
  return policies.map((_, at) => read.filter((each) => each.at === at).map(({ usage }) => usage));
}
