import type { FastifyError, FastifyReply, FastifyRequest, FastifySchemaValidationError } from 'fastify';
import { hasZodFastifySchemaValidationErrors, isResponseSerializationError } from 'fastify-type-provider-zod';
import type { Logger } from 'pino';
import { INSUFFICIENT_SCOPE } from '../../core/accounts/key-rights.ts';
import { UserError, type UserErrorCode, VIRUS_FOUND } from '../../core/shared/errors.ts';
import { snakeCase } from '../../core/shared/word-case.ts';
import { isTransient } from '../../db/errors.ts';
import { invalidInput } from '../../schema/input-shapes.ts';
import { RequestLimiterAway } from '../admission/request-limit.ts';

/** The body of every error of the REST interface. `name` is in the vocabulary of the `resend` client. */
export interface ErrorBody {
  error: string;
  message: string;
  statusCode: number;
  name: string;
  details?: unknown;
  code?: string;
  /** of a path that no route serves */
  deprecation_notice?: string;
}

export interface ErrorResponse {
  body: ErrorBody;
  headers: Record<string, string>;
}

/** Retry-After if PostgreSQL is unreachable; seconds. */
const RETRY_AFTER_SECONDS = 5;
/** Retry-After if requests cannot be counted; seconds. */
const LIMITER_RETRY_AFTER_SECONDS = 60;

const UNAUTHORIZED: ErrorBody = {
  error: 'Unauthorized',
  message: 'Authentication required. Provide a valid session cookie or Bearer token.',
  statusCode: 401,
  name: 'missing_api_key',
};
const CHALLENGE = { 'www-authenticate': 'Bearer realm="API", charset="UTF-8"' };

const statuses: Record<UserErrorCode, [statusCode: number, name: string]> = {
  validation: [400, 'validation_error'],
  unauthorized: [401, 'missing_api_key'],
  forbidden: [403, 'restricted_api_key'],
  not_found: [404, 'not_found'],
  conflict: [409, 'validation_error'],
  gone: [410, 'not_found'],
  rate_limited: [429, 'rate_limit_exceeded'],
  unavailable: [503, 'application_error'],
};

/** A valid request about mail that is refused for what it contains. */
const UNPROCESSABLE = 422;

/** Converts an error to a response, the only place that does. Logs internal errors, once, and returns 500 for them. */
export function errorResponse(error: unknown, log: Logger): ErrorResponse {
  if (error instanceof UserError) return userErrorResponse(error);
  if (hasZodFastifySchemaValidationErrors(error)) {
    return userErrorResponse(invalidInput(error.validation.flatMap(readIssue)));
  }
  if (isTransient(error) || findCode(error) === 'FST_ERR_HANDLER_TIMEOUT') {
    log.warn({ err: error }, 'PostgreSQL is unreachable');
    return unavailable();
  }
  if (error instanceof RequestLimiterAway) {
    log.warn({ err: error }, 'the request limiter is unavailable');
    const message = 'Rate limiting service is temporarily unavailable. Please try again later.';
    return unavailable(message, LIMITER_RETRY_AFTER_SECONDS);
  }
  const status = (error as Partial<FastifyError>).statusCode ?? 500;
  if (status < 500 && !isResponseSerializationError(error)) return frameworkErrorResponse(status);
  log.error({ err: error }, 'a request failed');
  return frame(500, 'Internal Server Error', 'An unexpected error occurred.');
}

/** Returns what is wrong with a field, or with each field that the shape does not have. */
function readIssue({ keyword, instancePath, params, message = 'Invalid value' }: FastifySchemaValidationError) {
  const path = instancePath.split('/').filter((part) => part !== '');
  const field = path.join('.');
  const { keys } = params;
  if (keyword !== 'unrecognized_keys' || !Array.isArray(keys)) return [{ field, message }];
  return keys.map((key) => ({
    field: [...path, String(key).slice(0, MAX_SHOWN_FIELD).toWellFormed()].join('.'),
    message: 'Unknown field',
  }));
}

/** Characters of the name of an unknown field. */
const MAX_SHOWN_FIELD = 200;

/** Sends the response of an error. */
export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { body, headers } = errorResponse(error, request.log as unknown as Logger);
  return send(reply, body, headers);
}

