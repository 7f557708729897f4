import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { MAX_TIMELINE, readTimeline } from '../../../operations/emails/timeline.ts';
import { TIMELINE_KINDS, type TimelineEntry } from '../../../operations/emails/timeline-entries.ts';
import { access } from '../../admission/access.ts';
import { errorBody, idInPath, instant, type RestOptions, wireInstant } from '../shapes.ts';

const entryBody = z
  .object({
    kind: z.enum(TIMELINE_KINDS).meta({ description: 'what happened' }),
    at: instant.meta({
      description: 'when: of tries and questions when they began, of all else when it was done',
    }),
    title: z.string().meta({ description: 'what happened, in one line' }),
    detail: z
      .string()
      .nullable()
      .meta({ description: 'more of it: who, why, what was answered; null: the title says all' }),
    duration_ms: z.number().int().nullable().meta({
      description:
        'milliseconds that a try or a question took, or that a step was done after the one before; null: unknown',
    }),
    is_failure: z.boolean().meta({ description: 'whether something went wrong' }),
    about_id: z.string().nullable().meta({
      description:
        'id of the delivery, recipient, thread, guard rule or endpoint that it is about; null: nothing that has an id',
    }),
  })
  .meta({ id: 'TimelineEntry' });

const timelineBody = z
  .object({
    object: z.literal('timeline'),
    email_id: z.string(),
    entries: z.array(entryBody).meta({ description: `in their order, at most ${MAX_TIMELINE}` }),
    is_cut: z.boolean().meta({ description: 'whether more happened than is told: then the newest are' }),
  })
  .meta({ id: 'Timeline' });

export const timelineRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.get(
    '/emails/:id/timeline',
    {
      config: { access: access.readAccount },
      schema: {
        operationId: 'readEmailTimeline',
        summary: 'Say what happened to an email',
        description:
          'From the SMTP session to the answer of the webhook, or from the request to the reply of the last server, every try with what was answered. Nothing is made up: what no row tells is left out.',
        tags: ['Emails'],
        params: idInPath,
        response: { 200: timelineBody, default: errorBody },
      },
    },
    async (request) => {
      const { id } = request.params;
      const { entries, isCut } = await readTimeline(contextOf(request), id);
      return { object: 'timeline' as const, email_id: id, entries: entries.map(entryBodyOf), is_cut: isCut };
    },
  );
};

function entryBodyOf(entry: TimelineEntry): z.infer<typeof entryBody> {
  return {
    kind: entry.kind,
    at: wireInstant(entry.at),
    title: entry.title,
    detail: entry.detail,
    duration_ms: entry.durationMs,
    is_failure: entry.isFailure,
    about_id: entry.nodeId,
  };
}
