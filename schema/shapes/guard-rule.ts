import { z } from 'zod';
import { MAX_BACKTEST_DAYS } from '../../operations/routing/guard-backtest.ts';
import { MAX_GUARD_PRIORITY } from '../../operations/routing/guard-rules.ts';
import { text } from './text.ts';

/** interface.md "Limits" */
const MAX_NAME_LENGTH = 255;
const MAX_DESCRIPTION_LENGTH = 1_000;
const MAX_EXAMPLES = 500;
export const DEFAULT_EXAMPLES = 20;

/** The place of a rule among the others: the highest is asked first. */
export const priorityShape = z.int().min(-MAX_GUARD_PRIORITY).max(MAX_GUARD_PRIORITY);

/** What a guard rule of every type is called, and where it stands. */
export const guardRuleNaming = {
  name: text.trim().min(1).max(MAX_NAME_LENGTH),
  description: text.max(MAX_DESCRIPTION_LENGTH).nullish(),
  priority: priorityShape,
};
export const guardRuleNamingShape = z.object(guardRuleNaming);

/** How far a back-test goes. */
export const backtestSpan = {
  days: z.int().min(1).max(MAX_BACKTEST_DAYS).default(MAX_BACKTEST_DAYS).meta({ description: 'how far back' }),
  limit: z.int().min(0).max(MAX_EXAMPLES).default(DEFAULT_EXAMPLES).meta({ description: 'examples to show' }),
};
export const backtestSpanShape = z.object(backtestSpan);
