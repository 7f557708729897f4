import { reportSession, workspaceHeaders } from '../../client.ts';
import { confirmed } from '../../parts/confirm-sign-in.ts';

/** The signed-in user. */
export type AuthUser = { id: string; email: string; name: string; createdAt: string };

/** A session of a browser. */
export interface AuthSession {
  id: string;
  createdAt: string;
  /** the last recorded use, at most a few minutes old */
  updatedAt: string;
  expiresAt: string;
  ipAddress?: string | null;
  userAgent?: string | null;
}

export interface Passkey {
  id: string;
  name?: string | null;
  createdAt?: string | null;
  /** whether it is synchronized beyond the device */
  backedUp: boolean;
}

/** A workspace that the signed-in person is a member of. */
export type OwnWorkspace = { id: string; name: string; role: string; members: number };

/** What an invitation says. */
export interface ShownInvitation {
  email: string;
  workspaceName: string;
  role: string;
  invitedByName: string | null;
  state: 'open' | 'expired' | 'revoked' | 'accepted';
  /** whether the address can sign in */
  hasAccount: boolean;
}

/** What a person can allow a program. */
export type GrantLevel = 'read' | 'send' | 'everything';

/** Which request of a program a person decides about: the query of its link, or the code that a terminal shows. */
export type ConnectRequest = { parameters: Record<string, string> } | { userCode: string };

/** What a program asks for. */
export interface ConnectQuestion {
  /** `verifiedHost` null: anyone can give a program this name */
  client: { name: string; verifiedHost: string | null };
  /** where the browser goes next, or where the terminal is */
  host: string;
  workspaceId: string;
  /** what the role of the person allows */
  levels: GrantLevel[];
  requested: GrantLevel;
}

/** Error of an account request. */
export interface AuthProblem {
  /** text for the user */
  message: string;
  /** such as INVALID_EMAIL_OR_PASSWORD; null if there is none */
  code: string | null;
  /** HTTP status; 0 without a response */
  status: number;
  /** errors of fields, by field name */
  fields: Record<string, string>;
}

export type AuthOutcome<Result> = { result: Result; problem: null } | { result: null; problem: AuthProblem };

/** What is possible before sign-in. */
export interface AuthSettings {
  signUp: boolean;
  passkeyHost: string;
  /** `by address`: some workspaces may have single sign-on; `service`: the service has it; `required`: there is no other way */
  singleSignOn: 'by address' | 'service' | 'required';
}

/** The second factor of the person. */
export interface SecondFactorState {
  isOn: boolean;
  recoveryCodesLeft: number;
  /** whether the members of the workspace need one */
  isRequired: boolean;
  /** whether the session lacks it */
  isMissing: boolean;
  /** whether the session began by single sign-on */
  isByProvider: boolean;
  /** whether the person signed in, or confirmed it, within the last minutes */
  isFresh: boolean;
}

/** The single sign-on of a workspace. */
export interface ProviderSettings {
  issuer: string;
  clientId: string;
  isRequired: boolean;
  trustsAddresses: boolean;
  groupsClaim: string;
  groupRoles: { group: string; role: string }[];
  defaultRole: string | null;
}
type NewProviderSettings = ProviderSettings & { clientSecret: string | undefined };

/** A step of the test of a provider. */
export interface ProviderStep {
  step: 'discovery' | 'keys' | 'authorization' | 'token';
  isPassed: boolean;
  text: string;
}

type Done = { status: boolean };
type Joined = Done & { workspaceId: string };
type SignedIn = { user: AuthUser };
/** A sign-in by password or link, which an authenticator app may have to complete. */
export type Entered = SignedIn | { secondFactor: 'totp' };
type ShownProvider = { redirectUri: string; provider: ProviderSettings | null };

