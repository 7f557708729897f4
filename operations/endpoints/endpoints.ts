import type { Scope } from '../../core/accounts/key-rights.ts';
import { requireRights } from '../../core/accounts/rights.ts';
import { checkEndpointConfig, VERIFICATION_TOKEN_BYTES } from '../../core/endpoints/endpoint-config.ts';
import { DEFAULT_SUBSCRIPTION, subscribesToAudit } from '../../core/endpoints/endpoint-events.ts';
import {
  decodeSigningSecrets,
  encodeSigningSecrets,
  makeSigningSecret,
  SIGNING_SECRET_BYTES,
  type SigningSecret,
} from '../../core/endpoints/webhook-signature.ts';
import { UserError } from '../../core/shared/errors.ts';
import { type KeysetPage, type Page, reversePage } from '../../core/shared/page.ts';
import { decryptSecret, encryptSecret, NONCE_BYTES } from '../../core/shared/secret-box.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import { Endpoint as EndpointEntity } from '../../db/entities/endpoints.ts';
import { type Delivery, readRecentDeliveries } from '../../db/queries/endpoints/delivery-list.ts';
import * as lists from '../../db/queries/endpoints/endpoint-list.ts';
import * as use from '../../db/queries/endpoints/endpoint-use.ts';
import { type EndpointUse, readEndpointUse } from '../../db/queries/endpoints/endpoint-use.ts';
import { type Grant, requireGrant } from '../accounts/key-grants.ts';
import { invalid, isValidId, newIdentifier, type OperationContext } from '../context.ts';
import { MAX_SEARCH_LENGTH } from '../emails/emails.ts';
import { changeSubscription, moveSubscription, type SubscriptionInput } from './endpoint-subscription.ts';
import { requirePayloadQuery } from './payload-queries.ts';

export type Endpoint = lists.Endpoint;

export interface EndpointDetails extends Endpoint, EndpointUse {
  /**
   * `whsec_...` (Standard Webhooks): the current secret, then the previous one while it is valid; empty for other types
   */
  signingSecrets: SigningSecret[];
  /** newest first */
  recentDeliveries: Delivery[];
}

/** Recent deliveries shown with an endpoint. */
const RECENT_DELIVERIES = 10;

export interface NewEndpoint extends SubscriptionInput {
  name: string;
  type: lists.Endpoint['type'];
  /** checked by core/endpoints/endpoint-config.ts */
  config: unknown;
  webhookFormat?: lists.Endpoint['webhookFormat'] | undefined;
  description?: string | null | undefined;
  isActive?: boolean | undefined;
}

/** Filters of the list; omitted filters match all. */
export interface EndpointQuery {
  type?: lists.Endpoint['type'] | undefined;
  isActive?: boolean | undefined;
  search?: string | undefined;
  /** newest when omitted */
  order?: 'newest' | 'oldest' | undefined;
}

/** Returns a page with the exact total. */
export function listEndpoints(
  context: OperationContext,
  query: EndpointQuery,
  page: Page,
): Promise<{ endpoints: Endpoint[]; total: number }> {
  const { order = 'newest' } = query;
  const conditions = toConditions(query);
  return asWorkspace(context.database, context.workspaceId, (transaction) =>
    lists.listEndpoints(transaction, context.workspaceId, conditions, { ...page, order }),
  );
}

/** Returns a page of endpoints in the order of the query; inverted: from its end. */
export function pageEndpoints(context: OperationContext, query: EndpointQuery, page: KeysetPage): Promise<Endpoint[]> {
  const conditions = toConditions(query);
  const newestFirst = query.order === 'oldest' ? reversePage(page) : page;
  return asWorkspace(context.database, context.workspaceId, (transaction) =>
    lists.pageEndpoints(transaction, context.workspaceId, conditions, newestFirst),
  );
}

export function countEndpoints(context: OperationContext, query: Omit<EndpointQuery, 'order'>): Promise<number> {
  const conditions = toConditions(query);
  return asWorkspace(context.database, context.workspaceId, (transaction) =>
    lists.countEndpoints(transaction, context.workspaceId, conditions),
  );
}

