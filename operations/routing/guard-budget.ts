import { UserError } from '../../core/shared/errors.ts';

/** Evaluation time that a user may be in debt for and still start another evaluation; milliseconds. */
const MAX_DEBT_MS = 2_000;
/** Share of elapsed time that repays debt. */
const PAID_BACK = 0.1;
/** Number of debtors at which those without debt are removed. */
const MANY_DEBTORS = 1_000;

/** The debt of each user in this process, as of `at` (performance.now()). */
const debts = new Map<string, { owedMs: number; at: number }>();

/**
 * Rejects a user whose guard rules have used too much CPU time of this process. The rules of one account can take more than a second per
 * message, and block all other requests meanwhile. Throws rate_limited.
 */
export function requireGuardBudget(workspaceId: string): void {
  const beyondMs = owedBy(workspaceId, performance.now()) - MAX_DEBT_MS;
  if (beyondMs <= 0) return;
  throw new UserError('rate_limited', 'Your guard rules have taken too long lately. Try again later.', {
    retryAfterSeconds: Math.ceil(beyondMs / PAID_BACK / 1_000),
  });
}

/** Runs synchronous work and adds its duration to the user's debt. Throws rate_limited, and what the work throws. */
export function runWithinGuardBudget<Result>(workspaceId: string, work: () => Result): Result {
  requireGuardBudget(workspaceId);
  const startedAt = performance.now();
  try {
    return work();
  } finally {
    const at = performance.now();
    if (debts.size >= MANY_DEBTORS)
      for (const debtor of debts.keys()) if (owedBy(debtor, at) === 0) debts.delete(debtor);
    debts.set(workspaceId, { owedMs: owedBy(workspaceId, at) + at - startedAt, at });
  }
}

function owedBy(workspaceId: string, now: number): number {
  const debt = debts.get(workspaceId);
  return debt === undefined ? 0 : Math.max(0, debt.owedMs - (now - debt.at) * PAID_BACK);
}
