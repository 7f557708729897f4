import type { FastifyInstance } from 'fastify';
import { deriveAuthSecret, deriveDeviceSecret, resetLinkUrl } from '../../core/accounts/auth-secret.ts';
import { HOSTED_ADDRESS, passwordChangedMail, resetMail, type SystemMail } from '../../core/accounts/system-account.ts';
import { UserError } from '../../core/shared/errors.ts';
import { loadOnce } from '../../core/shared/load-once.ts';
import type { Database } from '../../db/connection/database.ts';
import { settlePasswordReset } from '../../db/queries/accounts/password.ts';
import { dropLinks } from '../../db/queries/accounts/sign-in-link.ts';
import type { Bus } from '../../schema/messages.ts';
import type { LocalSetting } from '../admission/forwarded-requests.ts';
import type { GatewayConfig } from '../gateway-config.ts';
import { warnOfUnknownFields } from '../http/body-warnings.ts';
import { accountExportRoute } from './account-export.ts';
import type { AuthOptions } from './auth.ts';
import { createAuthAttempts } from './auth-attempts.ts';
import { authRoutes, CLIENT_ADDRESS_FIELD } from './auth-routes.ts';
import { invitationRoutes } from './invitation-routes.ts';
import { createPasswordQueue } from './password-queue.ts';
import { openOidcClients, providerRoutes } from './provider-routes.ts';
import { secondFactorRoutes } from './second-factor-routes.ts';
import { openSessionLookup, type SessionLookup } from './session-lookup.ts';
import { createSignInNotices } from './sign-in-notices.ts';
import type { SignInParts } from './sign-in-parts.ts';
import { singleSignOnRoutes } from './single-sign-on-routes.ts';
import { workspaceRoutes } from './workspace-routes.ts';

/** Sign-in, and the sessions that result from it. */
export interface Accounts {
  sessions: SessionLookup;
  /** to be mounted at /api/auth */
  routes: (app: FastifyInstance) => Promise<void>;
}

export interface AccountsOptions
  extends Pick<GatewayConfig, 'allowedPrivateNetworks' | 'ownPorts' | 'dnsServers' | 'trustedCertificates' | 'oidc'>,
    Omit<AuthOptions, 'clientAddressField' | 'onSessionEnded' | 'mailResetLink' | 'onPasswordReset'> {
  /** role postroom_gateway, which reads the data of a user */
  userDatabase: Database;
  /** settings that are open because only this machine reaches the service; none if omitted */
  openForLocal?: readonly LocalSetting[];
  bus: Bus;
  now: () => Date;
  /** ends the process at these points, for tests */
  fault?: SignInParts['fault'];
  /** Queues an email. Resolves once it is stored. */
  mail: (mail: SystemMail) => Promise<void>;
}

export function openAccounts(options: AccountsOptions): Accounts {
  const { database, bus, log, now, random, publicUrl, secretKey, isSignUpOpen, mail } = options;
  const sessions = openSessionLookup({ database, bus, now, publicUrl, secret: deriveAuthSecret(secretKey) });
  function forgetSessions(id: string): void {
    sessions.forget(id);
    bus.publish('credential.changed', { ownerId: id });
  }
  async function onPasswordChanged({ id, email }: { id: string; email: string }): Promise<void> {
    // Not awaited, because the password is changed even if the email cannot be sent.
    mail(passwordChangedMail(email, publicUrl)).catch((error: unknown) =>
      log.warn({ err: error, personId: id }, 'failed to email a password change'),
    );
    await dropLinks(database, id);
  }
  async function onPasswordReset(person: { id: string; email: string }): Promise<void> {
    await settlePasswordReset(database, person.id);
    forgetSessions(person.id);
    await onPasswordChanged(person);
  }
  /** The response is the same whether a link is mailed. */
  async function mailResetLink(email: string, token: string): Promise<void> {
    try {
      await mail(resetMail(email, resetLinkUrl(publicUrl, token)));
    } catch (error) {
      if (!(error instanceof UserError) || error.reason !== HOSTED_ADDRESS) throw error;
      log.warn('a password was not reset: Postroom stores the mail of the address. See bin/account.ts sign-in-link');
    }
  }
  /** A quarter of all modules of the service belong to better-auth. They are loaded when someone signs in; sessions do not need them. */
  const openAuth = loadOnce(() =>
    import('./auth.ts').then(({ createAuth }) =>
      createAuth({
        database,
        log,
        random,
        publicUrl,
        secretKey,
        isSignUpOpen,
        clientAddressField: CLIENT_ADDRESS_FIELD,
        onSessionEnded: forgetSessions,
        mailResetLink,
        onPasswordReset,
      }),
    ),
  );
  const attempts = createAuthAttempts(database, secretKey);
  return {
    sessions,
    async routes(app) {
      warnOfUnknownFields(app);
      accountExportRoute(app, { userDatabase: options.userDatabase, sessions, publicUrl, now });
      const { openForLocal = [], oidc = null, fault } = options;
      const clients = openOidcClients(options, openForLocal);
      const secret = deriveDeviceSecret(secretKey);
      const parts: SignInParts = {
        openAuth,
        attempts,
        passwords: createPasswordQueue(),
        sessions,
        database,
        publicUrl,
        secretKey,
        random,
        now,
        notices: createSignInNotices({ database, publicUrl, secret, now, mail }),
        isSignUpOpen,
        oidc,
        openForLocal,
        forgetSessions,
        onPasswordChanged,
        fault,
      };
      workspaceRoutes(app, parts);
      providerRoutes(app, clients, parts);
      singleSignOnRoutes(app, clients, parts);
      secondFactorRoutes(app, parts);
      invitationRoutes(app, parts);
      await authRoutes(app, parts);
    },
  };
}
