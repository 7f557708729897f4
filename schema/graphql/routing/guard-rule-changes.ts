import { createGuardRule, deleteGuardRule, updateGuardRule } from '../../../operations/routing/guard-rules.ts';
import { guardRuleNamingShape } from '../../shapes/guard-rule.ts';
import { parseInput } from '../../shapes/parse-input.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { forgetLoaded } from '../context.ts';
import { GuardRuleNode } from '../nodes.ts';
import { GuardConfigInput, guardConfigOf } from './guard-criteria.ts';
import { GuardAction, GuardRuleType } from './guard-rule.ts';

export const GuardActionInput = builder.inputType('GuardActionInput', {
  description: 'What shall become of a mail that a rule matches.',
  fields: (t) => ({
    action: t.field({ type: GuardAction, required: true, description: 'What becomes of it.' }),
    endpointId: t.id({ description: 'Of ROUTE: an active endpoint of yours.' }),
  }),
});

const DeleteGuardRulePayload = builder.objectRef<{ deletedId: string }>('DeleteGuardRulePayload').implement({
  description: 'A guard rule that is gone. Mail that it held back stays held back until it is released.',
  fields: (t) => ({ deletedId: t.exposeID('deletedId', { description: 'Its id.' }) }),
});

const described = {
  name: 'What you call it: 1 to 255 characters.',
  description: 'What you want to say about it, at most 1,000 characters; null: nothing.',
  priority: 'From -1,000 to 1,000: the highest is asked first, of equal ones the newest.',
  isActive: 'Whether mail is compared with it.',
} as const;
const kept = 'Null or absent: it stays.';

builder.mutationFields((t) => ({
  createGuardRule: t.fieldWithInput({
    type: GuardRuleNode,
    access: access.manage,
    description:
      'Adds a guard rule, which counts from the next mail on. backtestGuardRule tells beforehand what a rule would have done.',
    input: {
      name: t.input.string({ required: true, description: described.name }),
      description: t.input.string({ description: described.description }),
      type: t.input.field({ type: GuardRuleType, required: true, description: 'How it decides.' }),
      config: t.input.field({ type: GuardConfigInput, required: true, description: 'What it asks of a mail.' }),
      action: t.input.field({
        type: GuardActionInput,
        required: true,
        defaultValue: { action: 'allow' },
        description: 'What becomes of a mail that it matches.',
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
    description:
      'Changes what is given of a guard rule; config and action are replaced as a whole. Its counters go on.',
    input: {
      id: t.input.id({ required: true, description: 'Id of the rule.' }),
      name: t.input.string({ description: `${described.name} ${kept}` }),
      description: t.input.string({ description: described.description }),
      type: t.input.field({
        type: GuardRuleType,
        description: `How it decides; with another type, give its config. ${kept}`,
      }),
      config: t.input.field({ type: GuardConfigInput, description: `All that it asks of a mail. ${kept}` }),
      action: t.input.field({ type: GuardActionInput, description: `What becomes of a mail that it matches. ${kept}` }),
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
    input: { id: t.input.id({ required: true, description: 'Id of the rule.' }) },
    errors: { directResult: true },
    resolve: async (_root, { input: { id } }, context) => {
      await deleteGuardRule(context.operations, id);
      forgetLoaded(context);
      return { deletedId: id };
    },
  }),
}));
