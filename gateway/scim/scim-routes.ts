import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { FULL_RIGHTS } from '../../core/accounts/key-rights.ts';
import { parseScimFilter } from '../../core/accounts/scim/filter.ts';
import {
  GROUP_TYPE,
  isObject,
  MAX_SCIM_PAGE,
  SCIM_PATH,
  ScimError,
  type ScimType,
  USER_TYPE,
} from '../../core/accounts/scim/schema.ts';
import { UserError } from '../../core/shared/errors.ts';
import type { Database } from '../../db/connection/database.ts';
import { findScimToken } from '../../db/queries/accounts/scim.ts';
import * as directory from '../../operations/accounts/scim-directory.ts';
import { hashScimToken } from '../../operations/accounts/scim-tokens.ts';
import type { OperationContext } from '../../operations/context.ts';
import { type Admission, admitRequests, countRequest } from '../admission/admission.ts';
import { limitBodiesInFlight } from '../admission/bodies-in-flight.ts';
import { openCaller } from '../http/caller.ts';
import { errorResponse } from '../http/error-response.ts';
import { takeJsonText } from '../http/requests.ts';
import type { ContextOf } from '../operation-context.ts';
import { describeScim } from './scim-discovery.ts';
import {
  isShown,
  listResponse,
  makeEtag,
  type Projection,
  readProjection,
  readVersion,
  scimErrorBody,
  showResource,
} from './scim-response.ts';

export interface ScimOptions {
  admission: Admission;
  contextOf: ContextOf;
  /** role postroom_gateway */
  database: Database;
  publicUrl: string;
  now: () => Date;
}

const SCIM_TYPE = 'application/scim+json; charset=utf-8';
/** Of a group with all users of a workspace. Bytes. @limit */
const BODY_LIMIT = 1_048_576;

/** What a client can do with the resources of a type. */
interface Endpoint {
  type: ScimType;
  /** the attribute that other resources give, which is loaded only when it is shown */
  related: 'groups' | 'members';
  list: (context: OperationContext, query: directory.ScimQuery) => Promise<directory.ScimResult>;
  read: (context: OperationContext, id: string) => Promise<directory.ScimResource>;
  create: (context: OperationContext, body: unknown) => Promise<directory.ScimResource>;
  change: (context: OperationContext, id: string, change: directory.ScimChange) => Promise<directory.ScimResource>;
  remove: (context: OperationContext, id: string, version: number | null) => Promise<void>;
}

const endpoints: readonly Endpoint[] = [
  {
    type: USER_TYPE,
    related: 'groups',
    list: directory.listScimUsers,
    read: directory.readScimUser,
    create: directory.createScimUser,
    change: directory.changeScimUser,
    remove: directory.removeScimUser,
  },
  {
    type: GROUP_TYPE,
    related: 'members',
    list: directory.listScimGroups,
    read: directory.readScimGroup,
    create: directory.createScimGroup,
    change: directory.changeScimGroup,
    remove: directory.removeScimGroup,
  },
];

/** The plugin of SCIM 2.0 (RFC 7644) at `/scim/v2`, for the directory of a workspace with its SCIM token. */
export async function scimInterface(scim: FastifyInstance, options: ScimOptions): Promise<void> {
  const { admission, contextOf, publicUrl } = options;
  const base = `${publicUrl}${SCIM_PATH}`;
  scim.removeAllContentTypeParsers();
  scim.addContentTypeParser(
    ['application/scim+json', 'application/json'],
    { parseAs: 'string' },
    async (request: FastifyRequest, body: string) => {
      if (body === '') return undefined;
      const text = await takeScimText(request, body);
      try {
        return JSON.parse(text) as unknown;
      } catch {
        throw new ScimError(400, 'invalidSyntax', 'The request body is not valid JSON.');
      }
    },
  );
  scim.setErrorHandler(sendScimError);
  scim.setNotFoundHandler(sendNotServed);
  await scim.register(async (app) => {
    admitRequests(app, (request, reply) => admit(options, request, reply));
    limitBodiesInFlight(app, admission.bodiesInFlight);
    serveDiscovery(app, base);
    for (const endpoint of endpoints) serveEndpoint(app, endpoint, { base, contextOf });
    for (const url of ['/Me', '/Bulk', '/.search'])
      app.all(url, { schema: { hide: true } }, () => {
        throw new ScimError(501, null, `${url} is not served. Use /Users and /Groups.`);
      });
  });
}

