import type { RouteOptions } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { isIdName } from '../../core/shared/field-notes.ts';
import type {
  Action,
  Capability,
  Change,
  Delete,
  Fields,
  List,
  Operation,
  OwnedList,
  Read,
  Resource,
  ResourceRow,
  Target,
} from '../../operations/capability/capability.ts';
import type { OperationContext } from '../../operations/context.ts';
import { limitEntries } from '../../schema/input-shapes.ts';
import { access, type RouteAccess } from '../admission/access.ts';
import { sendSnakeCaseError } from '../http/error-response.ts';
import { makeReader, makeWriter, wireInput, wireOutput, wireQuery } from './capability-shapes.ts';
import { INSTEAD_OF_OFFSET, isOneSided, oneSide, pageByIdFields, readPageById } from './page-by-id.ts';
import { idempotencyHeader, MAIL_BODY_LIMIT, readIdempotencyHeader } from './sending/outgoing-shapes.ts';
import { besideBody, errorBody, idInPath, limit, listBody, makeListShape, offset, type RestOptions } from './shapes.ts';
import { type MoreFields, objectName, plainWireObject, type WireObject, wireObject } from './wire-object.ts';

/** Where REST differs from what the capability says, for the sake of clients. */
export interface WireDifferences<Row extends ResourceRow = ResourceRow> {
  /** fields that the object has beside its own, or in another form */
  fields?: MoreFields<Row>;
  /** by `operationId` */
  operations?: Readonly<Record<string, OperationDifferences<Row>>>;
}

interface OperationDifferences<Row> {
  /** replaces the body or the filters of the query */
  request?: z.ZodType;
  /** returns what `request` accepted as input of the operation */
  inputOf?: (request: Body, usual: (request: Body) => Body) => Body;
  /** replaces the response: gets the usual one, and the row or the output of an action */
  response?: {
    shape: (usual: Fields) => z.ZodType;
    bodyOf: (usual: Body, result: Row, context: OperationContext) => Body;
  };
  /** status of a success */
  status?: number;
  /** bodies of successes with another status, which `statusOf` returns for a body */
  otherBodies?: Readonly<Record<number, z.ZodType>>;
  statusOf?: (body: Body) => number;
  /** who may use it, if that depends on the request */
  access?: RouteAccess;
  /** options of the route, such as the limit of its body */
  route?: Pick<RouteOptions, 'bodyLimit' | 'preValidation' | 'config'>;
  /** fields of the query of a change that are part of its input */
  query?: Fields;
  /** bodies of errors that have more than the usual fields, by status */
  errors?: Readonly<Record<number, z.ZodType>>;
}

type Body = Record<string, unknown>;

interface RouteParts {
  capability: Capability;
  differences: OperationDifferences<never>;
  object: WireObject | null;
}

/** Returns the routes of a capability. `differences` are of the rows of its resource. */
export function capabilityRoutes<Row extends ResourceRow>(
  capability: Capability,
  differences: WireDifferences<Row> = {},
): FastifyPluginAsyncZod<RestOptions> {
  const { fields, operations = {} } = differences as unknown as WireDifferences<never>;
  const object =
    capability.resource === undefined
      ? null
      : fields === undefined
        ? plainWireObject(capability.resource, capability.restCase)
        : wireObject(capability.resource, capability.restCase, { more: fields });
  // Made once, because a shape with a name is a component of openapi.json, whatever number of gateways a process has.
  const routes = capability.operations.flatMap((operation) => {
    const { operationId } = operation;
    if (operationId === undefined) return [];
    const own = operations[operationId] ?? {};
    return makeRoutes(operation, operationId, { capability, differences: own, object }).map(({ handle, ...route }) => ({
      handle,
      statusOf: own.statusOf,
      route: {
        ...(capability.restCase === 'snake' ? { errorHandler: sendSnakeCaseError } : {}),
        ...mailOptions(operation),
        ...own.route,
        ...route,
        config: { ...own.route?.config, ...routeLimits(operation), access: own.access ?? access[operation.access] },
      },
    }));
  });
  return async (app, { contextOf }) => {
    for (const { handle, statusOf, route } of routes)
      app.route({
        ...route,
        handler: async (request, reply) => {
          const body = await handle(contextOf(request), request);
          reply.code(statusOf?.(body as Body) ?? route.status);
          return body as never;
        },
      });
  };
}

function routeLimits({ respondWithinMs, isDownload }: Operation) {
  return {
    ...(respondWithinMs === undefined ? {} : { respondWithinMs }),
    ...(isDownload === undefined ? {} : { isDownload }),
  };
}

