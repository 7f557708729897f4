import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { hasScope, type KeyRights, reachExceeded, type Scope, scopeMissing } from '../../core/accounts/key-rights.ts';

/** What an API key needs to use a route. Each route that takes a key declares it: `config: { access: access.read }`. */
export interface RouteAccess {
  /** the scopes that are needed, all of them; where the request decides, see ScopesOfRequest */
  scopes: readonly Scope[] | ScopesOfRequest;
  /** whether the route can be limited to domains and addresses, so that keys of single ones may use it */
  isOfDomain: boolean;
}

/** The scopes of a route that does several things. */
interface ScopesOfRequest {
  /** checked before the request is read: the key needs at least one of them */
  oneOf: readonly Scope[];
  /** returns the scopes that this request needs, checked once its body and query are parsed */
  of: (request: Pick<FastifyRequest, 'body' | 'query'>) => readonly Scope[];
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
 * The access of most routes. Keys of single domains or addresses read everything that belongs to these. `…Account` marks changes of what belongs to the
 * account as a whole, such as endpoints, which they may not make.
 * The routes of GraphQL and MCP need nothing themselves; the fields of a document and the tools declare their own access.
 */
export const access = {
  read: { scopes: ['read'], isOfDomain: true },
  send: { scopes: ['send'], isOfDomain: true },
  /** what sends mail and shows the recipients a stored one */
  readAndSend: { scopes: ['read', 'send'], isOfDomain: true },
  sendAccount: { scopes: ['send'], isOfDomain: false },
  manage: { scopes: ['manage'], isOfDomain: false },
  approve: { scopes: ['approve'], isOfDomain: false },
  byDocument: { scopes: [], isOfDomain: true },
} as const satisfies Readonly<Record<string, RouteAccess>>;

/** Makes the application throw as it starts when a route that is added from here on does not declare its access. */
export function requireDeclaredAccess(app: FastifyInstance): void {
  app.addHook('onRoute', ({ method, url, config }) => {
    if (config?.access === undefined)
      throw new Error(`The route ${[method].flat().join(', ')} ${url} declares no access`);
  });
}

/** Refuses a request whose key may not use its route, before its body is read. Throws forbidden. */
export function requireRouteScope(request: FastifyRequest, rights: KeyRights): void {
  if (rights.scopes === null && rights.reach === null) return;
  const what = nameOf(request);
  const { access: needed } = request.routeOptions.config;
  if (needed === undefined) throw new Error(`${what} declares no access`);
  const { scopes, isOfDomain } = needed;
  if ('oneOf' in scopes) {
    const [first] = scopes.oneOf;
    if (first !== undefined && !scopes.oneOf.some((scope) => hasScope(rights, scope)))
      throw scopeMissing(what, first, rights);
    if (rights.reach !== null && !isOfDomain) throw reachExceeded(what, rights);
  } else requireAccess(what, { scopes, isOfDomain }, rights);
}

/** What all uses of a route or a tool need. */
export interface FixedAccess extends RouteAccess {
  scopes: readonly Scope[];
}

/** Throws forbidden when these rights do not suffice. `what` is the subject of a sentence. */
export function requireAccess(what: string, { scopes, isOfDomain }: FixedAccess, rights: KeyRights): void {
  requireScopes(what, scopes, rights);
  if (rights.reach !== null && !isOfDomain) throw reachExceeded(what, rights);
}

/** Refuses a request whose key lacks a scope that its body or query asks for. A hook after the body is parsed. Throws forbidden. */
export async function requireRequestScope(request: FastifyRequest, _reply: FastifyReply): Promise<void> {
  const { rights } = request;
  if (rights === null || rights.scopes === null) return;
  const scopes = request.routeOptions.config.access?.scopes;
  if (scopes !== undefined && 'oneOf' in scopes) requireScopes(nameOf(request), scopes.of(request), rights);
}

/** Throws forbidden for the first scope that is missing. `what` is the subject of a sentence. */
function requireScopes(what: string, scopes: readonly Scope[], rights: KeyRights): void {
  for (const scope of scopes) if (!hasScope(rights, scope)) throw scopeMissing(what, scope, rights);
}

function nameOf({ method, routeOptions }: FastifyRequest): string {
  return `${method === 'HEAD' ? 'GET' : method} ${routeOptions.url ?? ''}`;
}
