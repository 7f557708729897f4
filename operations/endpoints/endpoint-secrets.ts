import { VERIFICATION_TOKEN_OCTETS } from '../../core/endpoints/endpoint-config.ts';
import {
  decodeSigningSecrets,
  encodeSigningSecrets,
  makeSigningSecret,
  SIGNING_SECRET_OCTETS,
  type SigningSecret,
} from '../../core/endpoints/webhook-signature.ts';
import { decryptSecret, encryptSecret, NONCE_OCTETS } from '../../core/shared/secret-box.ts';
import type { OperationContext } from '../context.ts';

/** A token that a webhook's receiver can compare; hex. */
export function newVerificationToken(context: OperationContext): string {
  return Buffer.from(context.random(VERIFICATION_TOKEN_OCTETS)).toString('hex');
}

/** `whsec_...` of Standard Webhooks. */
export function newSigningSecret(context: OperationContext): string {
  return makeSigningSecret(context.random(SIGNING_SECRET_OCTETS));
}

/** The secrets as endpoint.secret_ciphertext holds them. */
export function encryptSigningSecrets(context: OperationContext, secrets: readonly SigningSecret[]): string {
  const text = encodeSigningSecrets(secrets);
  return encryptSecret(context.settings.secretKey, 'webhook-secret', text, context.random(NONCE_OCTETS));
}

/** What endpoint.secret_ciphertext holds, expired ones among them; none when it is null. */
export function decryptSigningSecrets(context: OperationContext, ciphertext: string | null): SigningSecret[] {
  if (ciphertext === null) return [];
  return decodeSigningSecrets(decryptSecret(context.settings.secretKey, 'webhook-secret', ciphertext));
}