/** Returns the options of routes whose bodies can be as large as an email. */
function mailOptions(operation: Operation) {
  if (!('isMail' in operation) || !operation.isMail) return {};
  return { bodyLimit: MAIL_BODY_LIMIT, preValidation: async ({ body }: { body: unknown }) => limitEntries(body) };
}

interface RequestParts {
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body?: unknown;
  query: unknown;
  params: unknown;
}

type Handle = (context: OperationContext, request: RequestParts) => Promise<object>;

interface RouteForm {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  status: number;
  /** after the path of the capability */
  path: string;
  params?: Fields;
  headers?: Fields;
  querystring?: z.ZodType;
  body?: z.ZodType;
  response: z.ZodType;
  errors?: readonly number[];
  handle: Handle;
}

/** Returns the route of an operation, and that of PUT if clients use it instead of PATCH. */
function makeRoutes(operation: Operation, operationId: string, parts: RouteParts) {
  const { method, status, path, handle, response, errors = [], ...schema } = makeForm(operation, parts);
  const route = (as: { method: RouteForm['method']; operationId: string; summary: string }) => ({
    method: as.method,
    status,
    handle,
    url: `${parts.capability.path}${path}`,
    schema: {
      operationId: as.operationId,
      summary: as.summary,
      description: operation.description,
      tags: [operation.tag ?? parts.capability.tag],
      ...schema,
      response: {
        [status]: response,
        ...parts.differences.otherBodies,
        ...Object.fromEntries(errors.map((code) => [code, errorBody])),
        ...parts.differences.errors,
        default: errorBody,
      },
    },
  });
  const { summary } = operation;
  const putId = operation.kind === 'update' ? operation.putOperationId : undefined;
  return [
    route({ method, operationId, summary }),
    ...(putId === undefined ? [] : [route({ method: 'PUT', operationId: putId, summary: `${summary} (PUT)` })]),
  ];
}

function makeForm(operation: Operation, parts: RouteParts): RouteForm {
  switch (operation.kind) {
    case 'list':
      return listForm(operation, parts);
    case 'ownedList':
      return ownedListForm(operation, parts);
    case 'read':
      return readForm(operation, parts);
    case 'action':
      return actionForm(operation, parts);
    case 'create':
    case 'update':
    case 'delete':
      return changeForm(operation, parts);
  }
}

function listForm(list: List, { capability, differences, object }: RouteParts): RouteForm {
  const { resource, restCase } = capability;
  if (resource === undefined || object === null) throw new Error(`${capability.path} lists no resource`);
  const { filter, isPagedByItem, page, count } = list;
  const request = differences.request ?? wireQuery(filter, restCase);
  const item = `${articleFor(resource)} ${findNoun(resource)}`;
  const beside = isPagedByItem ? pageByIdFields(item, INSTEAD_OF_OFFSET) : {};
  const query = z.object({ limit: limit(), offset, ...beside, ...(request as Fields).shape });
  const usual = makeReader(filter, restCase) as (given: Body) => Body;
  const readInput = (given: Body) => differences.inputOf?.(given, usual) ?? usual(given);
  const { shape: makeResponse, bodyOf } = differences.response ?? USUAL;
  const handle: Handle = async (context, asked) => {
    const { limit: size, offset: start, after, before, ...filters } = asked.query as Body & ListQuery;
    const input = readInput(filters);
    const span = { limit: size, offset: start };
    const found = await readPageById(
      { limit: size, after, before },
      {
        load: (ids) => resource.load(context, ids) as Promise<(ResourceRow & { createdAt: Date })[]>,
        page: (keyset) => page(context, input, keyset as never),
      },
    );
    if (found !== null) {
      const total = await count(context, input);
      const items = await object.writeSeveral(context, found.items);
      return bodyOf(besideBody(items, span, { ...found, total }), undefined as never, context);
    }
    const { rows, total } = await list.list(context, input, span);
    return bodyOf(listBody(await object.writeSeveral(context, rows), span, total), undefined as never, context);
  };
  return {
    method: 'GET',
    status: 200,
    path: '',
    querystring: isPagedByItem ? query.refine((given) => isOneSided(given as ListQuery), oneSide) : query,
    response: makeResponse(makeListShape(object.shape)),
    handle,
  };
}

function ownedListForm({ path = '', filter, list }: OwnedList, { capability, object }: RouteParts): RouteForm {
  if (object === null || list === undefined) throw new Error(`${path} lists no resource`);
  const { restCase } = capability;
  const read = makeReader(filter, restCase);
  return {
    method: 'GET',
    status: 200,
    path,
    params: idInPath,
    querystring: z.object({ limit: limit(), offset, ...wireQuery(filter, restCase).shape }),
    response: makeListShape(object.shape),
    handle: async (context, { params, query }) => {
      const { limit: size, offset: start, ...filters } = query as Body & ListQuery;
      const span = { limit: size, offset: start };
      const { rows, total } = await list(context, readId(params, undefined), read(filters), span);
      return listBody(await object.writeSeveral(context, rows), span, total);
    },
  };
}

