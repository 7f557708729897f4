import type { FastifyInstance, FastifyRequest } from 'fastify';

/**
 * The path that a request is served as. `/api/v2/*` is the former name of `/api/e2/*`, whose paths may end in slashes. Percent escapes that mean nothing are taken
 * literally, so that an id that is none is answered like any other unknown id.
 */
export function servedPath(url: string): string {
  const mark = url.indexOf('?');
  const path = mark === -1 ? url : url.slice(0, mark);
  const query = mark === -1 ? '' : url.slice(mark);
  const renamed = path.replace(/^\/api\/v2(?=\/|$)/, '/api/e2');
  const segments = (SLASHES_AT_END.test(renamed) ? withoutSlashes(renamed) : renamed).split('/');
  return segments.map((segment) => (isDecodable(segment) ? segment : segment.replaceAll('%', '%25'))).join('/') + query;
}

/** Whether the request came by `/api/v2`, the base of `@inboundemail/sdk`. */
export function isFormerPath({ originalUrl }: FastifyRequest): boolean {
  return originalUrl.startsWith('/api/v2/');
}

/**
 * Bodies are JSON. A JSON content type without a body counts as no body, which clients send with POST and DELETE; every other content
 * type of a body is 415, and so is a compressed one, which could grow beyond any limit.
 */
export function acceptJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('remove', 'remove');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    const encoding = request.headers['content-encoding'] ?? 'identity';
    if (encoding !== 'identity') return done(Object.assign(new Error('compressed body'), { statusCode: 415 }));
    if (body.length === 0) return done(null, undefined);
    return parse(request, body as string, done);
  });
}

/** Files of the reference page lie below its path. */
const SLASHES_AT_END = /^\/api\/e2\/(?!docs\/).*\/$/;

/** The path without the slashes at its end. */
function withoutSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === '/') end--;
  return path.slice(0, end);
}

function isDecodable(segment: string): boolean {
  try {
    decodeURIComponent(segment);
    return true;
  } catch {
    return false;
  }
}
