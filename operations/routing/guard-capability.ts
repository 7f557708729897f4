import { z } from 'zod';
import {
  decodeRuleCursor,
  encodeRuleCursor,
  GUARD_ACTIONS,
  GUARD_RULE_TYPES,
  type RuleCursor,
} from '../../core/routing/guard-rule.ts';
import {
  graphqlOnly,
  linkTo,
  maybeGone,
  named,
  nameType,
  required,
  restLiteral,
  restOnly,
} from '../../core/shared/field-notes.ts';
import { oneOf } from '../../core/shared/vocabulary.ts';
import {
  type Capability,
  defineAction,
  defineChange,
  defineDelete,
  defineList,
  defineRead,
  defineResource,
} from '../capability/capability.ts';
import { descriptionText, nameText, searchText, text } from '../capability/field-shapes.ts';
import * as backtests from './guard-backtest.ts';
import * as rules from './guard-rules.ts';

export const guardRuleType = oneOf(GUARD_RULE_TYPES, {
  name: 'GuardRuleType',
  description: 'How a guard rule decides whether an email matches.',
  values: { explicit: 'By criteria.', ai_prompt: 'By the response of a language model to a prompt.' },
});

export const guardAction = oneOf(GUARD_ACTIONS, {
  name: 'GuardAction',
  description: 'What a guard rule does with an email that matches.',
  values: {
    allow: 'Delivers the email by its normal route and skips later rules.',
    block: 'Holds the email until you review and release it.',
    route: 'Delivers the email to an endpoint instead of its normal route.',
  },
});

export const guardMatch = nameType(
  z.object({
    criteria: named(z.string(), { graphqlName: 'criterion' }).meta({
      description: 'Name of the criterion in the config.',
    }),
    value: z.string().meta({ description: 'The value of the rule that matched.' }),
  }),
  { type: 'GuardMatch', description: 'A part of an email that matches a rule.' },
);

/** Checked by core/routing/guard-config.ts; the types of GraphQL are in schema/graphql/routing/guard-config.ts. */
const config = nameType(required(z.unknown()), {
  type: 'GuardConfig',
  input: 'GuardConfigInput',
  description:
    'What the rule matches. explicit: `subject`, `hasWords`, `from`, `to` and `attachments`, each `{operator: "OR"|"AND", values: [...]}`; `hasAttachment`; `spf`, `dkim` and `dmarc`, each a result or a list of results; `injection`, `review` or `clear`; `spam`, a verdict or a list of verdicts; `minSpamScore`, a number. All criteria must match. Addresses are complete or `*@domain`; `from.aligned` requires that DMARC passed for the address. Attachments are `.exe`, `invoice*.pdf`, part of a name, `application/pdf` or `image/*`. ai_prompt: `prompt`. REST also takes its JSON text.',
});

/** The action of a rule; REST also takes its name alone. */
const action = z
  .preprocess(
    (given) => (typeof given === 'string' ? { action: given } : given),
    nameType(
      z.object({
        action: guardAction.meta({ description: 'Type of action.' }),
        endpointId: text.nullish().meta({ description: 'For `route`: ID of an active endpoint.' }),
      }),
      { input: 'GuardActionInput', description: 'What to do with an email that matches a rule.' },
    ),
  )
  .meta({ description: 'What to do with an email that matches.' });

const priority = z.int().min(-rules.MAX_GUARD_PRIORITY).max(rules.MAX_GUARD_PRIORITY).meta({
  description: 'From -1,000 to 1,000. Rules with the highest priority run first, the newest first among equals.',
});
const isActive = z.boolean().meta({ description: 'Whether the rule is applied to mail.' });
const type = guardRuleType.meta({ description: 'How the rule decides.' });

const fields = {
  name: nameText.meta({ description: 'Name of the rule, 1 to 255 characters.' }),
  description: descriptionText.meta({ description: 'Your note about the rule, up to 1,000 characters.' }),
  type,
  config,
  action,
  priority,
  isActive,
};

export const newGuardRule = z.object({
  ...fields,
  action: action.default({ action: 'allow' }),
  priority: priority.default(0),
  isActive: isActive.default(true),
});
export const guardRuleChanges = z.object(fields).partial();

const MAX_EXAMPLES = 500;
const DEFAULT_EXAMPLES = 20;

