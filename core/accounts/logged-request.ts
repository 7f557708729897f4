/** Interfaces whose requests are logged. */
export const API_INTERFACES = ['rest', 'graphql', 'mcp'] as const;
export type ApiInterface = (typeof API_INTERFACES)[number];

/** What is logged of requests: all of it, all but bodies, or nothing. */
export const REQUEST_LOG_LEVELS = ['on', 'metadata', 'off'] as const;
export type RequestLogLevel = (typeof REQUEST_LOG_LEVELS)[number];

/** Classes of HTTP status codes by which the log is filtered: below 400, 4xx, 5xx. */
export const STATUS_CLASSES = ['success', 'client_error', 'server_error'] as const;
export type StatusClass = (typeof STATUS_CLASSES)[number];

/** Days that logged requests are kept; remove_leftovers has the same number. */
export const REQUEST_LOG_DAYS = 7;

/** Longest path with its query in the log, and value of a header. Characters. */
const MAX_PATH_LENGTH = 2_048;
const MAX_HEADER_LENGTH = 512;

/** Headers that are logged. None of them holds a credential. */
const REQUEST_HEADERS = [
  'accept',
  'content-type',
  'user-agent',
  'idempotency-key',
  'origin',
  'traceparent',
  'mcp-protocol-version',
];
const RESPONSE_HEADERS = [
  'content-type',
  'location',
  'retry-after',
  'ratelimit',
  'ratelimit-policy',
  'ratelimit-remaining',
];

type GivenHeaders = Readonly<Record<string, number | string | readonly string[] | undefined>>;

/** Returns the headers of a request that are logged. */
export function loggedRequestHeaders(given: GivenHeaders): Record<string, string> {
  return pick(given, REQUEST_HEADERS);
}

/** Returns the headers of a response that are logged. */
export function loggedResponseHeaders(given: GivenHeaders): Record<string, string> {
  return pick(given, RESPONSE_HEADERS);
}

function pick(given: GivenHeaders, names: readonly string[]): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const name of names) {
    const value = given[name];
    if (value !== undefined) picked[name] = storable(String(value).slice(0, MAX_HEADER_LENGTH));
  }
  return picked;
}

/** Returns a path with its query as it is logged: without secrets, and not too long. */
export function loggedPath(url: string): string {
  return storable(url.slice(0, MAX_PATH_LENGTH)).replace(SECRET_PARAMETER, `$1${REDACTED}`);
}

/** The text that replaces a secret. */
export const REDACTED = '[redacted]';

/** A secret in the query of a URL, such as the signature of a download link. */
export const SECRET_PARAMETER =
  /([?&](?:signature|token|access_token|api[-_]?key|key|secret|password)=)[^&"'\\\s<>#]+/gi;

/** Returns the text without what PostgreSQL does not store: NUL, and halves of surrogate pairs. */
export function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed();
}
