import { invalid, type PulledRequest, type PullPage } from '../../../operations/context.ts';
import {
  DEFAULT_PULLED_EVENTS,
  MAX_PULLED_EVENTS,
  pullWebhookRequests,
} from '../../../operations/endpoints/webhook-requests.ts';
import { MAX_WAIT_SECONDS } from '../../../operations/events/events.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { secret } from '../secret.ts';
import { EventKind } from './event.ts';

/** The work before and after the wait. Milliseconds. */
const SPARE_MS = 30_000;

const RequestHeaderRef = builder.objectRef<[string, string]>('WebhookRequestHeader').implement({
  description: 'A header of a webhook request.',
  isOfDomain: true,
  fields: (t) => ({
    name: t.string({ description: 'Name of the header.', resolve: ([name]) => name }),
    value: t.string({ description: 'Its value.', extensions: secret, resolve: ([, value]) => value }),
  }),
});

const WebhookRequestRef = builder.objectRef<PulledRequest>('WebhookRequest').implement({
  description: 'The request that posts an event to a webhook.',
  isOfDomain: true,
  fields: (t) => ({
    cursor: t.exposeString('cursor', {
      description: 'Cursor of the event. Continue after it when the request was delivered.',
    }),
    eventId: t.id({ description: 'ID of the event.', resolve: ({ event }) => event.id }),
    kind: t.field({ type: EventKind, description: 'Kind of event.', resolve: ({ event }) => event.kind }),
    at: t.field({ type: 'DateTime', description: 'When the event happened.', resolve: ({ event }) => event.at }),
    emailId: t.id({
      nullable: true,
      description: 'ID of the email that the event is about. Null if it is about none.',
      resolve: ({ event }) => event.emailId,
    }),
    headers: t.field({
      type: [RequestHeaderRef],
      description: 'Headers of the request, with `webhook-signature`. They are signed at the time of the response.',
      resolve: ({ headers }) => headers,
    }),
    body: t.string({
      extensions: secret,
      description: 'The body in base64, because a signature covers its bytes.',
      resolve: ({ body }) => body.toString('base64'),
    }),
  }),
});

const WebhookRequestPage = builder
  .objectRef<PullPage & { signingSecret: string | null }>('WebhookRequestPage')
  .implement({
    description: 'A page of webhook requests.',
    isOfDomain: true,
    fields: (t) => ({
      requests: t.field({
        type: [WebhookRequestRef],
        description: 'The requests, oldest first.',
        resolve: ({ requests }) => requests,
      }),
      nextCursor: t.exposeString('nextCursor', {
        description: 'Pass this as `after` in the next request, also if there are no requests.',
      }),
      hasMore: t.exposeBoolean('hasMore', { description: 'Whether there may be more requests after `nextCursor`.' }),
      signingSecret: t.exposeString('signingSecret', {
        extensions: secret,
        nullable: true,
        description:
          'Standard Webhooks secret of these requests. It stays the same for an API key. Null with `endpointId`, whose own secrets sign.',
      }),
    }),
  });

builder.queryField('webhookRequests', (t) =>
  t.field({
    type: WebhookRequestPage,
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
    resolve: async (_root, { endpointId, after, events, first, wait }, context) => {
      const limit = first ?? DEFAULT_PULLED_EVENTS;
      const waitSeconds = wait ?? 0;
      if (limit < 1 || limit > MAX_PULLED_EVENTS) throw invalid(`first must be 1 to ${MAX_PULLED_EVENTS}`, 'first');
      if (waitSeconds < 0 || waitSeconds > MAX_WAIT_SECONDS)
        throw invalid(`wait must be 0 to ${MAX_WAIT_SECONDS} seconds`, 'wait');
      context.answerWithin(waitSeconds * 1_000 + SPARE_MS);
      // Not `reads`: a wait must not hold a transaction open.
      return pullWebhookRequests(context.operations, {
        start: after == null ? 'beginning' : after === 'latest' ? 'now' : { cursor: after },
        endpointId: endpointId ?? null,
        patterns: events ?? null,
        limit,
        waitMs: waitSeconds * 1_000,
      });
    },
  }),
);
