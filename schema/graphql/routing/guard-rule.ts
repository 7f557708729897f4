import { decodeRuleCursor, encodeRuleCursor, type RuleCursor } from '../../../core/routing/guard-rule.ts';
import * as rules from '../../../operations/routing/guard-rules.ts';
import { createGuardRule, deleteGuardRule, updateGuardRule } from '../../../operations/routing/guard-rules.ts';
import { guardRuleNamingShape, parseInput, searchShape } from '../../input-shapes.ts';
import { access } from '../access.ts';
import { builder, connectionComplexity, enumValues } from '../builder.ts';
import { connectionBy, totalCount } from '../connection.ts';
import { forgetLoaded } from '../context.ts';
import { EmailNode, EndpointInterface, GuardRuleNode } from '../nodes.ts';
import { GuardConfigInput, GuardConfigUnion, guardConfigOf } from './guard-config.ts';

export const GuardRuleType = builder.enumType('GuardRuleType', {
  description: 'How a guard rule decides whether an email matches.',
  values: enumValues<rules.GuardRule['type']>({
    explicit: 'By criteria.',
    ai_prompt: 'By the response of a language model to a prompt.',
  }),
});

export const GuardAction = builder.enumType('GuardAction', {
  description: 'What a guard rule does with an email that matches.',
  values: enumValues<rules.GuardRule['action']>({
    allow: 'Delivers the email by its normal route and skips later rules.',
    block: 'Holds the email until you review and release it.',
    route: 'Delivers the email to an endpoint instead of its normal route.',
  }),
});

GuardRuleNode.implement({
  description:
    'A rule that checks received mail. Rules run from the highest priority to the lowest, the newest first among equals; the first match decides.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name of the rule.' }),
    description: t.exposeString('description', {
      nullable: true,
      description: 'Your note about the rule. Null if there is none.',
    }),
    type: t.field({ type: GuardRuleType, description: 'How the rule decides.', resolve: ({ type }) => type }),
    config: t.field({
      type: GuardConfigUnion,
      description: 'What the rule matches.',
      resolve: ({ config }) => config,
    }),
    action: t.field({
      type: GuardAction,
      description: 'What to do with an email that matches.',
      resolve: ({ action }) => action,
    }),
    endpoint: t.field({
      type: EndpointInterface,
      nullable: true,
      description: 'Endpoint of a rule with action ROUTE. Null for other actions or if the endpoint was deleted.',
      resolve: ({ endpointId }) => endpointId,
    }),
    priority: t.int({ description: 'From -1,000 to 1,000.', resolve: ({ priority }) => priority }),
    isActive: t.boolean({ description: 'Whether the rule is applied to mail.', resolve: ({ isActive }) => isActive }),
    triggerCount: t.int({
      description: 'Number of emails the rule decided on.',
      resolve: ({ triggerCount }) => triggerCount,
    }),
    lastTriggeredAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the rule last decided on an email. Null if never.',
      resolve: ({ lastTriggeredAt }) => lastTriggeredAt,
    }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When the rule was created.',
      resolve: ({ createdAt }) => createdAt,
    }),
    updatedAt: t.field({
      type: 'DateTime',
      description: 'When the rule was last changed.',
      resolve: ({ updatedAt }) => updatedAt,
    }),
  }),
});

const GuardLimits = builder.objectRef<object>('GuardLimits').implement({
  description: 'Limits of guard rules.',
  fields: (t) => ({
    hasModel: t.boolean({
      description: 'Whether rules of type AI_PROMPT are available: the server has a language model.',
      resolve: (_root, _args, { reads }) => reads.settings.hasGuardModel,
    }),
    maxRules: t.int({ description: 'Maximum number of rules.', resolve: () => rules.MAX_GUARD_RULES }),
    maxValues: t.int({
      description: 'Maximum number of values in all rules.',
      resolve: () => rules.MAX_GUARD_VALUES_IN_ALL,
    }),
    maxWords: t.int({
      description: 'Maximum number of hasWords values in all rules.',
      resolve: () => rules.MAX_GUARD_WORDS_IN_ALL,
    }),
    maxPriority: t.int({
      description: 'Highest priority. The lowest is its negative.',
      resolve: () => rules.MAX_GUARD_PRIORITY,
    }),
  }),
});

const GuardRuleFilter = builder.inputType('GuardRuleFilter', {
  description: 'Filters a list of guard rules. Omit a field or pass null to match all.',
  fields: (t) => ({
    type: t.field({ type: GuardRuleType, description: 'Matches rules of this type.' }),
    isActive: t.boolean({ description: 'True matches active rules only, false the others.' }),
    search: t.string({ description: 'Part of the name or description, case-insensitive, up to 100 characters.' }),
  }),
});

const cursors = { encode: encodeRuleCursor, decode: decodeRuleCursor };

