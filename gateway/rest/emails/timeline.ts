import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { MAX_TIMELINE, readTimeline } from '../../../operations/emails/timeline.ts';
import { TIMELINE_KINDS, type TimelineEntry } from '../../../operations/emails/timeline-entries.ts';
import { access } from '../../admission/access.ts';
import { errorBody, idInPath, instant, type RestOptions, wireInstant } from '../shapes.ts';

const entryBody = z
  .object({
    kind: z.enum(TIMELINE_KINDS).meta({ description: 'Kind of entry.' }),
    at: instant.meta({
      description: 'When it happened. For attempts and questions, when they started.',
    }),
    title: z.string().meta({ description: 'Summary in one line.' }),
    detail: z.string().nullable().meta({
      description: 'Details such as the server, the reason or the response. Null if the title says everything.',
    }),
    duration_ms: z.number().int().nullable().meta({
      description:
        'Duration of the attempt or question, or time since the previous step, in milliseconds. Null if unknown.',
    }),
    is_failure: z.boolean().meta({ description: 'Whether this entry is a failure.' }),
    about_id: z.string().nullable().meta({
      description:
        'ID of the delivery, recipient, email, thread, guard rule or endpoint concerned. Null if there is none.',
    }),
  })
  .meta({ id: 'TimelineEntry' });

const timelineBody = z
  .object({
    object: z.literal('timeline'),
    email_id: z.string(),
    entries: z.array(entryBody).meta({ description: `Entries in chronological order, up to ${MAX_TIMELINE}.` }),
    is_cut: z.boolean().meta({ description: 'Whether older entries are missing because there are too many.' }),
  })
  .meta({ id: 'Timeline' });

export const timelineRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.get(
    '/emails/:id/timeline',
    {
      config: { access: access.read },
      schema: {
        operationId: 'readEmailTimeline',
        summary: 'Retrieve the timeline of an email',
        description:
          'Returns the recorded history of the email, from the SMTP session to the webhook’s response, or from the API request to the last server’s reply, including every attempt and its response.',
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
