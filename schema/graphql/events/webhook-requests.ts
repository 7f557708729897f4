import { invalid } from '../../../operations/context.ts';
import { describePage, webhookRequestPage } from '../../../operations/endpoints/webhook-request-capability.ts';
import {
  DEFAULT_PULLED_EVENTS,
  MAX_PULLED_EVENTS,
  pullWebhookRequests,
} from '../../../operations/endpoints/webhook-requests.ts';
import { MAX_WAIT_SECONDS, startAfter } from '../../../operations/events/events.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { typeFor } from '../capability-shapes.ts';

/** The work before and after the wait. Milliseconds. */
const SPARE_MS = 30_000;

builder.queryField('webhookRequests', (t) =>
  t.field({
    type: typeFor(webhookRequestPage, { isOfDomain: true }),
    access: access.read,
    description:
      'Returns events as the requests that a webhook gets for them, oldest first and without gaps, for programs that Postroom cannot reach. Received mail is returned once its route is decided.',
    complexity: ({ first }) => ({ field: 5, multiplier: first ?? DEFAULT_PULLED_EVENTS }),
    args: {
      endpointId: t.arg.id({
        description: 'ID of a webhook, whose requests are returned. By default those of one with default settings.',
      }),
      after: t.arg.string({
        description:
          'Cursor to continue after, or `latest` for new events only. By default it starts with the oldest event.',
      }),
      events: t.arg.stringList({
        description: 'Kinds of events, `*`, or prefixes such as `email.*`. The default is `email.received`.',
      }),
      first: t.arg.int({
        defaultValue: DEFAULT_PULLED_EVENTS,
        description: `Maximum number of events to read, 1 to ${MAX_PULLED_EVENTS}.`,
      }),
      wait: t.arg.int({
        defaultValue: 0,
        description: `If there are no requests, seconds to wait for the first one, up to ${MAX_WAIT_SECONDS}.`,
      }),
    },
    resolve: async (_root, { endpointId = null, after, events, first, wait }, context) => {
      const limit = first ?? DEFAULT_PULLED_EVENTS;
      const waitSeconds = wait ?? 0;
      if (limit < 1 || limit > MAX_PULLED_EVENTS) throw invalid(`first must be 1 to ${MAX_PULLED_EVENTS}`, 'first');
      if (waitSeconds < 0 || waitSeconds > MAX_WAIT_SECONDS)
        throw invalid(`wait must be 0 to ${MAX_WAIT_SECONDS} seconds`, 'wait');
      context.respondWithin(waitSeconds * 1_000 + SPARE_MS);
      // Not `reads`: a wait must not hold a transaction open.
      const pull = {
        start: startAfter(after),
        endpointId,
        patterns: events ?? null,
        limit,
        waitMs: waitSeconds * 1_000,
      };
      return describePage(await pullWebhookRequests(context.operations, pull));
    },
  }),
);
