/**
 * The URLs of the single servers that a database URL names, as libpq reads one with several hosts
 * (`postgresql://user:password@one:5432,two:5432/name`); one for a URL with one host, which stays as it is.
 */
export function urlsOf(url: string): string[] {
  const parts = /^([a-z]+:\/\/)([^/?#]*)(.*)$/is.exec(url);
  if (parts === null) return [url];
  const [, scheme = '', authority = '', rest = ''] = parts;
  const at = authority.lastIndexOf('@') + 1;
  const hosts = authority.slice(at).split(',');
  return hosts.length === 1 ? [url] : hosts.map((host) => `${scheme}${authority.slice(0, at)}${host}${rest}`);
}
