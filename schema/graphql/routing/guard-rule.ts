import { decodeRulePlace, encodeRulePlace, type RulePlace } from '../../../core/routing/guard-rule.ts';
import * as rules from '../../../operations/routing/guard-rules.ts';
import { parseInput } from '../../shapes/parse-input.ts';
import { searchShape } from '../../shapes/search.ts';
import { access } from '../access.ts';
import { builder, connectionComplexity } from '../builder.ts';
import { connectionBy } from '../connection.ts';
import { EmailNode, EndpointInterface, GuardRuleNode } from '../nodes.ts';
import { GuardConfigUnion } from './guard-criteria.ts';

export const GuardRuleType = builder.enumType('GuardRuleType', {
  description: 'How a rule decides whether a mail matches.',
  values: {
    EXPLICIT: { value: 'explicit', description: 'By criteria.' },
    AI_PROMPT: { value: 'ai_prompt', description: 'By what a language model answers to a prompt.' },
  } as const,
});

export const GuardAction = builder.enumType('GuardAction', {
  description: 'What becomes of a mail that a rule matches.',
  values: {
    ALLOW: { value: 'allow', description: 'It goes where its address leads, past the rules that come after.' },
    BLOCK: { value: 'block', description: 'It is held back, to be looked at and released.' },
    ROUTE: { value: 'route', description: 'It goes to an endpoint instead of where its address leads.' },
  } as const,
});

GuardRuleNode.implement({
  description:
    'A rule that received mail is compared with. The highest priority is asked first, of equal ones the newest; the first that matches decides.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'What you call it.' }),
    description: t.exposeString('description', {
      nullable: true,
      description: 'What you wrote about it; null: nothing.',
    }),
    type: t.field({ type: GuardRuleType, description: 'How it decides.', resolve: ({ type }) => type }),
    config: t.field({
      type: GuardConfigUnion,
      description: 'What it asks of a mail.',
      resolve: ({ config }) => config,
    }),
    action: t.field({
      type: GuardAction,
      description: 'What becomes of a mail that it matches.',
      resolve: ({ action }) => action,
    }),
    endpoint: t.field({
      type: EndpointInterface,
      nullable: true,
      description: 'Where a rule of action ROUTE leads; null: it has another action, or the endpoint was deleted.',
      resolve: ({ endpointId }) => endpointId,
    }),
    priority: t.int({ description: 'From -1,000 to 1,000.', resolve: ({ priority }) => priority }),
    isActive: t.boolean({ description: 'Whether mail is compared with it.', resolve: ({ isActive }) => isActive }),
    triggerCount: t.int({
      description: 'How many mails it decided on.',
      resolve: ({ triggerCount }) => triggerCount,
    }),
    lastTriggeredAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it decided on the last of them; null: on none yet.',
      resolve: ({ lastTriggeredAt }) => lastTriggeredAt,
    }),
    createdAt: t.field({ type: 'DateTime', description: 'When it was added.', resolve: ({ createdAt }) => createdAt }),
    updatedAt: t.field({
      type: 'DateTime',
      description: 'When it was last changed.',
      resolve: ({ updatedAt }) => updatedAt,
    }),
  }),
});

const GuardLimits = builder.objectRef<object>('GuardLimits').implement({
  description: 'What guard rules an account can have.',
  fields: (t) => ({
    hasModel: t.boolean({
      description: 'Whether rules of type AI_PROMPT can be made: the service has a model to ask.',
      resolve: (_root, _args, { reads }) => reads.settings.hasGuardModel,
    }),
    maxRules: t.int({ description: 'Rules at most.', resolve: () => rules.MAX_GUARD_RULES }),
    maxValues: t.int({ description: 'Values of all rules at most.', resolve: () => rules.MAX_GUARD_VALUES_IN_ALL }),
    maxWords: t.int({
      description: 'Values of hasWords of all rules at most.',
      resolve: () => rules.MAX_GUARD_WORDS_IN_ALL,
    }),
    maxPriority: t.int({
      description: 'The highest priority; the lowest is as far below 0.',
      resolve: () => rules.MAX_GUARD_PRIORITY,
    }),
  }),
});

const GuardRuleFilter = builder.inputType('GuardRuleFilter', {
  description: 'Which rules a list shows; what is absent or null puts no condition.',
  fields: (t) => ({
    type: t.field({ type: GuardRuleType, description: 'Rules of one type.' }),
    isActive: t.boolean({ description: 'Only those that mail is compared with, or only the others.' }),
    search: t.string({ description: 'Part of the name or the description, in any case; at most 100 characters.' }),
  }),
});

const cursors = { encode: encodeRulePlace, decode: decodeRulePlace };

builder.queryFields((t) => ({
  guardRule: t.field({
    type: GuardRuleNode,
    access: access.readAccount,
    nullable: true,
    description: 'A guard rule by its id; null when you have none with that id.',
    args: { id: t.arg.id({ required: true, description: 'Id of the rule.' }) },
    resolve: (_root, { id }) => id,
  }),
  guardRules: t.connection(
    {
      type: GuardRuleNode,
      access: access.readAccount,
      description: 'Your guard rules in the order in which they are asked.',
      args: { filter: t.arg({ type: GuardRuleFilter, description: 'Which rules to show.' }) },
      complexity: connectionComplexity,
      resolve: async (_root, { filter, ...args }, { reads }) => {
        const query = {
          type: filter?.type ?? undefined,
          isActive: filter?.isActive ?? undefined,
          ...parseInput(searchShape, { search: filter?.search ?? undefined }),
        };
        const page = await connectionBy<rules.GuardRule, RulePlace>(
          cursors,
          args,
          (rule) => ({ priority: rule.priority, at: rule.createdAt, id: rule.id }),
          (span) => rules.pageGuardRules(reads, query, span),
        );
        return { ...page, count: () => rules.countGuardRules(reads, query) };
      },
    },
    {
      name: 'GuardRuleConnection',
      description: 'A page of guard rules.',
      fields: (c) => ({
        totalCount: c.int({
          description: 'How many there are on all pages; counted only when it is asked for.',
          resolve: (page) => page.count(),
        }),
      }),
    },
    { name: 'GuardRuleEdge', description: 'A guard rule in a list.' },
  ),
  guardLimits: t.field({
    type: GuardLimits,
    access: access.readAccount,
    description: 'What guard rules you can have, and whether a model can be asked.',
    resolve: () => ({}),
  }),
}));

builder.objectField(EmailNode, 'guardRule', (t) =>
  t.field({
    type: GuardRuleNode,
    nullable: true,
    description:
      'The rule that it fitted, or whose model did not answer, whatever became of it since; null: none, or it was deleted.',
    resolve: ({ guardRuleId }) => guardRuleId,
  }),
);
