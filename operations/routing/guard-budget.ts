import { UserError } from '../../core/shared/errors.ts';

/** Milliseconds of judging that a user may owe and still begin more. */
const MAX_DEBT_MS = 2_000;
/** Of each second that passes, so much pays debts back. */
const PAID_BACK = 0.1;
/** Users above which those that owe nothing any more are forgotten. */
const MANY_DEBTORS = 1_000;

/** What users owe in this process, as of an instant of performance.now(). */
const debts = new Map<string, { owedMs: number; at: number }>();

/**
 * Refuses who has had too much of this process' time for guard rules: the rules of one account may take more than a second of one mail,
 * in which nobody else is answered. Throws rate_limited.
 */
export function requireGuardBudget(userId: string): void {
  const beyondMs = owedBy(userId, performance.now()) - MAX_DEBT_MS;
  if (beyondMs <= 0) return;
  throw new UserError('rate_limited', 'Your guard rules have taken too long lately. Try again later.', {
    retryAfterSeconds: Math.ceil(beyondMs / PAID_BACK / 1_000),
  });
}

/** Does work that has to be done at a stretch, and puts its time on the user's account. Throws rate_limited, and what the work throws. */
export function runWithinGuardBudget<Result>(userId: string, work: () => Result): Result {
  requireGuardBudget(userId);
  const startedAt = performance.now();
  try {
    return work();
  } finally {
    const at = performance.now();
    if (debts.size >= MANY_DEBTORS)
      for (const debtor of debts.keys()) if (owedBy(debtor, at) === 0) debts.delete(debtor);
    debts.set(userId, { owedMs: owedBy(userId, at) + at - startedAt, at });
  }
}

function owedBy(userId: string, now: number): number {
  const debt = debts.get(userId);
  return debt === undefined ? 0 : Math.max(0, debt.owedMs - (now - debt.at) * PAID_BACK);
}