/** Returns the text of a body, or throws ScimError when its JSON exceeds a limit. */
async function takeScimText(request: FastifyRequest, body: string): Promise<string> {
  try {
    return await takeJsonText(request, body);
  } catch (error) {
    throw new ScimError(400, 'invalidSyntax', (error as Error).message);
  }
}

/** Admits a request by the SCIM token of a workspace, and counts it. Throws ScimError, rate_limited. */
async function admit(
  { admission, database, now }: ScimOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const secret = /^Bearer +([\w.~+/=-]{1,200}) *$/i.exec(request.headers.authorization ?? '')?.[1];
  const findOwner = async () => (secret === undefined ? null : findScimToken(database, hashScimToken(secret)));
  const owner = await findOwner();
  if (owner === null) {
    reply.header('www-authenticate', 'Bearer realm="SCIM"');
    throw new ScimError(401, null, 'The SCIM token is missing, or not valid. Create one under Settings, Security.');
  }
  request.workspaceId = owner.workspaceId;
  request.rights = { ...FULL_RIGHTS, keyId: owner.tokenId };
  request.caller = openCaller(reply, {
    via: null,
    isAllowed: async () => (await findOwner())?.tokenId === owner.tokenId,
  });
  await countRequest({ limiter: admission.limiter, now }, owner.workspaceId, reply);
}

function serveDiscovery(app: FastifyInstance, base: string): void {
  const { config, resourceTypes, schemas } = describeScim(base);
  const hidden = { schema: { hide: true } };
  const send = (reply: FastifyReply, body: unknown) => reply.type(SCIM_TYPE).send(JSON.stringify(body));
  app.get('/ServiceProviderConfig', hidden, (_request, reply) => send(reply, config));
  for (const [url, resources] of [
    ['/ResourceTypes', resourceTypes],
    ['/Schemas', schemas],
  ] as const) {
    app.get(url, hidden, (request, reply) => {
      // RFC 7644 §4
      if ((request.query as Record<string, unknown>)['filter'] !== undefined)
        throw new ScimError(403, null, `${url} cannot be filtered.`);
      return send(reply, listResponse(resources, { total: resources.length, startIndex: 1 }));
    });
    app.get(`${url}/:id`, hidden, (request, reply) => {
      const { id } = request.params as { id: string };
      const found = resources.find((each) => each.id === id);
      if (found === undefined) throw new ScimError(404, null, `${url} has no ${id.slice(0, 80)}.`);
      return send(reply, found);
    });
  }
}

