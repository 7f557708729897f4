import type { RouteOptions } from 'fastify';
import { z } from 'zod';
import { loggedBody } from '../../core/accounts/logged-body.ts';
import { type ApiInterface, loggedPath, REDACTED } from '../../core/accounts/logged-request.ts';
import { closeJson, looksSecret, Redactions } from '../../core/accounts/redaction.ts';
import { listConfidential, type Right } from '../../core/accounts/rights.ts';
import { redactByShape } from '../../core/accounts/secret-fields.ts';

/** A request and its response in memory, as they were sent. */
export interface HeldExchange {
  interface: ApiInterface;
  url: string;
  /** path of the route, such as `/api/e2/emails/:id` */
  routePath: string | null;
  /** the zod shapes of the route */
  schema: RouteOptions['schema'];
  /** the fields of the body, if the schema of the route is open */
  bodyFields: z.ZodType | null;
  status: number;
  /** the rights that the route needs; GraphQL and MCP: none, their fields and tools do */
  routeRights: readonly Right[];
  /** what authenticated the request; clients may repeat it in a path or field */
  credential: string | null;
  /** headers that are logged */
  requestHeaders: Readonly<Record<string, string>>;
  /** shortened; null when there is none, or it is not held */
  requestText: string | null;
  /** shortened; null when there is none, or it is not held */
  responseText: string | null;
}

/** What is stored of an exchange. */
export interface LoggedExchange {
  path: string;
  operation: string | null;
  requestHeaders: Record<string, string>;
  requestBody: string | null;
  responseBody: string | null;
  /** the confidential rights that the request needed */
  rights: readonly Right[];
}

type LoggedParts = Omit<LoggedExchange, 'requestHeaders'>;

const OF_LOG = '[not logged: the response shows the request log]';
const NOT_JSON = '[not logged: the body is not JSON]';
const NOT_READ = '[not logged: the document is not valid, or long]';
const NO_SHAPE = '[not logged: the route has no schema]';
const TOO_DEEP = '[not logged: the body is nested too deeply]';
const MANY_SECRETS = '[not logged: too many secrets]';

/** Returns an exchange without its secrets. What cannot be compared with a schema is left out. */
export async function redactExchange(held: HeldExchange): Promise<LoggedExchange> {
  const redactions = new Redactions();
  if (held.credential !== null) redactions.replace(held.credential, 'value');
  const isDeep = [held.requestText, held.responseText].some((text) => text !== null && measureDepth(text) > MAX_DEPTH);
  const logged = isDeep ? withoutBodies(held) : await redactParts(held, redactions);
  const finish = (body: string | null) => {
    if (body === null || body.startsWith('[not logged')) return body;
    return redactions.isFull ? MANY_SECRETS : loggedBody(redactions.scrub(body));
  };
  return {
    path: redactions.isFull ? loggedPath(held.url.replace(/\?.*/s, '')) : loggedPath(redactions.scrub(logged.path)),
    operation: logged.operation,
    requestHeaders: Object.fromEntries(
      Object.entries(held.requestHeaders).map(([name, value]) => [
        name,
        redactions.isFull ? REDACTED : redactions.scrub(value),
      ]),
    ),
    requestBody: finish(logged.requestBody),
    responseBody: finish(logged.responseBody),
    rights: listConfidential(logged.rights),
  };
}

function redactParts(held: HeldExchange, redactions: Redactions): LoggedParts | Promise<LoggedParts> {
  if (held.interface === 'graphql') return redactOperation(held, redactions);
  return held.interface === 'mcp' ? redactCall(held, redactions) : redactRest(held, redactions);
}

/** Levels of arrays and objects in a body. What redacts them calls itself for each. */
const MAX_DEPTH = 100;

function measureDepth(text: string): number {
  let [depth, deepest] = [0, 0];
  let isInText = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (isInText) {
      if (character === '\\') at++;
      else if (character === '"') isInText = false;
    } else if (character === '"') isInText = true;
    else if (character === '[' || character === '{') deepest = Math.max(deepest, ++depth);
    else if (character === ']' || character === '}') depth--;
  }
  return deepest;
}

function withoutBodies({ url, requestText, responseText, routeRights: rights }: HeldExchange): LoggedParts {
  const left = (text: string | null) => (text === null ? null : TOO_DEEP);
  return {
    path: redactQuery(url, () => null),
    operation: null,
    requestBody: left(requestText),
    responseBody: left(responseText),
    rights,
  };
}

function redactRest(held: HeldExchange, redactions: Redactions): LoggedParts {
  const { schema, bodyFields, requestText, responseText, status, routeRights: rights } = held;
  const body = bodyFields ?? schema?.body;
  const known = namesIn(schema?.querystring);
  const path = redactQuery(held.url, (name, value) => (looksSecret(name) || !known.has(name) ? null : value));
  const requestBody = redactText(requestText, (given) => redactByShape(given, shapesIn([body]), redactions), body);
  if (held.routePath?.startsWith('/api/e2/requests') === true)
    return { path, operation: null, requestBody, responseBody: OF_LOG, rights };
  redactions.part = 'response';
  const declared = (schema?.response ?? {}) as Record<string, unknown>;
  const own = declared[String(status)] ?? declared[`${String(status)[0]}xx`] ?? declared[`${String(status)[0]}XX`];
  const shape = own ?? (status >= 400 ? declared['default'] : undefined);
  const shapes = shapesIn([shape]);
  const responseBody = redactText(
    responseText,
    (given) => redactByShape(given, [...shapes, WARNINGS], redactions),
    shapes[0],
  );
  return { path, operation: null, requestBody, responseBody, rights };
}

