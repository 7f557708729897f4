import { createHash } from 'node:crypto';
import { z } from 'zod';
import { deriveProviderSecret, providerToken, storedIdentifier } from '../../core/accounts/auth-secret.ts';
import { hasRoleRight } from '../../core/accounts/rights.ts';
import {
  chooseRole,
  FRESH_SIGN_IN_MINUTES,
  type ProviderProblem,
  readReturnPath,
} from '../../core/accounts/sign-in.ts';
import { canonicalAddress } from '../../core/domains/domain-name.ts';
import { IDENTIFIER_RANDOM_BYTES, makeIdentifier } from '../../core/shared/identifiers.ts';
import { decryptSecret } from '../../core/shared/secret-box.ts';
import type { Database } from '../../db/connection/database.ts';
import {
  findProvider,
  findWorkspaceOfOwner,
  type ProviderOutcome,
  signInByProvider,
  signInByServiceProvider,
  storeStartedSignIn,
  takeStartedSignIn,
} from '../../db/queries/accounts/sign-in-provider.ts';
import { MAX_MEMBERS } from '../../operations/accounts/invitations.ts';
import type { ServiceProvider } from '../gateway-config.ts';
import { type OidcChecks, type OidcClient, type OidcPerson, OidcProblem, type OidcSettings } from './oidc-client.ts';

/** The provider of the service, beside those of workspaces, which have the ID of the workspace. */
export const SERVICE_PROVIDER = 'service';
/** Where providers send persons back to, below PUBLIC_URL. */
const CALLBACK_PATH = '/api/auth/provider/callback';
/** How long a person may take at the provider; milliseconds. */
export const STARTED_LIFE_MS = 600_000;
const STATE_BYTES = 32;
const MAX_NAME = 100;
/** Characters of an issuer and a subject; OpenID Connect Core §2 limits a subject to 255. */
const MAX_SUBJECT = 255;

export interface ProviderSignInOptions {
  /** role postroom_auth */
  database: Database;
  secretKey: Uint8Array;
  random: (bytes: number) => Uint8Array;
  now: () => Date;
  publicUrl: string;
  oidc: ServiceProvider | null;
}

/**
 * Returns the redirect URI of a provider. Each has its own: a response does not say reliably who sent it, and a provider of another workspace that
 * leads persons on to this one would get the codes of this one otherwise (RFC 9700 §4.4).
 */
export function providerCallback(publicUrl: string, provider: string): string {
  return `${publicUrl}${CALLBACK_PATH}${provider === SERVICE_PROVIDER ? '' : `/${provider}`}`;
}

/** A sign-in that was started, as it is stored. */
const started = z.object({
  provider: z.string(),
  returnTo: z.string(),
  /** the session and the person that confirm to be there; null: a person signs in */
  confirms: z.object({ sessionId: z.string(), personId: z.string() }).nullable(),
});
type StartedSignIn = z.infer<typeof started>;

/** How a provider's sign-in ended. */
interface FinishedSignIn extends StartedSignIn {
  personId: string;
}

/** The sign-ins by single sign-on: what is kept between leaving for the provider and coming back. */
export interface ProviderSignIn {
  /** Returns the URL of the provider, and the cookie that binds the sign-in to the browser. Throws OidcProblem. */
  start(client: OidcClient, sign: StartedSignIn): Promise<{ url: string; cookie: { name: string; value: string } }>;
  /** Returns the URL at a provider that ends the person's session there; null: the provider has none. Throws OidcProblem. */
  end(client: OidcClient, provider: string): Promise<string | null>;
  /** Finishes the sign-in of a response that came to the callback of a provider, in the browser with these cookies. Throws OidcProblem. */
  finish(
    client: OidcClient,
    response: { provider: string; search: string },
    cookieOf: (name: string) => string | null,
  ): Promise<FinishedSignIn>;
}

interface FoundProvider extends OidcSettings {
  trustsAddresses: boolean;
  admit: (person: OidcPerson & { email: string }) => Promise<{ outcome: ProviderOutcome; personId: string | null }>;
}

export function createProviderSignIn(options: ProviderSignInOptions): ProviderSignIn {
  const { database, random, now, publicUrl } = options;
  const secret = deriveProviderSecret(options.secretKey);

  function makeChecks(state: string, { confirms }: Pick<StartedSignIn, 'confirms'>): OidcChecks {
    return {
      state,
      nonce: providerToken(secret, 'nonce', state),
      verifier: providerToken(secret, 'verifier', state),
      maxAgeSeconds: confirms === null ? null : FRESH_SIGN_IN_MINUTES * 60,
    };
  }

  return {
    async start(client, sign) {
      const provider = await requireProvider(options, sign.provider);
      const state = Buffer.from(random(STATE_BYTES)).toString('base64url');
      const url = await client.start(provider, makeChecks(state, sign));
      await storeStartedSignIn(database, {
        id: makeIdentifier('verification', now(), random(IDENTIFIER_RANDOM_BYTES)),
        identifier: makeStateIdentifier(state),
        value: JSON.stringify(sign),
        expiresAt: new Date(now().getTime() + STARTED_LIFE_MS),
      });
      return { url, cookie: { name: cookieName(state), value: providerToken(secret, 'browser', state) } };
    },

    end: async (client, provider) => client.end(await requireProvider(options, provider)),

    async finish(client, { provider: called, search }, cookieOf) {
      const url = new URL(search, providerCallback(publicUrl, called));
      const state = url.searchParams.get('state') ?? '';
      if (cookieOf(cookieName(state)) !== providerToken(secret, 'browser', state))
        throw new OidcProblem('STATE_MISMATCH', 'the browser did not start a sign-in with this state');
      const stored = await takeStartedSignIn(database, makeStateIdentifier(state), now());
      if (stored === null) throw new OidcProblem('STATE_MISMATCH', 'the state was used, or has expired');
      const sign = started.parse(JSON.parse(stored));
      if (sign.provider !== called)
        throw new OidcProblem(
          'STATE_MISMATCH',
          `the sign-in was started at ${sign.provider}, the response is of ${called}`,
        );
      const provider = await requireProvider(options, sign.provider);
      const person = await client.finish(provider, url, makeChecks(state, sign));
      const { outcome, personId } = await provider.admit(requireAddress(person, provider));
      if (outcome !== 'signed in' || personId === null) throw new OidcProblem(PROBLEMS[outcome], `outcome: ${outcome}`);
      if (sign.confirms !== null && sign.confirms.personId !== personId)
        throw new OidcProblem('OTHER_PERSON', 'another person confirmed the sign-in');
      return { ...sign, returnTo: readReturnPath(sign.returnTo), personId };
    },
  };
}

