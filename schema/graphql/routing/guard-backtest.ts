import type { GuardMatch } from '../../../core/routing/guard-rule.ts';
import * as backtests from '../../../operations/routing/guard-backtest.ts';
import { checkGuardRule, type GuardCheck } from '../../../operations/routing/guard-rules.ts';
import { backtestSpanShape, DEFAULT_EXAMPLES, parseInput, priorityShape } from '../../input-shapes.ts';
import { access } from '../access.ts';
import { builder, enumValues } from '../builder.ts';
import { EmailNode, EndpointInterface, GuardRuleNode } from '../nodes.ts';
import { GuardConfigInput, guardConfigOf } from './guard-config.ts';
import { GuardActionInput, GuardRuleType } from './guard-rule.ts';

export const GuardMatchRef = builder.objectRef<GuardMatch>('GuardMatch').implement({
  description: 'A part of an email that matches a rule.',
  fields: (t) => ({
    criterion: t.exposeString('criteria', { description: 'Name of the criterion in the config.' }),
    value: t.exposeString('value', { description: 'The value of the rule that matched.' }),
  }),
});

const GuardCheckOutcome = builder.enumType('GuardCheckOutcome', {
  description: 'Result of applying one rule to an email.',
  values: enumValues<GuardCheck['outcome']>({
    matched: 'The rule matches.',
    none: 'The rule does not match.',
    review: 'The language model did not respond; the email would be held for review.',
  }),
});

const CheckGuardRulePayload = builder.objectRef<GuardCheck>('CheckGuardRulePayload').implement({
  description: 'Result of applying one rule to an email.',
  fields: (t) => ({
    outcome: t.expose('outcome', { type: GuardCheckOutcome, description: 'The result.' }),
    matches: t.field({
      type: [GuardMatchRef],
      description: 'What matched. Empty if the rule does not match.',
      resolve: (check) => (check.outcome === 'matched' ? check.matches : []),
    }),
    reason: t.exposeString('reason', {
      nullable: true,
      description: 'Response of the language model, or why there is none. Null for EXPLICIT rules.',
    }),
  }),
});

const BacktestOutcomeKind = builder.enumType('BacktestOutcomeKind', {
  description: 'Where an email went or would go.',
  values: enumValues<backtests.BacktestOutcome['outcome']>({
    blocked: 'Held by a rule.',
    review: 'Held for review because a language model did not respond.',
    endpoint: 'To an endpoint.',
    inactive: 'Not delivered: its endpoint is inactive.',
    stored: 'Stored only: there is no route.',
    asking: 'A language model is being asked.',
    normal: 'Delivered by the normal route of its address.',
    unknown: 'A language model would be asked first.',
  }),
});

const BacktestOutcome = builder.objectRef<backtests.BacktestOutcome>('BacktestOutcome').implement({
  description: 'Where an email went or would go, and by which rule.',
  fields: (t) => ({
    outcome: t.expose('outcome', { type: BacktestOutcomeKind, description: 'Where the email goes.' }),
    endpoint: t.field({
      type: EndpointInterface,
      nullable: true,
      description: 'The endpoint. Null if there is none or it was deleted.',
      resolve: ({ endpointId }) => endpointId,
    }),
    guardRule: t.field({
      type: GuardRuleNode,
      nullable: true,
      description: 'The rule that decides. Null if there is none, it is not saved, or it was deleted.',
      resolve: ({ ruleId }) => ruleId,
    }),
  }),
});

const BacktestExample = builder.objectRef<backtests.BacktestExample>('BacktestExample').implement({
  description: 'A received email that matches the rule.',
  fields: (t) => ({
    email: t.field({
      type: EmailNode,
      nullable: true,
      description: 'The email. Null if it was deleted in the meantime.',
      resolve: ({ emailId }) => emailId,
    }),
    matches: t.expose('matches', { type: [GuardMatchRef], description: 'What matched.' }),
    isDecisive: t.exposeBoolean('isDecisive', {
      description:
        'Whether the rule would have decided. False if an earlier rule would have, or a language model that was not asked.',
    }),
    now: t.expose('now', {
      type: BacktestOutcome,
      nullable: true,
      description: 'What happened to the email. Null if not decided yet.',
    }),
    wouldBe: t.expose('wouldBe', { type: BacktestOutcome, description: 'What would have happened with the rule.' }),
  }),
});

const GuardBacktest = builder.objectRef<backtests.Backtest>('GuardBacktest').implement({
  description: 'What a rule would have done with received mail.',
  fields: (t) => ({
    scannedCount: t.exposeInt('scanned', { description: 'Number of received emails checked, newest first.' }),
    matchedCount: t.exposeInt('matched', { description: 'Number of emails that match the rule.' }),
    decidedCount: t.exposeInt('decided', {
      description: 'Number of emails the rule would have decided on, given the other active rules.',
    }),
    since: t.expose('since', { type: 'DateTime', description: 'Start of the period.' }),
    isComplete: t.exposeBoolean('isComplete', {
      description: 'Whether all mail of the period was checked; false if time ran out.',
    }),
    stoppedAt: t.expose('stoppedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'If time ran out, when the oldest checked email was received. Null if all mail was checked.',
    }),
    examples: t.expose('examples', { type: [BacktestExample], description: 'Matching emails, newest first.' }),
  }),
});

const described = {
  days: 'Number of days to go back, 1 to 30.',
  limit: 'Number of examples to return, 0 to 500.',
} as const;

/** An example costs as much as a row of a list. */
const complexity = ({ input }: { input: { limit: number } }) => ({ field: 1, multiplier: Math.max(1, input.limit) });

const triedShape = backtestSpanShape.extend({ priority: priorityShape });

builder.mutationFields((t) => ({
  checkGuardRule: t.fieldWithInput({
    type: CheckGuardRulePayload,
    access: access.read,
    description: 'Applies one rule, active or not, to a received email and returns the result. Changes nothing.',
    input: {
      id: t.input.id({ required: true, description: 'ID of the rule.' }),
      emailId: t.input.id({ required: true, description: 'ID of the email.' }),
    },
    errors: { directResult: true },
    resolve: (_root, { input: { id, emailId } }, { operations }) => checkGuardRule(operations, id, emailId),
  }),
  backtestGuardRule: t.fieldWithInput({
    type: GuardBacktest,
    access: access.read,
    description:
      'Returns what an unsaved EXPLICIT rule would have done with recently received mail. Changes nothing. One backtest runs at a time per account; it responds within 8 seconds with what it has found.',
    input: {
      type: t.input.field({
        type: GuardRuleType,
        required: true,
        defaultValue: 'explicit',
        description: 'Must be EXPLICIT.',
      }),
      config: t.input.field({ type: GuardConfigInput, required: true, description: 'What the rule matches.' }),
      action: t.input.field({
        type: GuardActionInput,
        required: true,
        defaultValue: { action: 'block' },
        description: 'What to do with an email that matches.',
      }),
      priority: t.input.int({ required: true, defaultValue: 0, description: 'Priority of the rule among the others.' }),
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
    access: access.read,
    description: 'Like backtestGuardRule, for a saved rule with its own priority, active or not.',
    input: {
      id: t.input.id({ required: true, description: 'ID of the rule.' }),
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