builder.queryFields((t) => ({
  guardRule: t.field({
    type: GuardRuleNode,
    access: access.read,
    nullable: true,
    description: 'Returns the guard rule with this ID, or null if the account has no such rule.',
    args: { id: t.arg.id({ required: true, description: 'ID of the rule.' }) },
    resolve: (_root, { id }) => id,
  }),
  guardRules: t.connection(
    {
      type: GuardRuleNode,
      access: access.read,
      description: 'Your guard rules, in the order they are applied.',
      args: { filter: t.arg({ type: GuardRuleFilter, description: 'Filters the rules.' }) },
      complexity: connectionComplexity,
      resolve: async (_root, { filter, ...args }, { reads }) => {
        const query = {
          type: filter?.type ?? undefined,
          isActive: filter?.isActive ?? undefined,
          ...parseInput(searchShape, { search: filter?.search ?? undefined }),
        };
        const page = await connectionBy<rules.GuardRule, RuleCursor>(
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
      fields: (c) => totalCount(c),
    },
    { name: 'GuardRuleEdge', description: 'A guard rule and its cursor.' },
  ),
  guardLimits: t.field({
    type: GuardLimits,
    access: access.read,
    description: 'Limits of guard rules, and whether a language model is available.',
    resolve: () => ({}),
  }),
}));

builder.objectField(EmailNode, 'guardRule', (t) =>
  t.field({
    type: GuardRuleNode,
    nullable: true,
    description:
      'The rule that matched or whose model did not respond, whatever happened to the email since. Null if there is none or it was deleted.',
    resolve: ({ guardRuleId }) => guardRuleId,
  }),
);

export const GuardActionInput = builder.inputType('GuardActionInput', {
  description: 'What to do with an email that matches a rule.',
  fields: (t) => ({
    action: t.field({ type: GuardAction, required: true, description: 'Type of action.' }),
    endpointId: t.id({ description: 'For ROUTE: ID of an active endpoint.' }),
  }),
});

const DeleteGuardRulePayload = builder.objectRef<{ deletedId: string }>('DeleteGuardRulePayload').implement({
  description: 'A deleted guard rule. Emails it holds stay held until you release them.',
  fields: (t) => ({ deletedId: t.exposeID('deletedId', { description: 'ID of the rule.' }) }),
});

const described = {
  name: 'Name of the rule, 1 to 255 characters.',
  description: 'Your note about the rule, up to 1,000 characters. Null for none.',
  priority: 'From -1,000 to 1,000. Rules with the highest priority run first, the newest first among equals.',
  isActive: 'Whether the rule is applied to mail.',
} as const;
const kept = 'Omit or pass null to keep the current value.';

builder.mutationFields((t) => ({
  createGuardRule: t.fieldWithInput({
    type: GuardRuleNode,
    access: access.manage,
    description:
      'Creates a guard rule that applies to new mail. Use backtestGuardRule first to see what it would have done.',
    input: {
      name: t.input.string({ required: true, description: described.name }),
      description: t.input.string({ description: described.description }),
      type: t.input.field({ type: GuardRuleType, required: true, description: 'How the rule decides.' }),
      config: t.input.field({ type: GuardConfigInput, required: true, description: 'What the rule matches.' }),
      action: t.input.field({
        type: GuardActionInput,
        required: true,
        defaultValue: { action: 'allow' },
        description: 'What to do with an email that matches.',
      }),
      priority: t.input.int({ required: true, defaultValue: 0, description: described.priority }),
      isActive: t.input.boolean({ required: true, defaultValue: true, description: described.isActive }),
    },
    errors: { dataField: { name: 'guardRule' } },
    resolve: async (_root, { input }, context) => {
      const { name, description, priority, config, ...rest } = input;
      const naming = parseInput(guardRuleNamingShape, { name, description, priority });
      const rule = await createGuardRule(context.operations, {
        ...rest,
        ...naming,
        description: naming.description ?? null,
        config: guardConfigOf(config),
      });
      forgetLoaded(context);
      return rule.id;
    },
  }),
  updateGuardRule: t.fieldWithInput({
    type: GuardRuleNode,
    access: access.manage,
    description: 'Updates a guard rule. config and action are replaced as a whole. Counters continue.',
    input: {
      id: t.input.id({ required: true, description: 'ID of the rule.' }),
      name: t.input.string({ description: `${described.name} ${kept}` }),
      description: t.input.string({ description: described.description }),
      type: t.input.field({
        type: GuardRuleType,
        description: `How the rule decides. If you change the type, pass its config, too. ${kept}`,
      }),
      config: t.input.field({
        type: GuardConfigInput,
        description: `What the rule matches; replaces the whole configuration. ${kept}`,
      }),
      action: t.input.field({ type: GuardActionInput, description: `What to do with an email that matches. ${kept}` }),
      priority: t.input.int({ description: `${described.priority} ${kept}` }),
      isActive: t.input.boolean({ description: `${described.isActive} ${kept}` }),
    },
    errors: { dataField: { name: 'guardRule' } },
    resolve: async (_root, { input }, context) => {
      const { id, name, description, priority, type, config, action, isActive } = input;
      const naming = { name: name ?? undefined, description, priority: priority ?? undefined };
      await updateGuardRule(context.operations, id, {
        ...parseInput(guardRuleNamingShape.partial(), naming),
        type: type ?? undefined,
        config: config == null ? undefined : guardConfigOf(config),
        action: action ?? undefined,
        isActive: isActive ?? undefined,
      });
      forgetLoaded(context);
      return id;
    },
  }),
  deleteGuardRule: t.fieldWithInput({
    type: DeleteGuardRulePayload,
    access: access.manage,
    description: 'Deletes a guard rule.',
    input: { id: t.input.id({ required: true, description: 'ID of the rule.' }) },
    errors: { directResult: true },
    resolve: async (_root, { input: { id } }, context) => {
      await deleteGuardRule(context.operations, id);
      forgetLoaded(context);
      return { deletedId: id };
    },
  }),
}));
