import type { Database } from '../../db/connection/database.ts';
import type { LocalSetting } from '../admission/forwarded-requests.ts';
import type { ServiceProvider } from '../gateway-config.ts';
import type { Auth } from './auth.ts';
import type { AuthAttempts } from './auth-attempts.ts';
import type { PasswordQueue } from './password-queue.ts';
import type { SessionLookup } from './session-lookup.ts';
import type { SignInNotices } from './sign-in-notices.ts';

/** What the routes of sign-in share. */
export interface SignInParts {
  /** Returns better-auth; the first call loads it. */
  openAuth: () => Promise<Auth>;
  attempts: AuthAttempts;
  passwords: PasswordQueue;
  sessions: SessionLookup;
  /** role postroom_auth */
  database: Database;
  publicUrl: string;
  secretKey: Uint8Array;
  random: (bytes: number) => Uint8Array;
  now: () => Date;
  notices: SignInNotices;
  isSignUpOpen: boolean;
  /** the single sign-on of the service; null: none */
  oidc: ServiceProvider | null;
  /** settings that are open because only this machine reaches the service */
  openForLocal: readonly LocalSetting[];
  /** Makes all gateways forget the sessions of a person, or of a workspace. */
  forgetSessions: (id: string) => void;
  /** Called when the user's password was changed. */
  onPasswordChanged: (user: { id: string; email: string }) => Promise<void>;
  /** ends the process at these points, for tests */
  fault: ((point: 'invitations.signed-up' | 'invitations.accepted') => void) | undefined;
}