/** Throws not_found. */
export async function readEndpoint(context: OperationContext, endpointId: string): Promise<EndpointDetails> {
  const { workspaceId } = context;
  if (!isValidId(endpointId)) throw endpointNotFound();
  return asWorkspace(context.database, workspaceId, async (transaction) => {
    const page = { limit: 1, offset: 0, order: 'newest' } as const;
    const { endpoints } = await lists.listEndpoints(transaction, workspaceId, ofIds([endpointId]), page);
    const endpoint = endpoints[0];
    if (endpoint === undefined) throw endpointNotFound();
    const use = await readEndpointUse(transaction, workspaceId, endpointId);
    const recentDeliveries = await readRecentDeliveries(transaction, workspaceId, endpointId, RECENT_DELIVERIES);
    return { ...endpoint, ...use, recentDeliveries, signingSecrets: validSecrets(context, endpoint) };
  });
}

/** Returns one endpoint per id, null where the user has none. */
export async function loadEndpoints(context: OperationContext, ids: readonly string[]): Promise<(Endpoint | null)[]> {
  const page = { limit: ids.length, offset: 0, order: 'newest' } as const;
  const { endpoints } = await asWorkspace(context.database, context.workspaceId, (transaction) =>
    lists.listEndpoints(transaction, context.workspaceId, ofIds(ids.filter(isValidId)), page),
  );
  const byId = new Map(endpoints.map((endpoint) => [endpoint.id, endpoint]));
  return ids.map((id) => byId.get(id) ?? null);
}

/** Creates an endpoint; a webhook gets a verification token and a signing secret. Throws validation. */
export async function createEndpoint(context: OperationContext, input: NewEndpoint): Promise<EndpointDetails> {
  const { settings, workspaceId } = context;
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
  await context.entities.asWorkspace(workspaceId, async ({ entities, transaction }) => {
    const { events, ...subscription } = await changeSubscription(
      transaction,
      workspaceId,
      { type: input.type, ...DEFAULT_SUBSCRIPTION },
      input,
    );
    const webhookFormat = input.webhookFormat ?? 'native';
    await requirePayloadQuery(context, { ...subscription, webhookFormat });
    entities.create(EndpointEntity, {
      workspaceId,
      id,
      name: input.name,
      type: input.type,
      webhookFormat,
      config,
      secretCiphertext,
      isActive: input.isActive ?? true,
      description: input.description ?? null,
      events: [...events],
      ...subscription,
      ...(await findEndpointGrant(context, transaction, 'Setting up an endpoint', { ...subscription, events })),
      createdAt,
      updatedAt: createdAt,
    });
    const endpoint = { id, events, isActive: input.isActive ?? true };
    await moveSubscription(transaction, { workspaceId, endpoint, previous: null, since: input.since });
  });
  context.bus.publish('subscription.changed', { workspaceId });
  return readEndpoint(context, id);
}

/**
 * Returns the rights to store with an endpoint: to show mail to its receiver, to send what its responses ask for, and to post the audit log.
 * Throws forbidden for the first that is missing; `what` begins its sentence.
 */
export async function findEndpointGrant(
  context: OperationContext,
  transaction: Parameters<typeof requireGrant>[1],
  what: string,
  { allowActions, events }: Pick<Endpoint, 'allowActions' | 'events'>,
): Promise<Grant & { setByPersonId: string | null }> {
  const isOfAudit = subscribesToAudit(events);
  if (isOfAudit) requireRights(context.rights, 'An endpoint with events of the audit log', ['audit']);
  const needed: Scope[] = [
    'read',
    ...(allowActions ? (['send'] as const) : []),
    ...(isOfAudit ? (['manage'] as const) : []),
  ];
  return { ...(await requireGrant(context, transaction, what, needed)), setByPersonId: context.rights.personId };
}