/** Period and number of examples of a backtest. */
export const backtestSpan = z.object({
  days: z
    .int()
    .min(1)
    .max(backtests.MAX_BACKTEST_DAYS)
    .default(backtests.MAX_BACKTEST_DAYS)
    .meta({ description: 'Number of days to go back.' }),
  limit: z
    .int()
    .min(0)
    .max(MAX_EXAMPLES)
    .default(DEFAULT_EXAMPLES)
    .meta({ description: 'Number of examples to return.' }),
});
export const triedRule = z.object({
  type: type.default('explicit').meta({ description: 'Must be explicit.' }),
  config,
  action: action.default({ action: 'block' }),
  priority: priority.default(0),
  ...backtestSpan.shape,
});

const outcome = nameType(
  z.object({
    outcome: oneOf(backtests.BACKTEST_OUTCOMES, {
      name: 'BacktestOutcomeKind',
      description: 'Where an email went or would go.',
      values: {
        blocked: 'Held by a rule.',
        review: 'Held for review because a language model did not respond.',
        endpoint: 'To an endpoint.',
        inactive: 'Not delivered: its endpoint is inactive.',
        stored: 'Stored only: there is no route.',
        asking: 'A language model is being asked.',
        normal: 'Delivered by the normal route of its address.',
        unknown: 'A language model would be asked first.',
      },
    }).meta({
      description:
        'Where the email goes. `normal`: delivered by the normal route of its address. `unknown`: a language model would be asked first.',
    }),
    endpointId: linkTo('Endpoint', z.string().nullable()).meta({
      description: 'The endpoint. Null if there is none or it was deleted.',
    }),
    ruleId: linkTo('GuardRule', z.string().nullable(), 'guardRule').meta({
      description: 'The rule that decides. Null if there is none, it is not saved, or it was deleted.',
    }),
  }),
  { type: 'BacktestOutcome', description: 'Where an email went or would go, and by which rule.' },
);

const example = nameType(
  z.object({
    emailId: maybeGone(linkTo('Email', z.string())).meta({
      description: 'The email. Null if it was deleted in the meantime.',
    }),
    subject: restOnly(z.string()),
    from: restOnly(z.string()),
    createdAt: restOnly(z.date()),
    matches: z.array(guardMatch).meta({ description: 'What matched.' }),
    isDecisive: z.boolean().meta({
      description:
        'Whether the rule would have decided. False if an earlier rule would have, or a language model that was not asked.',
    }),
    now: outcome.nullable().meta({ description: 'What happened to the email. Null if not decided yet.' }),
    wouldBe: outcome.meta({ description: 'What would have happened with the rule.' }),
  }),
  { type: 'BacktestExample', description: 'A received email that matches the rule.' },
);

const backtest = z
  .object({
    scanned: named(z.int(), { graphqlName: 'scannedCount' }).meta({
      description: 'Number of received emails checked, newest first.',
    }),
    matched: named(z.int(), { graphqlName: 'matchedCount' }).meta({
      description: 'Number of emails that match the rule.',
    }),
    decided: named(z.int(), { graphqlName: 'decidedCount' }).meta({
      description: 'Number of emails the rule would have decided on, given the other active rules.',
    }),
    since: z.date().meta({ description: 'Start of the period.' }),
    isComplete: z.boolean().meta({ description: 'False if time ran out before all emails were checked.' }),
    stoppedAt: z.date().nullable().meta({
      description: 'If time ran out, when the oldest checked email was received. Null if all mail was checked.',
    }),
    examples: z.array(example).meta({ description: 'Matching emails, newest first.' }),
  })
  .meta({ id: 'GuardBacktest', description: 'What a rule would have done with received mail.' });

/** An example costs as much as a row of a list. */
const cost = ({ limit }: { limit: number }) => ({ field: 1, multiplier: Math.max(1, limit) });

const target = { argument: 'id', argumentDescription: 'ID of the rule.' } as const;
const EXAMPLE_ENDPOINT = 'ep_01931f3e5a7b7c1d8e2f3a4b5c6d7e8f';
const toEndpoint = { action: 'route', endpointId: EXAMPLE_ENDPOINT };

