import { graphql, type ResultOf } from '../../graphql.ts';

export const REQUESTS = graphql(`
  query DashboardRequests($first: Int!, $after: String, $filter: ApiRequestFilter) {
    apiRequests(first: $first, after: $after, filter: $filter) {
      edges { node { id interface method path operation status durationMs createdAt apiKey { id name hint } } }
      pageInfo { hasNextPage endCursor }
    }
  }
`);

/** A request in the list. */
export type ShownRequest = ResultOf<typeof REQUESTS>['apiRequests']['edges'][number]['node'];

export const ONE_REQUEST = graphql(`
  query DashboardRequest($id: ID!) {
    apiRequest(id: $id) {
      id requestId interface method path operation status durationMs createdAt clientAddress omitsBodies curl
      apiKey { id name hint }
      requestBytes requestBody requestHeaders { name value }
      responseBytes responseBody responseHeaders { name value }
    }
  }
`);

/** A request with its headers and bodies. */
export type WholeRequest = NonNullable<ResultOf<typeof ONE_REQUEST>['apiRequest']>;

export const REQUEST_KEYS = graphql(`
  query DashboardRequestKeys { apiKeys(first: 100) { edges { node { id name hint } } } }
`);

export const INTERFACES = [
  { value: 'REST', label: 'REST' },
  { value: 'GRAPHQL', label: 'GraphQL' },
  { value: 'MCP', label: 'MCP' },
] as const;

export const STATUS_CLASSES = [
  { value: 'SUCCESS', label: 'Succeeded' },
  { value: 'CLIENT_ERROR', label: 'Client errors (4xx)' },
  { value: 'SERVER_ERROR', label: 'Server errors (5xx)' },
] as const;

export const TIMES = [
  { value: 'hour', label: 'Last hour' },
  { value: 'day', label: 'Last 24 hours' },
  { value: 'custom', label: 'From … to …' },
] as const;

export const METHODS = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'] as const;

/** What a request did: its operation, or its path. */
export function subjectOf({
  operation,
  path,
  interface: kind,
}: Pick<ShownRequest, 'operation' | 'path' | 'interface'>): string {
  if (operation === null) return path;
  return kind === 'MCP' ? `MCP ${operation}` : `${path.split('?', 1)[0]} ${operation}`;
}
