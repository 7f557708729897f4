import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { StartRefused } from '../start-refused.ts';

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Returns the certificates of the file that a setting names, one PEM text each. Throws StartRefused if it has none or cannot be read. */
export async function readAuthorities(setting: string, file: string): Promise<string[]> {
  const refuse = (reason: string) => new StartRefused(`${setting}: ${file} ${reason}`);
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw refuse(`cannot be read (${error.code ?? error.message})`);
  });
  const certificates = text.match(PEM_CERTIFICATE) ?? [];
  if (certificates.length === 0) throw refuse('contains no PEM certificate (-----BEGIN CERTIFICATE-----)');
  for (const [n, certificate] of certificates.entries())
    try {
      new X509Certificate(certificate);
    } catch {
      throw refuse(`contains a damaged certificate (number ${n + 1})`);
    }
  return certificates;
}
