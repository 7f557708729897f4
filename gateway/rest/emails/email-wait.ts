import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { type Extracts, extractFrom } from '../../../core/mime/extracts.ts';
import { readEmail } from '../../../operations/emails/emails.ts';
import { MAX_SINCE_HOURS, MAX_WAIT_MS, waitForEmail } from '../../../operations/emails/wait-for-email.ts';
import { access } from '../../admission/access.ts';
import { errorBody, type RestOptions, text } from '../shapes.ts';
import { emailBodyOf } from './email-wire.ts';
import { detailedEmailBody } from './emails.ts';
import { eventBody, eventBodyOf } from './event-wire.ts';
import { NO_FINDINGS, readSenderFindings } from './sender-findings.ts';

const MAX_TIMEOUT_SECONDS = MAX_WAIT_MS / 1_000;
const DEFAULT_TIMEOUT_SECONDS = 30;
/** Time limit of a response: the wait and the queries before and after it; milliseconds. */
const RESPONSE_MS = MAX_WAIT_MS + 15_000;

/** Rejects an empty filter, which is more likely a mistake than intended to match all mail. */
const NOT_BLANK = String.raw`\S`;

export const waitBody = z
  .object({
    address: text.optional().meta({
      pattern: NOT_BLANK,
      description:
        'ID of one of your addresses, or the address itself. An address with a plus tag matches mail to that tag only.',
    }),
    domain: text.optional().meta({ pattern: NOT_BLANK, description: 'ID or name of one of your domains.' }),
    from: text.optional().meta({ pattern: NOT_BLANK, description: 'Email address or domain of the sender.' }),
    subject: text.optional().meta({ pattern: NOT_BLANK, description: 'Part of the subject, case-insensitive.' }),
    since: z.iso
      .datetime({ offset: true })
      .optional()
      .meta({
        description: `Also matches mail accepted since this time, up to ${MAX_SINCE_HOURS} hours ago. By default only mail from now on matches.`,
      }),
    timeout: z
      .number()
      .min(0)
      .max(MAX_TIMEOUT_SECONDS)
      .default(DEFAULT_TIMEOUT_SECONDS)
      .meta({ description: 'Number of seconds to wait.' }),
  })
  .meta({
    id: 'WaitForEmail',
    // The first example does not wait, so that programs can try it.
    examples: [
      { address: 'signup+42@inbox.test', from: 'shop.example', subject: 'code', timeout: 0 },
      { address: 'signup@inbox.test', since: '2026-11-22T09:00:00Z', timeout: 5 },
    ],
  });

const foundIn = <T extends string>(...places: [T, ...T[]]) => z.array(z.enum(places));

export const waitResponse = z
  .object({
    object: z.literal('wait'),
    timed_out: z.boolean().meta({ description: 'Whether no email came in time. `email` is then null.' }),
    email: detailedEmailBody.nullable(),
    codes: z
      .array(
        z.object({
          code: z.string(),
          found_in: foundIn('subject', 'text', 'html'),
          likelihood: z.number().meta({ description: 'Confidence, from 0 to 1.' }),
        }),
      )
      .meta({ description: 'Likely verification codes, most likely first.' }),
    links: z
      .array(
        z.object({
          url: z.string().meta({ description: 'http, https or mailto URL.' }),
          text: z.string().nullable().meta({ description: 'Text of the link.' }),
          found_in: foundIn('text', 'html', 'header'),
          is_unsubscribe: z.boolean(),
        }),
      )
      .meta({ description: 'Links, most relevant first and unsubscribe links last.' }),
    event: eventBody.nullable().meta({ description: 'The event of its first calendar. Null if it has none.' }),
  })
  .meta({ id: 'AwaitedEmail' });

export const emailWaitRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.post(
    '/emails/wait',
    {
      config: { access: access.read, answerWithinMs: RESPONSE_MS, isStrict: true },
      schema: {
        operationId: 'waitForEmail',
        summary: 'Wait for an email',
        description:
          'Returns the first received email that matches all filters, once it has a thread, with the codes and links in it, and the event if it is an invitation. If no email arrives in time, the response is still 200, with `timed_out`.',
        tags: ['Emails'],
        body: waitBody,
        response: { 200: waitResponse, default: errorBody },
      },
    },
    async (request) => {
      const { timeout, since, ...filter } = request.body;
      const context = contextOf(request);
      const wanted = { ...filter, ...(since === undefined ? {} : { since: new Date(since) }) };
      const emailId = await waitForEmail(context, wanted, timeout * 1_000);
      if (emailId === null)
        return {
          object: 'wait' as const,
          timed_out: true,
          email: null,
          ...extractsBodyOf({ codes: [], links: [], event: null }),
        };
      const email = await readEmail(context, emailId);
      const [findings = NO_FINDINGS] = await readSenderFindings(context, [email]);
      return {
        object: 'wait' as const,
        timed_out: false,
        email: {
          ...emailBodyOf(email, context.settings.publicUrl),
          ...findings,
          // Received mail never waits for approval.
          approval: null,
        },
        ...extractsBodyOf(extractFrom(email)),
      };
    },
  );
};

function extractsBodyOf({ codes, links, event }: Extracts) {
  return {
    event: eventBodyOf(event),
    codes: codes.map(({ code, foundIn: places, likelihood }) => ({ code, found_in: places, likelihood })),
    links: links.map(({ url, text: words, foundIn: places, isUnsubscribe }) => ({
      url,
      text: words,
      found_in: places,
      is_unsubscribe: isUnsubscribe,
    })),
  };
}