/** Like sendError, for routes whose fields are in snake_case on the wire and in camelCase in the operations. */
export function sendSnakeCaseError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const { body, headers } = errorResponse(error, request.log as unknown as Logger);
  // Errors of the shapes have the names of the wire already, and those of keys that the client chose.
  const isOfOperation = error instanceof UserError && Array.isArray(body.details);
  const details = isOfOperation ? (body.details as unknown[]).map(renameField) : body.details;
  void send(reply, details === undefined ? body : { ...body, details }, headers);
}

function renameField(detail: unknown): unknown {
  if (typeof detail !== 'object' || detail === null || !('field' in detail) || typeof detail.field !== 'string')
    return detail;
  return { ...detail, field: detail.field.split('.').map(snakeField).join('.') };
}

/** Returns the name of a field in snake_case; others, such as of a header, stay as they are. */
function snakeField(name: string): string {
  return /^[a-z]+(?:[A-Z][a-z]+[0-9]*)+(?=\[|$)/.test(name) ? snakeCase(name) : name;
}

/** Like sendError, for downloads: `details` repeats that the key is unknown. */
export function sendDownloadError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const { body, headers } = errorResponse(error, request.log as unknown as Logger);
  const isUnauthorized = error instanceof UserError && error.code === 'unauthorized';
  void send(reply, isUnauthorized ? { ...body, details: 'Invalid or missing API key' } : body, headers);
}

/** Returns whether no route serves the path of a request by its method. */
export function hasNoRoute(request: FastifyRequest): boolean {
  return request.is404 || request.server.isTakenForId(readPath(request), request.routeOptions.url);
}

const DEPRECATION_NOTICE =
  'The API is at /api/e2, which also serves /api/v2. /api/v1 was removed. See /api/e2/docs for all paths.';

/**
 * Returns what is empty in the path of a request, as `$ID` does that was never set: the name of the variable, or `ID` where no route has
 * the path. Null if nothing does.
 */
export function findEmptyVariable(request: FastifyRequest): string | null {
  const segments = readPath(request).split('/').slice(1);
  const at = segments.indexOf('');
  if (at === -1) return null;
  return /^:(\w+)$/.exec(request.routeOptions.url?.split('/')[at + 1] ?? '')?.[1] ?? 'ID';
}

/** Sends 400 for a path with an empty variable. */
export function sendEmptyVariable(name: string, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const message = `\`${name}\` in the path is empty: ${readPath(request).slice(0, MAX_SHOWN_PATH)}. Put the ID between the slashes; a variable may not be set.`;
  const { body, headers } = frame(400, 'Bad Request', message, { name: 'validation_error' });
  return send(reply, { ...body, details: [{ field: name, message }] }, headers);
}

const MAX_SHOWN_PATH = 200;

/** Sends 404 for a path that no route serves, and 405 for one that is served by other methods. */
export function sendNoRoute(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const methods = request.server.declaredMethods(readPath(request));
  // A route may itself respond 404 for what is below its path.
  if (methods.length > 0 && !methods.includes(request.method)) {
    const allow = methods.join(', ');
    const missing = /\/(?:\?|$)/.test(request.originalUrl) ? ' The path ends with a slash: an ID may be missing.' : '';
    const message = `${request.method} is not allowed here. Use one of: ${allow}.${missing}`;
    return send(reply, frame(405, 'Method Not Allowed', message, { name: 'method_not_allowed' }).body, { allow });
  }
  const { body, headers } = frame(404, 'Not Found', 'The requested resource does not exist.');
  return send(reply, { ...body, deprecation_notice: DEPRECATION_NOTICE }, headers);
}

function readPath(request: FastifyRequest): string {
  return request.url.split('?')[0] ?? '';
}

/** Sends 410 for the retired first version of the API. */
export function sendGone(_request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { body, headers } = frame(410, 'Gone', 'This version of the API is retired. Use /api/e2.');
  return send(reply, body, headers);
}

/** Sends 421 to a request whose Host header field is not one of this gateway's. */
export function sendMisdirected(reply: FastifyReply, publicUrl: string): FastifyReply {
  const message = `This server does not serve the host in the Host header. Use ${publicUrl}, and configure proxies to keep the Host header.`;
  const { body, headers } = frame(421, 'Misdirected Request', message, { name: 'validation_error' });
  return send(reply, { ...body, code: 'MISDIRECTED_REQUEST' }, headers);
}

