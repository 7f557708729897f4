import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Origin } from '../core/accounts/audit.ts';
import { type KeyRights, NO_RIGHTS } from '../core/accounts/key-rights.ts';
import { noDmarcRules } from '../core/screening/door/dmarc-enforcement.ts';
import { DEFAULT_APPROVAL_DAYS } from '../core/sending/approval.ts';
import { createAddressGuard } from '../core/shared/network-address.ts';
import { KEEP_FOREVER } from '../core/upkeep/retention.ts';
import { limitedTo, madeBy } from '../db/connection/transaction.ts';
import { refusingStore, storeMadeBy } from '../db/entities/store.ts';
import type { Caller } from '../operations/caller.ts';
import type { OperationContext, OperationParts, OperationSettings } from '../operations/context.ts';
import { UNBOUNDED_ROOM } from '../operations/response-room.ts';
import { readOrigin } from './admission/audit-notes.ts';
import { forwardingHeader } from './admission/forwarded-requests.ts';
import type { GatewayConfig } from './gateway-config.ts';

/** Returns the context that operations get for a request: its user, its rights, and a database limited to what its key may see. */
export type ContextOf = (request: FastifyRequest) => OperationContext;

/** Returns what operations need to know of the gateway's configuration. */
export function operationSettings(config: GatewayConfig): OperationSettings {
  const { publicUrl, mailHostname, trustedDomains, secretKey, sendLimitPerHour, hasGuardModel, hasSpamFilter } = config;
  return {
    publicUrl,
    unsubscribeUrl: config.unsubscribeUrl ?? null,
    mailHostname,
    trustedDomains,
    secretKey,
    requestsPerSecond: config.rateLimitPerSecond,
    sendLimitPerHour,
    approvalDays: config.approvalDays ?? DEFAULT_APPROVAL_DAYS,
    mtaStsMode: config.mtaStsMode ?? 'testing',
    retention: config.retention ?? KEEP_FOREVER,
    hasGuardModel,
    hasSpamFilter,
    dmarc: config.dmarc ?? noDmarcRules,
    smtp: config.smtp,
    version: config.version,
    isSignUpOpen: config.isSignUpOpen,
    guard: createAddressGuard(config),
  };
}

/** Returns the parts with a database limited to what these rights may see. */
export function partsWithin(parts: OperationParts, { reach }: Pick<KeyRights, 'reach'>): OperationParts {
  if (reach === null) return parts;
  return {
    ...parts,
    database: limitedTo(parts.database, reach),
    entities: refusingStore(reach),
  };
}

/** Returns the parts with a database whose audit log says who makes the changes. */
function partsMadeBy(parts: OperationParts, origin: Origin): OperationParts & { origin: Origin } {
  return {
    ...parts,
    database: madeBy(parts.database, origin),
    entities: storeMadeBy(parts.entities, origin),
    origin,
  };
}

/** Settings for requests that a proxy forwards to a service that is set up for this machine only: without what is open for that. */
function settingsForForwarded(parts: OperationParts, config: GatewayConfig): OperationSettings {
  const { settings } = parts;
  const { openForLocal = [], ownPorts } = config;
  return {
    ...settings,
    ...(openForLocal.includes('SIGN_UP') ? { isSignUpOpen: false } : {}),
    ...(openForLocal.includes('TRUSTED_DOMAINS') ? { trustedDomains: [] } : {}),
    ...(openForLocal.includes('ALLOWED_PRIVATE_NETWORKS')
      ? { guard: createAddressGuard({ allowedPrivateNetworks: [], ownPorts }) }
      : {}),
  };
}

export function createContextFactory(parts: OperationParts, config: GatewayConfig): ContextOf {
  const forwarded = { ...parts, settings: settingsForForwarded(parts, config) };
  return (request) => ({
    ...partsMadeBy(
      partsWithin(forwardingHeader(request) === null ? parts : forwarded, request.rights ?? NO_RIGHTS),
      readOrigin(request),
    ),
    log: request.log as Logger,
    workspaceId: request.workspaceId,
    rights: request.rights ?? NO_RIGHTS,
    respondBy: request.respondBy,
    caller: request.caller ?? NOT_ADMITTED,
    room: request.room ?? UNBOUNDED_ROOM,
  });
}

/** The caller of a request that was not admitted, and thus reaches no operation. */
const NOT_ADMITTED: Caller = {
  via: null,
  signedInAt: null,
  gone: AbortSignal.abort(),
  isAllowed: async () => false,
  hangUp: () => undefined,
};
