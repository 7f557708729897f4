import type { FastifyInstance, FastifyRequest } from 'fastify';
import { openDispatcherLater } from '../../actors/network/checked-request.ts';
import { type AddressGuard, createAddressGuard } from '../../core/shared/network-address.ts';
import type { Database } from '../../db/connection/database.ts';
import type { OperationParts } from '../../operations/context.ts';
import { createAuthAttempts } from '../accounts/auth-attempts.ts';
import type { SessionLookup } from '../accounts/session-lookup.ts';
import { isClosedFor } from '../admission/forwarded-requests.ts';
import type { GatewayConfig } from '../gateway-config.ts';
import type { ContextOf } from '../operation-context.ts';
import { consentRoutes } from './consent-routes.ts';
import { MAX_OAUTH_CLIENTS, openOauthClients } from './oauth-clients.ts';
import { oauthMetadata } from './oauth-metadata.ts';
import { oauthRoutes } from './oauth-routes.ts';

export interface OauthOptions {
  parts: OperationParts;
  config: GatewayConfig;
  /** role postroom_auth */
  authDatabase: Database;
  sessions: SessionLookup;
  contextOf: ContextOf;
}

/** The plugin of OAuth 2.1 (docs/oauth.md): clients get an access token with which they act as an API key that a person allowed. */
export async function oauthInterface(app: FastifyInstance, options: OauthOptions): Promise<void> {
  const { parts, config, authDatabase: database, sessions, contextOf } = options;
  const { now, random, settings } = parts;
  const { publicUrl, ownPorts, openForLocal = [], dnsServers = [], trustedCertificates = null } = config;
  const open = (guard: AddressGuard) =>
    openOauthClients({
      database,
      random,
      openDispatcher: openDispatcherLater({ guard, dnsServers, trustedCertificates }),
      most: config.oauthClients ?? MAX_OAUTH_CLIENTS,
    });
  const clients = open(settings.guard);
  // Requests that a proxy forwards to a service for this machine read no document of a private address.
  const forwarded = open(createAddressGuard({ allowedPrivateNetworks: [], ownPorts }));
  const chooseClients = (request: FastifyRequest) =>
    isClosedFor(request, openForLocal, 'ALLOWED_PRIVATE_NETWORKS') ? forwarded : clients;
  const attempts = createAuthAttempts(database, config.secretKey);
  const shared = { database, contextOf, publicUrl, now, random, chooseClients, attempts, sessions };
  oauthMetadata(app, publicUrl);
  await app.register(oauthRoutes, shared);
  await app.register(consentRoutes, { ...shared, prefix: '/api/auth/oauth' });
}
