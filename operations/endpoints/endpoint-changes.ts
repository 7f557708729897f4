import { LockMode } from '@mikro-orm/core';
import { checkEndpointConfig } from '../../core/endpoints/endpoint-config.ts';
import { rotateSigningSecrets } from '../../core/endpoints/webhook-signature.ts';
import { UserError } from '../../core/shared/errors.ts';
import { Endpoint as EndpointEntity } from '../../db/entities/endpoints.ts';
import type { UnitOfWork } from '../../db/entities/store.ts';
import { holdWorkspace } from '../../db/queries/accounts/key-grant.ts';
import { appendEvents } from '../../db/queries/emails/email-flags.ts';
import { setSubscription } from '../../db/queries/endpoints/endpoint-subscription.ts';
import {
  type DetachedUse,
  deleteStatistics,
  detachEndpoint,
  endDeliveries,
  forgetFailures,
  lockStatistics,
} from '../../db/queries/endpoints/endpoint-write.ts';
import { invalid, isValidId, newIdentifier, type OperationContext } from '../context.ts';
import {
  changeSubscription,
  moveSubscription,
  SUBSCRIPTION_FIELDS,
  type SubscriptionInput,
} from './endpoint-subscription.ts';
import {
  decryptSigningSecrets,
  type Endpoint,
  type EndpointDetails,
  encryptSigningSecrets,
  endpointNotFound,
  findEndpointGrant,
  invalidConfiguration,
  newSigningSecret,
  newVerificationToken,
  readEndpoint,
} from './endpoints.ts';
import { requirePayloadQuery } from './payload-queries.ts';

/** The changes; omitted fields stay as they are. */
export interface EndpointChange extends SubscriptionInput {
  name?: string | undefined;
  /** must be the current type */
  type?: Endpoint['type'] | undefined;
  /** replaces the configuration except the verification token; checked by core/endpoints/endpoint-config.ts */
  config?: unknown;
  /** changes single keys of the configuration when `config` is omitted; null: the default */
  configChange?: Readonly<Record<string, unknown>> | undefined;
  webhookFormat?: Endpoint['webhookFormat'] | undefined;
  description?: string | null | undefined;
  isActive?: boolean | undefined;
}

/** What was changed along with a deleted endpoint. */
export interface DeletedEndpoint extends DetachedUse {
  /** for an email group */
  groupEmailCount: number;
  /** pending deliveries that were failed; deliveries stay with their emails */
  endedDeliveryCount: number;
}

/** Error of deliveries whose endpoint was deleted; the delivery actor uses the same text. */
const GONE = 'Endpoint not found';

/** The error that names these is part of the REST contract. */
const NAMED_FIELDS = ['name', 'config', 'isActive', 'description', 'webhookFormat'] as const;
const CHANGEABLE = [...NAMED_FIELDS, ...SUBSCRIPTION_FIELDS, 'since'] as const;

/** Fields that decide what an endpoint is shown, and where it goes, apart from its configuration and its switches. */
const DOING = ['webhookFormat', 'events', 'filter', 'payloadQuery', 'ordering', 'since'] as const;

/** Fields on which it depends whether a payload query is valid. */
const PAYLOAD_FIELDS = ['payloadQuery', 'filter', 'webhookFormat'] as const;

/**
 * Changes an endpoint. Enabling it or changing its configuration resets its failure count. Throws validation,
 * not_found.
 */
export async function updateEndpoint(
  context: OperationContext,
  endpointId: string,
  change: EndpointChange,
): Promise<EndpointDetails> {
  const { workspaceId, settings } = context;
  await context.entities.asWorkspace(workspaceId, async (unit) => {
    await holdWorkspace(unit.transaction, workspaceId);
    const { configChange } = change;
    const isLedElsewhere = change.config !== undefined || configChange !== undefined;
    if ((isLedElsewhere || change.isActive !== undefined) && isValidId(endpointId))
      await lockStatistics(unit.transaction, workspaceId, endpointId);
    const endpoint = await lockEndpoint(unit, workspaceId, endpointId);
    if (configChange === undefined && CHANGEABLE.every((key) => change[key] === undefined))
      throw new UserError('validation', `At least one field must be provided: ${NAMED_FIELDS.join(', ')}`);
    if (change.type !== undefined && change.type !== endpoint.type)
      throw invalid('The type of an endpoint cannot be changed', 'type');
    const previous = { isActive: endpoint.isActive, events: endpoint.events };
    const { name, webhookFormat, description, isActive } = change;
    if (isLedElsewhere) {
      const config = change.config === undefined ? changedConfig(endpoint.config, configChange ?? {}) : change.config;
      const { verificationToken } = endpoint.config;
      const kept = typeof verificationToken === 'string' ? verificationToken : newVerificationToken(context);
      const checked = checkEndpointConfig(endpoint.type, config, { guard: settings.guard, verificationToken: kept });
      if (checked.config === undefined) throw invalidConfiguration(checked.error, checked.field);
      endpoint.config = checked.config;
    }
    if (name !== undefined) endpoint.name = name;
    if (webhookFormat !== undefined) endpoint.webhookFormat = webhookFormat;
    if (description !== undefined) endpoint.description = description;
    if (SUBSCRIPTION_FIELDS.some((field) => change[field] !== undefined)) {
      const { events, ...subscription } = await changeSubscription(unit.transaction, workspaceId, endpoint, change);
      Object.assign(endpoint, subscription, { events: [...events] });
    }
    // A query that no longer fits prevents no other change.
    if (PAYLOAD_FIELDS.some((field) => change[field] !== undefined)) await requirePayloadQuery(context, endpoint);
    const isSwitched = isActive !== undefined && isActive !== endpoint.isActive;
    if (isSwitched) {
      endpoint.isActive = isActive;
      endpoint.inactiveReason = null;
    }
    if (isLedElsewhere || isSwitched) await forgetFailures(unit.transaction, workspaceId, endpointId);
    // What it does is now the work of who changes it. Anyone who may change it may make it do less.
    if (
      isLedElsewhere ||
      DOING.some((field) => change[field] !== undefined) ||
      isActive === true ||
      change.allowActions === true
    )
      Object.assign(
        endpoint,
        await findEndpointGrant(context, unit.transaction, 'Changing what an endpoint does', endpoint),
      );
    endpoint.updatedAt = context.now();
    await moveSubscription(unit.transaction, { workspaceId, endpoint, previous, since: change.since });
  });
  context.bus.publish('subscription.changed', { workspaceId });
  return readEndpoint(context, endpointId);
}

