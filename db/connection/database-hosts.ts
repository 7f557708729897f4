/**
 * Splits a database URL with several hosts, as libpq reads it (`postgresql://user:password@one:5432,two:5432/name`), into one URL per
 * host. A URL with one host is returned unchanged.
 */
export function listUrls(url: string): string[] {
  const parts = /^([a-z]+:\/\/)([^/?#]*)(.*)$/is.exec(url);
  if (parts === null) return [url];
  const [, scheme = '', authority = '', rest = ''] = parts;
  const at = authority.lastIndexOf('@') + 1;
  const hosts = authority.slice(at).split(',');
  return hosts.length === 1 ? [url] : hosts.map((host) => `${scheme}${authority.slice(0, at)}${host}${rest}`);
}
