import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { makeCertificate } from './self-made-certificate.ts';
import type { SmtpSettings } from './settings.ts';

/** Key and certificate chain of STARTTLS, PEM. */
export interface TlsCredentials {
  key: string;
  cert: string;
}

/**
 * Returns the credentials that the settings name, or our self-signed ones, which are created at the first start and kept in the data
 * directory (0600). Processes that ask at the same time get the same ones. Throws when a named file cannot be read or the directory cannot
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
  const file = path.join(settings.dataDirectory, `smtp-tls-${settings.mailHostname}.pem`);
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
  return (await readOwn(file)) ?? made;
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
