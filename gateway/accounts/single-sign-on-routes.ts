import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { requireRights } from '../../core/accounts/rights.ts';
import { INVITED_ROLES } from '../../core/accounts/roles.ts';
import { checkWebhookUrl } from '../../core/endpoints/webhook-url.ts';
import { UserError } from '../../core/shared/errors.ts';
import type { AddressGuard } from '../../core/shared/network-address.ts';
import { decryptSecret, encryptSecret, NONCE_BYTES } from '../../core/shared/secret-box.ts';
import {
  findProvider,
  type ProviderRow,
  removeProvider,
  storeProvider,
} from '../../db/queries/accounts/sign-in-provider.ts';
import { requireFreshSignIn } from '../../operations/accounts/fresh-sign-in.ts';
import { readOrigin } from '../admission/audit-notes.ts';
import { findSession } from '../admission/session-admission.ts';
import type { OidcSettings } from './oidc-client.ts';
import type { OidcClients } from './provider-routes.ts';
import { providerCallback } from './provider-sign-in.ts';
import type { SessionCredential } from './session-lookup.ts';
import type { SignInParts } from './sign-in-parts.ts';

const MAX_GROUP_ROLES = 100;

/** Unknown fields are refused, because a misspelled `isRequired` would leave other ways to sign in open. */
const settingsShape = z.strictObject({
  issuer: z.string().trim().max(2_048),
  clientId: z.string().trim().min(1, 'must not be empty').max(500),
  clientSecret: z.string().min(1, 'must not be empty').max(2_000).optional(),
  isRequired: z.boolean().default(false),
  trustsAddresses: z.boolean().default(false),
  groupsClaim: z.string().trim().min(1, 'must not be empty').max(200).default('groups'),
  groupRoles: z
    .array(
      z.strictObject({ group: z.string().trim().min(1, 'must not be empty').max(500), role: z.enum(INVITED_ROLES) }),
    )
    .max(MAX_GROUP_ROLES)
    .default([]),
  defaultRole: z.enum(INVITED_ROLES).nullable().default(null),
});
type Settings = z.infer<typeof settingsShape>;

/**
 * Serves the single sign-on of the workspace of a session, to its owner: the person who decides which provider speaks for the members could sign in as
 * any of them. The secret is never returned.
 */
export function singleSignOnRoutes(
  plain: FastifyInstance,
  { clientOf, guardOf }: OidcClients,
  options: SignInParts,
): void {
  const app = plain.withTypeProvider<ZodTypeProvider>();
  const { database, publicUrl, secretKey, random, now } = options;
  const show = (workspaceId: string, row: ProviderRow | null) => ({
    redirectUri: providerCallback(publicUrl, workspaceId),
    provider:
      row === null
        ? null
        : {
            issuer: row.issuer,
            clientId: row.clientId,
            hasSecret: true,
            isRequired: row.isRequired,
            trustsAddresses: row.trustsAddresses,
            groupsClaim: row.groupsClaim,
            groupRoles: row.groupRoles,
            defaultRole: row.defaultRole,
          },
  });

  app.get('/single-sign-on', { schema: { hide: true } }, async (request) => {
    const { workspaceId } = await requireOwner(request, options);
    return show(workspaceId, await findProvider(database, workspaceId));
  });

  app.post('/single-sign-on', { schema: { hide: true, body: settingsShape } }, async (request) => {
    const session = await requireFreshOwner(request, options);
    const { clientSecret, ...settings } = readSettings(request.body, guardOf(request));
    const isStored = await storeProvider(
      database,
      {
        ...settings,
        workspaceId: session.workspaceId,
        secretCiphertext:
          clientSecret === undefined
            ? null
            : encryptSecret(secretKey, 'provider-secret', clientSecret, random(NONCE_BYTES)),
      },
      { ...readOrigin(request), kind: 'person', id: session.personId },
    );
    if (!isStored) throw secretMissing();
    options.forgetSessions(session.workspaceId);
    return show(session.workspaceId, await findProvider(database, session.workspaceId));
  });

  app.post('/single-sign-on/test', { schema: { hide: true, body: settingsShape } }, async (request) => {
    const session = await requireFreshOwner(request, options);
    await options.attempts.take({ kind: 'provider', address: request.ip, account: session.personId });
    const settings = readSettings(request.body, guardOf(request));
    return {
      steps: await clientOf(request).test(await withSecret(session.workspaceId, settings, options)),
    };
  });

  app.post('/single-sign-on/remove', { schema: { hide: true, body: z.object({}).nullish() } }, async (request) => {
    const session = await requireFreshOwner(request, options);
    await removeProvider(database, session.workspaceId, {
      ...readOrigin(request),
      kind: 'person',
      id: session.personId,
    });
    options.forgetSessions(session.workspaceId);
    return { status: true };
  });

  /** Throws unauthorized, forbidden. */
  async function requireFreshOwner(request: FastifyRequest, given: SignInParts): Promise<SessionCredential> {
    const session = await requireOwner(request, given);
    if (session.providerId !== null)
      throw new UserError(
        'forbidden',
        'You signed in by this single sign-on. Sign in with your password or passkey to change it, so that you keep a way in without it.',
        { title: 'Forbidden', reason: 'OTHER_SIGN_IN_REQUIRED' },
      );
    requireFreshSignIn({ caller: { via: 'session', signedInAt: session.confirmedAt }, now }, 'change single sign-on');
    return session;
  }
}

/** Throws unauthorized, forbidden. */
async function requireOwner(request: FastifyRequest, { sessions, publicUrl }: SignInParts): Promise<SessionCredential> {
  const entry = await findSession(request, sessions, publicUrl);
  if (entry === null) throw new UserError('unauthorized', 'Authentication required');
  requireRights(entry.session.rights, 'Single sign-on', ['ownership']);
  return entry.session;
}

/** Returns the settings with a valid issuer. Throws validation. */
function readSettings(settings: Settings, guard: AddressGuard): Settings {
  const refusal = checkWebhookUrl(settings.issuer, guard);
  const message =
    refusal !== null
      ? refusal.replace('Webhook URL', 'The issuer').replace('Invalid webhook URL format', 'The issuer must be a URL')
      : /[?#]/.test(settings.issuer)
        ? 'The issuer must have no query and no fragment'
        : null;
  if (message !== null) throw new UserError('validation', message, { details: [{ field: 'issuer', message }] });
  return settings;
}

/** Returns the settings with the stored secret, if none is given. It goes to the issuer that it was entered for only. */
async function withSecret(
  workspaceId: string,
  { clientSecret, ...given }: Settings,
  { database, secretKey, publicUrl }: Pick<SignInParts, 'database' | 'secretKey' | 'publicUrl'>,
): Promise<OidcSettings> {
  const settings = { ...given, redirectUri: providerCallback(publicUrl, workspaceId) };
  if (clientSecret !== undefined) return { ...settings, clientSecret };
  const row = await findProvider(database, workspaceId);
  if (row === null || row.issuer !== settings.issuer) throw secretMissing();
  return { ...settings, clientSecret: decryptSecret(secretKey, 'provider-secret', row.secretCiphertext) };
}

function secretMissing(): UserError {
  const message = 'must be given with a new issuer';
  return new UserError(
    'validation',
    'Enter the client secret: the stored one is for another issuer, or none is stored.',
    {
      details: [{ field: 'clientSecret', message }],
    },
  );
}
