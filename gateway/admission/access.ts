import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type KeyRights, reachExceeded } from '../../core/accounts/key-rights.ts';
import {
  ACCESS,
  type AccessName,
  hasRight,
  isUnrestricted,
  listNeeded,
  type Right,
  requireRights,
  rightMissing,
} from '../../core/accounts/rights.ts';

/** What a key or a member needs to use a route. Each route that takes a credential declares it: `config: { access: access.read }`. */
export interface RouteAccess {
  /** the rights that are needed, all of them; where the request decides, see RightsOfRequest */
  rights: readonly Right[] | RightsOfRequest;
  /** whether the route can be limited to domains and addresses, so that keys of single ones may use it */
  isOfDomain: boolean;
}

/** The rights of a route that does several things. */
interface RightsOfRequest {
  /** the rights of each thing, which the key names in words, such as `to delete it forever` */
  cases: Readonly<Record<string, readonly Right[]>>;
  /** checked before the request is read: at least one of them is needed */
  oneOf: readonly Right[];
  /** returns the rights that this request needs, checked once its body and query are parsed */
  of: (request: Pick<FastifyRequest, 'body' | 'query'>) => readonly Right[];
}

/** Returns the access of a route that does several things, which can be limited to domains. See RightsOfRequest. */
export function accessByCase(cases: RightsOfRequest['cases'], of: RightsOfRequest['of']): RouteAccess {
  const oneOf = Object.values(cases).flatMap((rights) => (rights.length === 1 ? rights : []));
  return { rights: { cases, oneOf, of }, isOfDomain: true };
}

declare module 'fastify' {
  interface FastifyRequest {
    /** what the credential of the request allows; null before admission */
    rights: KeyRights | null;
  }
  interface FastifyContextConfig {
    access?: RouteAccess;
  }
}

/**
 * The access of most routes, see ACCESS. The routes of GraphQL and MCP need nothing themselves; the fields of a document and the tools declare
 * their own access.
 */
export const access = {
  ...(Object.fromEntries(
    Object.entries(ACCESS).map(([name, needed]) => [
      name,
      { rights: listNeeded(needed), isOfDomain: needed.isOfDomain },
    ]),
  ) as unknown as Readonly<Record<AccessName, FixedAccess>>),
  byDocument: { rights: [], isOfDomain: true },
} as const satisfies Readonly<Record<string, RouteAccess>>;

/** Makes the application throw as it starts when a route that is added from here on does not declare its access. */
export function requireDeclaredAccess(app: FastifyInstance): void {
  app.addHook('onRoute', ({ method, url, config }) => {
    if (config?.access === undefined)
      throw new Error(`The route ${[method].flat().join(', ')} ${url} declares no access`);
  });
}

/** Refuses a request whose key or member may not use its route, before its body is read. Throws forbidden. */
export function requireRouteAccess(request: FastifyRequest, given: KeyRights): void {
  if (isUnrestricted(given)) return;
  const what = readName(request);
  const { access: needed } = request.routeOptions.config;
  if (needed === undefined) throw new Error(`${what} declares no access`);
  const { rights, isOfDomain } = needed;
  if ('oneOf' in rights) {
    const [first] = rights.oneOf;
    if (first !== undefined && !rights.oneOf.some((right) => hasRight(given, right)))
      throw rightMissing(what, first, given);
    if (given.reach !== null && !isOfDomain) throw reachExceeded(what, given);
  } else requireAccess(what, { rights, isOfDomain }, given);
}

/** What all uses of a route or a tool need. */
export interface FixedAccess extends RouteAccess {
  rights: readonly Right[];
}

/** Throws forbidden when the given rights do not suffice. `what` is the subject of a sentence. */
export function requireAccess(what: string, { rights, isOfDomain }: FixedAccess, given: KeyRights): void {
  requireRights(given, what, rights);
  if (given.reach !== null && !isOfDomain) throw reachExceeded(what, given);
}

/** Refuses a request that lacks a right which its body or query asks for. A hook after the body is parsed. Throws forbidden. */
export async function requireRequestAccess(request: FastifyRequest, _reply: FastifyReply): Promise<void> {
  const { rights: given } = request;
  if (given === null || isUnrestricted(given)) return;
  const rights = request.routeOptions.config.access?.rights;
  if (rights !== undefined && 'oneOf' in rights) requireRights(given, readName(request), rights.of(request));
}

function readName({ method, routeOptions }: FastifyRequest): string {
  return `${method === 'HEAD' ? 'GET' : method} ${routeOptions.url ?? ''}`;
}
