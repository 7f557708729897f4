import type { GuardMatch } from '../../../core/routing/guard-rule.ts';
import * as backtests from '../../../operations/routing/guard-backtest.ts';
import { checkGuardRule, type GuardCheck } from '../../../operations/routing/guard-rules.ts';
import { backtestSpanShape, DEFAULT_EXAMPLES, priorityShape } from '../../shapes/guard-rule.ts';
import { parseInput } from '../../shapes/parse-input.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { EmailNode, EndpointInterface, GuardRuleNode } from '../nodes.ts';
import { GuardConfigInput, guardConfigOf } from './guard-criteria.ts';
import { GuardRuleType } from './guard-rule.ts';
import { GuardActionInput } from './guard-rule-changes.ts';

export const GuardMatchRef = builder.objectRef<GuardMatch>('GuardMatch').implement({
  description: 'What of a mail met a rule.',
  fields: (t) => ({
    criterion: t.exposeString('criteria', { description: 'Which criterion, by its name in the config.' }),
    value: t.exposeString('value', { description: 'The value of the rule that was met.' }),
  }),
});

const GuardCheckOutcome = builder.enumType('GuardCheckOutcome', {
  description: 'What one rule by itself makes of a mail.',
  values: {
    MATCHED: { value: 'matched', description: 'It matches.' },
    NONE: { value: 'none', description: 'It does not.' },
    REVIEW: {
      value: 'review',
      description: 'The model did not answer: mail would be held until somebody looks at it.',
    },
  } as const,
});

const CheckGuardRulePayload = builder.objectRef<GuardCheck>('CheckGuardRulePayload').implement({
  description: 'What one rule by itself makes of a mail.',
  fields: (t) => ({
    outcome: t.expose('outcome', { type: GuardCheckOutcome, description: 'What it makes of it.' }),
    matches: t.field({
      type: [GuardMatchRef],
      description: 'What of the mail met the rule; empty when it does not match.',
      resolve: (check) => (check.outcome === 'matched' ? check.matches : []),
    }),
    reason: t.exposeString('reason', {
      nullable: true,
      description: 'What the model said, or why it did not answer; null of explicit rules.',
    }),
  }),
});

const BacktestOutcomeKind = builder.enumType('BacktestOutcomeKind', {
  description: 'Where a mail went, or would go.',
  values: {
    BLOCKED: { value: 'blocked', description: 'A rule holds it back.' },
    REVIEW: { value: 'review', description: 'A model did not answer, so that it waits for you.' },
    ENDPOINT: { value: 'endpoint', description: 'To an endpoint.' },
    INACTIVE: { value: 'inactive', description: 'Its endpoint is switched off.' },
    STORED: { value: 'stored', description: 'Nothing leads anywhere.' },
    ASKING: { value: 'asking', description: 'A model is being asked.' },
    NORMAL: { value: 'normal', description: 'Wherever its address leads.' },
    UNKNOWN: { value: 'unknown', description: 'A model would be asked first.' },
  } as const,
});

const BacktestOutcome = builder.objectRef<backtests.BacktestOutcome>('BacktestOutcome').implement({
  description: 'Where a mail went, or would go, and by which rule.',
  fields: (t) => ({
    outcome: t.expose('outcome', { type: BacktestOutcomeKind, description: 'Where it goes.' }),
    endpoint: t.field({
      type: EndpointInterface,
      nullable: true,
      description: 'To which endpoint; null: to none, or it was deleted.',
      resolve: ({ endpointId }) => endpointId,
    }),
    guardRule: t.field({
      type: GuardRuleNode,
      nullable: true,
      description: 'The rule that decides; null: none does, one that is not saved, or one that was deleted.',
      resolve: ({ ruleId }) => ruleId,
    }),
  }),
});

const BacktestExample = builder.objectRef<backtests.BacktestExample>('BacktestExample').implement({
  description: 'A received mail that the rule matches.',
  fields: (t) => ({
    email: t.field({
      type: EmailNode,
      nullable: true,
      description: 'The mail; null: it is gone meanwhile.',
      resolve: ({ emailId }) => emailId,
    }),
    matches: t.expose('matches', { type: [GuardMatchRef], description: 'What of it met the rule.' }),
    isDecisive: t.exposeBoolean('isDecisive', {
      description: 'Whether the rule would have decided; else one before it would, or a model that was not asked.',
    }),
    now: t.expose('now', {
      type: BacktestOutcome,
      nullable: true,
      description: 'What became of it; null while that is open.',
    }),
    wouldBe: t.expose('wouldBe', { type: BacktestOutcome, description: 'What would have become of it with the rule.' }),
  }),
});

