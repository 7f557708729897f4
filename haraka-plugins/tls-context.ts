import { createPrivateKey, randomBytes, X509Certificate } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls';
import { makeCertificate } from './self-made-certificate.ts';
import type { SmtpSettings } from './settings.ts';

/** The TLS context of a server, and what its certificate says. */
export interface TlsContext {
  context: SecureContext;
  /** from which the context was made */
  options: SecureContextOptions;
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
  const options = { key, cert, dhparam: 'auto', minVersion: 'TLSv1.2' } as const;
  const context = attempt('key and certificate cannot be used', () => createSecureContext(options));
  return {
    context,
    options,
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

/** Key and certificate chain of STARTTLS, PEM. */
export interface TlsCredentials {
  key: string;
  cert: string;
}

/**
 * Returns the credentials that the settings name, or our self-signed ones, which are created at the first start and kept in the data
 * directory (0600), with the certificate alone beside them (`.crt`), for clients to trust. Processes that ask at the same time get the same
 * ones. Throws when a named file cannot be read or the directory cannot
 * be written.
 */
export async function readTlsCredentials(
  settings: Pick<SmtpSettings, 'tls' | 'dataDirectory' | 'mailHostname'>,
): Promise<TlsCredentials> {
  if (settings.tls !== null) {
    const [key, cert] = await Promise.all([
      readFile(settings.tls.keyPath, 'utf8'),
      readFile(settings.tls.certPath, 'utf8'),
    ]);
    return { key, cert };
  }
  const file = ownFile(settings, 'pem');
  const known = await readOwn(file);
  if (known !== null) return known;
  const made = makeCertificate(settings.mailHostname, new Date());
  await mkdir(settings.dataDirectory, { recursive: true });
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  await writeFile(draft, made.key + made.cert, { mode: 0o600 });
  try {
    // Unlike a rename, a link never replaces a file that another process already uses.
    await link(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(draft);
  }
  const own = (await readOwn(file)) ?? made;
  await writeFile(certificateToTrust(settings), own.cert, { mode: 0o600 });
  return own;
}

/** Returns the path of the self-signed certificate without its key. */
export function certificateToTrust(settings: Pick<SmtpSettings, 'dataDirectory' | 'mailHostname'>): string {
  return ownFile(settings, 'crt');
}

function ownFile(
  { dataDirectory, mailHostname }: Pick<SmtpSettings, 'dataDirectory' | 'mailHostname'>,
  ending: 'pem' | 'crt',
): string {
  return path.join(dataDirectory, `smtp-tls-${mailHostname}.${ending}`);
}

async function readOwn(file: string): Promise<TlsCredentials | null> {
  try {
    const pem = await readFile(file, 'utf8');
    const certAt = pem.indexOf('-----BEGIN CERTIFICATE-----');
    return certAt === -1 ? null : { key: pem.slice(0, certAt), cert: pem.slice(certAt) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
