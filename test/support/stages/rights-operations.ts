import type { LightMyRequestResponse } from 'fastify';
import { type GraphQLField, getNamedType, isLeafType, isUnionType } from 'graphql';
import { listNeeded, RIGHTS, type Right } from '../../../core/accounts/rights.ts';
import type { RouteAccess } from '../../../gateway/admission/access.ts';
import { tools } from '../../../gateway/mcp/tools.ts';
import { readAccess } from '../../../schema/graphql/access.ts';
import { schema } from '../../../schema/graphql/schema.ts';
import type { ServedRoute } from '../rows/route-table.ts';
import { withoutWait } from './isolation-sweep.ts';
import { isKnown, mayUse, type SweptCredential } from './rights-credentials.ts';

/** What a request names in its path, and its body, input or arguments. */
export interface Given {
  id?: string;
  /** what stands second in the path */
  other?: string;
  body?: object;
}

/** What became of a request. */
export interface Verdict {
  /** `refused`: for lack of a right, a scope or reach; `forbidden`: for another reason that the operation itself has */
  is: 'done' | 'failed' | 'refused' | 'forbidden' | 'unknown credential';
  text: string;
}

/** A route, a field of a root type or a tool, with what it declares. */
export interface SweptOperation {
  /** `GET /emails/:id`, `mutation sendEmail`, `tool send_email` */
  name: string;
  access: Pick<RouteAccess, 'isOfDomain'> & {
    rights: readonly Right[] | { oneOf: readonly Right[]; cases: Readonly<Record<string, readonly Right[]>> };
  };
  /** where it is served */
  url: string;
  /** whether it changes nothing */
  isReading: boolean;
  ask: (credential: SweptCredential, given: Given) => Promise<Verdict>;
}

/** Codes of errors that say which right, scope or reach is missing. */
const MISSING = new Set(['insufficient_scope', 'insufficient_role', 'limited_to_domain', 'limited_to_address']);
/** A browser token lacks a right of programs; an operation that makes one needs a key itself, and then names no right. */
const isMissing = ({ code, reason = code, requiredRight }: Told) =>
  reason !== undefined && (MISSING.has(reason) || (reason === 'API_KEY_REQUIRED' && requiredRight !== undefined));

interface Told {
  code?: string;
  reason?: string;
  requiredRight?: string;
}

/**
 * Returns whether what an operation declares and the table of rights let a credential use it. `unknown`: the interface does not know the
 * credential; `elsewhere`: it is for other interfaces, as that of a page is; `depends`: it has one of several rights, and the request decides
 * which is needed.
 */
export function expectAccess(
  { access, url }: SweptOperation,
  credential: SweptCredential,
): 'allowed' | 'refused' | 'depends' | 'elsewhere' | 'unknown' {
  if (!isKnown(credential)) return 'unknown';
  if (credential.kind === 'page' && url === '/mcp') return 'elsewhere';
  const { rights, isOfDomain } = access;
  const has = (right: Right) => mayUse(credential, right);
  if (credential.reach !== null && !isOfDomain) return 'refused';
  if (!('oneOf' in rights)) return rights.every(has) ? 'allowed' : 'refused';
  return rights.oneOf.every(has) ? 'allowed' : rights.oneOf.some(has) ? 'depends' : 'refused';
}

/**
 * Returns whether asking tells something that other credentials do not: not when a key or a client lacks the role beside the scope, and of those
 * that lack a scope only when it is of the owner, or of the role with the fewest rights that suffices.
 */
export function isNear({ access: { rights } }: SweptOperation, credential: SweptCredential): boolean {
  const { kind, scopes, role, reach } = credential;
  const needed = 'oneOf' in rights ? rights.oneOf : rights;
  if ((kind !== 'key' && kind !== 'client') || scopes === null || role === null || reach !== null) return true;
  if (needed.some((right) => scopes.includes(RIGHTS[right].scope))) return true;
  return role === 'owner' || needed.some((right) => RIGHTS[right].role === role);
}