/** Deletes an endpoint; mail routed to it is stored only from now on. Throws not_found. */
export async function deleteEndpoint(context: OperationContext, endpointId: string): Promise<DeletedEndpoint> {
  const { workspaceId, bus } = context;
  const { lastSeq, ...deleted } = await context.entities.asWorkspace(workspaceId, async (unit) => {
    const { transaction } = unit;
    if (isValidId(endpointId)) await deleteStatistics(transaction, workspaceId, endpointId);
    const endpoint = await lockEndpoint(unit, workspaceId, endpointId);
    const use = await detachEndpoint(transaction, workspaceId, endpointId, context.now());
    const ended = await endDeliveries(transaction, workspaceId, endpointId, GONE);
    await setSubscription(transaction, workspaceId, endpointId, null);
    const emails = endpoint.type === 'email_group' ? endpoint.config['emails'] : [];
    await unit.entities.remove(endpoint).flush();
    // The delivery of an event is no event.
    const routed = ended.filter(({ eventSeq }) => eventSeq === null);
    const events = routed.map(({ id: deliveryId, emailId, attempts }) => ({
      id: newIdentifier(context, 'event'),
      kind: 'delivery.failed',
      ...(emailId === null ? {} : { emailId }),
      deliveryId,
      endpointId,
      data: { attempts, statusCode: null, error: GONE },
    }));
    const lastSeq = events.length === 0 ? null : await appendEvents(transaction, workspaceId, events);
    const groupEmailCount = Array.isArray(emails) ? emails.length : 0;
    return { ...use, endedDeliveryCount: ended.length, groupEmailCount, lastSeq };
  });
  for (const name of [...deleted.addresses, ...deleted.domains]) bus.publish('routing.changed', { name });
  if (deleted.guardRuleCount > 0) bus.publish('guard.changed', { workspaceId });
  if (lastSeq !== null) bus.publish('event.appended', { workspaceId, lastSeq });
  return deleted;
}

function changedConfig(
  stored: Readonly<Record<string, unknown>>,
  change: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries({ ...stored, ...change }).filter(([, value]) => value !== null));
}

export interface SecretRotation {
  /** whether the verification token is replaced too; the old token stops working at once */
  isTokenReplaced: boolean;
}

/**
 * Rotates the signing secret of a webhook; requests are also signed with the previous secret for 24 hours. Throws
 * validation, not_found.
 */
export async function rotateWebhookSecret(
  context: OperationContext,
  endpointId: string,
  { isTokenReplaced }: SecretRotation,
): Promise<EndpointDetails> {
  const { workspaceId } = context;
  await context.entities.asWorkspace(workspaceId, async (unit) => {
    const endpoint = await lockEndpoint(unit, workspaceId, endpointId);
    if (endpoint.type !== 'webhook')
      throw new UserError('validation', 'Only webhooks have a signing secret', { isOfState: true });
    const previous = decryptSigningSecrets(context, endpoint.secretCiphertext ?? null);
    const secrets = rotateSigningSecrets(previous, newSigningSecret(context), context.now());
    endpoint.secretCiphertext = encryptSigningSecrets(context, secrets);
    if (isTokenReplaced) endpoint.config = { ...endpoint.config, verificationToken: newVerificationToken(context) };
    endpoint.updatedAt = context.now();
  });
  return readEndpoint(context, endpointId);
}

/** Locks the endpoint until the transaction ends. Throws not_found. */
async function lockEndpoint(
  { entities }: UnitOfWork,
  workspaceId: string,
  endpointId: string,
): Promise<EndpointEntity> {
  const endpoint = isValidId(endpointId)
    ? await entities.findOne(EndpointEntity, { workspaceId, id: endpointId }, { lockMode: LockMode.PESSIMISTIC_WRITE })
    : null;
  if (endpoint === null) throw endpointNotFound();
  return endpoint;
}
