import { z } from 'zod';
import { EVENT_KINDS, type EventKind, eventKind } from '../../core/events/event-kinds.ts';
import { graphqlOnly, graphqlText, linkTo, nameType, required, restLiteral } from '../../core/shared/field-notes.ts';
import type { FeedEvent } from './events.ts';

const maybeId = z.string().nullable();

/** The reply of a server or an endpoint that an event is about. */
const eventResponse = nameType(
  z.object({
    code: z.number().int().nullable().meta({
      description: 'SMTP reply code, such as `550`; for an endpoint the HTTP status. Null if there was none.',
    }),
    enhancedStatus: z.string().nullable().meta({
      description: 'Enhanced status code, such as `5.1.1` (RFC 3463). Null if there was none.',
    }),
    text: z.string().nullable().meta({ description: 'Text of the reply, or the error. Null if there was none.' }),
  }),
  {
    type: 'EventResponse',
    description: 'The reply of a recipient’s server, a bounce report, or an endpoint.',
  },
);

/** An object that an event is about, in GraphQL; its ID is a field of its own. */
const concerned = (resource: string, description: string) =>
  linkTo(resource, graphqlOnly(maybeId)).meta({ description });
const concernedId = (noun: string) =>
  graphqlText(maybeId, `ID of the ${noun}, without loading the ${noun}. Null if there is none.`);
const orDeleted = (noun: string) => `The ${noun} concerned. Null if there is none or it was deleted.`;

const common = {
  cursor: graphqlText(z.string(), 'Cursor of the event. Pass it as `after` to get the events that follow.').meta({
    description: 'Cursor of the event.',
  }),
  kind: graphqlText(eventKind, 'Kind of event.'),
  at: graphqlText(z.date(), 'When it happened.'),
};

const kindList = (Object.entries(EVENT_KINDS) as [EventKind, string][])
  .map(([kind, meaning]) => `- \`${kind}\`: ${meaning}`)
  .join('\n');

/** An event as REST and GraphQL have it. */
export const eventShape = nameType(
  graphqlText(
    z.object({
      object: restLiteral('event'),
      id: graphqlText(z.string(), 'ID of the event.'),
      ...common,
      email: concerned('Email', orDeleted('email')),
      thread: concerned('Thread', orDeleted('thread')),
      delivery: concerned('Delivery', orDeleted('delivery')),
      endpoint: concerned('Endpoint', orDeleted('endpoint')),
      domain: concerned('Domain', orDeleted('domain')),
      recipient: concerned(
        'Recipient',
        'The recipient of a sent email that the event is about. Null if there is none or it was deleted.',
      ),
      lastResponse: graphqlOnly(eventResponse.nullable()).meta({
        description: 'What the server or endpoint replied. Null if the event is not about a reply.',
      }),
      emailId: concernedId('email'),
      threadId: concernedId('thread'),
      deliveryId: concernedId('delivery'),
      endpointId: concernedId('endpoint'),
      domainId: concernedId('domain'),
      data: required(z.unknown()).meta({
        type: 'object',
        additionalProperties: true,
        description: 'Additional data; the fields depend on the kind.',
      }),
    }),
    'An event. Its objects are returned in their current state.',
  ),
  { id: 'Event', description: `An event. Kinds:\n\n${kindList}` },
);

/** What subscriptions to one kind of object return. */
export const changeShape = nameType(z.object(common), {
  type: 'Change',
  description: 'An event about one of your objects, with the current state of the object.',
});

const current = (resource: string, noun: string) =>
  concerned(resource, `The ${noun} in its current state. Null if it was deleted.`);

export const changeShapes = {
  EmailChange: z
    .object({ ...common, email: current('Email', 'email') })
    .meta({ description: 'An event about an email.' }),
  ThreadChange: z
    .object({
      ...common,
      thread: current('Thread', 'thread'),
      email: concerned('Email', 'The message concerned. Null if the event is about the whole thread.'),
    })
    .meta({ description: 'An event about a thread or one of its messages.' }),
  DeliveryChange: z
    .object({ ...common, delivery: current('Delivery', 'delivery') })
    .meta({ description: 'An event about a delivery.' }),
  DomainChange: z
    .object({ ...common, domain: current('Domain', 'domain') })
    .meta({ description: 'An event about a domain.' }),
};

/** Returns the reply that an event is about; null for others. Its data is what the actors write. */
export function readResponse({ kind, data }: FeedEvent): z.output<typeof eventResponse> | null {
  const isDelivery = kind.startsWith('delivery.');
  if (!isDelivery && typeof data['recipient'] !== 'string') return null;
  const code = data[isDelivery ? 'statusCode' : 'code'];
  const { status } = data;
  const text = data[isDelivery ? 'error' : 'text'];
  return {
    code: typeof code === 'number' ? code : null,
    enhancedStatus: typeof status === 'string' ? status : null,
    text: typeof text === 'string' ? text : null,
  };
}
