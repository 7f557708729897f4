import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { TlsCredentials } from './tls-credentials.ts';

/** What a server offers TLS by, and what its certificate says. */
export interface TlsContext {
  context: SecureContext;
  /** one line: `CN=mx.example.com` */
  subject: string;
  /** the host names that it is for, as the certificate lists them; empty: none but the subject */
  names: string;
  endsAt: Date;
}

/** Key and certificate with which no TLS can be offered; the message says why, in one line. */
class CredentialsRefused extends Error {
  override name = 'CredentialsRefused';
}

/**
 * One context for all sessions. Throws CredentialsRefused where a file is not whole, or the key is another certificate's. That a certificate
 * has ended is for the caller to judge.
 */
export function makeTlsContext({ key, cert }: TlsCredentials): TlsContext {
  const [begun, ended] = ['BEGIN', 'END'].map((word) => cert.split(`-----${word} CERTIFICATE-----`).length - 1);
  if (begun === 0 || begun !== ended) throw new CredentialsRefused('the certificate file holds no whole certificate');
  const leaf = attempt('the certificate cannot be read', () => new X509Certificate(cert));
  const privateKey = attempt('the key cannot be read', () => createPrivateKey(key));
  if (!leaf.checkPrivateKey(privateKey)) throw new CredentialsRefused('the key is not that of the certificate');
  // `auto` spares Haraka from making its own Diffie-Hellman group.
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
