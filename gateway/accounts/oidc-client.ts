import type * as oidc from 'openid-client';
import { type OpenDispatcher, requestChecked } from '../../actors/network/checked-request.ts';
import type { ProviderProblem } from '../../core/accounts/sign-in.ts';
import { loadOnce } from '../../core/shared/load-once.ts';

/** Settings of a provider, with its secret. */
export interface OidcSettings {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** where this provider, and no other one, sends persons after they signed in */
  redirectUri: string;
  /** name of the claim with the groups of a person */
  groupsClaim: string;
}

/** What is derived for one sign-in and known to no one but its browser. */
export interface OidcChecks {
  state: string;
  nonce: string;
  verifier: string;
  /** the person must have signed in at the provider within so many seconds; null: whenever */
  maxAgeSeconds: number | null;
}

/** Whom the provider names. */
export interface OidcPerson {
  subject: string;
  /** null: the provider names none */
  email: string | null;
  /** null: the provider does not say */
  isEmailVerified: boolean | null;
  name: string | null;
  groups: string[];
}

/** A sign-in that the provider, or what it sent, does not allow. `detail` is for the log. */
export class OidcProblem extends Error {
  override name = 'OidcProblem';
  readonly problem: ProviderProblem;
  readonly detail: string;

  constructor(problem: ProviderProblem, detail: string, options?: ErrorOptions) {
    super(`${problem}: ${detail}`, options);
    this.problem = problem;
    this.detail = detail;
  }
}

/** A step of the test of a provider. */
interface OidcStep {
  step: 'discovery' | 'keys' | 'authorization' | 'token';
  isPassed: boolean;
  /** what was found, or what is wrong and what to do */
  text: string;
}

/** Signs persons in by OpenID Connect: the code flow with PKCE (RFC 7636, S256), state and nonce. */
export interface OidcClient {
  /** Returns the URL at the provider that begins a sign-in. Throws OidcProblem. */
  start(settings: OidcSettings, checks: OidcChecks): Promise<string>;
  /** Redeems the code of a response of the provider, whose URL is given. Throws OidcProblem. */
  finish(settings: OidcSettings, url: URL, checks: OidcChecks): Promise<OidcPerson>;
  /** Returns the URL at the provider that ends the person's session there (RP-initiated logout); null: the provider has none. Throws OidcProblem. */
  end(settings: OidcSettings): Promise<string | null>;
  /** Tries the settings step by step, up to the first that fails. Never throws for what the provider does. */
  test(settings: OidcSettings): Promise<OidcStep[]>;
}

/** Difference of the clocks of provider and service that is accepted; seconds. */
const CLOCK_TOLERANCE_SECONDS = 60;
/** A request to the provider; a person waits for it. */
const TIMEOUT_MS = 10_000;
/** A document of a provider, such as its keys. @limit */
export const MAX_DOCUMENT_BYTES = 524_288;
const SCOPE = 'openid email profile';
const MAX_GROUPS = 1_000;

/**
 * Creates a client whose requests go through the dispatcher, which refuses private addresses unless the operator allows them. Providers send
 * persons to `signedOutUri` after they signed out.
 */
