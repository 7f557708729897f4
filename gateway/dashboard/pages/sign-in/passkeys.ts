import { type AuthOutcome, type AuthUser, auth, type Passkey } from './auth-calls.ts';

/** Passkeys belong to one host, and browsers offer them only to pages on https and localhost. */
export function canUsePasskeys(passkeyHost: string): boolean {
  return (
    window.location.hostname === passkeyHost &&
    window.isSecureContext &&
    'PublicKeyCredential' in window &&
    typeof PublicKeyCredential.parseRequestOptionsFromJSON === 'function'
  );
}

/** Returns whether the browser can suggest passkeys in the address field. */
export async function offersPasskeysInFields(): Promise<boolean> {
  // oxlint-disable-next-line typescript/no-unnecessary-condition -- missing in older browsers
  return (await PublicKeyCredential.isConditionalMediationAvailable?.()) ?? false;
}

/** Signs in with a passkey. Returns null if `signal` aborted it. */
export async function signInByPasskey(
  mediation: 'optional' | 'conditional',
  signal: AbortSignal,
): Promise<AuthOutcome<{ user: AuthUser }> | null> {
  const options = await auth.optionsToUsePasskey();
  if (options.problem !== null) return options;
  return ask(async () => {
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options.result);
    const credential = await navigator.credentials.get({ publicKey, mediation, signal });
    return auth.usePasskey((credential as PublicKeyCredential).toJSON() as AuthenticationResponseJSON);
  });
}

/** Creates a passkey for the signed-in user. */
export async function addPasskey(name: string): Promise<AuthOutcome<Passkey> | null> {
  const options = await auth.optionsToAddPasskey();
  if (options.problem !== null) return options;
  return ask(async () => {
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options.result);
    const credential = await navigator.credentials.create({ publicKey });
    const response = (credential as PublicKeyCredential).toJSON() as RegistrationResponseJSON;
    return auth.addPasskey({ response, name });
  });
}

async function ask<Result>(question: () => Promise<AuthOutcome<Result>>): Promise<AuthOutcome<Result> | null> {
  try {
    return await question();
  } catch (error) {
    const name = error instanceof Error ? error.name : '';
    if (name === 'AbortError') return null;
    return { result: null, problem: { message: reasons[name] ?? OTHERWISE, code: name, status: 0, fields: {} } };
  }
}

const OTHERWISE = 'The browser could not use a passkey. Sign in another way.';
/** Error texts by the names in WebAuthn Level 3 §5.1. */
const reasons: Record<string, string> = {
  NotAllowedError: 'The passkey request was closed or timed out. Try again, or sign in another way.',
  InvalidStateError: 'This device already has a passkey for your account.',
  NotSupportedError: 'This device cannot create a passkey that Postroom supports.',
  SecurityError: 'Passkeys work only under the public address of this service.',
};
