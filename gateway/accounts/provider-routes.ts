import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { openDispatcherLater } from '../../actors/network/checked-request.ts';
import { PROVIDER_PROBLEMS, readReturnPath } from '../../core/accounts/sign-in.ts';
import { UserError } from '../../core/shared/errors.ts';
import { type AddressGuard, createAddressGuard } from '../../core/shared/network-address.ts';
import type { Database } from '../../db/connection/database.ts';
import { confirmSession } from '../../db/queries/accounts/session.ts';
import { findProviderOfDomain } from '../../db/queries/accounts/sign-in-provider.ts';
import { isClosedFor, type LocalSetting } from '../admission/forwarded-requests.ts';
import { findPerson, foreignPage, isOwnPageOrProgram } from '../admission/session-admission.ts';
import type { GatewayConfig, ServiceProvider } from '../gateway-config.ts';
import { asOwnRequest } from './auth-routes.ts';
import { createOidcClient, type OidcClient, OidcProblem } from './oidc-client.ts';
import { createProviderSignIn, SERVICE_PROVIDER, STARTED_LIFE_MS } from './provider-sign-in.ts';
import { findCookie, pathCookieName, writePathCookie } from './session-lookup.ts';
import type { SignInParts } from './sign-in-parts.ts';

/** Where the provider sends persons after they signed out there, below PUBLIC_URL. */
const SIGNED_OUT_PATH = '/sign-in';
/** The cookie with the person whom the provider of the service signed in, in this browser. */
const SIGNED_IN_COOKIE = 'postroom.provider_person';
const SIGNED_IN_SECONDS = 34_560_000;

/** Requests to providers: requests that a proxy forwards to a service for this machine reach no private address. */
export interface OidcClients {
  clientOf: (request: FastifyRequest) => OidcClient;
  guardOf: (request: FastifyRequest) => AddressGuard;
}

export function openOidcClients(
  config: Pick<
    GatewayConfig,
    'allowedPrivateNetworks' | 'ownPorts' | 'dnsServers' | 'trustedCertificates' | 'publicUrl'
  >,
  openForLocal: readonly LocalSetting[],
): OidcClients {
  const { ownPorts, dnsServers = [], trustedCertificates = null } = config;
  const create = (allowedPrivateNetworks: readonly string[]) => {
    const guard = createAddressGuard({ allowedPrivateNetworks, ownPorts });
    const client = createOidcClient(
      openDispatcherLater({ guard, dnsServers, trustedCertificates }),
      `${config.publicUrl}${SIGNED_OUT_PATH}`,
    );
    return { guard, client };
  };
  const own = create(config.allowedPrivateNetworks);
  const forwarded = create([]);
  const choose = (request: FastifyRequest) =>
    isClosedFor(request, openForLocal, 'ALLOWED_PRIVATE_NETWORKS') ? forwarded : own;
  return { clientOf: (request) => choose(request).client, guardOf: (request) => choose(request).guard };
}

/**
 * Serves single sign-on: `POST /provider/start` returns the URL of the provider of an address, or of the session that has to be confirmed;
 * the provider sends the person to its own callback, `GET /provider/callback/{workspace}` or, that of the service, `GET /provider/callback`, which
 * signs in and redirects to the dashboard.
 */
