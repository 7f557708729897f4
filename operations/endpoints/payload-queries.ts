import type { WebhookFormat } from '../../core/endpoints/endpoint-config.ts';
import type { EventFilter } from '../../core/endpoints/endpoint-events.ts';
import type { PayloadQuery, PayloadQueryError, SelectedPayload } from '../../core/endpoints/payload-query.ts';
import { UserError } from '../../core/shared/errors.ts';
import {
  type EventPayload,
  invalid,
  type OperationContext,
  type PayloadLinks,
  type PayloadSubject,
} from '../context.ts';

/** Like PayloadQueries.select, for an actor, which has no context of a request. */
export type SelectPayload = (
  workspaceId: string,
  query: PayloadQuery,
  subject: PayloadSubject,
  links: PayloadLinks,
) => Promise<SelectedPayload | null>;

/** Returns for whom links in what an endpoint is sent are made: who asks to see it, or else the endpoint. */
export function findLinkHolder({ rights }: Pick<OperationContext, 'rights'>, endpointId: string): string {
  return rights.keyId ?? rights.personId ?? endpointId;
}

/** Builds the body that posts the event of a delivery of the user. */
export type BuildEventPayload = (workspaceId: string, deliveryId: string) => Promise<EventPayload>;

interface CheckedEndpoint {
  webhookFormat: WebhookFormat;
  payloadQuery?: string | null | undefined;
  filter?: EventFilter | null | undefined;
}

/** Throws validation, with the places, when the payload query of an endpoint does not fit the schema, its filter or its format. */
export async function requirePayloadQuery(
  { payloadQueries }: OperationContext,
  { payloadQuery, filter, webhookFormat }: CheckedEndpoint,
): Promise<void> {
  if (payloadQuery == null) return;
  if (webhookFormat !== 'native')
    throw invalid('`payloadQuery` needs the format `native`. Chat formats have a fixed form.', 'payloadQuery');
  const errors = await payloadQueries.check({ query: payloadQuery, filter: filter ?? null });
  if (errors.length === 0) return;
  const details = errors.map(({ message, ...place }) => ({
    field: 'payloadQuery',
    message: describePosition({ message, ...place }),
    ...place,
  }));
  throw new UserError('validation', `\`payloadQuery\` is not valid. ${details[0]?.message}`, { details });
}

/** Returns the message of an error with its place. */
export function describePosition({ message, line, column }: PayloadQueryError): string {
  return line === null ? message : `Line ${line}, column ${column}: ${message}`;
}
