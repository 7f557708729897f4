import type { FastifyInstance } from 'fastify';
import { GRANT_LEVELS } from '../../core/accounts/oauth-grant.ts';

/** The path of the MCP server. */
export const MCP_PATH = '/mcp';
/** RFC 9728 §3: the path of a resource comes after it. */
export const RESOURCE_METADATA_PATH = '/.well-known/oauth-protected-resource';
/** RFC 8414 §3 */
const SERVER_METADATA_PATH = '/.well-known/oauth-authorization-server';

export const OAUTH_PATHS = {
  authorize: '/oauth/authorize',
  token: '/oauth/token',
  register: '/oauth/register',
  revoke: '/oauth/revoke',
  device: '/oauth/device_authorization',
} as const;

export const DEVICE_GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:device_code';

/** Serves what clients read first: which server signs people in for a resource, and how that server works. */
export function oauthMetadata(app: FastifyInstance, publicUrl: string): void {
  const route = { schema: { hide: true } };
  for (const path of ['', MCP_PATH])
    app.get(`${RESOURCE_METADATA_PATH}${path}`, route, () => ({
      resource: `${publicUrl}${path}`,
      authorization_servers: [publicUrl],
      scopes_supported: GRANT_LEVELS,
      bearer_methods_supported: ['header'],
      resource_name: 'Postroom',
      resource_documentation: `${publicUrl}/docs/oauth`,
    }));
  const endpoint = (path: string) => `${publicUrl}${path}`;
  app.get(SERVER_METADATA_PATH, route, () => ({
    issuer: publicUrl,
    authorization_endpoint: endpoint(OAUTH_PATHS.authorize),
    token_endpoint: endpoint(OAUTH_PATHS.token),
    registration_endpoint: endpoint(OAUTH_PATHS.register),
    revocation_endpoint: endpoint(OAUTH_PATHS.revoke),
    device_authorization_endpoint: endpoint(OAUTH_PATHS.device),
    scopes_supported: GRANT_LEVELS,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token', DEVICE_GRANT_TYPE],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    service_documentation: `${publicUrl}/docs/oauth`,
  }));
}

/**
 * Returns the resource that a client names (RFC 8707): the whole service, or its MCP server; null when it is neither. A client that names none
 * gets the MCP server, which allows less.
 */
export function readResource(given: string | null, publicUrl: string): string | null {
  if (given === null) return `${publicUrl}${MCP_PATH}`;
  const url = URL.parse(given);
  if (url === null || given.includes('#') || url.search !== '') return null;
  const canonical = url.href.replace(/\/$/, '');
  return canonical === publicUrl || canonical === `${publicUrl}${MCP_PATH}` ? canonical : null;
}
