import { LockMode } from '@mikro-orm/core';
import { canonicalAddress } from '../../core/domains/domain-name.ts';
import { isStricter, type SendPolicy, sendPolicyShape } from '../../core/sending/send-policy.ts';
import { UserError } from '../../core/shared/errors.ts';
import { Domain, EmailAddress as EmailAddressEntity } from '../../db/entities/domains.ts';
import { Endpoint } from '../../db/entities/endpoints.ts';
import type { UnitOfWork } from '../../db/entities/store.ts';
import { listKeysOfAddress } from '../../db/queries/accounts/api-key.ts';
import { holdWorkspace } from '../../db/queries/accounts/key-grant.ts';
import { claimAddress, freeAddress } from '../../db/queries/domains/email-address-list.ts';
import { announceLimits, announceStricterAddress, type RouteGrant, requireRouteGrant } from '../accounts/key-grants.ts';
import { requireRoom } from '../accounts/quotas.ts';
import { invalid, isValidId, newIdentifier, type OperationContext } from '../context.ts';
import { addressNotFound, type EmailAddress, readEmailAddress } from './email-addresses.ts';

export interface NewEmailAddress {
  address: string;
  domainId: string;
  endpointId?: string | null | undefined;
  /** legacy routing: the id of a webhook endpoint; excludes endpointId */
  webhookId?: string | null | undefined;
  isActive?: boolean | undefined;
  /** limits the mail that it sends; null: no limits */
  policy?: SendPolicy | null | undefined;
  /** plain text below mail that is written in the dashboard; null or blank: none */
  signature?: string | null | undefined;
}

/** The changes. Omitted fields stay as they are; null removes that kind of routing. */
export type EmailAddressChange = Pick<
  NewEmailAddress,
  'endpointId' | 'webhookId' | 'isActive' | 'policy' | 'signature'
>;

/** Adds an address to a verified domain of the user. Throws validation, not_found, conflict. */
export async function createEmailAddress(context: OperationContext, input: NewEmailAddress): Promise<EmailAddress> {
  const parsed = canonicalAddress(input.address);
  if (parsed === null) throw invalid('Invalid email address format', 'address');
  const id = newIdentifier(context, 'emailAddress');
  const lastSeq = await context.entities.asWorkspace(context.workspaceId, async (unit) => {
    await addAddress(unit, context, { ...input, ...parsed, id });
    return pauseUnjudged(context, unit, parsed.address, input.policy ?? null, null);
  });
  publishChange(context, parsed.address, lastSeq);
  return readEmailAddress(context, id);
}

async function addAddress(
  unit: UnitOfWork,
  context: OperationContext,
  input: NewEmailAddress & { id: string; domain: string },
): Promise<void> {
  const { workspaceId } = context;
  const { id, domainId, address } = input;
  await holdEndpoints(unit, workspaceId, input);
  const domain = isValidId(domainId) ? await unit.entities.findOne(Domain, { workspaceId, id: domainId }, HELD) : null;
  if (domain === null) throw new UserError('not_found', 'Domain not found or access denied');
  if (input.domain !== domain.name) throw invalid(`Email must belong to domain ${domain.name}`, 'address');
  if (domain.status !== 'verified') throw invalid('Domain must be verified', 'domainId');
  const routing = await findRouting(unit, context, input);
  await requireRoom(context, unit.transaction, 'addresses');
  const isFree = await claimAddress(unit.transaction, { address, workspace_id: workspaceId, address_id: id });
  if (!isFree)
    throw new UserError('conflict', 'Email address already exists', { reason: 'ADDRESS_EXISTS', isFinal: true });
  const createdAt = context.now();
  unit.entities.create(EmailAddressEntity, {
    workspaceId,
    id,
    domainId,
    address,
    endpointId: null,
    webhookId: null,
    ...routing,
    sendPolicy: input.policy ?? null,
    signature: signatureToStore(input.signature),
    isActive: input.isActive ?? true,
    createdAt,
    updatedAt: createdAt,
  });
}

const CHANGEABLE = ['endpointId', 'webhookId', 'isActive', 'policy', 'signature'] as const;

/** Changes the routing of an address, its send policy, its signature, or whether it is active. Throws validation, not_found. */
export async function updateEmailAddress(
  context: OperationContext,
  id: string,
  change: EmailAddressChange,
): Promise<EmailAddress> {
  const { workspaceId } = context;
  const { name, lastSeq } = await context.entities.asWorkspace(workspaceId, async (unit) => {
    await holdEndpoints(unit, workspaceId, change);
    const address = await lockAddress(unit, workspaceId, id);
    if (CHANGEABLE.every((key) => change[key] === undefined))
      throw new UserError('validation', `At least one field must be provided: ${CHANGEABLE.join(', ')}`);
    Object.assign(address, await findRouting(unit, context, change));
    if (change.isActive !== undefined) address.isActive = change.isActive;
    const before = address.sendPolicy === null ? null : sendPolicyShape.parse(address.sendPolicy);
    if (change.policy !== undefined) address.sendPolicy = change.policy;
    if (change.signature !== undefined) address.signature = signatureToStore(change.signature);
    address.updatedAt = context.now();
    const name = address.address;
    return { name, lastSeq: await pauseUnjudged(context, unit, name, change.policy ?? null, before) };
  });
  publishChange(context, name, lastSeq);
  return readEmailAddress(context, id);
}

