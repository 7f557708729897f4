import type { FastifyInstance, FastifyRequest } from 'fastify';
import {
  COMMAND_LINE_CLIENT,
  hashOauthSecret,
  isDocumentId,
  makeOauthSecret,
  makeUserCode,
} from '../../core/accounts/oauth-client.ts';
import { createCode } from '../../db/queries/accounts/oauth.ts';
import type { AuthAttempts } from '../accounts/auth-attempts.ts';
import { sendPlainPage } from '../http/plain-page.ts';
import { readAuthorizeRequest } from './authorize-request.ts';
import type { OauthClients } from './oauth-clients.ts';
import { OAUTH_PATHS, readResource } from './oauth-metadata.ts';
import { OauthRefusal, sendOauthError } from './oauth-refusal.ts';
import {
  type Form,
  issueTokens,
  POLL_SECONDS,
  requireField,
  revokeToken,
  SECRET_BYTES,
  type TokenOptions,
} from './tokens.ts';

export interface OauthRouteOptions extends TokenOptions {
  /** the clients that a request can be about */
  chooseClients: (request: FastifyRequest) => OauthClients;
  attempts: AuthAttempts;
}

/** The page on which a person decides about a client; the query of the request follows. */
const CONSENT_PATH = '/oauth/consent';
/** The page on which a person enters the code of a device. */
const DEVICE_PATH = '/oauth/device';
/** How long a device waits for a person. Seconds. */
const DEVICE_SECONDS = 600;
const USER_CODE_BYTES = 16;
const BODY_LIMIT = 32_768;

/** Serves the endpoints of OAuth 2.1 that clients call, and the one to which they send a person's browser. None takes a session or a key. */
export async function oauthRoutes(app: FastifyInstance, options: OauthRouteOptions): Promise<void> {
  const { chooseClients, attempts, publicUrl } = options;
  const hidden = { schema: { hide: true }, bodyLimit: BODY_LIMIT };

  app.get(OAUTH_PATHS.authorize, hidden, async (request, reply) => {
    await attempts.take({ kind: 'oauth-client', address: request.ip, account: null });
    const parameters = request.query as Record<string, unknown>;
    const toConsent = () => reply.redirect(`${CONSENT_PATH}${request.url.slice(OAUTH_PATHS.authorize.length)}`);
    // A document is read for persons who are signed in only: a stranger must not choose what this service connects to.
    if (isDocumentId(String(parameters['client_id']))) return toConsent();
    const read = await readAuthorizeRequest(parameters, { clients: chooseClients(request), publicUrl });
    if (!('kind' in read)) return toConsent();
    if (read.kind === 'redirected') return reply.redirect(read.location);
    return sendPlainPage(reply.code(400), 'This program cannot connect', read.message);
  });

  await app.register(async (json) => {
    json.setErrorHandler(sendOauthError);
    json.post(OAUTH_PATHS.register, hidden, async (request, reply) => {
      await attempts.take({ kind: 'oauth-client', address: request.ip, account: null });
      const { id, name, redirectUris } = await chooseClients(request).register(request.body);
      return reply.code(201).send({
        client_id: id,
        client_id_issued_at: Math.floor(options.now().getTime() / 1_000),
        client_name: name,
        redirect_uris: redirectUris,
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
      });
    });
  });

  await app.register(async (forms) => {
    forms.setErrorHandler(sendOauthError);
    acceptForms(forms);
    forms.post(OAUTH_PATHS.token, hidden, (request) => issueTokens(options, readForm(request), request));
    forms.post(OAUTH_PATHS.revoke, hidden, async (request) => {
      await revokeToken(options, readForm(request), request);
      return {};
    });
    forms.post(OAUTH_PATHS.device, hidden, async (request) => {
      await attempts.take({ kind: 'device', address: request.ip, account: null });
      return startDevice(options, readForm(request), request.ip);
    });
  });

  async function startDevice({ database, now, random }: OauthRouteOptions, form: Form, address: string) {
    if (requireField(form, 'client_id') !== COMMAND_LINE_CLIENT.id)
      throw new OauthRefusal('unauthorized_client', 'Only the command line of Postroom signs in with a code');
    const resource = readResource(form.get('resource') ?? publicUrl, publicUrl);
    if (resource === null) throw new OauthRefusal('invalid_target', `resource must be ${publicUrl}`);
    const device = makeOauthSecret('device', random(SECRET_BYTES));
    const userCode = makeUserCode(random(USER_CODE_BYTES));
    const isNew = await createCode(database, {
      secretSha256: hashOauthSecret(device),
      expiresAt: new Date(now().getTime() + DEVICE_SECONDS * 1_000),
      columns: {
        user_code: userCode,
        client_id: COMMAND_LINE_CLIENT.id,
        client_name: COMMAND_LINE_CLIENT.name,
        client_host: `a terminal at ${address}`,
        resource,
        scope: form.get('scope')?.slice(0, 1_000) ?? null,
      },
    });
    // One of 25 billion codes was taken.
    if (!isNew) throw new OauthRefusal('temporarily_unavailable', 'Try again', 503);
    return {
      device_code: device,
      user_code: userCode,
      verification_uri: `${publicUrl}${DEVICE_PATH}`,
      verification_uri_complete: `${publicUrl}${DEVICE_PATH}?code=${userCode}`,
      expires_in: DEVICE_SECONDS,
      interval: POLL_SECONDS,
    };
  }
}

function acceptForms(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) => {
    const form = new Map<string, string>();
    for (const [name, value] of new URLSearchParams(body as string)) {
      // RFC 6749 §3.2
      if (form.has(name)) return done(new OauthRefusal('invalid_request', 'A parameter is given more than once'));
      form.set(name, value);
    }
    done(null, form);
  });
}

function readForm({ body }: FastifyRequest): Form {
  return body instanceof Map ? body : new Map<string, string>();
}
