import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type {
  Capability,
  Change,
  Fields,
  List,
  Operation,
  Read,
  Resource,
  ResourceRow,
} from '../../operations/capability/capability.ts';
import type { OperationContext } from '../../operations/context.ts';
import { access } from '../admission/access.ts';
import { fromWire, wireFields, wireInputs, wireValues } from './capability-shapes.ts';
import { besideFields, INSTEAD_OF_OFFSET, isOneSided, oneSide, pageBeside } from './page-beside.ts';
import { besideBody, errorBody, limit, listBody, listOf, offset, type RestOptions } from './shapes.ts';

/** Where REST differs from what the capability says, for the sake of clients. */
export interface WireDifferences<Row extends ResourceRow = ResourceRow> {
  /** fields that the object has beside its own */
  fields?: { shape: Record<string, z.ZodType>; valuesOf: (row: Row) => Record<string, unknown> };
  /** by `operationId` */
  operations?: Readonly<Record<string, OperationDifferences<Row>>>;
}

interface OperationDifferences<Row> {
  /** replaces the body or the filters of the query */
  request?: Fields;
  /** returns what `request` accepted as input of the operation */
  inputOf?: (request: Record<string, unknown>) => Record<string, unknown>;
  /** replaces the response */
  response?: { shape: Fields; bodyOf: (row: Row) => Record<string, unknown> };
}

interface RouteParts {
  capability: Capability;
  differences: OperationDifferences<ResourceRow>;
  /** the object in responses */
  body: Fields;
  /** returns what a list has of the object */
  bodyOf: (row: ResourceRow) => Record<string, unknown>;
  /** returns the object with the fields that cost a read */
  readBody: (context: OperationContext, row: ResourceRow) => Promise<Record<string, unknown>>;
}

/** Returns the routes of a capability. `differences` are of the rows of its resource. */
export function capabilityRoutes<Row extends ResourceRow>(
  capability: Capability,
  differences: WireDifferences<Row> = {},
): FastifyPluginAsyncZod<RestOptions> {
  const { fields, operations = {} } = differences as unknown as WireDifferences;
  const { resource } = capability;
  const names = Object.keys(resource.shape.shape);
  const body = resourceBody(resource, fields?.shape);
  const bodyOf = (row: ResourceRow) => ({
    object: objectName(resource),
    id: row.id,
    ...wireValues(names.map((name) => [name, resource.valueOf(row, name)])),
    ...fields?.valuesOf(row),
  });
  const readBody = async (context: OperationContext, row: ResourceRow) => {
    const made: Record<string, unknown> = bodyOf(row);
    for (const [name, { load }] of Object.entries(resource.loaded ?? {})) {
      const [value] = await load(context, [row.id]);
      if (value != null) Object.assign(made, wireValues([[name, value]]));
    }
    return made;
  };
  return async (app, { contextOf }) => {
    for (const operation of capability.operations) {
      const own = operations[operation.operationId] ?? {};
      const { handle, ...route } = routeOf(operation, { capability, differences: own, body, bodyOf, readBody });
      app.route({
        ...route,
        config: { access: access[operation.access] },
        handler: async (request, reply) => {
          reply.code(route.status);
          return handle(contextOf(request), request) as Promise<never>;
        },
      });
    }
  };
}

/** Returns the shape of an object in responses; `more` are fields for other clients. */
function resourceBody(resource: Resource, more: Record<string, z.ZodType> = {}): Fields {
  const loaded = Object.entries(resource.loaded ?? {}).map(([name, { shape }]) => [
    name,
    shape.optional().meta(shape.meta() ?? {}),
  ]);
  const identity = { object: z.literal(objectName(resource)), id: z.string() };
  const fields = { ...wireFields(resource.shape), ...more, ...wireFields(z.object(Object.fromEntries(loaded))) };
  return z.object({ ...identity, ...fields }).meta({ id: resource.name });
}

