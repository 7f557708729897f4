import type { InvitedRole } from './roles.ts';

/** How a session was started: `provider` is single sign-on. */
const SIGN_IN_METHODS = ['password', 'link', 'passkey', 'provider'] as const;
export type SignInMethod = (typeof SIGN_IN_METHODS)[number];

/** How long after signing in, or confirming it, a person may change what gives access. */
export const FRESH_SIGN_IN_MINUTES = 5;

/** The role of the persons in a group of the provider. */
export interface GroupRole {
  group: string;
  role: InvitedRole;
}

const ORDER: readonly InvitedRole[] = ['admin', 'developer', 'agent', 'viewer'];

/**
 * Returns the role of a person in these groups: the one with the most rights, or the default. `isMapped` is whether a group gave it. Null: none
 * of the groups has a role, and there is no default.
 */
export function chooseRole(
  groups: readonly string[],
  { groupRoles, defaultRole }: { groupRoles: readonly GroupRole[]; defaultRole: InvitedRole | null },
): { role: InvitedRole | null; isMapped: boolean } {
  const given = new Set(groupRoles.filter(({ group }) => groups.includes(group)).map(({ role }) => role));
  const role = ORDER.find((each) => given.has(each));
  return role === undefined ? { role: defaultRole, isMapped: false } : { role, isMapped: true };
}

/**
 * Returns the path of the dashboard that a sign-in returns to; `/` unless it is one of this service. Browsers read `//host` and `/\host` as
 * other hosts, and drop tabs and line ends.
 */
export function readReturnPath(given: string | undefined): string {
  if (given === undefined || given.length > 512 || !/^\/(?![/\\])[!-[\]-~]*$/.test(given)) return '/';
  const url = URL.parse(given, 'http://postroom.invalid');
  if (url === null || url.host !== 'postroom.invalid' || url.pathname.startsWith('//')) return '/';
  return url.pathname.startsWith('/api/') ? '/' : `${url.pathname}${url.search}${url.hash}`;
}

/** Why a sign-in by single sign-on failed, in words for the person and the help desk. */
export const PROVIDER_PROBLEMS = {
  STATE_MISMATCH:
    'This sign-in was started in another browser, was used already, or took longer than 10 minutes. Start again from the sign-in page.',
  PROVIDER_UNREACHABLE: 'The sign-in provider of your company did not respond. Try again in a minute.',
  PROVIDER_BLOCKED:
    'The address of the sign-in provider is in a private network. The operator can allow it with ALLOWED_PRIVATE_NETWORKS.',
  PROVIDER_REFUSED: 'The sign-in provider of your company refused the sign-in. Ask its administrator for your access.',
  PROVIDER_MISCONFIGURED:
    'The settings of single sign-on do not fit the provider. An admin can test them under Settings, Single sign-on.',
  CLIENT_REFUSED:
    'The sign-in provider does not accept the client ID or the client secret. An admin can enter a new secret under Settings, Single sign-on.',
  TOKEN_INVALID:
    'The sign-in provider sent a token that is not valid for this service. An admin finds the reason in the log of Postroom.',
  TOKEN_EXPIRED:
    'The sign-in provider sent a token that has expired. The clocks of the provider and of Postroom may differ by more than a minute.',
  ADDRESS_MISSING: 'The sign-in provider sent no email address. Its administrator can add the claim "email".',
  ADDRESS_NOT_VERIFIED:
    'The sign-in provider does not say that your address is verified. Its administrator can add the claim "email_verified".',
  DOMAIN_NOT_VERIFIED:
    'Your address is in a domain that is not verified in this workspace. An admin can add it under Domains.',
  ROLE_MISSING: 'You are in no group that has access. Ask the administrator of the sign-in provider.',
  OTHER_ACCOUNT:
    'Your address belongs to another account of the sign-in provider. An admin can remove that member and try again.',
  TOO_MANY_MEMBERS: 'The workspace has no room for more members. Ask its owner.',
  ACCOUNT_CLOSED: 'Your account is being erased. Try again when that is done.',
  WORKSPACE_GONE: 'The workspace, or its single sign-on, is closed.',
  OTHER_PERSON: 'You confirmed the sign-in with another account. Choose the account that you are signed in with.',
} as const;
export type ProviderProblem = keyof typeof PROVIDER_PROBLEMS;