/**
 * Deletes an address. It stops receiving and becomes available to other users; its mail stays readable. API keys that are limited to it lose it,
 * and their scheduled mail from it is paused. Throws not_found.
 */
export async function deleteEmailAddress(context: OperationContext, id: string): Promise<EmailAddress> {
  const { workspaceId, bus } = context;
  const deleted = await readEmailAddress(context, id);
  const { hasKeys, lastSeq } = await context.entities.asWorkspace(workspaceId, async ({ entities, transaction }) => {
    await holdWorkspace(transaction, workspaceId);
    const address = await lockAddress({ entities }, workspaceId, id);
    const keyIds = await listKeysOfAddress(transaction, workspaceId, address.address);
    await freeAddress(transaction, workspaceId, id);
    await entities.remove(address).flush();
    const limits = { keyIds, disabledEndpoints: [] };
    return { hasKeys: keyIds.length > 0, lastSeq: await announceLimits(context, transaction, limits) };
  });
  if (hasKeys) {
    context.forgetCredentials(workspaceId);
    bus.publish('credential.changed', { ownerId: workspaceId });
  }
  publishChange(context, deleted.address, lastSeq);
  return deleted;
}

/** Pauses the scheduled mail of an address whose policy is stricter than before; as announceStricterAddress. */
async function pauseUnjudged(
  context: OperationContext,
  { entities, transaction }: UnitOfWork,
  address: string,
  policy: SendPolicy | null,
  before: SendPolicy | null,
): Promise<number | null> {
  if (policy === null || !isStricter(policy, before)) return null;
  await entities.flush();
  return announceStricterAddress(context, transaction, address);
}

function publishChange({ bus, workspaceId }: OperationContext, name: string, lastSeq: number | null): void {
  bus.publish('routing.changed', { name });
  if (lastSeq !== null) bus.publish('event.appended', { workspaceId, lastSeq });
}

/** Returns the text without blank lines around it and with LF at line ends. */
function signatureToStore(signature: string | null | undefined): string | null {
  const text = (signature ?? '').replace(/\r\n?/g, '\n').replace(/^\s*\n|\s+$/g, '');
  return text === '' ? null : text;
}

/** Prevents deletion until the transaction ends. */
const HELD = { lockMode: LockMode.PESSIMISTIC_READ };

/** Locks the workspace and then the endpoints before anything else, the same order as in deleteEndpoint. */
async function holdEndpoints(
  { entities, transaction }: UnitOfWork,
  workspaceId: string,
  { endpointId, webhookId }: Pick<EmailAddressChange, 'endpointId' | 'webhookId'>,
): Promise<void> {
  if (endpointId != null || webhookId != null) await holdWorkspace(transaction, workspaceId);
  for (const id of [endpointId, webhookId])
    if (id != null && isValidId(id)) await entities.findOne(Endpoint, { workspaceId, id }, HELD);
}

/**
 * Returns the routing columns to change; setting one kind of routing clears the other. Throws validation, and not_found
 * when the endpoint cannot be used.
 */
async function findRouting(
  unit: UnitOfWork,
  context: OperationContext,
  { endpointId, webhookId }: Pick<EmailAddressChange, 'endpointId' | 'webhookId'>,
): Promise<{ endpointId?: string | null; webhookId?: string | null } & Partial<RouteGrant>> {
  const { workspaceId } = context;
  if (endpointId != null && webhookId != null) throw invalid('Cannot specify both endpoint and webhook', 'webhookId');
  const find = (id: string) =>
    isValidId(id) ? unit.entities.findOne(Endpoint, { workspaceId, id }, HELD) : Promise.resolve(null);
  if (endpointId != null) {
    const endpoint = await find(endpointId);
    if (endpoint === null) throw new UserError('not_found', 'Endpoint not found');
    if (!endpoint.isActive) throw invalid('Endpoint is not active', 'endpointId');
    return { endpointId, webhookId: null, ...(await requireRouteGrant(context, unit.transaction)) };
  }
  if (webhookId != null) {
    const webhook = await find(webhookId);
    if (webhook?.type !== 'webhook') throw new UserError('not_found', 'Webhook not found');
    if (!webhook.isActive) throw invalid('Webhook is not active', 'webhookId');
    return { endpointId: null, webhookId, ...(await requireRouteGrant(context, unit.transaction)) };
  }
  return { ...(endpointId === null ? { endpointId } : {}), ...(webhookId === null ? { webhookId } : {}) };
}

/** Locks the address until the transaction ends. Throws not_found. */
async function lockAddress(
  { entities }: Pick<UnitOfWork, 'entities'>,
  workspaceId: string,
  id: string,
): Promise<EmailAddressEntity> {
  const address = isValidId(id)
    ? await entities.findOne(EmailAddressEntity, { workspaceId, id }, { lockMode: LockMode.PESSIMISTIC_WRITE })
    : null;
  if (address === null) throw addressNotFound();
  return address;
}
