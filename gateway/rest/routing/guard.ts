import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { guardConfigFields } from '../../../core/routing/guard-config.ts';
import { searchText } from '../../../operations/capability/field-shapes.ts';
import * as rules from '../../../operations/routing/guard-rules.ts';
import { checkGuardRule } from '../../../operations/routing/guard-rules.ts';
import { access } from '../../admission/access.ts';
import { errorBody, idInPath, limit, listBody, offset, queryBoolean, type RestOptions } from '../shapes.ts';
import {
  changesBody,
  checkAnswer,
  checkBody,
  listAnswer,
  madeAnswer,
  newRuleBody,
  ruleAnswer,
  ruleAnswerOf,
  type,
} from './guard-shapes.ts';

const listQuery = z.object({
  limit: limit(),
  offset,
  search: searchText.optional().meta({ description: 'Part of the name or description.' }),
  type: type.optional().meta({ description: 'Returns rules of this type only.' }),
  isActive: queryBoolean.optional().meta({ description: '`true` returns active rules, `false` the others.' }),
});

const guardLimits = z
  .object({
    object: z.literal('guard_limits'),
    hasModel: z.boolean().meta({ description: 'Whether rules of type `ai_prompt` are available.' }),
    maxRules: z.number().int().meta({ description: 'Maximum number of rules.' }),
    maxValues: z.number().int().meta({ description: 'Maximum number of values in all rules.' }),
    maxWords: z.number().int().meta({ description: 'Maximum number of `hasWords` values in all rules.' }),
    maxPriority: z.number().int().meta({ description: 'Highest priority. The lowest is its negative.' }),
  })
  .meta({ id: 'GuardLimits' });

export const guardRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.get(
    '/guard',
    {
      config: { access: access.read },
      schema: {
        operationId: 'listGuardRules',
        summary: 'List guard rules',
        description:
          'Returns rules in the order they are applied: highest priority first, the newest first among equals.',
        tags: ['Guard rules'],
        querystring: listQuery,
        response: { 200: listAnswer, default: errorBody },
      },
    },
    async (request) => {
      const context = contextOf(request);
      const { limit: size, offset: start, ...query } = request.query;
      const page = { limit: size, offset: start };
      const found = await rules.listGuardRules(context, query, page);
      const data = found.rules.map((rule) => ruleAnswerOf(rule, context.userId));
      return { success: true as const, ...listBody(data, page, found.total) };
    },
  );

  app.post(
    '/guard',
    {
      config: { access: access.manage, bodyFields: newRuleBody.extend({ config: guardConfigFields }) },
      schema: {
        operationId: 'createGuardRule',
        summary: 'Create a guard rule',
        description:
          'The rule applies to new mail. The first rule that matches an email decides: `block` holds it until you review and release it, `route` delivers it to an endpoint, `allow` delivers it by its normal route. Use POST /guard/backtest first to see what a rule would have done.',
        tags: ['Guard rules'],
        body: newRuleBody,
        response: { 201: madeAnswer, 404: errorBody, default: errorBody },
      },
    },
    async (request, reply) => {
      const context = contextOf(request);
      const { description = null, isActive = true, ...input } = request.body;
      const rule = await rules.createGuardRule(context, { ...input, description, isActive });
      return reply.code(201).send({ success: true as const, data: ruleAnswerOf(rule, context.userId) });
    },
  );

  app.get(
    '/guard/limits',
    {
      config: { access: access.read },
      schema: {
        operationId: 'getGuardLimits',
        summary: 'Retrieve the limits of guard rules',
        description: 'Returns the limits of guard rules, and whether a language model is available.',
        tags: ['Guard rules'],
        response: { 200: guardLimits, default: errorBody },
      },
    },
    async (request) => ({
      object: 'guard_limits' as const,
      hasModel: contextOf(request).settings.hasGuardModel,
      maxRules: rules.MAX_GUARD_RULES,
      maxValues: rules.MAX_GUARD_VALUES_IN_ALL,
      maxWords: rules.MAX_GUARD_WORDS_IN_ALL,
      maxPriority: rules.MAX_GUARD_PRIORITY,
    }),
  );

  app.get(
    '/guard/:id',
    {
      config: { access: access.read },
      schema: {
        operationId: 'getGuardRule',
        summary: 'Retrieve a guard rule',
        description: 'Returns the rule with the number of emails it decided on, and when it last did.',
        tags: ['Guard rules'],
        params: idInPath,
        response: { 200: ruleAnswer, default: errorBody },
      },
    },
    async (request) => {
      const context = contextOf(request);
      return ruleAnswerOf(await rules.readGuardRule(context, request.params.id), context.userId);
    },
  );

  for (const { method, operationId, summary } of updates)
    app.route({
      method,
      url: '/guard/:id',
      config: { access: access.manage, bodyFields: changesBody.extend({ config: guardConfigFields }) },
      schema: {
        operationId,
        summary,
        description: 'Omitted fields keep their values. `config` and `action` are replaced as a whole.',
        tags: ['Guard rules'],
        params: idInPath,
        body: changesBody,
        response: { 200: ruleAnswer, default: errorBody },
      },
      handler: async (request) => {
        const context = contextOf(request);
        return ruleAnswerOf(await rules.updateGuardRule(context, request.params.id, request.body), context.userId);
      },
    });

  app.delete(
    '/guard/:id',
    {
      config: { access: access.manage },
      schema: {
        operationId: 'deleteGuardRule',
        summary: 'Delete a guard rule',
        description: 'Emails that the rule holds stay held until you release them.',
        tags: ['Guard rules'],
        params: idInPath,
        response: { 200: z.object({ success: z.literal(true) }), default: errorBody },
      },
    },
    async (request) => {
      await rules.deleteGuardRule(contextOf(request), request.params.id);
      return { success: true as const };
    },
  );

  app.post(
    '/guard/:id/check',
    {
      config: { access: access.read },
      schema: {
        operationId: 'checkGuardRule',
        summary: 'Check a guard rule against an email',
        description: 'Applies this rule, active or not, to a received email and returns the result.',
        tags: ['Guard rules'],
        params: idInPath,
        body: checkBody,
        response: { 200: checkAnswer, default: errorBody },
      },
    },
    async (request) => {
      const { structuredEmailId, email_id: emailId = structuredEmailId, emailId: id = emailId } = request.body;
      const check = await checkGuardRule(contextOf(request), request.params.id, id ?? '');
      return {
        matched: check.outcome === 'matched',
        outcome: check.outcome,
        ...(check.outcome === 'matched' ? { matchDetails: check.matches } : {}),
        ...(check.reason === null ? {} : { reason: check.reason }),
      };
    },
  );
};

/** The reference service supports PUT only. */
const updates = [
  { method: 'PATCH', operationId: 'updateGuardRule', summary: 'Update a guard rule' },
  { method: 'PUT', operationId: 'putGuardRule', summary: 'Update a guard rule (PUT)' },
] as const;