export const guardCapability: Capability = {
  feature: 'Routing',
  what: 'Guard rules',
  tag: 'Guard rules',
  path: '/guard',
  restCase: 'camel',
  resource: defineResource<rules.GuardRule>()({
    name: 'GuardRule',
    identifier: 'guardRule',
    description:
      'A rule that checks received mail. Rules run from the highest priority to the lowest, the newest first among equals; the first match decides.',
    isOfDomain: false,
    shape: z.object({
      userId: restOnly(z.string()),
      name: z.string().meta({ description: 'Name of the rule.' }),
      description: z.string().nullable().meta({ description: 'Your note about the rule. Null if there is none.' }),
      type,
      configText: restOnly(z.string(), 'config').meta({ description: 'JSON text.' }),
      config: graphqlOnly(config).meta({ description: 'What the rule matches.' }),
      isActive,
      priority: z.int().meta({ description: 'From -1,000 to 1,000.' }),
      lastTriggeredAt: z
        .date()
        .nullable()
        .meta({ description: 'When the rule last decided on an email. Null if never.' }),
      triggerCount: z.int().meta({ description: 'Number of emails the rule decided on.' }),
      actions: restOnly(z.string()).meta({ description: 'JSON text.' }),
      createdAt: z.date().meta({ description: 'When the rule was created.' }),
      updatedAt: z.date().meta({ description: 'When the rule was last changed.' }),
      configObject: restOnly(z.record(z.string(), z.unknown())).meta({ description: '`config` as an object.' }),
      actionObject: restOnly(z.object({ action: guardAction, endpointId: z.string().optional() }), 'action').meta({
        description: '`actions` as an object.',
      }),
      action: graphqlOnly(guardAction).meta({ description: 'What to do with an email that matches.' }),
      endpointId: linkTo('Endpoint', graphqlOnly(z.string().nullable())).meta({
        description: 'Endpoint of a rule with action ROUTE. Null for other actions or if the endpoint was deleted.',
      }),
    }),
    computed: {
      userId: (_rule, { workspaceId }) => workspaceId,
      configText: (rule) => JSON.stringify(rule.config),
      actions: (rule) => JSON.stringify(showAction(rule)),
      configObject: (rule) => ({ ...rule.config }),
      actionObject: (rule) => showAction(rule),
    },
    load: rules.loadGuardRules,
  }),
  operations: [
    defineList({
      access: 'read',
      operationId: 'listGuardRules',
      field: 'guardRules',
      summary: 'List guard rules',
      description:
        'Returns rules in the order they are applied: highest priority first, the newest first among equals.',
      filter: z.object({
        search: searchText
          .optional()
          .meta({ description: 'Part of the name or description, case-insensitive, up to 100 characters.' }),
        type: guardRuleType.optional().meta({ description: 'Returns rules of this type only.' }),
        isActive: z.boolean().optional().meta({ description: '`true` returns active rules, `false` the others.' }),
      }),
      isPagedByItem: false,
      order: {
        cursorOf: ({ priority: of, createdAt, id }: rules.GuardRule): RuleCursor => ({
          priority: of,
          at: createdAt,
          id,
        }),
        text: { encode: encodeRuleCursor, decode: decodeRuleCursor },
      },
      page: rules.pageGuardRules,
      count: rules.countGuardRules,
      list: rules.listGuardRules,
    }),
    defineChange({
      kind: 'create',
      access: 'policiesAndRead',
      operationId: 'createGuardRule',
      field: 'createGuardRule',
      summary: 'Create a guard rule',
      description:
        'The rule applies to new mail. The first rule that matches an email decides: `block` holds it until you review and release it, `route` delivers it to an endpoint, `allow` delivers it by its normal route. Backtest it first to see what it would have done.',
      input: newGuardRule,
      inputName: 'NewGuardRule',
      example: [
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
          action: toEndpoint,
        },
      ],
      errors: [404],
      run: (context, { description = null, ...input }) => rules.createGuardRule(context, { ...input, description }),
    }),
    defineAction({
      access: 'read',
      operationId: 'getGuardLimits',
      field: 'guardLimits',
      summary: 'Retrieve the limits of guard rules',
      description: 'Returns the limits of guard rules, and whether a language model is available.',
      method: 'GET',
      path: '/limits',
      input: z.object({}),
      output: z
        .object({
          object: restLiteral('guard_limits'),
          hasModel: z.boolean().meta({ description: 'Whether rules of type `ai_prompt` are available.' }),
          maxRules: z.int().meta({ description: 'Maximum number of rules.' }),
          maxValues: z.int().meta({ description: 'Maximum number of values in all rules.' }),
          maxWords: z.int().meta({ description: 'Maximum number of `hasWords` values in all rules.' }),
          maxPriority: z.int().meta({ description: 'Highest priority. The lowest is its negative.' }),
        })
        .meta({ id: 'GuardLimits', description: 'Limits of guard rules.' }),
      errors: [],
      run: async ({ settings }) => ({
        hasModel: settings.hasGuardModel,
        maxRules: rules.MAX_GUARD_RULES,
        maxValues: rules.MAX_GUARD_VALUES_IN_ALL,
        maxWords: rules.MAX_GUARD_WORDS_IN_ALL,
        maxPriority: rules.MAX_GUARD_PRIORITY,
      }),
    }),
    defineRead({
      access: 'read',
      operationId: 'getGuardRule',
      field: 'guardRule',
      summary: 'Retrieve a guard rule',
      description: 'Returns the rule with the number of emails it decided on, and when it last did.',
      target,
      read: rules.readGuardRule,
    }),
    defineChange({
      kind: 'update',
      access: 'policies',
      operationId: 'updateGuardRule',
      putOperationId: 'putGuardRule',
      field: 'updateGuardRule',
      summary: 'Update a guard rule',
      description:
        'Omitted fields keep their values. `config` and `action` are replaced as a whole. A new type needs its config, too. Counters continue.',
      target,
      input: guardRuleChanges,
      inputName: 'GuardRuleChanges',
      example: [{ isActive: false }, { action: toEndpoint }],
      errors: [],
      run: (context, changes, id) => rules.updateGuardRule(context, id, changes),
    }),
    defineDelete({
      access: 'policies',
      operationId: 'deleteGuardRule',
      field: 'deleteGuardRule',
      summary: 'Delete a guard rule',
      description: 'Emails that the rule holds stay held until you release them.',
      target,
      input: z.object({}),
      errors: [],
      deleted: { description: 'A deleted guard rule. Emails it holds stay held until you release them.', fields: [] },
      async run(context, _input, id) {
        await rules.deleteGuardRule(context, id);
        return { id };
      },
    }),
    defineAction({
      access: 'read',
      operationId: 'checkGuardRule',
      field: 'checkGuardRule',
      summary: 'Check a guard rule against an email',
      description: 'Applies this rule, active or not, to a received email and returns the result. Changes nothing.',
      method: 'POST',
      path: '/:id/check',
      target,
      input: z.object({ emailId: text.meta({ description: 'ID of the email.' }) }),
      output: z
        .object({
          outcome: oneOf(rules.CHECK_OUTCOMES, {
            name: 'GuardCheckOutcome',
            description: 'Result of applying one rule to an email.',
            values: {
              matched: 'The rule matches.',
              none: 'The rule does not match.',
              review: 'The language model did not respond; the email would be held for review.',
            },
          }).meta({ description: 'The result.' }),
          matches: z.array(guardMatch).meta({ description: 'What matched. Empty if the rule does not match.' }),
          reason: z.string().nullable().meta({
            description: 'Response of the language model, or why there is none. Null for EXPLICIT rules.',
          }),
        })
        .meta({ description: 'Result of applying one rule to an email.' }),
      errors: [],
      async run(context, { emailId }, id) {
        const check = await rules.checkGuardRule(context, id, emailId);
        return { matches: [], ...check };
      },
    }),
    defineAction({
      access: 'read',
      operationId: 'backtestGuardRule',
      field: 'backtestGuardRule',
      summary: 'Backtest a guard rule',
      description:
        'Returns what an unsaved explicit rule would have done with recently received mail, newest first, using the same code as for real mail. Changes nothing. One backtest runs at a time per account; it responds within 8 seconds with what it has found.',
      method: 'POST',
      path: '/backtest',
      input: triedRule,
      inputName: 'TriedGuardRule',
      example: [{ action: 'block' }, toEndpoint].map((tried) => ({
        type: 'explicit',
        config: { from: { values: ['*@shop.example'] } },
        action: tried,
      })),
      output: backtest,
      payloadField: 'backtest',
      cost,
      errors: [404],
      run: (context, { days, limit, ...tried }) => backtests.backtestRule(context, tried, { days, limit }),
    }),
    defineAction({
      access: 'read',
      operationId: 'backtestSavedGuardRule',
      field: 'backtestSavedGuardRule',
      summary: 'Backtest a saved guard rule',
      description:
        'Returns what a saved rule, active or not, would have done with recently received mail, with its own priority.',
      method: 'POST',
      path: '/:id/backtest',
      target,
      input: backtestSpan,
      example: { days: 7 },
      output: backtest,
      payloadField: 'backtest',
      cost,
      errors: [],
      run: (context, span, id) => backtests.backtestSavedRule(context, id, span),
    }),
  ],
};

function showAction({ action: name, endpointId }: rules.GuardRule) {
  return { action: name, ...(endpointId === null ? {} : { endpointId }) };
}
