import { BUDGET_RULES, BUDGET_SECONDS, type BudgetRule, type HeldPolicy } from '../../core/sending/send-policy.ts';
import { asUser } from '../../db/connection/transaction.ts';
import { type BudgetUse, readBudgetUse } from '../../db/queries/sending/policy-facts.ts';
import type { OperationContext } from '../context.ts';

/** What is left of a budget of a send policy. */
export interface PolicyUsage extends BudgetUse {
  rule: BudgetRule;
  limit: number;
  remaining: number;
}

/** Returns for each policy what is left of its budgets; a policy without budgets has none. */
export async function readPolicyUsage(
  { database, userId }: OperationContext,
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
  const uses = await asUser(database, userId, (transaction) => readBudgetUse(transaction, userId, budgets));
  const read = budgets.map(({ at, rule, limit }, place) => {
    const { used, nextAt } = uses[place] ?? { used: 0, nextAt: null };
    return { at, usage: { rule, limit, used, remaining: Math.max(0, limit - used), nextAt } };
  });
  return policies.map((_, at) => read.filter((each) => each.at === at).map(({ usage }) => usage));
}
