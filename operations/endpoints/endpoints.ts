import { checkEndpointConfig } from '../../core/endpoints/endpoint-config.ts';
import type { SigningSecret } from '../../core/endpoints/webhook-signature.ts';
import { UserError } from '../../core/shared/errors.ts';
import type { KeysetPage, Page } from '../../core/shared/page.ts';
import { asUser } from '../../db/connection/database.ts';
import { Endpoint as EndpointEntity } from '../../db/entities/endpoint.ts';
import { type Delivery, readRecentDeliveries } from '../../db/queries/endpoints/delivery-list.ts';
import * as lists from '../../db/queries/endpoints/endpoint-list.ts';
import { type EndpointUse, readEndpointUse } from '../../db/queries/endpoints/endpoint-use.ts';
import { invalid, isAskable, newIdentifier, type OperationContext } from '../context.ts';
import { MAX_SEARCH_LENGTH } from '../emails/emails.ts';
import {
  decryptSigningSecrets,
  encryptSigningSecrets,
  newSigningSecret,
  newVerificationToken,
} from './endpoint-secrets.ts';

export const ENDPOINT_TYPES = ['webhook', 'email', 'email_group'] as const;

export type Endpoint = lists.Endpoint;

export interface EndpointDetails extends Endpoint, EndpointUse {
  /** `whsec_...` of Standard Webhooks, the one in force first, then one that is valid for a while yet; empty when it is no webhook */
  signingSecrets: SigningSecret[];
  /** newest first */
  recentDeliveries: Delivery[];
}

/** Deliveries that a single endpoint shows; wire facts "deliveries of an endpoint". */
const RECENT_DELIVERIES = 10;

export interface NewEndpoint {
  name: string;
  type: lists.Endpoint['type'];
  /** checked by core/endpoints/endpoint-config.ts */
  config: unknown;
  webhookFormat?: lists.Endpoint['webhookFormat'] | undefined;
  description?: string | null | undefined;
  isActive?: boolean | undefined;
}

/** What a list is asked for; absent puts no condition. */
export interface EndpointQuery {
  type?: lists.Endpoint['type'] | undefined;
  isActive?: boolean | undefined;
  search?: string | undefined;
  /** newest when absent */
  order?: 'newest' | 'oldest' | undefined;
}

/** A page with the exact total. */
export function listEndpoints(
  context: OperationContext,
  query: EndpointQuery,
  page: Page,
): Promise<{ endpoints: Endpoint[]; total: number }> {
  const { order = 'newest' } = query;
  const conditions = conditionsOf(query);
  return asUser(context.database, context.userId, (transaction) =>
    lists.listEndpoints(transaction, context.userId, conditions, { ...page, order }),
  );
}

/** The endpoints behind and before two places, newest first; inverted: oldest first. */
export function pageEndpoints(
  context: OperationContext,
  query: Omit<EndpointQuery, 'order'>,
  page: KeysetPage,
): Promise<Endpoint[]> {
  const conditions = conditionsOf(query);
  return asUser(context.database, context.userId, (transaction) =>
    lists.pageEndpoints(transaction, context.userId, conditions, page),
  );
}

export function countEndpoints(context: OperationContext, query: Omit<EndpointQuery, 'order'>): Promise<number> {
  const conditions = conditionsOf(query);
  return asUser(context.database, context.userId, (transaction) =>
    lists.countEndpoints(transaction, context.userId, conditions),
  );
}

/** Throws not_found. */
export async function readEndpoint(context: OperationContext, endpointId: string): Promise<EndpointDetails> {
  const { userId } = context;
  if (!isAskable(endpointId)) throw endpointNotFound();
  return asUser(context.database, userId, async (transaction) => {
    const page = { limit: 1, offset: 0, order: 'newest' } as const;
    const { endpoints } = await lists.listEndpoints(transaction, userId, ofIds([endpointId]), page);
    const endpoint = endpoints[0];
    if (endpoint === undefined) throw endpointNotFound();
    const use = await readEndpointUse(transaction, userId, endpointId);
    const recentDeliveries = await readRecentDeliveries(transaction, userId, endpointId, RECENT_DELIVERIES);
    return { ...endpoint, ...use, recentDeliveries, signingSecrets: validSecrets(context, endpoint) };
  });
}

/** One for each id, null where the user has none. */
export async function loadEndpoints(context: OperationContext, ids: readonly string[]): Promise<(Endpoint | null)[]> {
  const page = { limit: ids.length, offset: 0, order: 'newest' } as const;
  const { endpoints } = await asUser(context.database, context.userId, (transaction) =>
    lists.listEndpoints(transaction, context.userId, ofIds(ids.filter(isAskable)), page),
  );
  const byId = new Map(endpoints.map((endpoint) => [endpoint.id, endpoint]));
  return ids.map((id) => byId.get(id) ?? null);
}

/** Adds an endpoint; a webhook gets its verification token and its signing secret. Throws validation. */
export async function createEndpoint(context: OperationContext, input: NewEndpoint): Promise<EndpointDetails> {
  const { settings, userId } = context;
  const verificationToken = newVerificationToken(context);
  const checked = checkEndpointConfig(input.type, input.config, { guard: settings.guard, verificationToken });
  if (checked.config === undefined) throw invalidConfiguration(checked.error, checked.field);
  const { config } = checked;
  const id = newIdentifier(context, 'endpoint');
  const secretCiphertext =
    input.type === 'webhook'
      ? encryptSigningSecrets(context, [{ secret: newSigningSecret(context), validUntil: null }])
      : null;
  const createdAt = context.now();
  await context.entities.asUser(userId, async ({ entities }) => {
    entities.create(EndpointEntity, {
      userId,
      id,
      name: input.name,
      type: input.type,
      webhookFormat: input.webhookFormat ?? 'native',
      config,
      secretCiphertext,
      isActive: input.isActive ?? true,
      description: input.description ?? null,
      createdAt,
      updatedAt: createdAt,
    });
  });
  return readEndpoint(context, id);
}

/** What requests are signed with now; see EndpointDetails. */
export function validSecrets(context: OperationContext, endpoint: Pick<Endpoint, 'secretCiphertext'>): SigningSecret[] {
  const now = context.now();
  return decryptSigningSecrets(context, endpoint.secretCiphertext).filter(
    ({ validUntil }) => validUntil === null || validUntil > now,
  );
}

function conditionsOf({ type, isActive, search }: EndpointQuery): lists.EndpointConditions {
  if (search !== undefined && search.length > MAX_SEARCH_LENGTH)
    throw invalid(`Search text must not be longer than ${MAX_SEARCH_LENGTH} characters`, 'search');
  return { ids: null, type: type ?? null, isActive: isActive ?? null, search: search || null };
}

function ofIds(ids: readonly string[]): lists.EndpointConditions {
  return { ids, type: null, isActive: null, search: null };
}

/** wire facts "not found" */
export function endpointNotFound(): UserError {
  return new UserError('not_found', 'Endpoint not found');
}

/** A configuration that cannot be taken, with the field that is at fault. */
export function invalidConfiguration(details: string, field: string): UserError {
  return new UserError('validation', 'Invalid configuration', { details, field });
}
