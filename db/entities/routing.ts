import { defineEntity, p } from '@mikro-orm/core';
import { ROUTE_OUTCOMES, ROUTE_VIAS } from '../../core/routing/decide-route.ts';
import { GUARD_ACTIONS, GUARD_RULE_TYPES } from '../../core/routing/guard-rule.ts';

/**
 * Guard rules: they allow, block or route a workspace's received mail. Rules are evaluated by priority, highest first, newest first among equal
 * ones; the first match decides.
 */
export const GuardRuleSchema = defineEntity({
  name: 'GuardRule',
  tableName: 'guard_rule',
  properties: {
    workspaceId: p.text().primary(),
    id: p.text().primary(),
    name: p.text(),
    description: p.text().nullable(),
    type: p.enum(GUARD_RULE_TYPES),
    /** see core/routing/guard-rule.ts */
    config: p.json<object>(),
    action: p.enum(GUARD_ACTIONS),
    /** for the action route */
    endpointId: p.text().nullable(),
    priority: p.integer().default(0),
    isActive: p.boolean().default(true),
    /** the API key that set it up, and the scopes of that key then and now; see Endpoint */
    setByKeyId: p.text().nullable(),
    grantedScopes: p.array().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
});
export class GuardRule extends GuardRuleSchema.class {}
GuardRuleSchema.setClass(GuardRule);

/** Hit counters, in a separate table so that counting never rewrites the rule. */
export const GuardRuleStatSchema = defineEntity({
  name: 'GuardRuleStat',
  tableName: 'guard_rule_stat',
  properties: {
    workspaceId: p.text().primary(),
    ruleId: p.text().primary(),
    triggerCount: p.bigint('number').defaultRaw('0'),
    lastTriggeredAt: p.datetime(3).nullable(),
  },
});
export class GuardRuleStat extends GuardRuleStatSchema.class {}
GuardRuleStatSchema.setClass(GuardRuleStat);

/**
 * The route of each received email, and why. The row is created when the email gets its thread, and waits for the router while outcome is
 * null.
 */
export const RouteSchema = defineEntity({
  name: 'Route',
  tableName: 'route',
  properties: {
    workspaceId: p.text().primary(),
    emailId: p.text().primary(),
    /** created_at of the email; the order of routing */
    createdAt: p.datetime(3),
    threadedAt: p.datetime(3),
    /** null: not decided yet */
    decidedAt: p.datetime(3).nullable(),
    /**
     * endpoint: deliveries were created; inactive: the endpoint is disabled; stored: no endpoint is configured; blocked: held by a rule;
     * review: the rule's model did not respond, so a user must decide; asking: a model is being asked
     */
    outcome: p.enum(ROUTE_OUTCOMES).nullable(),
    /** what routes it to the endpoint */
    via: p.enum(ROUTE_VIAS).nullable(),
    endpointId: p.text().nullable(),
    /** the guard rule that matched, or whose model did not respond */
    ruleId: p.text().nullable(),
    /** additional explanation in full sentences; null when there is none */
    reason: p.text().nullable(),
    /** what matched: [{criteria, value}] */
    matches: p.json<unknown>().nullable(),
    /** when a user released an email that was blocked or held for review */
    releasedAt: p.datetime(3).nullable(),
    /** verdicts of models: see core/routing/decide-route.ts */
    verdicts: p.json<unknown>().nullable(),
    /** for the outcome asking */
    nextAskAt: p.datetime(3).nullable(),
    asks: p.smallint().default(0),
    claimedBy: p.text().nullable(),
    claimedUntil: p.datetime(3).nullable(),
  },
  indexes: [
    { name: 'route_asking', properties: ['nextAskAt'], where: `outcome = 'asking'` },
    {
      name: 'route_held',
      columns: [{ name: 'workspaceId' }, { name: 'createdAt' }, { name: 'emailId' }],
      include: ['outcome'],
      where: `(outcome = ANY (ARRAY['blocked', 'review'])) AND (released_at IS NULL)`,
    },
    { name: 'route_undecided', properties: ['createdAt'], where: 'outcome IS NULL' },
  ],
});
