import { createHash, X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import { matchesTlsa, type TlsaRecord, usableTlsaRecords } from '../../../core/sending/dane.ts';

/** Of mx.dane.test, valid for a year from November 2026, issued by AUTHORITY. */
const SERVER = new X509Certificate(`-----BEGIN CERTIFICATE-----
MIIBijCCAS+gAwIBAgIUZhlowMhQH4epLBPiq8Z8ZA6CpzMwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJYXV0aG9yaXR5MB4XDTI2MTEyMzIwMjMzMloXDTI3MTEyMzIw
MjMzMlowDTELMAkGA1UEAwwCbXgwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARu
LJcD6qDF7pEiwRgTmS/PqTr6dclBefO7O6j7W/lZU32PnAavhnqYGeNqi2YYxOqr
UgqhF5jCh03nkfOB6Rdvo2YwZDAXBgNVHREEEDAOggxteC5kYW5lLnRlc3QwCQYD
VR0TBAIwADAdBgNVHQ4EFgQUfRzf1u+8khiOVDG5VLF+yqFBJGAwHwYDVR0jBBgw
FoAU8rc/NVTtVW/7HK9uyIjYngZ6eTQwCgYIKoZIzj0EAwIDSQAwRgIhAK4DSVnw
3xTAYQFAuJYslPHpbrf4Td20dr8CurDVHdaBAiEA0iy6g+sLfvuGnDHUUq9G37Pt
AmoHa0AkyE7UB2dRFng=
-----END CERTIFICATE-----`);
const AUTHORITY = new X509Certificate(`-----BEGIN CERTIFICATE-----
MIIBfzCCASWgAwIBAgIUbA9QHk8gczd7EVSgGtQpddRYClwwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJYXV0aG9yaXR5MCAXDTI2MTEyMzIwMjMzMloYDzIxMjYxMDMw
MjAyMzMyWjAUMRIwEAYDVQQDDAlhdXRob3JpdHkwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQkZUotMwZYM/Gv2AABipsRtnHcDrThfyeOeSTOZ3bgoXzJdrhRMgNA
IL4t8v6Wlesm7qIOSCdkOe5joNn82XVIo1MwUTAdBgNVHQ4EFgQU8rc/NVTtVW/7
HK9uyIjYngZ6eTQwHwYDVR0jBBgwFoAU8rc/NVTtVW/7HK9uyIjYngZ6eTQwDwYD
VR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiEA9kra6sdoSCvfpUF0DSsb
p7ZcNnYGuNTSWMZYugms6jYCID+wc4d9SzCZ6aXS4tAh0dO8xWScPkFLgMxpqQMW
qRPS
-----END CERTIFICATE-----`);
/** Has the name of AUTHORITY and another key. */
const IMPOSTOR = new X509Certificate(`-----BEGIN CERTIFICATE-----
MIIBfzCCASWgAwIBAgIUA7DgqubKjTUfsXQ5WGTZ7HBw5aUwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJYXV0aG9yaXR5MCAXDTI2MTEyMzIwMjMzMloYDzIxMjYxMDMw
MjAyMzMyWjAUMRIwEAYDVQQDDAlhdXRob3JpdHkwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAS5cwrxCibbY1WRhiSEbDOflDYHL3rrzSOBqMRGgiKTdez18yEi1Cjl
aEavHVWAMFfrJh2entMKBkmjHEw49NHNo1MwUTAdBgNVHQ4EFgQUyvTIjd0YwjRn
45RKdHtCLnBcAKUwHwYDVR0jBBgwFoAUyvTIjd0YwjRn45RKdHtCLnBcAKUwDwYD
VR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiEAkYisEVdE5nQx3QjwhbDe
N9csFdAL4cHcROZ+WFj2MdoCIDdsAgvk1yACt6Suq7LICVdDFsQgNIU+y3WOAzOi
sHSq
-----END CERTIFICATE-----`);

const NOW = new Date('2027-01-01T00:00:00Z');
const LATER = new Date('2028-01-01T00:00:00Z');
const NAMES = ['mx.dane.test'];

function makeRecord(usage: number, certificate: X509Certificate, selector = 1, matchingType = 1): TlsaRecord {
  const data = selector === 0 ? certificate.raw : certificate.publicKey.export({ type: 'spki', format: 'der' });
  const hash = matchingType === 1 ? 'sha256' : 'sha512';
  return {
    usage,
    selector,
    matchingType,
    certificate: matchingType === 0 ? data : createHash(hash).update(data).digest(),
  };
}

test.each([0, 1].flatMap((selector) => [0, 1, 2].map((matchingType) => [selector, matchingType] as const)))(
  'selector %i with matching type %i matches the certificate, and no other',
  (selector, matchingType) => {
    const end = [makeRecord(3, SERVER, selector, matchingType)];
    expect(matchesTlsa(end, [SERVER, AUTHORITY], NAMES, NOW)).toBe(true);
    expect(matchesTlsa(end, [IMPOSTOR], NAMES, NOW)).toBe(false);
    const anchor = [makeRecord(2, AUTHORITY, selector, matchingType)];
    expect(matchesTlsa(anchor, [SERVER, AUTHORITY], NAMES, NOW)).toBe(true);
    expect(matchesTlsa(anchor, [SERVER], NAMES, NOW)).toBe(false);
  },
);

test('DANE-EE ignores name and expiry; DANE-TA checks both', () => {
  const chain = [SERVER, AUTHORITY];
  expect(matchesTlsa([makeRecord(3, SERVER)], chain, ['other.test'], LATER)).toBe(true);
  expect(matchesTlsa([makeRecord(2, AUTHORITY)], chain, ['other.test'], NOW)).toBe(false);
  expect(matchesTlsa([makeRecord(2, AUTHORITY)], chain, ['other.test', 'mx.dane.test'], NOW)).toBe(true);
  expect(matchesTlsa([makeRecord(2, AUTHORITY)], chain, NAMES, LATER)).toBe(false);
});

test('DANE-TA: an issuer that did not sign the certificate, or an issuer as the server, does not match', () => {
  expect(matchesTlsa([makeRecord(2, IMPOSTOR)], [SERVER, IMPOSTOR], NAMES, NOW)).toBe(false);
  expect(matchesTlsa([makeRecord(2, IMPOSTOR)], [SERVER, AUTHORITY, IMPOSTOR], NAMES, NOW)).toBe(false);
  expect(matchesTlsa([makeRecord(2, SERVER)], [SERVER, AUTHORITY], NAMES, NOW)).toBe(false);
  expect(matchesTlsa([makeRecord(3, AUTHORITY)], [SERVER, AUTHORITY], NAMES, NOW)).toBe(false);
  expect(matchesTlsa([makeRecord(3, SERVER)], [], NAMES, NOW)).toBe(false);
});

test('only DANE-TA and DANE-EE with known selectors and whole digests are usable', () => {
  const good = makeRecord(3, SERVER);
  const unusable = [
    { ...good, usage: 0 },
    { ...good, usage: 1 },
    { ...good, usage: 255 },
    { ...good, selector: 2 },
    { ...good, matchingType: 3 },
    { ...good, certificate: good.certificate.subarray(1) },
  ];
  expect(usableTlsaRecords([...unusable, good])).toEqual([good]);
});

test('of two digests of one usage and selector, the stronger counts', () => {
  const weak = makeRecord(3, SERVER, 1, 1);
  const strong = makeRecord(3, IMPOSTOR, 1, 2);
  const anchor = makeRecord(2, AUTHORITY, 1, 1);
  expect(usableTlsaRecords([weak, strong, anchor])).toEqual([strong, anchor]);
});
