/** How long a browser remembers to use HTTPS only: a year, in seconds. */
const MAX_AGE_SECONDS = 31_536_000;

/**
 * Returns the HSTS header field (RFC 6797) of a service that PUBLIC_URL names by https, else none. It does not speak for subdomains, which
 * may be other services of the operator; nor for `localhost`, where other programs of the developer's machine speak plain HTTP.
 */
export function strictTransportSecurity(publicUrl: string): Record<string, string> {
  const { protocol, hostname } = new URL(publicUrl);
  if (protocol !== 'https:' || hostname === 'localhost') return {};
  return { 'strict-transport-security': `max-age=${MAX_AGE_SECONDS}` };
}