/** Calls of `/api/auth`. Scripts cannot read the session cookie, which the browser manages. */
export const auth = {
  settings: () => get<AuthSettings>('/settings'),
  /** Returns the session; null if the user is signed out. Only this call extends a session. */
  session: () => get<{ user: AuthUser; session: AuthSession } | null>('/get-session'),
  signUp: (body: { name: string; email: string; password: string }) => post<SignedIn>('/sign-up/email', body),
  signIn: (body: { email: string; password: string }) => post<Entered>('/sign-in/email', body),
  signInByLink: (token: string) => post<Entered>('/sign-in/link', { token }),
  verifySecondFactor: (body: { code: string } | { recoveryCode: string }) =>
    post<SignedIn>('/second-factor/verify', body),
  startProvider: (body: { email?: string; returnTo: string; confirms?: boolean }) =>
    post<{ url: string }>('/provider/start', body),
  confirmSignIn: (password: string) => post<Done>('/confirm-sign-in', { password }),
  secondFactor: () => get<SecondFactorState>('/second-factor'),
  setUpSecondFactor: () => post<{ url: string; secret: string }>('/second-factor/set-up'),
  turnOnSecondFactor: (code: string) => post<{ recoveryCodes: string[] }>('/second-factor/turn-on', { code }),
  renewRecoveryCodes: () => post<{ recoveryCodes: string[] }>('/second-factor/recovery-codes'),
  removeSecondFactor: () => post<Done>('/second-factor/remove'),
  requireSecondFactor: (isRequired: boolean) => post<Done>('/second-factor/require', { isRequired }),
  singleSignOn: () => get<ShownProvider>('/single-sign-on'),
  setSingleSignOn: (body: NewProviderSettings) => post<ShownProvider>('/single-sign-on', body),
  testSingleSignOn: (body: NewProviderSettings) => post<{ steps: ProviderStep[] }>('/single-sign-on/test', body),
  removeSingleSignOn: () => post<Done>('/single-sign-on/remove'),
  signOut: () => post<Done>('/sign-out'),
  findProviderSignOut: () => post<{ url: string | null }>('/provider/sign-out'),
  sessions: () => get<AuthSession[]>('/list-sessions'),
  endSession: (id: string) => post<Done>('/end-session', { id }),
  endOtherSessions: () => post<Done>('/revoke-other-sessions'),
  endAllSessions: () => post<Done>('/revoke-sessions'),
  rename: (name: string) => post<Done>('/update-user', { name }),
  credentials: () => get<{ hasPassword: boolean }>('/list-accounts'),
  changePassword: (body: { currentPassword: string; newPassword: string }) => post<SignedIn>('/change-password', body),
  setPassword: (newPassword: string) => post<Done>('/set-password', { newPassword }),
  requestReset: (email: string) => post<Done>('/request-password-reset', { email }),
  resetPassword: (token: string, newPassword: string) => post<Done>('/reset-password', { token, newPassword }),
  workspaces: () => get<{ active: { id: string }; workspaces: OwnWorkspace[] }>('/workspaces'),
  switchWorkspace: (workspaceId: string) => post<Done>('/switch-workspace', { workspaceId }),
  invitation: (token: string) => post<ShownInvitation>('/invitation', { token }),
  acceptInvitation: (token: string) => post<Joined>('/accept-invitation', { token }),
  signUpInvited: (body: { token: string; name: string; newPassword: string }) =>
    post<Joined>('/sign-up/invitation', body),
  connectRequest: (asked: ConnectRequest) =>
    post<{ question: ConnectQuestion } | { location: string }>('/oauth/request', asked),
  decideConnection: (body: {
    asked: ConnectRequest;
    workspaceId: string;
    level: GrantLevel | null;
    addresses: string[] | null;
  }) => post<{ location: string | null }>('/oauth/decision', body),
  passkeys: () => get<Passkey[]>('/passkey/list-user-passkeys'),
  renamePasskey: (id: string, name: string) => post<{ passkey: Passkey }>('/passkey/update-passkey', { id, name }),
  removePasskey: (id: string) => post<Done>('/passkey/delete-passkey', { id }),
  optionsToAddPasskey: () => get<PublicKeyCredentialCreationOptionsJSON>('/passkey/generate-register-options'),
  addPasskey: (body: { response: RegistrationResponseJSON; name: string }) =>
    post<Passkey>('/passkey/verify-registration', body),
  optionsToUsePasskey: () => get<PublicKeyCredentialRequestOptionsJSON>('/passkey/generate-authenticate-options'),
  usePasskey: (response: AuthenticationResponseJSON) => post<SignedIn>('/passkey/verify-authentication', { response }),
} as const;

const get = <Result>(path: string) => call<Result>(path, { method: 'GET' });
const post = <Result>(path: string, body: unknown = {}) =>
  call<Result>(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

/** Asks the person to confirm the sign-in first, if the service wants it. */
const call = <Result>(path: string, init: AuthRequest) => confirmed(() => callOnce<Result>(path, init));

type AuthRequest = { method: string; headers?: Record<string, string>; body?: string };

/** Calls that lead from one workspace to another or out of all, so that the one that the page shows does not matter. */
const BETWEEN_WORKSPACES = new Set(['/workspaces', '/switch-workspace', '/provider/sign-out']);

async function callOnce<Result>(path: string, init: AuthRequest): Promise<AuthOutcome<Result>> {
  const headers = { ...init.headers, ...(BETWEEN_WORKSPACES.has(path) ? {} : workspaceHeaders()) };
  try {
    const response = await fetch(`/api/auth${path}`, {
      ...init,
      headers,
      credentials: 'same-origin',
      cache: 'no-store',
    });
    const body: unknown = await response.json();
    if (response.ok) return { result: body as Result, problem: null };
    const problem = readProblem(response.status, body as Refusal);
    if (response.status !== 401 || problem.code === null) reportSession(response.status, [problem.code]);
    return { result: null, problem };
  } catch {
    const message = 'Postroom is unreachable. Check that it is running, then try again.';
    return { result: null, problem: { message, code: null, status: 0, fields: {} } };
  }
}

/** Texts for codes that need more explanation than the service's message. */
const TEXTS: Record<string, string> = {
  INVALID_EMAIL_OR_PASSWORD: 'The email address or the password is incorrect. Check both and try again.',
  USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL: 'An account with this address already exists. Sign in instead.',
  EMAIL_PASSWORD_SIGN_UP_DISABLED: 'Sign-up is closed. Ask the operator for an account.',
  INVALID_PASSWORD: 'The current password is incorrect.',
  SIGNED_OUT: 'This sign-in has ended. Sign in again.',
};

type Refusal = { message?: string; code?: string; details?: { field: string; message: string }[] };

function readProblem(status: number, { message, code, details }: Refusal): AuthProblem {
  return {
    message:
      TEXTS[code ?? (status === 401 ? 'SIGNED_OUT' : '')] ??
      message ??
      `The service responded with status ${status}. Try again in a moment.`,
    code: code ?? null,
    status,
    fields: Object.fromEntries(
      (Array.isArray(details) ? details : []).map(({ field, message: why }) => [field, sentence(why)]),
    ),
  };
}

/** Returns "must have 10 characters or more" as "Must have 10 characters or more." */
function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`;
}