export function createOidcClient(openDispatcher: OpenDispatcher, signedOutUri: string): OidcClient {
  const load = loadOnce(() => import('openid-client'));

  async function request(url: string, options: oidc.CustomFetchOptions): Promise<Response> {
    const { body } = options;
    const response = await requestChecked(openDispatcher, {
      url,
      method: options.method === 'POST' ? 'POST' : 'GET',
      headers: options.headers,
      // Forms, as the library sends them.
      ...(body instanceof URLSearchParams || typeof body === 'string' ? { body: Buffer.from(body.toString()) } : {}),
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_DOCUMENT_BYTES,
    });
    const { host } = new URL(url);
    if (response.kind === 'no-response')
      throw response.code === 'BLOCKED_ADDRESS'
        ? new OidcProblem('PROVIDER_BLOCKED', `${host} is in a private network`)
        : new OidcProblem('PROVIDER_UNREACHABLE', `${host} did not respond (${response.code ?? 'connection closed'})`);
    // Response refuses a body with these.
    const hasBody = response.statusCode !== 204 && response.statusCode !== 304;
    return new Response(hasBody ? response.body : null, {
      status: response.statusCode,
      headers: { 'content-type': response.contentType },
    });
  }

  /** Reads the provider's configuration and, when a token comes, its keys: both again in each sign-in, so that a new key counts at once. */
  async function discover({ issuer, clientId, clientSecret }: OidcSettings): Promise<oidc.Configuration> {
    const library = await load();
    const config = await library.discovery(
      new URL(issuer),
      clientId,
      { [library.clockTolerance]: CLOCK_TOLERANCE_SECONDS },
      undefined,
      {
        [library.customFetch]: request,
        timeout: TIMEOUT_MS / 1_000,
        // Tokens are checked by the keys of the provider although they come from it directly.
        execute: [library.enableNonRepudiationChecks, ...findHttpPermits(library, issuer)],
      },
    );
    const methods = config.serverMetadata().token_endpoint_auth_methods_supported;
    // The default of a provider that names no method (OpenID Connect Discovery §3).
    const isBasic = methods === undefined || methods.includes('client_secret_basic');
    const authentication = isBasic ? library.ClientSecretBasic(clientSecret) : library.ClientSecretPost(clientSecret);
    const chosen = new library.Configuration(
      config.serverMetadata(),
      clientId,
      { [library.clockTolerance]: CLOCK_TOLERANCE_SECONDS },
      authentication,
    );
    chosen[library.customFetch] = request;
    chosen.timeout = TIMEOUT_MS / 1_000;
    library.enableNonRepudiationChecks(chosen);
    for (const permit of findHttpPermits(library, issuer)) permit(chosen);
    return chosen;
  }

  async function authorizationUrl(
    config: oidc.Configuration,
    { redirectUri }: OidcSettings,
    checks: OidcChecks,
  ): Promise<URL> {
    const library = await load();
    const { authorization_endpoint: endpoint = '' } = config.serverMetadata();
    const { protocol } = URL.parse(endpoint) ?? { protocol: '' };
    if (protocol !== 'https:' && !(protocol === 'http:' && config.serverMetadata().issuer.startsWith('http:')))
      throw new OidcProblem('PROVIDER_MISCONFIGURED', 'the authorization endpoint of the provider is not an https URL');
    return library.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope: SCOPE,
      state: checks.state,
      nonce: checks.nonce,
      code_challenge: await library.calculatePKCECodeChallenge(checks.verifier),
      code_challenge_method: 'S256',
      ...(checks.maxAgeSeconds === null ? {} : { prompt: 'login', max_age: String(checks.maxAgeSeconds) }),
    });
  }

  return {
    start: (settings, checks) =>
      problems(async () => (await authorizationUrl(await discover(settings), settings, checks)).href),

    end: (settings) =>
      problems(async () => {
        const config = await discover(settings);
        const { end_session_endpoint: endpoint, issuer } = config.serverMetadata();
        if (endpoint === undefined) return null;
        const { protocol } = URL.parse(endpoint) ?? { protocol: '' };
        if (protocol !== 'https:' && !(protocol === 'http:' && issuer.startsWith('http:'))) return null;
        const library = await load();
        return library.buildEndSessionUrl(config, { post_logout_redirect_uri: signedOutUri }).href;
      }),

    finish: (settings, url, checks) =>
      problems(async () => {
        const library = await load();
        const config = await discover(settings);
        const tokens = await library.authorizationCodeGrant(config, url, {
          pkceCodeVerifier: checks.verifier,
          expectedState: checks.state,
          expectedNonce: checks.nonce,
          idTokenExpected: true,
          ...(checks.maxAgeSeconds === null ? {} : { maxAge: checks.maxAgeSeconds }),
        });
        const claims = tokens.claims();
        if (claims === undefined) throw new OidcProblem('TOKEN_INVALID', 'the response has no ID token');
        const isComplete = claims['email'] !== undefined && claims[settings.groupsClaim] !== undefined;
        const hasMore = !isComplete && config.serverMetadata().userinfo_endpoint !== undefined;
        const more = hasMore ? await library.fetchUserInfo(config, tokens.access_token, claims.sub) : {};
        return readPerson({ ...more, ...claims }, settings.groupsClaim);
      }),

    async test(settings) {
      const steps: OidcStep[] = [];
      const step = async (name: OidcStep['step'], check: () => Promise<string>): Promise<boolean> => {
        try {
          steps.push({ step: name, isPassed: true, text: await problems(check) });
          return true;
        } catch (error) {
          if (!(error instanceof OidcProblem)) throw error;
          steps.push({ step: name, isPassed: false, text: error.detail });
          return false;
        }
      };
      const discovered: oidc.Configuration[] = [];
      await step('discovery', async () => {
        const config = await discover(settings);
        discovered.push(config);
        return `Found the configuration of ${config.serverMetadata().issuer}.`;
      });
      const [found] = discovered;
      if (found === undefined) return steps;
      const passed =
        (await step('keys', () => countKeys(found, request))) &&
        (await step('authorization', async () =>
          tryAuthorization(
            await authorizationUrl(found, settings, { ...TRY, maxAgeSeconds: null }),
            openDispatcher,
            settings.redirectUri,
          ),
        ));
      if (passed) await step('token', async () => tryToken(await load(), found, settings.redirectUri));
      return steps;
    },
  };
}

/** Returns what permits http for an issuer on this machine, the only one that settings accept with it. */
function findHttpPermits(library: typeof oidc, issuer: string): ((config: oidc.Configuration) => void)[] {
  // oxlint-disable-next-line typescript/no-deprecated -- marked so that it is noticed; for loopback only
  return issuer.startsWith('http:') ? [library.allowInsecureRequests] : [];
}

/** Values of a sign-in that is never finished. */
const TRY = { state: 'postroom-test', nonce: 'postroom-test', verifier: 'postroom-test-'.padEnd(43, '0') };

