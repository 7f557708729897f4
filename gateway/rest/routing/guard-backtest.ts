import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { guardConfigFields } from '../../../core/routing/guard-config.ts';
import * as backtests from '../../../operations/routing/guard-backtest.ts';
import { backtestSpan, DEFAULT_EXAMPLES, priorityShape } from '../../../schema/input-shapes.ts';
import { access } from '../../admission/access.ts';
import { errorBody, idInPath, instant, type RestOptions, wireInstant } from '../shapes.ts';
import { action, config, matches, type } from './guard-shapes.ts';

const triedBody = z
  .object({
    type: type.default('explicit'),
    config,
    action: action.default({ action: 'block' }),
    priority: priorityShape.default(0),
    ...backtestSpan,
  })
  .meta({
    id: 'TriedGuardRule',
    'x-examples': [
      { type: 'explicit', config: { from: { values: ['*@shop.example'] } }, action: { action: 'block' } },
      {
        type: 'explicit',
        config: { from: { values: ['*@shop.example'] } },
        action: { action: 'route', endpointId: 'ep_01931f3e5a7b7c1d8e2f3a4b5c6d7e8f' },
      },
    ],
  });
const spanBody = z
  .object(backtestSpan)
  .nullish()
  .meta({ examples: [{ days: 7 }] });

const outcome = z.object({
  outcome: z.enum(['blocked', 'review', 'endpoint', 'inactive', 'stored', 'asking', 'normal', 'unknown']).meta({
    description:
      '`normal`: delivered by the normal route of its address. `unknown`: a language model would be asked first.',
  }),
  endpointId: z.string().nullable(),
  ruleId: z
    .string()
    .nullable()
    .meta({ description: 'The rule that decides. Null if there is none or it is not saved.' }),
});

const backtestAnswer = z
  .object({
    scanned: z.number().int().meta({ description: 'Number of received emails checked.' }),
    matched: z.number().int().meta({ description: 'Number of emails that match the rule.' }),
    decided: z
      .number()
      .int()
      .meta({ description: 'Number of emails the rule would have decided on, given the other active rules.' }),
    since: instant,
    isComplete: z.boolean().meta({ description: 'False if time ran out before all emails were checked.' }),
    stoppedAt: instant.nullable().meta({ description: 'When the oldest checked email was received, if time ran out.' }),
    examples: z.array(
      z.object({
        emailId: z.string(),
        subject: z.string(),
        from: z.string(),
        createdAt: instant,
        matches,
        isDecisive: z.boolean(),
        now: outcome.nullable().meta({ description: 'What happened to the email. Null if not decided yet.' }),
        wouldBe: outcome,
      }),
    ),
  })
  .meta({ id: 'GuardBacktest' });

export const guardBacktestRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.post(
    '/guard/backtest',
    {
      config: { access: access.read, bodyFields: triedBody.extend({ config: guardConfigFields }) },
      schema: {
        operationId: 'backtestGuardRule',
        summary: 'Backtest a guard rule',
        description:
          'Returns what an unsaved explicit rule would have done with recently received mail, newest first, using the same code as for real mail. One backtest runs at a time per account; it responds within 8 seconds with what it has found.',
        tags: ['Guard rules'],
        body: triedBody,
        response: { 200: backtestAnswer, 404: errorBody, default: errorBody },
      },
    },
    async (request) => {
      const { days, limit, ...tried } = request.body;
      return answerOf(await backtests.backtestRule(contextOf(request), tried, { days, limit }));
    },
  );

  app.post(
    '/guard/:id/backtest',
    {
      config: { access: access.read },
      schema: {
        operationId: 'backtestSavedGuardRule',
        summary: 'Backtest a saved guard rule',
        description: 'Same as POST /guard/backtest, for a saved rule, active or not.',
        tags: ['Guard rules'],
        params: idInPath,
        body: spanBody,
        response: { 200: backtestAnswer, default: errorBody },
      },
    },
    async (request) => {
      const span = { days: backtests.MAX_BACKTEST_DAYS, limit: DEFAULT_EXAMPLES, ...request.body };
      return answerOf(await backtests.backtestSavedRule(contextOf(request), request.params.id, span));
    },
  );
};

function answerOf(backtest: backtests.Backtest): z.infer<typeof backtestAnswer> {
  return {
    ...backtest,
    since: wireInstant(backtest.since),
    stoppedAt: wireInstant(backtest.stoppedAt),
    examples: backtest.examples.map((example) => ({ ...example, createdAt: wireInstant(example.createdAt) })),
  };
}
