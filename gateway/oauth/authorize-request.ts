import {
  CHALLENGE_FORM,
  isRegisteredRedirect,
  MAX_URI_LENGTH,
  type OauthClient,
} from '../../core/accounts/oauth-client.ts';
import type { OauthClients } from './oauth-clients.ts';
import { readResource } from './oauth-metadata.ts';

/** A request to sign a person in (RFC 6749 §4.1.1), as it was checked. */
export interface AuthorizeRequest {
  client: OauthClient;
  redirectUri: string;
  challenge: string;
  resource: string;
  scope: string | null;
  state: string | null;
}

/**
 * A request that cannot be granted. Without a redirect URI that is the client's own, the person stays here: a redirect would lead wherever the
 * link says.
 */
export type RefusedRequest = { kind: 'shown'; message: string } | { kind: 'redirected'; location: string };

const MAX_STATE_LENGTH = 2_048;
const MAX_SCOPE_LENGTH = 1_000;

/** Checks the parameters of a request: each is given once. */
export async function readAuthorizeRequest(
  parameters: Readonly<Record<string, unknown>>,
  { clients, publicUrl }: { clients: OauthClients; publicUrl: string },
): Promise<AuthorizeRequest | RefusedRequest> {
  const read = (name: string): string | null => {
    const value = parameters[name];
    return typeof value === 'string' && value !== '' ? value : null;
  };
  const repeated = Object.entries(parameters).find(([, value]) => Array.isArray(value));
  if (repeated !== undefined)
    return shown(`The link names ${JSON.stringify(repeated[0].slice(0, 40))} more than once.`);
  const clientId = read('client_id');
  if (clientId === null || clientId.length > MAX_URI_LENGTH) return shown('The link has no valid client_id.');
  const client = await clients.find(clientId);
  if ('flaw' in client) return shown(`The client_id of this link ${client.flaw}.`);
  const redirectUri = read('redirect_uri');
  if (redirectUri === null || !isRegisteredRedirect(client.redirectUris, redirectUri))
    return shown('The redirect_uri of this link is not one that the program registered.');
  const state = read('state');
  if (state !== null && state.length > MAX_STATE_LENGTH) return shown('The state of this link is too long.');

  const refuse = (error: string, description: string): RefusedRequest => ({
    kind: 'redirected',
    location: redirectTo({ redirectUri, state }, { error, error_description: description }, publicUrl),
  });
  if (read('response_type') !== 'code') return refuse('unsupported_response_type', 'response_type must be code');
  const mode = read('response_mode');
  if (mode !== null && mode !== 'query') return refuse('invalid_request', 'response_mode must be query');
  const challenge = read('code_challenge');
  if (challenge === null) return refuse('invalid_request', 'code_challenge is required (PKCE)');
  if (read('code_challenge_method') !== 'S256') return refuse('invalid_request', 'code_challenge_method must be S256');
  if (!CHALLENGE_FORM.test(challenge)) return refuse('invalid_request', 'code_challenge is not a SHA-256 in base64url');
  const resource = readResource(read('resource'), publicUrl);
  if (resource === null) return refuse('invalid_target', `resource must be ${publicUrl}/mcp or ${publicUrl}`);
  const scope = read('scope');
  if (scope !== null && scope.length > MAX_SCOPE_LENGTH) return refuse('invalid_scope', 'scope is too long');
  return { client, redirectUri, challenge, resource, scope, state };
}

const shown = (message: string): RefusedRequest => ({ kind: 'shown', message });

/** Returns where the person's browser goes next, with the issuer (RFC 9207), which shows the client which server responds. */
export function redirectTo(
  { redirectUri, state }: Pick<AuthorizeRequest, 'redirectUri' | 'state'>,
  parameters: Readonly<Record<string, string>>,
  publicUrl: string,
): string {
  const query = new URLSearchParams({ ...parameters, ...(state === null ? {} : { state }), iss: publicUrl });
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${query.toString()}`;
}
