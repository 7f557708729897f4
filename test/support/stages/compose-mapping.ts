import type { ComposeService } from './compose-file.ts';

/** What stands for a container's surroundings on this machine. */
export interface Places {
  /** the container's own address, of 127.0.0.0/8: in it every server listens at the very port that docker-compose.yml says */
  readAddress(service: string): string;
  /** `host:port` in docker-compose.yml to `host:port` here, for what listens elsewhere */
  elsewhere: Readonly<Record<string, string>>;
  /** where a path of the container lies here */
  readPath(service: ComposeService, path: string): string;
}

/** Addresses of a container's own: all of them, and the one that nobody else reaches. */
const OWN = /(?<![\d.])(0\.0\.0\.0|127\.0\.0\.1)(?![\d.])/g;
/** `host:port` where the host is a name; behind nothing, `//`, `@` or a comma, so that it is no user and password. */
const NAMED_HOST = /(?<=^|\/\/|@|,)([a-z][a-z0-9-]*):(\d+)/g;

/**
 * A text of docker-compose.yml (before its variables are put in) with hosts and paths of this machine in the place of those of
 * containers. Throws when it names a host that no service has.
 */
export function placed(text: string, service: ComposeService, services: readonly string[], places: Places): string {
  const own = text.replace(OWN, () => places.readAddress(service.name));
  const known = Object.entries(places.elsewhere).reduce((rest, [there, here]) => rest.replaceAll(there, here), own);
  const hosts = known.replace(NAMED_HOST, (whole, host: string, port: string) => {
    if (!services.includes(host)) throw new Error(`${service.name}: nobody knows the host of ${whole}`);
    return `${places.readAddress(host)}:${port}`;
  });
  return hosts.startsWith('/') ? places.readPath(service, hosts) : hosts;
}
