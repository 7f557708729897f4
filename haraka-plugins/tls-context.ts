import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { TlsCredentials } from './tls-credentials.ts';

/** The TLS context of a server, and what its certificate says. */
export interface TlsContext {
  context: SecureContext;
  /** one line: `CN=mx.example.com` */
  subject: string;
  /** the host names of the certificate, as it lists them; empty: only the subject */
  names: string;
  endsAt: Date;
}

/** The key and certificate cannot be used for TLS; the message gives the reason in one line. */
class CredentialsRefused extends Error {
  override name = 'CredentialsRefused';
}

/**
 * Creates one context for all sessions. Throws CredentialsRefused when a file is incomplete or the key belongs to another certificate. The
 * caller decides about an expired certificate.
 */
export function makeTlsContext({ key, cert }: TlsCredentials): TlsContext {
  const [begun, ended] = ['BEGIN', 'END'].map((word) => cert.split(`-----${word} CERTIFICATE-----`).length - 1);
  if (begun === 0 || begun !== ended) throw new CredentialsRefused('the certificate file holds no whole certificate');
  const leaf = attempt('the certificate cannot be read', () => new X509Certificate(cert));
  const privateKey = attempt('the key cannot be read', () => createPrivateKey(key));
  if (!leaf.checkPrivateKey(privateKey)) throw new CredentialsRefused('the key is not that of the certificate');
  // `auto` keeps Haraka from generating its own Diffie-Hellman group.
  const context = attempt('key and certificate cannot be used', () =>
    createSecureContext({ key, cert, dhparam: 'auto', minVersion: 'TLSv1.2' }),
  );
  return {
    context,
    subject: leaf.subject.replaceAll('\n', ', '),
    names: leaf.subjectAltName ?? '',
    endsAt: leaf.validToDate,
  };
}

function attempt<T>(fault: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const reason = (error as Error).message.split('\n')[0] ?? '';
    throw new CredentialsRefused(`${fault} (${reason})`, { cause: error });
  }
}
