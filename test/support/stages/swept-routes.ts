import type { FastifyInstance } from 'fastify';
import type { OpenAPIV3_1 } from 'openapi-types';
import { UNSERVED_ROUTES } from '../../../gateway/rest/unserved-routes.ts';
import { listExamples, type ServedRoute } from '../rows/route-table.ts';

/** Routes without rows of users, and those of accounts, which take no key and have their own tests (auth-*.test.ts, suppressions.test.ts). */
const OPEN =
  /^(?:GET \/health|GET \/ready|\w+ \/api\/v1(?:\/\*)?|\w+ \/api\/auth\/.*|OPTIONS \/(?:api\/e2|graphql)\*|GET \/\.well-known\/mta-sts\.txt|\w+ \/unsubscribe\/:token|GET \/graphql\/explorer\/:part|POST \/api\/e2\/agent\/sign-up|GET \/api\/e2\/(?:openapi\.json|docs(?:\/.*)?))$/;
/** Files of the dashboard, the same for everybody. */
const FILES = /^GET \/(?:assets\/.*|[^/]*\.\w+)$/;
/**
 * Swept by graph-sweep.ts, gateway/mcp/mcp-isolation.attack.ts, and scim/scim-members.test.ts, whose routes take no API key. A webhook is
 * deleted in clients/resend.program.ts: here it would be the endpoint that DELETE /endpoints/:id needs.
 */
const SWEPT_ELSEWHERE =
  /^(?:DELETE \/api\/e2\/webhooks\/:id|\w+ \/graphql|POST \/mcp|\w+ \/scim\/v2\/.*|DELETE \/api\/e2\/scim\/token\/:id)$/;

/** It has no ID, and revokes the key of the request, which the sweep needs; see rest/client-contract.test.ts. */
const ENDS_THE_KEY = '/api/e2/auth/revoke-key';
/** They respond 501 whatever the request. */
const UNSERVED = new Set(UNSERVED_ROUTES);

/** Whether a route serves something, and leaves the key of the request as it is. */
export function isServed({ method, url }: ServedRoute): boolean {
  return !UNSERVED.has(`${method} ${url.replace('/api/e2/', '/')}`) && url !== ENDS_THE_KEY;
}

/** Returns the routes that the sweep is for. */
export function routesOfUsers(routes: readonly ServedRoute[]): ServedRoute[] {
  return routes
    .filter(isServed)
    .filter(({ method, url }) => ![OPEN, FILES, SWEPT_ELSEWHERE].some((words) => words.test(`${method} ${url}`)));
}

/** Removes the rows of the other routes below the path, too. */
const REMOVES_SEVERAL = '/api/e2/suppressions/batch/remove';

/** Returns the routes with those that delete at the end, and what holds other things last: its own rows are needed by the others. */
export function inSweepOrder(routes: readonly ServedRoute[]): ServedRoute[] {
  const order = ({ method, url }: ServedRoute) =>
    `${url === REMOVES_SEVERAL ? 2 : method === 'DELETE' ? 1 : 0}${method === 'GET' ? 0 : 1}`.concat(url);
  return routes.toSorted((a, b) => {
    const [one, other] = [order(a), order(b)];
    return one.slice(0, 2) === other.slice(0, 2) ? (one < other ? 1 : -1) : one < other ? -1 : 1;
  });
}

/** Returns what finds examples of a route's body: those of its schema, or of the OpenAPI document, where PUT is told as PATCH. */
export function bodyExamples(app: FastifyInstance): (route: ServedRoute) => unknown[] {
  return ({ method, url, body }) => {
    const own = body === null ? [] : listExamples(body);
    if (own.length > 0) return own;
    const document = app.swagger() as OpenAPIV3_1.Document;
    const path = document.paths?.[url.replace(/:(\w+)/g, '{$1}')];
    const operation = path?.[method.toLowerCase() as 'post'] ?? (method === 'PUT' ? path?.patch : undefined);
    const requested = operation?.requestBody;
    const media = requested !== undefined && 'content' in requested ? requested.content['application/json'] : undefined;
    const { $ref } = (media?.schema ?? {}) as OpenAPIV3_1.ReferenceObject;
    const named = document.components?.schemas?.[$ref?.split('/').at(-1) ?? ''];
    if (media?.example !== undefined) return [media.example];
    const told = Object.values(media?.examples ?? {}).map((each) => ('value' in each ? each.value : each));
    return told.length > 0 ? told : ((named?.examples as unknown[] | undefined) ?? []);
  };
}