/** Returns the secrets that requests are signed with now; see EndpointDetails. */
export function validSecrets(context: OperationContext, endpoint: Pick<Endpoint, 'secretCiphertext'>): SigningSecret[] {
  const now = context.now();
  return decryptSigningSecrets(context, endpoint.secretCiphertext).filter(
    ({ validUntil }) => validUntil === null || validUntil > now,
  );
}

function toConditions({ type, isActive, search }: EndpointQuery): lists.EndpointConditions {
  if (search !== undefined && search.length > MAX_SEARCH_LENGTH)
    throw invalid(`Search text must not be longer than ${MAX_SEARCH_LENGTH} characters`, 'search');
  return { ids: null, type: type ?? null, isActive: isActive ?? null, search: search || null };
}

function ofIds(ids: readonly string[]): lists.EndpointConditions {
  return { ids, type: null, isActive: null, search: null };
}

/** The text is part of the REST contract. */
export function endpointNotFound(): UserError {
  return new UserError('not_found', 'Endpoint not found');
}

/** Returns the error for an invalid configuration, with the field. */
export function invalidConfiguration(details: string, field: string): UserError {
  return new UserError('validation', 'Invalid configuration', { details, field });
}

/** Returns a new token that the receiver of a webhook can compare; hex. */
export function newVerificationToken(context: OperationContext): string {
  return Buffer.from(context.random(VERIFICATION_TOKEN_BYTES)).toString('hex');
}

/** Returns a new signing secret (`whsec_...`, Standard Webhooks). */
export function newSigningSecret(context: OperationContext): string {
  return makeSigningSecret(context.random(SIGNING_SECRET_BYTES));
}

/** Encrypts the secrets for endpoint.secret_ciphertext. */
export function encryptSigningSecrets(context: OperationContext, secrets: readonly SigningSecret[]): string {
  const text = encodeSigningSecrets(secrets);
  return encryptSecret(context.settings.secretKey, 'webhook-secret', text, context.random(NONCE_BYTES));
}

/** Decrypts endpoint.secret_ciphertext, expired secrets included; none when it is null. */
export function decryptSigningSecrets(context: OperationContext, ciphertext: string | null): SigningSecret[] {
  if (ciphertext === null) return [];
  return decodeSigningSecrets(decryptSecret(context.settings.secretKey, 'webhook-secret', ciphertext));
}

export type { UsingAddress } from '../../db/queries/endpoints/endpoint-use.ts';

/** Returns a page of the addresses routed to each endpoint, newest first; inverted: oldest first. */
export async function pageUsingAddresses(
  { database, workspaceId }: OperationContext,
  endpointIds: readonly string[],
  page: KeysetPage,
): Promise<use.UsingAddress[][]> {
  const found = await asWorkspace(database, workspaceId, (transaction) =>
    use.pageUsingAddresses(transaction, workspaceId, endpointIds, page),
  );
  const byEndpoint = Map.groupBy(found, ({ endpointId }) => endpointId);
  return endpointIds.map((id) => byEndpoint.get(id) ?? []);
}

/** Returns the number of addresses routed to each endpoint. */
export async function countUsingAddresses(
  { database, workspaceId }: OperationContext,
  endpointIds: readonly string[],
): Promise<number[]> {
  const counts = await asWorkspace(database, workspaceId, (transaction) =>
    use.countUsingAddresses(transaction, workspaceId, endpointIds),
  );
  const byEndpoint = new Map(counts.map(({ endpointId, count }) => [endpointId, count]));
  return endpointIds.map((id) => byEndpoint.get(id) ?? 0);
}

/** Returns the ids of the domains whose catch-all is each endpoint, sorted by name. */
export async function findCatchAllDomains(
  { database, workspaceId }: OperationContext,
  endpointIds: readonly string[],
): Promise<string[][]> {
  const found = await asWorkspace(database, workspaceId, (transaction) =>
    use.findCatchAllDomains(transaction, workspaceId, endpointIds),
  );
  const byEndpoint = Map.groupBy(found, ({ endpointId }) => endpointId);
  return endpointIds.map((id) => (byEndpoint.get(id) ?? []).map((domain) => domain.id));
}
