import type { FastifyInstance, FastifyRequest } from 'fastify';
import { shortenBody } from '../../core/accounts/logged-body.ts';
import { UserError } from '../../core/shared/errors.ts';
import {
  findJsonExcess,
  type JsonExcess,
  MAX_JSON_DEPTH,
  MAX_JSON_FIELDS,
  MAX_JSON_VALUES,
} from '../../core/shared/json-limits.ts';
import { isPercentEncoded } from '../../core/shared/text.ts';
import { createTurns } from '../../core/shared/turns.ts';
import { finishInTurns } from '../../operations/endpoints/build-in-turns.ts';

/**
 * Normalizes the path of a request. `/api/v2/*` is the legacy name of `/api/e2/*`, whose paths may end in slashes. Invalid percent escapes are
 * taken literally, so that a malformed ID gets the same response as an unknown one.
 */
export function servedPath(url: string): string {
  const mark = url.indexOf('?');
  const path = mark === -1 ? url : url.slice(0, mark);
  const query = mark === -1 ? '' : url.slice(mark);
  const renamed = path.replace(/^\/api\/v2(?=\/|$)/, '/api/e2');
  const segments = (SLASHES_AT_END.test(renamed) ? withoutSlashes(renamed) : renamed).split('/');
  return (
    segments.map((segment) => (isPercentEncoded(segment) ? segment : segment.replaceAll('%', '%25'))).join('/') + query
  );
}

/** Returns whether the request used `/api/v2`, the base path of `@inboundemail/sdk`. */
export function isLegacyPath({ originalUrl }: FastifyRequest): boolean {
  return originalUrl.startsWith('/api/v2/');
}

/**
 * Makes the server accept JSON bodies only. A JSON content type with an empty body counts as no body, which clients send with POST and DELETE.
 * Other content types get 415, and so do compressed bodies, which could exceed any limit once decompressed.
 */
export function acceptJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('remove', 'remove');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, async (request: FastifyRequest, body: string) => {
    const encoding = request.headers['content-encoding'] ?? 'identity';
    if (encoding !== 'identity') throw Object.assign(new Error('compressed body'), { statusCode: 415 });
    if (body.length === 0) return undefined;
    if (request.caller?.via === 'key') request.sentBody = shortenBody(body);
    const text = await takeJsonText(request, body);
    return new Promise((resolve, reject) => {
      void parse(request, text, (error, value) => (error === null ? resolve(value) : reject(error)));
    });
  });
}

const MOST: Readonly<Record<JsonExcess, string>> = {
  depth: `nests at most ${MAX_JSON_DEPTH} objects and lists`,
  values: `has at most ${MAX_JSON_VALUES.toLocaleString('en-US')} values`,
  fields: `has at most ${MAX_JSON_FIELDS.toLocaleString('en-US')} fields in one object`,
};

/** All bodies of the process: however many arrive, only one that takes long is scanned at a time. */
const turns = createTurns();

/**
 * The parser of bodies that go on as text to what reads them. Returns the text, or throws when its JSON exceeds a limit; other requests go on
 * while a long one is scanned.
 */
export async function takeJsonText(request: FastifyRequest, text: string): Promise<string> {
  const excess = await finishInTurns(turns, request.workspaceId, findJsonExcess(text), request.caller);
  if (excess === null) return text;
  throw new UserError('validation', `The JSON of a request ${MOST[excess]}.`, { name: 'validation_error' });
}

const SLASHES_AT_END = /^\/api\/e2\/.*\/$/;

/** Removes trailing slashes. */
function withoutSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === '/') end--;
  return path.slice(0, end);
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Returns the methods that routes declare for a path, sorted; empty for a path that no route serves. `path` has no query. */
    declaredMethods: (path: string) => string[];
    /** Returns whether the router matched a path of its own, such as `/emails/batch`, with the id of another, `/emails/:id`. */
    isTakenForId: (path: string, matched: string | undefined) => boolean;
  }
}

/** Collects the routes that are added from here on, so that a request by another method gets 405 (RFC 9110 §15.5.6). */
export function collectDeclaredMethods(app: FastifyInstance): void {
  const routes = new Map<string, { pattern: RegExp; methods: Set<string> }>();
  app.addHook('onRoute', ({ url, method }) => {
    // A wildcard route declares no path.
    if (url.includes('*')) return;
    const route = routes.get(url) ?? { pattern: toPattern(url), methods: new Set() };
    for (const name of [method].flat()) route.methods.add(name);
    routes.set(url, route);
  });
  app.decorate('declaredMethods', (path: string) => {
    const own = routes.get(path);
    const fitting = own !== undefined ? [own] : [...routes.values()].filter(({ pattern }) => pattern.test(path));
    return [...new Set(fitting.flatMap(({ methods }) => [...methods]))].sort();
  });
  app.decorate(
    'isTakenForId',
    (path: string, matched: string | undefined) => matched?.includes(':') === true && routes.has(path),
  );
}

/** Returns the pattern of the paths of a route such as `/emails/:id`. */
function toPattern(url: string): RegExp {
  const segments = url
    .split('/')
    .map((segment) => (segment.startsWith(':') ? '[^/]+' : segment.replace(/[^\w-]/g, '\\$&')));
  return new RegExp(`^${segments.join('/')}$`);
}