const GuardBacktest = builder.objectRef<backtests.Backtest>('GuardBacktest').implement({
  description: 'What a rule would have done with received mail.',
  fields: (t) => ({
    scannedCount: t.exposeInt('scanned', { description: 'Received mails that were looked at, newest first.' }),
    matchedCount: t.exposeInt('matched', { description: 'Those that the rule matches.' }),
    decidedCount: t.exposeInt('decided', {
      description: 'Those of them on which it would have decided, the other active rules being as they are.',
    }),
    since: t.expose('since', { type: 'DateTime', description: 'From when on mail was looked at.' }),
    isComplete: t.exposeBoolean('isComplete', {
      description: 'Whether all mail since then was looked at; else time ran out.',
    }),
    stoppedAt: t.expose('stoppedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When time ran out, the oldest mail that was looked at came in then; null: all was looked at.',
    }),
    examples: t.expose('examples', { type: [BacktestExample], description: 'Mails that it matches, newest first.' }),
  }),
});

const described = {
  days: 'How many days back, 1 to 30.',
  limit: 'Examples to show, 0 to 500.',
} as const;

/** Each example costs as much as a row of a list. */
const complexity = ({ input }: { input: { limit: number } }) => ({ field: 1, multiplier: Math.max(1, input.limit) });

const triedShape = backtestSpanShape.extend({ priority: priorityShape });

builder.mutationFields((t) => ({
  checkGuardRule: t.fieldWithInput({
    type: CheckGuardRulePayload,
    access: access.readAccount,
    description:
      'Tells what one rule by itself, active or not, makes of an email that was received. Nothing is changed.',
    input: {
      id: t.input.id({ required: true, description: 'Id of the rule.' }),
      emailId: t.input.id({ required: true, description: 'Id of the email.' }),
    },
    errors: { directResult: true },
    resolve: (_root, { input: { id, emailId } }, { operations }) => checkGuardRule(operations, id, emailId),
  }),
  backtestGuardRule: t.fieldWithInput({
    type: GuardBacktest,
    access: access.readAccount,
    description:
      'Tells what an explicit rule that is not saved would have done with the received mail of the last days. Nothing is changed. One at a time; it answers within 8 seconds with what it came to.',
    input: {
      type: t.input.field({
        type: GuardRuleType,
        required: true,
        defaultValue: 'explicit',
        description: 'EXPLICIT; others are refused.',
      }),
      config: t.input.field({ type: GuardConfigInput, required: true, description: 'What the rule asks of a mail.' }),
      action: t.input.field({
        type: GuardActionInput,
        required: true,
        defaultValue: { action: 'block' },
        description: 'What becomes of a mail that it matches.',
      }),
      priority: t.input.int({ required: true, defaultValue: 0, description: 'Its place among the other rules.' }),
      days: t.input.int({
        required: true,
        defaultValue: backtests.MAX_BACKTEST_DAYS,
        description: described.days,
      }),
      limit: t.input.int({ required: true, defaultValue: DEFAULT_EXAMPLES, description: described.limit }),
    },
    complexity,
    errors: { dataField: { name: 'backtest' } },
    resolve: (_root, { input }, { operations }) => {
      const { type, config, action, ...numbers } = input;
      const { priority, ...span } = parseInput(triedShape, numbers);
      return backtests.backtestRule(operations, { type, config: guardConfigOf(config), action, priority }, span);
    },
  }),
  backtestSavedGuardRule: t.fieldWithInput({
    type: GuardBacktest,
    access: access.readAccount,
    description: 'As backtestGuardRule, with a saved rule, active or not, in its own place.',
    input: {
      id: t.input.id({ required: true, description: 'Id of the rule.' }),
      days: t.input.int({
        required: true,
        defaultValue: backtests.MAX_BACKTEST_DAYS,
        description: described.days,
      }),
      limit: t.input.int({ required: true, defaultValue: DEFAULT_EXAMPLES, description: described.limit }),
    },
    complexity,
    errors: { dataField: { name: 'backtest' } },
    resolve: (_root, { input: { id, ...span } }, { operations }) =>
      backtests.backtestSavedRule(operations, id, parseInput(backtestSpanShape, span)),
  }),
}));
