import { z } from 'zod';
import { MAX_BACKTEST_DAYS } from '../../operations/routing/guard-backtest.ts';
import { MAX_GUARD_PRIORITY } from '../../operations/routing/guard-rules.ts';
import { text } from './input.ts';

/** Characters. */
const MAX_NAME_LENGTH = 255;
const MAX_DESCRIPTION_LENGTH = 1_000;
const MAX_EXAMPLES = 500;
export const DEFAULT_EXAMPLES = 20;

/** Priority of a rule; rules with the highest priority run first. */
export const priorityShape = z.int().min(-MAX_GUARD_PRIORITY).max(MAX_GUARD_PRIORITY);

/** Name, description and priority of a guard rule of any type. */
export const guardRuleNaming = {
  name: text.trim().min(1).max(MAX_NAME_LENGTH),
  description: text.max(MAX_DESCRIPTION_LENGTH).nullish(),
  priority: priorityShape,
};
export const guardRuleNamingShape = z.object(guardRuleNaming);

/** Period and number of examples of a backtest. */
export const backtestSpan = {
  days: z
    .int()
    .min(1)
    .max(MAX_BACKTEST_DAYS)
    .default(MAX_BACKTEST_DAYS)
    .meta({ description: 'Number of days to go back.' }),
  limit: z
    .int()
    .min(0)
    .max(MAX_EXAMPLES)
    .default(DEFAULT_EXAMPLES)
    .meta({ description: 'Number of examples to return.' }),
};
export const backtestSpanShape = z.object(backtestSpan);
