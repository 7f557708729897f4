import { createGuardRule, deleteGuardRule, updateGuardRule } from '../../../operations/routing/guard-rules.ts';
import { guardRuleNamingShape } from '../../shapes/guard-rule.ts';
import { parseInput } from '../../shapes/input.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { forgetLoaded } from '../context.ts';
import { GuardRuleNode } from '../nodes.ts';
import { GuardConfigInput, guardConfigOf } from './guard-criteria.ts';
import { GuardAction, GuardRuleType } from './guard-rule.ts';

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