function send(reply: FastifyReply, body: ErrorBody, headers: Record<string, string>): FastifyReply {
  // The serializer of the route's response does not know error bodies.
  return reply
    .code(body.statusCode)
    .headers(headers)
    .type('application/json; charset=utf-8')
    .serializer((payload) => payload as string)
    .send(JSON.stringify(body));
}

/**
 * Returns the name of a conflict: its reason, such as `thread_claimed`. Conflicts of domains keep the name that the `resend` client has for
 * them; it has no methods for what the others are about.
 */
function conflictName({ code, reason }: UserError): string | null {
  return code === 'conflict' && reason !== undefined && !reason.startsWith('DOMAIN_') ? reason.toLowerCase() : null;
}

function userErrorResponse(error: UserError): ErrorResponse {
  if (error.code === 'unauthorized')
    return { body: { ...UNAUTHORIZED, name: error.wireName ?? UNAUTHORIZED.name }, headers: CHALLENGE };
  if (error.code === 'unavailable') {
    // Without a reason, the message is for operators.
    if (error.reason === undefined) return unavailable();
    const { body, headers } = unavailable(error.message, error.retryAfterSeconds);
    return { body: { ...body, code: error.reason }, headers };
  }
  const [usualStatus, name] = statuses[error.code];
  const statusCode = error.reason === VIRUS_FOUND ? UNPROCESSABLE : usualStatus;
  const isThrottled = error.code === 'rate_limited';
  return {
    body: {
      error: error.title ?? (isThrottled ? 'Too Many Requests' : error.message),
      message: error.message,
      statusCode,
      name: error.wireName ?? conflictName(error) ?? name,
      ...(error.details === undefined ? {} : { details: error.details }),
      ...(error.reason === undefined ? {} : { code: error.reason }),
      ...error.members,
    },
    headers: {
      ...(error.retryAfterSeconds === undefined ? {} : { 'retry-after': String(error.retryAfterSeconds) }),
      // Generated clients try a 409 again by themselves unless told not to.
      ...(error.isFinal ? { 'x-should-retry': 'false' } : {}),
      // RFC 6750 §3.1
      ...(error.reason === INSUFFICIENT_SCOPE
        ? { 'www-authenticate': `Bearer error="insufficient_scope", scope="${String(error.members['requiredScope'])}"` }
        : {}),
    },
  };
}

function unavailable(
  message = 'The service is temporarily unavailable. Please try again later.',
  retryAfterSeconds = RETRY_AFTER_SECONDS,
): ErrorResponse {
  const response = frame(503, 'Service Unavailable', message);
  return { ...response, headers: { 'retry-after': String(retryAfterSeconds) } };
}

const frameworkErrors: Record<number, [error: string, message: string, name: string]> = {
  400: ['Bad Request', 'The request body is not valid JSON.', 'validation_error'],
  405: ['Method Not Allowed', 'The method is not allowed here.', 'method_not_allowed'],
  408: ['Request Timeout', 'The request body arrives too slowly. Send it again.', 'application_error'],
  413: ['Payload Too Large', 'The request body is too large.', 'validation_error'],
  414: ['URI Too Long', 'The path of the request is too long.', 'validation_error'],
  415: ['Unsupported Media Type', 'Send the request body as application/json.', 'validation_error'],
};

function frameworkErrorResponse(status: number): ErrorResponse {
  const known = frameworkErrors[status];
  if (known === undefined) return frame(400, 'Bad Request', 'The request is not valid.');
  const [error, message, name] = known;
  return frame(status, error, message, { name });
}

function frame(statusCode: number, error: string, message: string, more: { name?: string } = {}): ErrorResponse {
  const names: Record<number, string> = {
    400: 'validation_error',
    404: 'not_found',
    410: 'not_found',
    503: 'application_error',
  };
  const name = more.name ?? names[statusCode] ?? 'internal_server_error';
  return { body: { error, message, statusCode, name }, headers: {} };
}

function findCode(error: unknown): string | null {
  const code = error instanceof Error ? (error as { code?: unknown }).code : null;
  return typeof code === 'string' ? code : null;
}