const PROBLEMS: Record<ProviderOutcome, ProviderProblem> = {
  'signed in': 'TOKEN_INVALID',
  'no workspace': 'WORKSPACE_GONE',
  'other domain': 'DOMAIN_NOT_VERIFIED',
  'no role': 'ROLE_MISSING',
  closed: 'ACCOUNT_CLOSED',
  'other subject': 'OTHER_ACCOUNT',
  'too many members': 'TOO_MANY_MEMBERS',
};

/** Returns the cookie that binds a sign-in to its browser; each has its own, because tabs may start several. */
function cookieName(state: string): string {
  return `postroom.provider_${createHash('sha256').update(state).digest('hex').slice(0, 12)}`;
}

function makeStateIdentifier(state: string): string {
  return storedIdentifier(`provider-sign-in:${state}`);
}

/** Returns the person with a valid address that the provider vouches for. Throws OidcProblem. */
function requireAddress(person: OidcPerson, { trustsAddresses }: FoundProvider): OidcPerson & { email: string } {
  if (person.subject === '' || person.subject.length > MAX_SUBJECT)
    throw new OidcProblem('TOKEN_INVALID', `sub must have 1 to ${MAX_SUBJECT} characters`);
  if (person.email === null) throw new OidcProblem('ADDRESS_MISSING', 'neither the ID token nor userinfo has email');
  const email = z.email().max(254).safeParse(person.email);
  if (!email.success || canonicalAddress(person.email) === null)
    throw new OidcProblem('ADDRESS_MISSING', 'the claim email is no address');
  if (person.isEmailVerified === false || (person.isEmailVerified === null && !trustsAddresses))
    throw new OidcProblem('ADDRESS_NOT_VERIFIED', `email_verified is ${person.isEmailVerified ?? 'missing'}`);
  return { ...person, email: email.data };
}

/** Returns the settings of a provider and who gets in by it. Throws OidcProblem when there is none. */
async function requireProvider(options: ProviderSignInOptions, id: string): Promise<FoundProvider> {
  const { database, secretKey, random, now, publicUrl, oidc } = options;
  const redirectUri = providerCallback(publicUrl, id);
  const draw = (kind: 'user' | 'credential') => makeIdentifier(kind, now(), random(IDENTIFIER_RANDOM_BYTES));
  const provided = (issuer: string, person: OidcPerson & { email: string }) => ({
    accountId: `${issuer} ${person.subject}`,
    email: person.email,
    name: (person.name ?? '').trim().slice(0, MAX_NAME).toWellFormed().replaceAll('\0', ''),
    personId: draw('user'),
    credentialId: draw('credential'),
  });
  const join = (
    workspaceId: string,
    person: ReturnType<typeof provided>,
    groups: readonly string[],
    { isOfService, ...rules }: Parameters<typeof chooseRole>[1] & { isOfService: boolean },
  ) => {
    const { role, isMapped } = chooseRole(groups, rules);
    const keepsKeys = role !== null && hasRoleRight(role, 'keys');
    const given = { ...person, role, isMapped, keepsKeys, maxMembers: MAX_MEMBERS, isOfService };
    return signInByProvider(database, workspaceId, given);
  };
  if (id === SERVICE_PROVIDER) {
    if (oidc === null) throw new OidcProblem('WORKSPACE_GONE', 'OIDC_ISSUER is not set');
    return {
      ...oidc,
      redirectUri,
      groupsClaim: 'groups',
      async admit(person) {
        const domain = canonicalAddress(person.email)?.domain ?? '';
        if (!oidc.domains.includes(domain)) return { outcome: 'other domain', personId: null };
        const named = provided(oidc.issuer, person);
        if (oidc.joins === null) return signInByServiceProvider(database, named);
        const workspaceId = await findWorkspaceOfOwner(database, oidc.joins.ownerEmail);
        if (workspaceId === null)
          throw new OidcProblem('WORKSPACE_GONE', `OIDC_WORKSPACE: ${oidc.joins.ownerEmail} owns no workspace`);
        const { groupRoles } = oidc.joins;
        return join(workspaceId, named, person.groups, { groupRoles, defaultRole: null, isOfService: true });
      },
    };
  }
  const row = await findProvider(database, id);
  if (row === null) throw new OidcProblem('WORKSPACE_GONE', 'the workspace has no single sign-on');
  return {
    issuer: row.issuer,
    clientId: row.clientId,
    clientSecret: decryptSecret(secretKey, 'provider-secret', row.secretCiphertext),
    redirectUri,
    groupsClaim: row.groupsClaim,
    trustsAddresses: row.trustsAddresses,
    admit: (person) => join(id, provided(row.issuer, person), person.groups, { ...row, isOfService: false }),
  };
}