export function providerRoutes(
  plain: FastifyInstance,
  { clientOf }: Pick<OidcClients, 'clientOf'>,
  options: SignInParts,
): void {
  const app = plain.withTypeProvider<ZodTypeProvider>();
  const { database, sessions, publicUrl, now, oidc } = options;
  const signIn = createProviderSignIn(options);
  const count = (request: FastifyRequest) =>
    options.attempts.take({ kind: 'provider', address: request.ip, account: null });
  const readCookie = ({ headers }: FastifyRequest, name: string) =>
    findCookie(headers.cookie, pathCookieName(name, publicUrl));
  const setCookie = (reply: FastifyReply, name: string, value: string, seconds: number) =>
    reply.header('set-cookie', writePathCookie({ name, value, path: '/api/auth/provider', seconds }, publicUrl));

  app.post(
    '/provider/start',
    {
      schema: {
        hide: true,
        body: z.object({
          email: z.email('must be an address such as you@example.com').max(254).toLowerCase().optional(),
          returnTo: z.string().max(2_048).optional(),
          confirms: z.boolean().optional(),
        }),
      },
      async onRequest(request) {
        if (!isOwnPageOrProgram(request, publicUrl)) throw foreignPage();
        await count(request);
      },
    },
    async (request, reply) => {
      const { email, confirms = false } = request.body;
      const returnTo = readReturnPath(request.body.returnTo);
      const entry = confirms ? await findPerson(request, sessions, publicUrl) : null;
      if (confirms && entry === null) throw new UserError('unauthorized', 'Authentication required');
      const provider =
        entry === null ? await findByAddress(database, oidc, email) : (entry.session.providerId ?? SERVICE_PROVIDER);
      const confirmed =
        entry === null ? null : { sessionId: entry.session.sessionId, personId: entry.session.personId };
      try {
        const { url, cookie } = await signIn.start(clientOf(request), { provider, returnTo, confirms: confirmed });
        setCookie(reply, cookie.name, cookie.value, STARTED_LIFE_MS / 1_000);
        return { url };
      } catch (error) {
        if (!(error instanceof OidcProblem)) throw error;
        throw refusedStart(request, error);
      }
    },
  );

  app.post(
    '/provider/sign-out',
    {
      schema: { hide: true, body: z.object({}).nullish() },
      async onRequest(request) {
        if (!isOwnPageOrProgram(request, publicUrl)) throw foreignPage();
        await count(request);
      },
    },
    async (request) => {
      const entry = await findPerson(request, sessions, publicUrl);
      if (entry === null) throw new UserError('unauthorized', 'Authentication required');
      const { providerId, personId } = entry.session;
      const isOfService = oidc !== null && readCookie(request, SIGNED_IN_COOKIE) === personId;
      const provider = providerId ?? (isOfService ? SERVICE_PROVIDER : null);
      if (provider === null) return { url: null };
      try {
        return { url: await signIn.end(clientOf(request), provider) };
      } catch (error) {
        if (!(error instanceof OidcProblem)) throw error;
        // The person signs out of Postroom all the same.
        logProblem(request, error);
        return { url: null };
      }
    },
  );

  const comeBack = async (request: FastifyRequest, reply: FastifyReply, called: string) => {
    const { search } = new URL(request.url, publicUrl);
    try {
      const { provider, personId, returnTo, confirms } = await signIn.finish(
        clientOf(request),
        { provider: called, search },
        (name) => readCookie(request, name),
      );
      if (confirms === null) {
        const providerId = provider === SERVICE_PROVIDER ? null : provider;
        const person = providerId === null ? personId : '';
        setCookie(reply, SIGNED_IN_COOKIE, person, person === '' ? 0 : SIGNED_IN_SECONDS);
        await openSession(request, reply, options, { personId, providerId });
        options.notices.noteDevice(request, reply, personId);
        // Groups may have changed the role.
        options.forgetSessions(providerId ?? personId);
      } else {
        await confirmSession(database, confirms.sessionId, now());
        options.forgetSessions(personId);
      }
      return await reply.header('cache-control', 'no-store').redirect(returnTo, 303);
    } catch (error) {
      if (!(error instanceof OidcProblem)) throw error;
      logProblem(request, error);
      const query = new URLSearchParams({ problem: error.problem, reference: request.id });
      return reply.header('cache-control', 'no-store').redirect(`/sign-in?${query}`, 303);
    }
  };
  const callback = { schema: { hide: true }, onRequest: count };
  app.get('/provider/callback', callback, (request, reply) => comeBack(request, reply, SERVICE_PROVIDER));
  app.get('/provider/callback/:workspaceId', callback, (request, reply) =>
    comeBack(request, reply, (request.params as { workspaceId: string }).workspaceId),
  );
}

/** Returns the provider that speaks for an address: that of the workspace where its domain is verified, or that of the service. */
async function findByAddress(
  database: Database,
  oidc: ServiceProvider | null,
  email: string | undefined,
): Promise<string> {
  const domain = email?.slice(email.lastIndexOf('@') + 1) ?? null;
  const found = domain === null ? null : await findProviderOfDomain(database, domain);
  if (found !== null) return found.workspaceId;
  if (oidc !== null && (domain === null || oidc.domains.includes(domain))) return SERVICE_PROVIDER;
  throw new UserError(
    'not_found',
    domain === null
      ? 'This service has no single sign-on of its own. Enter your email address.'
      : `Single sign-on is not set up for ${domain}. Sign in with your password or passkey.`,
    { reason: 'NO_PROVIDER' },
  );
}

/** Signs a person in whom a provider named. Sets the cookie of the session. */
async function openSession(
  request: FastifyRequest,
  reply: FastifyReply,
  { openAuth, publicUrl }: SignInParts,
  body: { personId: string; providerId: string | null },
): Promise<void> {
  const auth = await openAuth();
  const response = await auth.handler(
    asOwnRequest(request, { method: 'POST', path: '/sign-in/provider', body }, publicUrl),
  );
  if (!response.ok) throw new Error(`better-auth responded ${response.status} to a sign-in by single sign-on`);
  for (const cookie of response.headers.getSetCookie()) reply.header('set-cookie', cookie);
}

function refusedStart(request: FastifyRequest, problem: OidcProblem): UserError {
  logProblem(request, problem);
  return new UserError('validation', PROVIDER_PROBLEMS[problem.problem], { reason: problem.problem });
}

function logProblem(request: FastifyRequest, { problem, detail }: OidcProblem): void {
  request.log.warn({ event: 'sign-in.provider-refused', problem, detail }, 'a sign-in by single sign-on failed');
}