interface ListQuery {
  limit: number;
  offset: number;
  after?: string;
  before?: string;
}

/** The response is the usual one. */
const USUAL = { shape: (usual: Fields) => usual, bodyOf: (usual: Body) => usual };

function readForm({ target, read, path = '/:id' }: Read, { capability, differences, object }: RouteParts): RouteForm {
  if (object === null || read === undefined) throw new Error(`${capability.path} reads no resource`);
  const { shape: makeResponse, bodyOf } = differences.response ?? USUAL;
  return {
    method: 'GET',
    status: 200,
    path,
    params: targetParams(target),
    response: makeResponse(object.shape),
    handle: async (context, { params }) => {
      const row = await read(context, readId(params, target));
      return bodyOf(await object.writeOne(context, row), row as never, context);
    },
  };
}

const METHODS = { create: 'POST', update: 'PATCH', delete: 'DELETE' } as const;

function changeForm(change: Change | Delete, parts: RouteParts): RouteForm {
  const { capability, differences, object } = parts;
  const { kind, target, errors, run } = change;
  const { resource, restCase } = capability;
  if (resource === undefined || object === null) throw new Error(`${capability.path} changes no resource`);
  const { body, inputOf } = makeRequest(change, parts);
  const { shape: makeResponse, bodyOf } = differences.response ?? USUAL;
  const shownOnce = kind === 'delete' ? undefined : change.shownOnce;
  const usual =
    kind === 'delete' && change.deleted !== undefined
      ? deletedBody(resource)
      : shownOnce === undefined
        ? object.shape
        : object.shape
            .extend(wireOutput(shownOnce, restCase).shape)
            .meta({ id: String(shownOnce.meta()?.id ?? `Created${resource.name}`) });
  const writeShown = shownOnce === undefined ? null : makeWriter(shownOnce, restCase);
  const write = async (context: OperationContext, row: ResourceRow): Promise<Body> => {
    if (kind !== 'delete')
      return { ...(await object.writeOne(context, row)), ...(writeShown?.(row) as object | undefined) };
    // What is returned instead is made from the row.
    if (differences.response !== undefined) return {};
    if (change.deleted !== undefined) return { object: objectName(resource), id: row.id, deleted: true };
    const [made = {}] = await object.writeSeveral(context, [row]);
    return made;
  };
  return {
    method: METHODS[kind],
    status: differences.status ?? (kind === 'create' ? 201 : 200),
    path: target === undefined ? '' : '/:id',
    ...(target === undefined ? {} : { params: targetParams(target) }),
    ...(differences.query === undefined ? {} : { querystring: differences.query }),
    ...(body === null ? {} : { body }),
    response: makeResponse(usual),
    errors,
    handle: async (context, { params, query, body: given }) => {
      const row = await run(context, inputOf(given, query), readId(params, target));
      return bodyOf(await write(context, row), row as never, context);
    },
  };
}

function deletedBody(resource: Resource): Fields {
  return z.object({ object: z.literal(objectName(resource)), id: z.string(), deleted: z.literal(true) });
}

function actionForm(action: Action, parts: RouteParts): RouteForm {
  const { differences } = parts;
  const { method, path, target, output, errors, idempotencyOperation, run } = action;
  if (run === undefined) throw new Error(`${path} does nothing`);
  const { shape: makeResponse, bodyOf } = differences.response ?? USUAL;
  const { shape, write } = makeOutput(output, parts);
  const { body, inputOf } = makeRequest(action, parts);
  const isQuery = method === 'GET';
  return {
    method,
    status: differences.status ?? 200,
    path,
    ...(target === undefined ? {} : { params: targetParams(target) }),
    ...(idempotencyOperation === undefined ? {} : { headers: idempotencyHeader }),
    ...(isQuery && body !== null ? { querystring: body } : {}),
    ...(differences.query === undefined ? {} : { querystring: differences.query }),
    ...(isQuery || body === null ? {} : { body }),
    response: makeResponse(shape),
    errors,
    handle: async (context, { headers, params, query, body: given }) => {
      const id = readId(params, target);
      const idempotency =
        idempotencyOperation === undefined
          ? null
          : readIdempotencyHeader(headers, idempotencyOperation, target === undefined ? given : [id, given]);
      const owner = target?.owner === undefined ? {} : { [target.owner]: readId(params, { parameter: target.owner }) };
      const input = { ...(inputOf(isQuery ? query : given, query) as Body), ...owner };
      const result = await readWhole(await run(context, input, id, idempotency));
      return bodyOf(await write(context, result), result as never, context);
    },
  };
}

