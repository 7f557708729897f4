import { evaluateRules, type GuardMatch, type ModelAnswer, promptOf } from '../../core/routing/guard-rule.ts';
import { UserError } from '../../core/shared/errors.ts';
import { asUser } from '../../db/connection/database.ts';
import { readGuardedEmail } from '../../db/queries/routing/guard-mail.ts';
import { BusTimeout, BusUnavailable } from '../../schema/messages.ts';
import { isAskable, type OperationContext } from '../context.ts';
import { readGuardRule } from './guard-rules.ts';
import { admitJudging, judgeWithinBudget } from './judging-budget.ts';

/** What one rule, by itself, makes of a received email. */
export type GuardCheck =
  | { outcome: 'matched'; matches: GuardMatch[]; reason: string | null }
  /** reason: the model's, null of explicit rules */
  | { outcome: 'none'; reason: string | null }
  /** the model did not answer: mail would be held for review */
  | { outcome: 'review'; reason: string };

/** Tries a rule, active or not, on a stored email that was received. Throws not_found, rate_limited. */
export async function checkGuardRule(context: OperationContext, id: string, emailId: string): Promise<GuardCheck> {
  const { database, userId } = context;
  const rule = await readGuardRule(context, id);
  admitJudging(userId);
  const facts = isAskable(emailId)
    ? await asUser(database, userId, (transaction) => readGuardedEmail(transaction, userId, emailId))
    : null;
  if (facts === null) throw emailNotFound();
  const prompt = promptOf(rule);
  const answers = new Map<string, ModelAnswer>();
  if (prompt !== null) answers.set(rule.id, await askModel(context, emailId, prompt));
  const verdict = judgeWithinBudget(userId, () => evaluateRules([rule], facts, answers));
  switch (verdict.kind) {
    case 'matched':
      return { outcome: 'matched', matches: verdict.matches, reason: verdict.reason };
    case 'review':
      return { outcome: 'review', reason: verdict.reason };
    case 'ask':
    case 'none': {
      const answer = answers.get(rule.id);
      return { outcome: 'none', reason: answer?.reason ?? null };
    }
  }
}

/** Milliseconds of the time to answer that are kept for the answer itself. */
const SPARE_MS = 500;

async function askModel(context: OperationContext, emailId: string, prompt: string): Promise<ModelAnswer> {
  const { bus, userId, answerBy } = context;
  if (!context.settings.hasGuardModel) return { kind: 'failed', reason: 'No model is configured on this service' };
  const limitMs = Math.max(1, answerBy - performance.now() - SPARE_MS);
  try {
    const reply = await bus.ask('delivery.guard.ask', { userId, emailId, prompt }, { limitMs });
    switch (reply.verdict) {
      case 'answered':
        return { kind: 'answered', isMatch: reply.isMatch, reason: reply.reason };
      case 'failed':
        return { kind: 'failed', reason: reply.reason };
      case 'not-found':
        throw emailNotFound();
    }
  } catch (error) {
    if (error instanceof BusTimeout || error instanceof BusUnavailable)
      return { kind: 'failed', reason: 'The model did not answer in time' };
    throw error;
  }
}

function emailNotFound(): UserError {
  return new UserError('not_found', 'Email not found');
}
