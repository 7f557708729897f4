import { z } from 'zod';
import { GUARD_ACTIONS, GUARD_RULE_TYPES } from '../../../core/routing/guard-rule.ts';
import type { GuardRule } from '../../../operations/routing/guard-rules.ts';
import { guardRuleNaming, priorityShape } from '../../../schema/input-shapes.ts';
import { instant, listOf, text, wireInstant } from '../shapes.ts';

export const type = z.enum(GUARD_RULE_TYPES);
const actionName = z.enum(GUARD_ACTIONS);

/** The action of a rule, or just its name. */
export const action = z
  .preprocess(
    (given) => (typeof given === 'string' ? { action: given } : given),
    z.object({
      action: actionName,
      endpointId: text.nullish().meta({ description: 'For `route`: ID of an active endpoint.' }),
    }),
  )
  .meta({ description: 'What to do with an email that matches.' });

export const config = z.unknown().meta({
  description:
    'explicit: `subject`, `hasWords`, `from`, `to` and `attachments`, each `{operator: "OR"|"AND", values: [...]}`; `hasAttachment`; `spf`, `dkim` and `dmarc`, each a result or a list of results. All criteria must match. Addresses are complete or `*@domain`; `from.aligned` requires that DMARC passed for the address. Attachments are `.exe`, `invoice*.pdf`, part of a name, `application/pdf` or `image/*`. ai_prompt: `prompt`. Pass an object or its JSON text.',
});

const fields = {
  name: guardRuleNaming.name,
  description: guardRuleNaming.description,
  type,
  config,
  action,
  priority: priorityShape,
  isActive: z.boolean(),
};

export const newRuleBody = z
  .object({
    ...fields,
    action: action.default({ action: 'allow' }),
    priority: priorityShape.default(0),
    isActive: z.boolean().optional(),
  })
  .meta({
    id: 'NewGuardRule',
    'x-examples': [
      {
        name: 'Casinos',
        type: 'explicit',
        config: { hasWords: { operator: 'OR', values: ['casino', 'free spins'] } },
        action: { action: 'block' },
        priority: 10,
      },
      {
        name: 'Invoices',
        type: 'explicit',
        config: { subject: { operator: 'OR', values: ['invoice'] } },
        action: { action: 'route', endpointId: 'ep_01931f3e5a7b7c1d8e2f3a4b5c6d7e8f' },
      },
    ],
  });

export const changesBody = z
  .object(fields)
  .partial()
  .meta({
    id: 'GuardRuleChanges',
    'x-examples': [
      { isActive: false },
      { action: { action: 'route', endpointId: 'ep_01931f3e5a7b7c1d8e2f3a4b5c6d7e8f' } },
    ],
  });

export const ruleAnswer = z
  .object({
    id: z.string(),
    userId: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    type,
    config: z.string().meta({ description: 'JSON text.' }),
    isActive: z.boolean(),
    priority: z.number().int(),
    lastTriggeredAt: instant.nullable(),
    triggerCount: z.number().int().meta({ description: 'Number of emails the rule decided on.' }),
    actions: z.string().meta({ description: 'JSON text.' }),
    createdAt: instant,
    updatedAt: instant,
    configObject: z.record(z.string(), z.unknown()).meta({ description: '`config` as an object.' }),
    action: z
      .object({ action: actionName, endpointId: z.string().optional() })
      .meta({ description: '`actions` as an object.' }),
  })
  .meta({ id: 'GuardRule' });

const answerList = listOf(ruleAnswer);
export const listAnswer = z.object({ success: z.literal(true), ...answerList.shape });
export const madeAnswer = z.object({ success: z.literal(true), data: ruleAnswer });

export const checkBody = z
  .object({
    structuredEmailId: text.optional().meta({ description: 'ID of a received email.' }),
    email_id: text.optional().meta({ description: 'Alias of `structuredEmailId`.' }),
    emailId: text.optional().meta({ description: 'Alias of `structuredEmailId`.' }),
  })
  .refine((body) => Object.values(body).some((id) => id !== undefined), {
    message: 'structuredEmailId is required',
    path: ['structuredEmailId'],
  })
  .meta({
    anyOf: [{ required: ['structuredEmailId'] }, { required: ['email_id'] }, { required: ['emailId'] }],
    examples: [{ structuredEmailId: 'em_0190d4a3c5e67d2f8a1b2c3d4e5f6071' }],
  });

const match = z.object({
  criteria: z.string().meta({ description: 'Name of the criterion in the config.' }),
  value: z.string().meta({ description: 'The value of the rule that matched.' }),
});
export const matches = z.array(match);

export const checkAnswer = z.object({
  matched: z.boolean(),
  outcome: z
    .enum(['matched', 'none', 'review'])
    .meta({ description: '`review`: the language model did not respond; the email would be held for review.' }),
  matchDetails: matches.optional(),
  reason: z.string().optional().meta({ description: 'Response of the language model.' }),
});

/** A rule in the format of the reference service, with config and actions as JSON text, and additionally as objects. */
export function ruleAnswerOf(rule: GuardRule, userId: string): z.infer<typeof ruleAnswer> {
  const shown = { action: rule.action, ...(rule.endpointId === null ? {} : { endpointId: rule.endpointId }) };
  return {
    id: rule.id,
    userId,
    name: rule.name,
    description: rule.description,
    type: rule.type,
    config: JSON.stringify(rule.config),
    isActive: rule.isActive,
    priority: rule.priority,
    lastTriggeredAt: wireInstant(rule.lastTriggeredAt),
    triggerCount: rule.triggerCount,
    actions: JSON.stringify(shown),
    createdAt: wireInstant(rule.createdAt),
    updatedAt: wireInstant(rule.updatedAt),
    configObject: { ...rule.config },
    action: shown,
  };
}