/** Returns an object with the results of its functions, which run one after another. */
async function readWhole(value: unknown): Promise<unknown> {
  if (typeof value === 'function') return (value as () => Promise<unknown>)();
  if (value === null || typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype) return value;
  const whole: Body = {};
  for (const [name, inner] of Object.entries(value)) whole[name] = await readWhole(inner);
  return whole;
}

/** Returns what an action returns as REST has it: a list is an object with `data`. */
function makeOutput(output: Action['output'], { capability: { restCase }, object }: RouteParts) {
  if (output === 'resource') {
    if (object === null) throw new Error('An action returns no resource');
    const write = (context: OperationContext, row: unknown) => object.writeOne(context, row as ResourceRow);
    return { shape: object.shape, write };
  }
  const writeValue = makeWriter(output, restCase) as (value: unknown) => Body;
  const write = async (_context: OperationContext, value: unknown) => writeValue(value);
  if (output instanceof z.ZodObject) return { shape: wireOutput(output, restCase), write };
  const id = output.meta()?.id;
  const data = z.array(wireOutput(output.element, restCase));
  const shape = z.object({ object: z.literal('list'), data }).meta(id === undefined ? {} : { id });
  return {
    shape,
    write: async (_context: OperationContext, value: unknown) => ({ object: 'list', data: writeValue(value) }),
  };
}

const namedBodies = new Map<string, z.ZodType>();

/** Returns the body of an operation whose routes were made, by its name in openapi.json, for routes that are written by hand. Throws if there is none. */
export function findBody(name: string): z.ZodType {
  const body = namedBodies.get(name);
  if (body === undefined) throw new Error(`No operation takes ${name}`);
  return body;
}

/** Returns the fields that an operation takes in its body. Throws if the capability does not have it. */
export function findRequest({ operations, restCase }: Capability, operationId: string): Fields {
  const operation = operations.find((each) => each.operationId === operationId);
  if (operation === undefined || !('input' in operation)) throw new Error(`${operationId} takes no input`);
  return wireInput(operation.input, restCase);
}

/** Returns the body of a request, null without fields, and what makes the input of the operation from it. */
function makeRequest(operation: Change | Delete | Action, { capability, differences }: RouteParts) {
  const { input, inputName, example } = operation;
  const { restCase } = capability;
  const isQuery = operation.kind === 'action' && operation.method === 'GET';
  const usualRequest = isQuery ? wireQuery(input, restCase) : wireInput(input, restCase);
  const given = differences.request ?? usualRequest;
  const request = operation.isInputOptional === true ? given.nullish() : given;
  const usual = makeReader(input, restCase) as (given: Body) => Body;
  const convert = (given: Body) => differences.inputOf?.(given, usual) ?? usual(given);
  const write = makeExampleWriter(input, restCase);
  const body = request.meta({
    ...(inputName === undefined ? {} : { id: inputName }),
    // Components lose `examples` if they transform a value.
    ...(example === undefined
      ? {}
      : { [inputName === undefined ? 'examples' : 'x-examples']: [example].flat().map(write) }),
  });
  if (inputName !== undefined) namedBodies.set(inputName, body);
  return {
    body: body instanceof z.ZodObject && Object.keys(body.shape).length === 0 ? null : body,
    inputOf: (given: unknown, query: unknown) =>
      convert({ ...(given as Body | null | undefined), ...(differences.query === undefined ? {} : (query as Body)) }),
  };
}

function makeExampleWriter(input: Fields, restCase: Capability['restCase']): (example: unknown) => unknown {
  const write = makeWriter(input, restCase);
  if (write === null) return (example) => example;
  // In the order of the example.
  return (example) =>
    Object.assign({}, ...Object.entries(example as Body).map(([name, value]) => write({ [name]: value }))) as Body;
}

function targetParams({ argument, argumentDescription, parameter = 'id', owner }: Target): Fields {
  const description = isIdName(argument) ? 'ID of the object.' : argumentDescription;
  const names = owner === undefined ? [parameter] : [owner, parameter];
  return z.object(Object.fromEntries(names.map((name) => [name, z.string().meta({ description })])));
}

function readId(params: unknown, target: Pick<Target, 'parameter'> | undefined): string {
  return (params as Record<string, string> | undefined)?.[target?.parameter ?? 'id'] ?? '';
}

/** Returns what an object is called in sentences. */
function findNoun({ name, noun }: Resource): string {
  return noun ?? name.replaceAll(/(?<=.)[A-Z]/g, (letter) => ` ${letter}`).toLowerCase();
}

function articleFor(resource: Resource): string {
  return /^[aeiou]/i.test(findNoun(resource)) ? 'an' : 'a';
}