function serveEndpoint(
  app: FastifyInstance,
  { type, related, list, read, create, change, remove }: Endpoint,
  { base, contextOf }: { base: string; contextOf: ContextOf },
): void {
  const hidden = { schema: { hide: true } };
  const changing = { ...hidden, bodyLimit: BODY_LIMIT };
  const one = `${type.endpoint}/:id`;
  const readId = ({ params }: FastifyRequest) => (params as { id: string }).id;
  const readRequestedProjection = (given: Record<string, unknown>) =>
    readProjection(type, given['attributes'], given['excludedAttributes']);
  const query = (request: FastifyRequest) => request.query as Record<string, unknown>;

  function send(reply: FastifyReply, resource: directory.ScimResource, projection: Projection): FastifyReply {
    return reply
      .header('etag', makeEtag(resource.version))
      .type(SCIM_TYPE)
      .send(JSON.stringify(showResource(type, resource, { base, projection })));
  }

  async function search(request: FastifyRequest, reply: FastifyReply, given: Record<string, unknown>) {
    const projection = readRequestedProjection(given);
    const { filter } = given;
    if (filter !== undefined && typeof filter !== 'string')
      throw new ScimError(400, 'invalidFilter', 'The filter is a text.');
    const startIndex = Math.max(1, readNumber(given, 'startIndex') ?? 1);
    const count = Math.min(MAX_SCIM_PAGE, Math.max(0, readNumber(given, 'count') ?? MAX_SCIM_PAGE));
    const { resources, total } = await list(contextOf(request), {
      filter: filter === undefined || filter.trim() === '' ? null : parseScimFilter(type, filter),
      offset: startIndex - 1,
      limit: count,
      withMembers: isShown(projection, related),
    });
    const shown = resources.map((resource) => showResource(type, resource, { base, projection }));
    return reply.type(SCIM_TYPE).send(JSON.stringify(listResponse(shown, { total, startIndex })));
  }

  app.get(type.endpoint, hidden, (request, reply) => search(request, reply, query(request)));
  app.post(`${type.endpoint}/.search`, changing, (request, reply) => {
    if (!isObject(request.body)) throw new ScimError(400, 'invalidSyntax', 'The body must be a JSON object.');
    return search(request, reply, request.body);
  });
  app.get(one, hidden, async (request, reply) => {
    const projection = readRequestedProjection(query(request));
    const resource = await read(contextOf(request), readId(request));
    if (readVersion(request.headers['if-none-match']) === resource.version) return reply.code(304).send();
    return send(reply, resource, projection);
  });
  app.post(type.endpoint, changing, async (request, reply) => {
    const projection = readRequestedProjection(query(request));
    const resource = await create(contextOf(request), request.body);
    return send(reply.code(201).header('location', `${base}${type.endpoint}/${resource.id}`), resource, projection);
  });
  for (const [method, kind] of [
    ['PUT', 'replace'],
    ['PATCH', 'patch'],
  ] as const)
    app.route({
      ...changing,
      method,
      url: one,
      async handler(request, reply) {
        const projection = readRequestedProjection(query(request));
        const version = readVersion(request.headers['if-match']);
        const resource = await change(contextOf(request), readId(request), { kind, body: request.body, version });
        return send(reply, resource, projection);
      },
    });
  app.delete(one, hidden, async (request, reply) => {
    await remove(contextOf(request), readId(request), readVersion(request.headers['if-match']));
    return reply.code(204).send();
  });
}

function readNumber(given: Record<string, unknown>, name: string): number | null {
  const value = given[name];
  if (value === undefined || value === '') return null;
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text === 'string' && /^-?\d{1,9}$/.test(text)) return Number(text);
  throw new ScimError(400, 'invalidValue', `${name} must be a whole number.`);
}

/** Sends an error as RFC 7644 §3.12 has it; those of the gateway keep their status and headers. */
function sendScimError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  if (error instanceof ScimError) return sendBody(reply, error.status, error.message, error.scimType);
  const { body, headers } = errorResponse(error, request.log as unknown as Logger);
  const isSyntax = body.statusCode === 400 && !(error instanceof UserError);
  sendBody(reply.headers(headers), body.statusCode, body.message, isSyntax ? 'invalidSyntax' : null);
}

/** Sends 404, or 405 for a path that is served by other methods. */
function sendNotServed(request: FastifyRequest, reply: FastifyReply): void {
  const methods = request.server.declaredMethods(request.url.split('?')[0] ?? '');
  if (methods.length === 0) return sendBody(reply, 404, 'SCIM does not serve this path.');
  const allow = methods.join(', ');
  sendBody(reply.header('allow', allow), 405, `${request.method} is not allowed here. Use one of: ${allow}.`);
}

function sendBody(
  reply: FastifyReply,
  status: number,
  detail: string,
  scimType: Parameters<typeof scimErrorBody>[2] = null,
): void {
  void reply
    .code(status)
    .type(SCIM_TYPE)
    .serializer((payload) => payload as string)
    .send(JSON.stringify(scimErrorBody(status, detail, scimType)));
}