export function listRoutes(routes: readonly ServedRoute[]): SweptOperation[] {
  return routes.flatMap(({ method, url, access }) => {
    if (access === null) return [];
    const path = url.replace('/api/e2', '');
    return {
      name: `${method} ${path}`,
      access,
      url,
      isReading: method === 'GET',
      async ask({ send }, { id = 'em_none', other = '0', body }) {
        const named = url.replace(/:\w+|\*/, id).replaceAll(/:\w+|\*/g, other);
        // A stream responds at once.
        const headers = method === 'GET' ? { accept: 'application/json' } : {};
        return readRest(await send(method, named, withoutWait(url, body), headers));
      },
    };
  });
}

function readRest(response: LightMyRequestResponse): Verdict {
  const { statusCode, body } = response;
  const text = `${statusCode} ${body.slice(0, 300)}`;
  if (statusCode === 401) return { is: 'unknown credential', text };
  if (statusCode < 300) return { is: 'done', text };
  if (statusCode !== 403) return { is: 'failed', text };
  return { is: isMissing(response.json()) ? 'refused' : 'forbidden', text };
}

export function listFields(): SweptOperation[] {
  return (['query', 'mutation', 'subscription'] as const).flatMap((operation) =>
    Object.values(schema.getRootType(operation as never)?.getFields() ?? {}).map((field): SweptOperation => {
      const access = readAccess(field);
      if (access === null) throw new Error(`${field.name} declares no access`);
      return {
        name: `${operation} ${field.name}`,
        access: { rights: listNeeded(access), isOfDomain: access.isOfDomain },
        url: '/graphql',
        isReading: operation !== 'mutation',
        async ask({ send }, { body = {} }) {
          const isInput = operation === 'mutation' && !('input' in body);
          const variables = (isInput ? { input: body } : body) as Record<string, unknown>;
          return readGraph(
            await send('POST', '/graphql', { query: makeDocument(operation, field, variables), variables }),
          );
        },
      };
    }),
  );
}

/** Asks for nothing but whether it was done: what else a response shows needs `read` beside. */
function makeDocument(
  operation: string,
  field: GraphQLField<unknown, unknown>,
  variables: Record<string, unknown>,
): string {
  const given = field.args.filter(({ name }) => name in variables);
  const declared = given.map(({ name, type }) => `$${name}: ${String(type)}`).join(', ');
  const passed = given.map(({ name }) => `${name}: $${name}`).join(', ');
  const type = getNamedType(field.type);
  const shown = isLeafType(type)
    ? ''
    : isUnionType(type)
      ? '{ __typename ... on Error { message code } }'
      : '{ __typename }';
  const within = (text: string) => (text === '' ? '' : `(${text})`);
  return `${operation}${within(declared)} { ${field.name}${within(passed)} ${shown} }`;
}

function readGraph(response: LightMyRequestResponse): Verdict {
  const { statusCode, body } = response;
  const text = `${statusCode} ${body.slice(0, 300)}`;
  if (statusCode === 401) return { is: 'unknown credential', text };
  const { data, errors } = response.json() as {
    data?: Record<string, { __typename?: string; code?: string } | null>;
    errors?: { extensions?: Told }[];
  };
  const told = errors?.[0]?.extensions;
  const [payload] = Object.values(data ?? {});
  if (told?.code === 'FORBIDDEN') return { is: isMissing(told) ? 'refused' : 'forbidden', text };
  if (payload?.__typename === 'Forbidden') return { is: isMissing(payload) ? 'refused' : 'forbidden', text };
  const isDone = errors === undefined && statusCode === 200 && payload?.code === undefined;
  return { is: isDone ? 'done' : 'failed', text };
}

export function listTools(): SweptOperation[] {
  return tools.map(({ name, access, annotations }) => ({
    name: `tool ${name}`,
    access,
    url: '/mcp',
    isReading: annotations.readOnlyHint === true,
    async ask({ send }, { body = {} }) {
      const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: body } };
      const response = await send('POST', '/mcp', message, { accept: 'application/json, text/event-stream' });
      const text = `${response.statusCode} ${response.body.slice(0, 300)}`;
      if (response.statusCode === 401) return { is: 'unknown credential', text };
      if (response.statusCode === 403) return { is: 'forbidden', text };
      if (/ needs (?:the scope|the role|one of the roles|an API key)|cannot be limited to/.test(response.body))
        return { is: 'refused', text };
      const isDone = response.statusCode === 200 && !/"isError":true|"error":/.test(response.body);
      return { is: isDone ? 'done' : 'failed', text };
    },
  }));
}
