import { defineEntity, p } from '@mikro-orm/core';
import { GUARD_ACTIONS, GUARD_RULE_TYPES } from '../../core/routing/guard-rule.ts';
import { ROUTE_OUTCOMES, ROUTE_VIAS } from '../../core/routing/route.ts';

/**
 * Rules by which a user's received mail is let through, held back or led elsewhere. The highest priority is asked first, the newest of
 * equal ones; the first that matches decides.
 */
export const GuardRuleSchema = defineEntity({
  name: 'GuardRule',
  tableName: 'guard_rule',
  properties: {
    userId: p.text().primary(),
    id: p.text().primary(),
    name: p.text(),
    description: p.text().nullable(),
    type: p.enum(GUARD_RULE_TYPES),
    /** see core/routing/guard-rule.ts */
    config: p.json<object>(),
    action: p.enum(GUARD_ACTIONS),
    /** of action route */
    endpointId: p.text().nullable(),
    priority: p.integer().default(0),
    isActive: p.boolean().default(true),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
});
export class GuardRule extends GuardRuleSchema.class {}
GuardRuleSchema.setClass(GuardRule);

/** Hit counters, beside the rule so that counting never rewrites it. */
export const GuardRuleStatSchema = defineEntity({
  name: 'GuardRuleStat',
  tableName: 'guard_rule_stat',
  properties: {
    userId: p.text().primary(),
    ruleId: p.text().primary(),
    triggerCount: p.bigint('number').defaultRaw('0'),
    lastTriggeredAt: p.datetime(3).nullable(),
  },
});
export class GuardRuleStat extends GuardRuleStatSchema.class {}
GuardRuleStatSchema.setClass(GuardRuleStat);

/**
 * Where each received email went, and why. A row is made when the email gets its thread, and then waits for the router, while outcome is
 * null.
 */
export const RouteSchema = defineEntity({
  name: 'Route',
  tableName: 'route',
  properties: {
    userId: p.text().primary(),
    emailId: p.text().primary(),
    /** the email's: the order of routing */
    createdAt: p.datetime(3),
    threadedAt: p.datetime(3),
    /** null: it is not decided yet */
    decidedAt: p.datetime(3).nullable(),
    /**
     * endpoint: deliveries were made; inactive: its endpoint is switched off; stored: nothing leads anywhere; blocked: a rule holds it
     * back; review: a rule's model did not answer, so that a human has to; asking: a model is being asked
     */
    outcome: p.enum(ROUTE_OUTCOMES).nullable(),
    /** what led to the endpoint */
    via: p.enum(ROUTE_VIAS).nullable(),
    endpointId: p.text().nullable(),
    /** the guard rule that matched, or whose model did not answer */
    ruleId: p.text().nullable(),
    /** why, in words, where outcome, via and the ids do not say it all */
    reason: p.text().nullable(),
    /** what of the email matched: [{criteria, value}] */
    matches: p.json<unknown>().nullable(),
    /** when a user let an email through that was blocked or held for review */
    releasedAt: p.datetime(3).nullable(),
    /** what models said of the email: see core/routing/guard-judgement.ts */
    answers: p.json<unknown>().nullable(),
    /** of outcome asking */
    nextAskAt: p.datetime(3).nullable(),
    asks: p.smallint().default(0),
    claimedBy: p.text().nullable(),
    claimedUntil: p.datetime(3).nullable(),
  },
  indexes: [
    { name: 'route_asking', properties: ['nextAskAt'], where: `outcome = 'asking'` },
    {
      name: 'route_held',
      columns: [{ name: 'userId' }, { name: 'createdAt', sort: 'desc' }, { name: 'emailId', sort: 'desc' }],
      include: ['outcome'],
      where: `(outcome = ANY (ARRAY['blocked', 'review'])) AND (released_at IS NULL)`,
    },
    { name: 'route_undecided', properties: ['createdAt'], where: 'outcome IS NULL' },
  ],
});