/** Returns the `object` of an object, such as `reply_address`. */
function objectName({ name }: Resource): string {
  return name.replaceAll(/(?<=.)[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
}

interface RequestParts {
  body?: unknown;
  query: unknown;
  params: unknown;
}

type Handle = (context: OperationContext, request: RequestParts) => Promise<object>;

function routeOf(operation: Operation, parts: RouteParts) {
  const { operationId, summary, description } = operation;
  const documented = { operationId, summary, description, tags: [parts.capability.tag] };
  const { method, status, isOfOne, handle, ...schema } = {
    list: () => listRoute(operation as List, parts),
    read: () => readRoute(operation as Read, parts),
    create: () => changeRoute(operation as Change, parts),
    update: () => changeRoute(operation as Change, parts),
    delete: () => changeRoute(operation as Change, parts),
  }[operation.kind]();
  return {
    method,
    status,
    handle,
    url: isOfOne ? `${parts.capability.path}/:id` : parts.capability.path,
    schema: { ...documented, ...schema, response: { ...schema.response, default: errorBody } },
  };
}

function listRoute(
  { filter, isPagedByItem, list, page, count }: List,
  { capability, differences, body, bodyOf }: RouteParts,
) {
  const { load } = capability.resource;
  const request = differences.request ?? z.object(wireInputs(filter));
  const beside = isPagedByItem ? besideFields(`a ${capability.resource.name.toLowerCase()}`, INSTEAD_OF_OFFSET) : {};
  const query = z.object({ limit: limit(), offset, ...beside, ...request.shape });
  const handle: Handle = async (context, asked) => {
    const {
      limit: size,
      offset: start,
      after,
      before,
      ...filters
    } = asked.query as Record<string, unknown> & ListQuery;
    const input = inputOf(filter, filters, differences);
    const span = { limit: size, offset: start };
    const found = await pageBeside(
      { limit: size, after, before },
      { load: (ids) => load(context, ids), page: (keyset) => page(context, input, keyset) },
    );
    if (found !== null) {
      const total = await count(context, input);
      return besideBody(found.items.map(bodyOf), span, { ...found, total });
    }
    const { rows, total } = await list(context, input, span);
    return listBody(rows.map(bodyOf), span, total);
  };
  return {
    method: 'GET' as const,
    status: 200,
    isOfOne: false,
    querystring: isPagedByItem ? query.refine((given) => isOneSided(given as ListQuery), oneSide) : query,
    response: { 200: listOf(body) },
    handle,
  };
}

interface ListQuery {
  limit: number;
  offset: number;
  after?: string;
  before?: string;
}

function readRoute({ argumentDescription, argument, read }: Read, { body, readBody }: RouteParts) {
  return {
    method: 'GET' as const,
    status: 200,
    isOfOne: true,
    params: targetParams({ argument, argumentDescription }),
    response: { 200: body },
    handle: (async (context, { params }) => readBody(context, await read(context, idOf(params)))) satisfies Handle,
  };
}

const METHODS = { create: 'POST', update: 'PATCH', delete: 'DELETE' } as const;

function changeRoute(change: Change, { differences, ...parts }: RouteParts) {
  const { kind, input, inputName, example, target, errors, run } = change;
  const { shape: response, bodyOf } = differences.response ?? { shape: parts.body, bodyOf: parts.bodyOf };
  const isWhole = differences.response === undefined && kind !== 'delete';
  const body = named(differences.request ?? z.object(wireInputs(input)), { inputName, example });
  const status = kind === 'create' ? 201 : 200;
  return {
    method: METHODS[kind],
    status,
    isOfOne: target !== undefined,
    ...(target === undefined ? {} : { params: targetParams(target) }),
    ...(Object.keys(body.shape).length === 0 ? {} : { body }),
    response: { [status]: response, ...Object.fromEntries(errors.map((code) => [code, errorBody])) },
    handle: (async (context, { params, body: given = {} }) => {
      const row = await run(context, inputOf(input, given as Record<string, unknown>, differences), idOf(params));
      return isWhole ? parts.readBody(context, row) : bodyOf(row);
    }) satisfies Handle,
  };
}

function named(shape: Fields, { inputName, example }: Pick<Change, 'inputName' | 'example'>): Fields {
  return shape.meta({
    ...(inputName === undefined ? {} : { id: inputName }),
    ...(example === undefined ? {} : { examples: [wireValues(Object.entries(example))] }),
  });
}

function inputOf(
  input: Fields,
  given: Record<string, unknown>,
  { inputOf: convert }: OperationDifferences<ResourceRow>,
): Record<string, unknown> {
  return convert === undefined ? fromWire(input, given) : convert(given);
}

function targetParams({ argument, argumentDescription }: Pick<Read, 'argument' | 'argumentDescription'>) {
  const description = argument === 'id' ? 'ID of the object.' : argumentDescription;
  return z.object({ id: z.string().meta({ description }) });
}

function idOf(params: unknown): string {
  return (params as { id?: string }).id ?? '';
}
