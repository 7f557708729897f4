import type { FastifyReply, FastifyRequest } from 'fastify';
import { domainExceeded, hasScope, type KeyRights, type Scope, scopeMissing } from '../../core/accounts/key-rights.ts';
import { scopesOfRoutes } from './scopes-of-routes.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** what it may do by what it was let in with; null before admission */
    rights: KeyRights | null;
  }
}

const everything: readonly Scope[] = ['read', 'send', 'manage'];

/** Refuses a request whose key does not reach its route, before its body is read. Throws forbidden. */
export function requireRouteScope(request: FastifyRequest, rights: KeyRights): void {
  if (rights.scopes === null && rights.domain === null) return;
  const what = nameOf(request);
  const need = scopesOfRoutes[what];
  const scopes = need?.scopes ?? everything;
  if ('oneOf' in scopes) {
    const [first] = scopes.oneOf;
    if (first !== undefined && !scopes.oneOf.some((scope) => hasScope(rights, scope)))
      throw scopeMissing(what, first, rights);
  } else requireScopes(what, scopes, rights);
  // What is missing in the table is nothing that was ever looked at, so that no scope is enough for it.
  if (need === undefined || (rights.domain !== null && !need.isOfDomain)) throw domainExceeded(what, rights);
}

/** Refuses what of a route that does several things the key does not reach; a hook behind the body. Throws forbidden. */
export async function requireRequestScope(request: FastifyRequest, _reply: FastifyReply): Promise<void> {
  const { rights } = request;
  if (rights === null || rights.scopes === null) return;
  const what = nameOf(request);
  const scopes = scopesOfRoutes[what]?.scopes;
  if (scopes !== undefined && 'oneOf' in scopes) requireScopes(what, scopes.of(request), rights);
}

/** Throws forbidden for the first scope that is missing. `what` is the subject of a sentence. */
export function requireScopes(what: string, scopes: readonly Scope[], rights: KeyRights): void {
  for (const scope of scopes) if (!hasScope(rights, scope)) throw scopeMissing(what, scope, rights);
}

function nameOf({ method, routeOptions }: FastifyRequest): string {
  return `${method === 'HEAD' ? 'GET' : method} ${routeOptions.url ?? ''}`;
}