/** What `warnOfUnknownFields` adds to any response. */
const WARNINGS = z.object({ warnings: z.array(z.object({ field: z.string(), message: z.string() })) });

/** Returns the names of the query that a route has. */
function namesIn(shape: unknown): ReadonlySet<string> {
  return new Set(shape instanceof z.ZodObject ? Object.keys(shape.shape) : []);
}

function shapesIn(given: readonly unknown[]): z.ZodType[] {
  return given.filter((shape) => shape instanceof z.ZodType);
}

/** Returns the JSON text of what `redact` returns for a body. */
function redactText(text: string | null, redact: (body: unknown) => unknown, shape: unknown): string | null {
  if (text === null || /^\[[\d,]+ bytes\]$|^\[stream\]$/.test(text)) return text;
  const body = parseJson(text);
  if (body === undefined) return NOT_JSON;
  return shape instanceof z.ZodType ? rewrite(body, redact) : NO_SHAPE;
}

interface ParsedBody {
  value: unknown;
  /** whether the text was cut */
  isCut: boolean;
}

function rewrite({ value, isCut }: ParsedBody, redact: (body: unknown) => unknown): string {
  return `${JSON.stringify(redact(value))}${isCut ? '…' : ''}`;
}

function parseJson(text: string): ParsedBody | undefined {
  try {
    return { value: JSON.parse(text) as unknown, isCut: false };
  } catch {
    // A cut text ends with this character.
    const closed = text.endsWith('…') ? closeJson(text) : null;
    try {
      return closed === null ? undefined : { value: JSON.parse(closed) as unknown, isCut: true };
    } catch {
      return undefined;
    }
  }
}

/** Returns the URL with each value of its query as `redact` returns it; null is redacted. */
function redactQuery(url: string, redact: (name: string, value: string) => string | null): string {
  const mark = url.indexOf('?');
  if (mark === -1) return url;
  const pairs = url
    .slice(mark + 1)
    .split('&')
    .map((pair) => {
      const [[name = '', value = ''] = []] = new URLSearchParams(pair);
      const end = pair.indexOf('=');
      const kept = redact(name, value);
      if (kept === value) return pair;
      return `${end === -1 ? pair : pair.slice(0, end)}=${kept === null ? REDACTED : encodeURIComponent(kept)}`;
    });
  return `${url.slice(0, mark)}?${pairs.join('&')}`;
}

async function redactOperation(held: HeldExchange, redactions: Redactions): Promise<LoggedParts> {
  const { readLoggedOperation } = await import('../graphql/logged-operation.ts');
  const { url, requestText, responseText } = held;
  const query = new URL(url, 'http://gateway').searchParams;
  const isInUrl = requestText === null || requestText === '' ? query.has('query') || query.has('extensions') : false;
  const given = isInUrl ? fromQuery(query) : requestText === null ? undefined : parseJson(requestText);
  const isRead = given !== undefined && typeof given.value === 'object' && given.value !== null && !given.isCut;
  const operation = isRead ? readLoggedOperation(given.value as Record<string, unknown>, redactions) : null;
  const path = redactQuery(url, (name) => {
    const shown = isInUrl ? operation?.request[name] : undefined;
    return shown === undefined ? null : typeof shown === 'string' ? shown : JSON.stringify(shown);
  });
  if (operation === null) {
    const left = (text: string | null) => (text === null ? null : NOT_READ);
    return { path, operation: null, requestBody: left(requestText), responseBody: left(responseText), rights: [] };
  }
  redactions.part = 'response';
  return {
    path,
    operation: operation.name,
    rights: operation.rights,
    requestBody: isInUrl ? null : JSON.stringify(operation.request),
    responseBody: redactAny(responseText, operation.redactResponse),
  };
}

function fromQuery(query: URLSearchParams): ParsedBody | undefined {
  const value: Record<string, unknown> = {};
  for (const [name, text] of query) {
    const isJson = name === 'variables' || name === 'extensions';
    const parsed = isJson ? parseJson(text) : { value: text };
    if (parsed === undefined || Object.hasOwn(value, name)) return undefined;
    value[name] = parsed.value;
  }
  return { value, isCut: false };
}

async function redactCall(held: HeldExchange, redactions: Redactions): Promise<LoggedParts> {
  const { readLoggedCall } = await import('../mcp/logged-call.ts');
  const { url, requestText, responseText } = held;
  const path = redactQuery(url, () => null);
  const given = requestText === null ? undefined : parseJson(requestText);
  if (given === undefined || typeof given.value !== 'object' || given.value === null) {
    const left = (text: string | null) => (text === null ? null : NOT_JSON);
    return { path, operation: null, requestBody: left(requestText), responseBody: left(responseText), rights: [] };
  }
  const call = readLoggedCall(given.value as Record<string, unknown>, redactions);
  redactions.part = 'response';
  return {
    path,
    operation: call.name,
    rights: call.rights,
    requestBody: rewrite(given, () => call.request),
    responseBody: redactAny(responseText, call.redactResponse),
  };
}

function redactAny(text: string | null, redact: (body: unknown) => unknown): string | null {
  if (text === null || text === '' || /^\[[\d,]+ bytes\]$|^\[stream\]$/.test(text)) return text;
  const body = parseJson(text);
  return body === undefined ? NOT_JSON : rewrite(body, redact);
}