async function countKeys(
  config: oidc.Configuration,
  request: (url: string, options: oidc.CustomFetchOptions) => Promise<Response>,
): Promise<string> {
  const { jwks_uri: uri } = config.serverMetadata();
  if (uri === undefined) throw new OidcProblem('PROVIDER_MISCONFIGURED', 'The configuration has no jwks_uri.');
  const response = await request(uri, {
    method: 'GET',
    headers: { accept: 'application/json' },
    body: undefined,
    redirect: 'manual',
  });
  const body: unknown = await response.json().catch(() => null);
  const keys = body !== null && typeof body === 'object' && 'keys' in body && Array.isArray(body.keys) ? body.keys : [];
  if (!response.ok || keys.length === 0)
    throw new OidcProblem('PROVIDER_MISCONFIGURED', `${uri} returned ${response.status} and ${keys.length} keys.`);
  return `Found ${keys.length} ${keys.length === 1 ? 'key' : 'keys'}.`;
}

async function tryAuthorization(url: URL, openDispatcher: OpenDispatcher, redirectUri: string): Promise<string> {
  const response = await requestChecked(openDispatcher, {
    url: url.href,
    method: 'GET',
    headers: { accept: 'text/html' },
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_DOCUMENT_BYTES,
  });
  if (response.kind === 'no-response')
    throw new OidcProblem(
      'PROVIDER_UNREACHABLE',
      `${url.host} did not respond (${response.code ?? 'connection closed'}).`,
    );
  if (response.statusCode >= 400)
    throw new OidcProblem(
      'PROVIDER_MISCONFIGURED',
      `The provider returned ${response.statusCode}. Check the client ID, and that the provider permits the redirect URI ${redirectUri}.`,
    );
  return 'The provider accepts the client ID and the redirect URI.';
}

/** Redeems a code that does not exist: a provider that accepts the client refuses the code. */
async function tryToken(library: typeof oidc, config: oidc.Configuration, redirectUri: string): Promise<string> {
  try {
    await library.genericGrantRequest(config, 'authorization_code', {
      code: 'postroom-test',
      redirect_uri: redirectUri,
      code_verifier: TRY.verifier,
    });
  } catch (error) {
    if (!(error instanceof library.ResponseBodyError) || error.error !== 'invalid_grant') throw error;
  }
  return 'The provider accepts the client secret.';
}

function readPerson(claims: Readonly<Record<string, unknown>>, groupsClaim: string): OidcPerson {
  const { sub, email, name } = claims;
  const verified = claims['email_verified'];
  const groups = [claims[groupsClaim]].flat().filter((group) => typeof group === 'string');
  return {
    subject: String(sub),
    email: typeof email === 'string' ? email.trim().toLowerCase() : null,
    // Some providers send it as text.
    isEmailVerified: verified === undefined || verified === null ? null : verified === true || verified === 'true',
    name: typeof name === 'string' ? name : null,
    groups: groups.slice(0, MAX_GROUPS),
  };
}

/** Runs work, and converts what the provider did wrong to OidcProblem. */
async function problems<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toOidcProblem(error) ?? error;
  }
}

/** Returns the problem of an error of the library; null if it is none of the provider. */
function toOidcProblem(error: unknown): OidcProblem | null {
  if (error instanceof OidcProblem) return error;
  if (!(error instanceof Error)) return null;
  if (error.cause instanceof OidcProblem) return error.cause;
  const {
    code,
    error: refusal,
    error_description: description,
  } = error as {
    code?: unknown;
    error?: unknown;
    error_description?: unknown;
  };
  const said = [refusal, description]
    .filter((text) => typeof text === 'string')
    .join(': ')
    .slice(0, MAX_DETAIL);
  const from = (problem: ProviderProblem, detail: string) => new OidcProblem(problem, detail, { cause: error });
  if (refusal === 'invalid_client' || refusal === 'unauthorized_client')
    return from('CLIENT_REFUSED', `The provider does not accept the client ID or the client secret (${said}).`);
  if (refusal === 'invalid_grant') return from('STATE_MISMATCH', `The provider does not accept the code (${said}).`);
  if (typeof refusal === 'string') return from('PROVIDER_REFUSED', `The provider refused the sign-in (${said}).`);
  const text = [error.message, error.cause instanceof Error ? error.cause.message : '']
    .filter((part) => part !== '')
    .join(': ')
    .slice(0, MAX_DETAIL);
  if (code === 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED') return from('TOKEN_EXPIRED', text);
  if (typeof code !== 'string' || !code.startsWith('OAUTH_')) {
    if (error.name === 'TimeoutError') return from('PROVIDER_UNREACHABLE', text);
    return null;
  }
  return from(OF_SETTINGS.has(code) ? 'PROVIDER_MISCONFIGURED' : 'TOKEN_INVALID', text);
}

/** Characters of what a provider says that go to the log. */
const MAX_DETAIL = 500;
/** The codes of errors about what the provider is, rather than about what it sent for a person. */
const OF_SETTINGS = new Set([
  'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_HTTP_REQUEST_FORBIDDEN',
  'OAUTH_REQUEST_PROTOCOL_FORBIDDEN',
  'OAUTH_MISSING_SERVER_METADATA',
  'OAUTH_INVALID_SERVER_METADATA',
  'OAUTH_PARSE_ERROR',
]);
