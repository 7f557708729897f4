import { z } from 'zod';
import { secret } from '../../core/accounts/secret-fields.ts';
import { eventKind } from '../../core/events/event-kinds.ts';
import { graphqlOnly, named, nameType, restLiteral, restOnly } from '../../core/shared/field-notes.ts';
import { type Capability, defineAction } from '../capability/capability.ts';
import { text } from '../capability/field-shapes.ts';
import type { OperationContext, Pull, PulledRequest, PullPage } from '../context.ts';
import { MAX_WAIT_SECONDS, startAfter } from '../events/events.ts';
import { DEFAULT_PULLED_EVENTS, MAX_PULLED_EVENTS, pullWebhookRequests } from './webhook-requests.ts';

/** Time limit of a long poll: the wait and the work before and after it. Milliseconds. */
const LONG_POLL_MS = (MAX_WAIT_SECONDS + 30) * 1_000;

const webhookRequest = z
  .object({
    object: restLiteral('webhook_request'),
    cursor: z.string().meta({
      description: 'Cursor of the event. Continue after it when the request was delivered.',
    }),
    eventId: z.string().meta({ description: 'ID of the event.' }),
    kind: eventKind.meta({ description: 'Kind of event.' }),
    at: z.date().meta({ description: 'When the event happened.' }),
    emailId: z.string().nullable().meta({
      description: 'ID of the email that the event is about. Null if it is about none.',
    }),
    headers: restOnly(z.record(z.string(), z.string())).meta({
      ...secret,
      description:
        'Header fields of the request, with `webhook-signature`. They are signed at the time of the response.',
    }),
    headerList: graphqlOnly(
      z.array(
        nameType(
          z.object({
            name: z.string().meta({ description: 'Name of the header.' }),
            value: z.string().meta({ ...secret, description: 'Its value.' }),
          }),
          { type: 'WebhookRequestHeader', description: 'A header of a webhook request.' },
        ),
      ),
      'headers',
    ).meta({
      description: 'Headers of the request, with `webhook-signature`. They are signed at the time of the response.',
    }),
    body: z.string().meta({ ...secret, description: 'The body in Base64, because a signature covers its bytes.' }),
  })
  .meta({ id: 'WebhookRequest', description: 'The request that posts an event to a webhook.' });

function describeRequest({ event, cursor, headers, body }: PulledRequest): z.output<typeof webhookRequest> {
  return {
    cursor,
    eventId: event.id,
    kind: event.kind,
    at: event.at,
    emailId: event.emailId,
    headers: Object.fromEntries(headers),
    headerList: headers.map(([name, value]) => ({ name, value })),
    body: body.toString('base64'),
  };
}

const page = z.object({
  object: restLiteral('list'),
  requests: named(z.array(webhookRequest), { restName: 'data' }).meta({ description: 'The requests, oldest first.' }),
  hasMore: z.boolean().meta({ description: 'Whether there may be more requests after `next_cursor`.' }),
  nextCursor: z.string().meta({
    description: 'Pass this as `after` in the next request, also if there are no requests.',
  }),
});

const signingSecret = {
  ...secret,
  description: 'Standard Webhooks secret of these requests. It stays the same for an API key.',
};

/** A page as GraphQL has it (schema/graphql/events/webhook-requests.ts). */
export const webhookRequestPage = nameType(
  page.extend({
    signingSecret: z
      .string()
      .nullable()
      .meta({
        ...signingSecret,
        description: `${signingSecret.description} Null with \`endpointId\`, whose own secrets sign.`,
      }),
  }),
  { type: 'WebhookRequestPage', description: 'A page of webhook requests.' },
);

export function describePage<Page extends PullPage>({ requests, ...rest }: Page) {
  return { ...rest, requests: requests.map(describeRequest) };
}

const query = z.object({
  after: text.optional().meta({
    description:
      'Cursor to continue after, or `latest` for new events only. By default it starts with the oldest event.',
  }),
  events: text.optional().meta({
    description:
      'Kinds of events, `*`, or prefixes such as `email.*`, separated by commas. The default is `email.received`; of an endpoint it is what the endpoint subscribes to, and can be narrowed.',
  }),
  limit: z.number().int().min(1).max(MAX_PULLED_EVENTS).default(DEFAULT_PULLED_EVENTS).meta({
    description: 'Maximum number of events to read. A response can have fewer requests.',
  }),
  wait: z.number().int().min(0).max(MAX_WAIT_SECONDS).default(0).meta({
    description: 'If there are no requests, the number of seconds to wait for the first one.',
  }),
});

async function pull(context: OperationContext, given: z.output<typeof query>, endpointId: Pull['endpointId']) {
  const { after, events, limit, wait } = given;
  const patterns = events?.split(',').map((pattern) => pattern.trim()) ?? null;
  const start = startAfter(after);
  return describePage(await pullWebhookRequests(context, { start, patterns, limit, waitMs: wait * 1_000, endpointId }));
}

export const webhookRequestCapability: Capability = {
  feature: 'Endpoints',
  what: 'Pull webhook requests',
  byHand: { graphql: ['webhookRequests'] },
  tag: 'Endpoints',
  path: '',
  restCase: 'snake',
  operations: [
    defineAction({
      access: 'read',
      operationId: 'listWebhookRequests',
      tag: 'Events',
      summary: 'Pull webhook requests',
      description:
        'Returns events as the requests that a webhook with default settings would get for them, oldest first and without gaps, for programs that Postroom cannot reach. Received mail is returned once its route is decided, whatever the route is. `postroom listen` forwards them to a local server.',
      respondWithinMs: LONG_POLL_MS,
      method: 'GET',
      path: '/events/webhook-requests',
      input: query,
      output: page.extend({ signingSecret: z.string().meta(signingSecret) }),
      errors: [410],
      async run(context, given) {
        const { signingSecret: own, ...pulled } = await pull(context, given, null);
        return { ...pulled, signingSecret: own ?? '' };
      },
    }),
    defineAction({
      access: 'read',
      operationId: 'listEndpointWebhookRequests',
      summary: 'Pull the requests of a webhook',
      description:
        'Returns the requests that this webhook gets for events, oldest first and without gaps, with the same IDs, headers and bytes, and signed with its secrets. It changes no delivery: the webhook gets its requests as well.',
      respondWithinMs: LONG_POLL_MS,
      method: 'GET',
      path: '/endpoints/:id/webhook-requests',
      target: { argument: 'id', argumentDescription: 'ID of the endpoint.' },
      input: query,
      output: page,
      errors: [410],
      run: (context, given, endpointId) => pull(context, given, endpointId),
    }),
  ],
};
