import { hkdfSync } from 'node:crypto';
import { makeSigningSecret } from './webhook-signature.ts';

/** Identifies the requests of a program that listens without an endpoint, in place of an endpoint. */
export const LISTENER_ID = 'ep_listen';

/** Bytes of the signing secret and of the verification token. */
const SECRET_BYTES = 32;

/** With what the requests for a program that listens without an endpoint are signed. */
export interface ListenerSecrets {
  /** Standard Webhooks secret, `whsec_...` */
  signingSecret: string;
  /** hex */
  verificationToken: string;
}

/**
 * Derives the secrets from SECRET_KEY (RFC 5869), so that they stay the same for an API key. `keyId` null: a session of the dashboard.
 */
export function deriveListenerSecrets(
  secretKey: Uint8Array,
  { workspaceId, keyId }: { workspaceId: string; keyId: string | null },
): ListenerSecrets {
  const derive = (use: string) =>
    Buffer.from(
      hkdfSync('sha256', secretKey, '', `postroom listen ${use} ${workspaceId} ${keyId ?? ''}`, SECRET_BYTES),
    );
  return {
    signingSecret: makeSigningSecret(derive('signing-secret')),
    verificationToken: derive('verification-token').toString('hex'),
  };
}

/** How far a received email is on the way from its receipt to its webhook. */
export interface ReceivedState {
  /** of its route; null: not decided yet */
  outcome: string | null;
  releasedAt: Date | null;
  /** imported mail that its user did not want to be routed */
  isQuiet: boolean;
  /** for an endpoint that gets all received mail: whether its delivery exists, is still to be created, or never will be; null: for others */
  ofAll: 'created' | 'waiting' | 'none' | null;
}

/**
 * Returns whether an event posts received mail now, never, or must be waited for. Mail is posted by `email.received`, once its route is decided;
 * mail that a guard rule holds or blocks is posted by `email.released` instead, except to endpoints that get all received mail.
 */
export function toPosting(
  kind: 'email.received' | 'email.released',
  { outcome, releasedAt, isQuiet, ofAll }: ReceivedState,
): 'now' | 'later' | 'never' {
  if (isQuiet || ofAll === 'none') return 'never';
  if (kind === 'email.released') return ofAll === null ? 'now' : 'never';
  if (outcome === null || outcome === 'asking' || ofAll === 'waiting') return 'later';
  if (ofAll === 'created') return 'now';
  return outcome === 'blocked' || outcome === 'review' || releasedAt !== null ? 'never' : 'now';
}
