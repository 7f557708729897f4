import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { extractFrom } from '../../../core/mime/extracts.ts';
import { readEmail } from '../../../operations/emails/emails.ts';
import { extracts } from '../../../operations/emails/finding-shapes.ts';
import { MAX_WAIT_MS, waitForEmail } from '../../../operations/emails/wait-for-email.ts';
import { waitShape } from '../../../operations/emails/wait-shape.ts';
import { access } from '../../admission/access.ts';
import { makeReader, snakeOutput, wireInput } from '../capability-shapes.ts';
import { errorBody, type RestOptions } from '../shapes.ts';
import { makeEmailBody } from './email-wire.ts';
import { detailedEmailBody } from './emails.ts';
import { NO_FINDINGS, readSenderFindings } from './sender-findings.ts';

/** Time limit of a response: the wait and the queries before and after it; milliseconds. */
const RESPONSE_MS = MAX_WAIT_MS + 15_000;

const readWait = makeReader(waitShape, 'snake') as (body: unknown) => z.output<typeof waitShape>;
const { body: extractsBody, write: writeExtracts } = snakeOutput(extracts);

export { extractsBody, writeExtracts };

const waitResponse = z
  .object({
    object: z.literal('wait'),
    timed_out: z.boolean().meta({ description: 'Whether no email came in time. `email` is then null.' }),
    email: detailedEmailBody.nullable(),
    ...extractsBody.shape,
  })
  .meta({ id: 'AwaitedEmail' });

export const emailWaitRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.post(
    '/emails/wait',
    {
      config: { access: access.read, respondWithinMs: RESPONSE_MS },
      schema: {
        operationId: 'waitForEmail',
        summary: 'Wait for an email',
        description:
          'Returns the first received email that matches all filters, once it has a thread, with the codes and links in it, and the event if it is an invitation. If no email arrives in time, the response is still 200, with `timed_out`.',
        tags: ['Emails'],
        body: wireInput(waitShape, 'snake'),
        response: { 200: waitResponse, default: errorBody },
      },
    },
    async (request) => {
      const { timeout, ...filter } = readWait(request.body);
      const context = contextOf(request);
      const emailId = await waitForEmail(context, filter, timeout * 1_000);
      if (emailId === null)
        return {
          object: 'wait' as const,
          timed_out: true,
          email: null,
          ...writeExtracts({ codes: [], links: [], event: null }),
        };
      const email = await readEmail(context, emailId);
      const [findings = NO_FINDINGS] = await readSenderFindings(context, [email]);
      return {
        object: 'wait' as const,
        timed_out: false,
        email: {
          ...makeEmailBody(email, context.settings.publicUrl),
          ...findings,
          // Received mail never waits for approval.
          approval: null,
        },
        ...writeExtracts(extractFrom(email)),
      };
    },
  );
};
