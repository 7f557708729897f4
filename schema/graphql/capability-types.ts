import { createContextCache } from '@pothos/core';
import DataLoader from 'dataloader';
import { z } from 'zod';
import { UserError } from '../../core/shared/errors.ts';
import { isIdName, readNotes } from '../../core/shared/field-notes.ts';
import { identifierPrefix } from '../../core/shared/identifiers.ts';
import { decodeCursor, encodeCursor, type KeysetCursor } from '../../core/shared/page.ts';
import type {
  Action,
  Capability,
  Change,
  Cost,
  Delete,
  Fields,
  List,
  Operation,
  OwnedField,
  OwnedList,
  Read,
  Resource,
  ResourceRow,
  Target,
} from '../../operations/capability/capability.ts';
import { readIdempotency } from '../../operations/sending/idempotency.ts';
import { invalidInput, limitEntries } from '../input-shapes.ts';
import { access } from './access.ts';
import { builder, connectionComplexity } from './builder.ts';
import {
  fieldShape,
  inputFields,
  makeInputReader,
  makePayloadType,
  objectFields,
  typeFor,
} from './capability-shapes.ts';
import { type ConnectionArgs, type CountedConnection, type Cursors, connectionBy, totalCount } from './connection.ts';
import { forgetLoaded, type GraphContext } from './context.ts';

import { loadByOwner } from './load-by-owner.ts';
import { addNodeKind } from './node-kinds.ts';
import { addNodeType, EndpointInterface, loaderOf, nodeTypes, orNull } from './nodes.ts';
import { idempotencyField } from './sending/sending.ts';

type NodeType = ReturnType<typeof declareNode>;

interface Parts {
  capability: Capability;
  resource: Resource;
  node: NodeType;
}

/**
 * Adds the types and fields of capabilities to the schema. Their types can link to each other. `writtenTypes` names the resources whose types
 * are written by hand, because they have more than the shape of the capability.
 */
export function addCapabilities(capabilities: readonly Capability[], writtenTypes: readonly string[]): void {
  for (const { resource } of capabilities)
    if (resource !== undefined && nodeTypes[resource.name] === undefined) declareNode(resource);
  for (const capability of capabilities) {
    const { resource, operations } = capability;
    if (resource !== undefined && !writtenTypes.includes(resource.name)) implementNode(resource);
    for (const operation of operations) addOperation(operation, capability);
  }
}

/** Declares the type of a resource, apart from its fields, so that types can link to it. */
function declareNode(resource: Resource) {
  const { name, load } = resource;
  const node = builder.loadableNodeRef<ResourceRow, string, string>(name, {
    id: { resolve: ({ id }) => id },
    load: (ids: string[], { reads }) => load(reads, ids).then(orNull),
  });
  addNodeKind(identifierPrefix(resource.identifier), loaderOf(name, node));
  addNodeType(name, node);
  return node;
}

function implementNode(resource: Resource): void {
  const { name, isOfDomain, description, shape, loaded = {}, valueOf } = resource;
  const loaders = Object.fromEntries(Object.entries(loaded).map(([field, { load }]) => [field, loadByRow(load)]));
  (nodeTypes[name] as NodeType).implement({
    description,
    isOfDomain,
    fields: (t) =>
      objectFields(t as never, shape, {
        isOfDomain,
        read: (row: ResourceRow, field, context) =>
          loaders[field]?.(context, row) ?? valueOf(row, field, context.reads),
      }) as never,
  });
}

/** Returns a loader of a field that costs a read: it gets all rows that one response needs it of. */
function loadByRow(
  load: (context: GraphContext['reads'], rows: readonly ResourceRow[]) => Promise<readonly unknown[]>,
) {
  const loaderIn = createContextCache(
    (context: GraphContext) =>
      new DataLoader<ResourceRow, unknown, string>((rows) => load(context.reads, rows) as Promise<unknown[]>, {
        cacheKeyFn: ({ id }) => id,
      }),
  );
  return (context: GraphContext, row: ResourceRow) => loaderIn(context).load(row);
}

function addOperation(operation: Operation, capability: Capability): void {
  const { resource } = capability;
  if (operation.kind === 'action') return addAction(operation, resource);
  if (operation.kind === 'ownedList') return addOwnedList(operation, capability);
  const { field } = operation;
  if (field === undefined) return;
  const node = resource === undefined ? undefined : (nodeTypes[resource.name] as NodeType | undefined);
  if (resource === undefined || node === undefined) throw new Error(`${field} has no resource`);
  const parts = { capability, resource, node };
  if (operation.kind === 'list') addList(operation, field, parts);
  else if (operation.kind === 'read') addRead(operation, field, parts);
  else addChange(operation, field, parts);
}

interface ListParts {
  connection: ReturnType<typeof makeConnection>;
  /** null: the list has no filter */
  filter: ReturnType<typeof builder.inputType> | null;
}

const listParts = new Map<string, ListParts>();

/** Returns the connection of a resource and the type of its filter, also for lists that belong to other objects. */
function makeListParts(capability: Capability): ListParts {
  const { what, resource, operations } = capability;
  const list = operations.find((operation) => operation.kind === 'list' || operation.kind === 'ownedList');
  if (resource === undefined || list === undefined) throw new Error(`${what} has no list`);
  const known = listParts.get(resource.name);
  if (known !== undefined) return known;
  const nouns = findNouns(capability);
  const isFiltered = Object.values(list.filter.shape).some((field) => readNotes(field).isArgument !== true);
  const filter = isFiltered
    ? builder.inputType(`${resource.name}Filter`, {
        description: `Filters a list of ${nouns}. Omit a field or pass null to match all.`,
        fields: (t) => inputFields(t, list.filter),
      })
    : null;
  const made = { connection: makeConnection(resource, nouns), filter };
  listParts.set(resource.name, made);
  return made;
}

function makeConnection(resource: Resource, nouns: string) {
  const { name } = resource;
  const noun = resource.noun ?? name.replaceAll(/(?<=.)[A-Z]/g, (letter) => ` ${letter}`).toLowerCase();
  return builder.connectionObject<NodeType, CountedConnection<ResourceRow>>(
    {
      type: nodeTypes[name] as NodeType,
      name: `${name}Connection`,
      description: `A page of ${nouns}.`,
      fields: (c) => totalCount(c),
    },
    { name: `${name}Edge`, description: `${/^[aeiou]/i.test(noun) ? 'An' : 'A'} ${noun} and its cursor.` },
  );
}

function addList(list: List, field: string, { capability, node }: Parts): void {
  const { description, page, count, order } = list;
  const { connection, filter } = makeListParts(capability);
  const read = makeInputReader(list.filter);
  const own = Object.entries(list.filter.shape).filter(([, shape]) => readNotes(shape).isArgument === true);
  const cursorOf = order?.cursorOf ?? newestFirst;
  const cursors = (order?.text ?? { encode: encodeCursor, decode: decodeCursor }) as Cursors<KeysetCursor>;
  const nouns = findNouns(capability);
  builder.queryField(field, (t) =>
    t.connection(
      {
        type: node,
        access: access[list.access],
        description,
        args: {
          ...(filter === null ? {} : { filter: t.arg({ type: filter, description: `Filters the ${nouns}.` }) }),
          ...(inputFields({ field: t.arg as never }, z.object(Object.fromEntries(own)), { arguments: true }) as object),
        },
        complexity: connectionComplexity,
        resolve: async (_root, args, { reads }) => {
          const { filter: filtered, ...others } = args as ConnectionArgs & { filter?: object | null };
          const input = parseGiven(list.filter, read({ ...filtered, ...others }));
          const found = await connectionBy<ResourceRow, KeysetCursor>(
            cursors,
            others,
            cursorOf as (row: ResourceRow) => KeysetCursor,
            (span) => page(reads, input, span as never),
          );
          return { ...found, count: () => count(reads, input) };
        },
      },
      connection,
    ),
  );
}

/** Adds a list to the type of its owner. The lists of all owners in a response are read together. */
function addOwnedList({ of, filter, order, description, page, count }: OwnedList, capability: Capability): void {
  const { resource } = capability;
  if (resource === undefined) throw new Error(`${of.type}.${of.field} lists no resource`);
  const { connection, filter: filterType } = makeListParts(capability);
  const read = makeInputReader(filter);
  const cursorOf = order?.cursorOf ?? newestFirst;
  const cursors = { encode: encodeCursor, decode: decodeCursor };
  const pages = loadByOwner(({ reads }, ids, args: { input: unknown; span: object }) =>
    page(reads, ids, args.input, args.span as never),
  );
  const counts = loadByOwner(({ reads }, ids, input: unknown) => count(reads, ids, input));
  const isFiltered = Object.keys(filter.shape).length > 0 && filterType !== null;
  const nouns = findNouns(capability);
  addFieldTo(of.type, of.field, (t) =>
    t.connection(
      {
        type: nodeTypes[resource.name] as NodeType,
        description,
        args: isFiltered ? { filter: t.arg({ type: filterType, description: `Filters the ${nouns}.` }) } : {},
        complexity: connectionComplexity,
        resolve: async ({ id }, args, context) => {
          const { filter: filtered, ...others } = args as ConnectionArgs & { filter?: object | null };
          const input = parseGiven(filter, read(filtered ?? {}));
          const found = await connectionBy<ResourceRow, KeysetCursor>(cursors, others, cursorOf, (span) =>
            pages(context, id, { input, span }),
          );
          return { ...found, count: () => counts(context, id, input) };
        },
      },
      connection,
    ),
  );
}

function newestFirst(row: ResourceRow): KeysetCursor {
  return { at: (row as unknown as { createdAt: Date }).createdAt, id: row.id };
}

type OwnerFieldBuilder = PothosSchemaTypes.ObjectFieldBuilder<typeof builder.$inferSchemaTypes, ResourceRow>;

/** Adds a field to a type that has other fields, too. `Endpoint` is an interface. */
function addFieldTo(type: string, field: string, make: (t: OwnerFieldBuilder) => unknown): void {
  const owner = nodeTypes[type];
  if (owner === undefined) throw new Error(`There is no type ${type}`);
  if (owner === EndpointInterface) builder.interfaceField(EndpointInterface, field, make as never);
  else builder.objectField(owner as NodeType, field, make as never);
}

/** Returns what the objects of a capability are called in sentences. */
function findNouns({ what }: Capability): string {
  return what.replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase());
}

/** Returns the argument that names the object of an operation. */
function targetField(
  t: { field: (options: { type: 'ID' | 'String'; required: true; description: string }) => unknown },
  target: Target | undefined,
): Record<string, never> {
  if (target === undefined) return {};
  const { argument, argumentDescription: description } = target;
  return { [argument]: t.field({ type: isIdName(argument) ? 'ID' : 'String', required: true, description }) as never };
}

function addRead(
  { target, description, read, isReadAlone = false, access: name }: Read,
  field: string,
  { node }: Parts,
): void {
  builder.queryField(field, (t) =>
    t.field({
      type: node,
      access: access[name],
      nullable: true,
      description,
      args: targetField({ field: t.arg as never }, target),
      resolve: async (_root, args: Record<string, unknown>, { reads }) => {
        const id = String(args[target.argument]);
        // Objects that are named by their ID are loaded together.
        if ((target.argument === 'id' && !isReadAlone) || read === undefined) return id as never;
        return read(reads, id).catch(nullIfNotFound) as never;
      },
    }),
  );
}

function addChange(change: Change | Delete, field: string, { resource, node }: Parts): void {
  const { input, target, description, shows, run, access: name } = change;
  const dataField = uncapitalized(resource.name);
  const isWhole = change.kind !== 'delete' || change.deleted === undefined;
  const shownOnce = change.kind === 'delete' ? undefined : change.shownOnce;
  const payload =
    change.kind === 'delete' && change.deleted !== undefined
      ? deletedPayload(field, change.deleted, resource)
      : shownOnce === undefined
        ? node
        : shownPayload(field, shownOnce, resource, node);
  const isPlain = isWhole && shownOnce === undefined;
  const read = makeMailReader(change);
  builder.mutationField(field, (t) =>
    t.fieldWithInput({
      type: payload as NodeType,
      access: { ...access[name], ...(shows === undefined ? {} : { shows }) },
      description,
      input: { ...targetField(t.input as never, target), ...inputFields(t.input, input) },
      errors: isPlain ? { dataField: { name: dataField } } : { directResult: true },
      resolve: async (_root, args, context) => {
        extendTime(context, change);
        const values = args.input as Record<string, unknown>;
        const id = target === undefined ? '' : String(values[target.argument]);
        const row = await run(context.operations, parseGiven(input, read(values)), id);
        forgetLoaded(context);
        return (isPlain ? row.id : row) as never;
      },
    }),
  );
}

function deletedPayload(field: string, { description, fields }: NonNullable<Delete['deleted']>, resource: Resource) {
  const { shape, valueOf, isOfDomain } = resource;
  const kept = z.object(Object.fromEntries(fields.map((name) => [name, shape.shape[name] as z.ZodType])));
  return builder.objectRef<ResourceRow>(`${capitalized(field)}Payload`).implement({
    description,
    fields: (t) => ({
      deletedId: t.exposeID('id', { description: 'The ID it had.' }),
      ...objectFields(t as never, kept, {
        isOfDomain,
        read: (row: ResourceRow, name, { reads }) => valueOf(row, name, reads),
      }),
    }),
  });
}

/** Returns the payload with what is shown once, and the object. */
function shownPayload(field: string, shownOnce: Fields, resource: Resource, node: NodeType) {
  return builder.objectRef<ResourceRow>(`${capitalized(field)}Payload`).implement({
    description: shownOnce.meta()?.description ?? '',
    fields: (t) => ({
      [uncapitalized(resource.name)]: t.field({
        type: node,
        nullable: true,
        description: 'The object in its current state.',
        resolve: ({ id }) => id as never,
      }),
      ...objectFields(t as never, shownOnce, {
        isOfDomain: false,
        read: (row: ResourceRow, name) => (row as unknown as Record<string, unknown>)[name],
      }),
    }),
  });
}

/** Returns the function that reads the input of a change. Inputs as large as an email are bounded before they are checked. */
function makeMailReader({ input, isMail = false }: Change | Delete | Action): (given: unknown) => unknown {
  const read = makeInputReader(input);
  if (!isMail) return read;
  return (given) => {
    limitEntries(given);
    return read(given);
  };
}

function addAction(action: Action, resource: Resource | undefined): void {
  const {
    input,
    target,
    description,
    output,
    payloadField,
    isNullable = false,
    cost,
    shows,
    run,
    method,
    isQuery = false,
    of,
    field,
    idempotencyOperation,
  } = action;
  const read = makeMailReader(action);
  const isOfDomain = resource?.isOfDomain ?? action.isOfDomain ?? false;
  if (of !== undefined && output !== 'resource') addOwnedField(action, of, typeFor(output, { isOfDomain }));
  if (field === undefined || run === undefined) return;
  const [linked, link] = findLink(output, payloadField, resource) ?? [];
  const dataField = output === 'resource' && resource !== undefined ? uncapitalized(resource.name) : payloadField;
  const options = {
    type: (link ?? payloadType(action, field, isOfDomain)) as NodeType,
    access: { ...access[action.access], ...(shows === undefined ? {} : { shows }) },
    description,
  };
  const runOn = (context: GraphContext['operations'], { idempotencyKey, ...given }: Record<string, unknown>) => {
    const idempotency =
      idempotencyOperation === undefined
        ? null
        : readIdempotency({ key: idempotencyKey, field: 'idempotencyKey' }, idempotencyOperation, given);
    const id = target === undefined ? '' : String(given[target.argument]);
    return run(context, parseGiven(input, read(given)), id, idempotency);
  };
  if (method === 'GET' || isQuery)
    builder.queryField(field, (t) =>
      t.field({
        ...options,
        nullable: isNullable as true,
        args: {
          ...targetField({ field: t.arg as never }, target),
          ...(inputFields({ field: t.arg as never }, input, { arguments: true }) as object),
        },
        ...(makeComplexity(cost, (args) => args) as object),
        resolve: async (_root, args, context) => {
          extendTime(context, action);
          const done = runOn(context.reads, args);
          return (isNullable ? await done.catch(nullIfNotFound) : await done) as never;
        },
      }),
    );
  else
    builder.mutationField(field, (t) =>
      t.fieldWithInput({
        ...options,
        input: {
          ...targetField(t.input as never, target),
          ...inputFields(t.input, input),
          ...(idempotencyOperation === undefined ? {} : idempotencyField(t.input)),
        },
        errors: dataField === undefined ? { directResult: true } : { dataField: { name: dataField } },
        ...makeComplexity(cost, ({ input: given }: { input?: unknown }) => given),
        resolve: async (_root, args, context) => {
          extendTime(context, action);
          const result = await runOn(context.operations, args.input as Record<string, unknown>);
          forgetLoaded(context);
          return (linked === undefined ? result : (result as Record<string, unknown>)[linked]) as never;
        },
      }),
    );
}

/** Returns the type of what a field of Query or Mutation returns: the output, or a payload that has its fields. */
function payloadType(action: Action, field: string, isOfDomain: boolean): object {
  const { method, isQuery = false, output, payloadField } = action;
  if (method !== 'GET' && !isQuery && payloadField === undefined && output instanceof z.ZodObject)
    return makePayloadType(`${capitalized(field)}Payload`, output);
  return fieldShape(field, output as Fields, 'type', isOfDomain).type as object;
}

/** Returns the field of a result that has the ID of the returned object, and the type of the object; undefined if the result is returned. */
function findLink(
  output: Action['output'],
  payloadField: string | undefined,
  resource: Resource | undefined,
): readonly [field: string, type: object] | undefined {
  if (output === 'resource') return ['id', nodeTypes[resource?.name ?? ''] as object];
  if (payloadField === undefined || !(output instanceof z.ZodObject)) return undefined;
  for (const [field, shape] of Object.entries(output.shape)) {
    const { linksTo, graphqlName = field.replace(/Id$/, '') } = readNotes(shape);
    const type = nodeTypes[linksTo ?? ''];
    if (type !== undefined && graphqlName === payloadField) return [field, shape instanceof z.ZodArray ? [type] : type];
  }
  return undefined;
}

/** Adds a field of another type, whose values are loaded together for all owners in a response. */
function addOwnedField({ input, description: ownDescription }: Action, of: OwnedField, type: unknown): void {
  const { type: owner, field, description = ownDescription, isNullable = false, isAbsent, cost, load } = of;
  const read = makeInputReader(input);
  const values = loadByOwner(
    ({ reads }, ids, given: unknown) => load(reads, ids, given as never) as Promise<unknown[]>,
  );
  addFieldTo(owner, field, (t) =>
    t.field({
      type: type as NodeType,
      nullable: isNullable as true,
      description,
      args: inputFields({ field: t.arg as never }, input, { arguments: true }),
      ...(makeComplexity(cost, (args) => args) as object),
      resolve: (row, args, context) =>
        isAbsent?.(row as never) === true
          ? (null as never)
          : (values(context, String(row.id), parseGiven(input, read(args))) as never),
    }),
  );
}

/** Parses an input. Throws validation with the names that the fields have in GraphQL. */
function parseGiven(shape: Fields, input: unknown): unknown {
  const { success, data, error } = shape.safeParse(input);
  if (success) return data;
  const graphqlName = (field: PropertyKey) =>
    readNotes(shape.shape[String(field)] ?? shape).graphqlName ?? String(field);
  throw invalidInput(
    error.issues.map(({ path: [field, ...path], message }) => ({
      field: [...(field === undefined ? [] : [graphqlName(field)]), ...path.map(String)].join('.'),
      message,
    })),
  );
}

function makeComplexity<Args>(cost: Cost | undefined, inputOf: (args: Args) => unknown) {
  if (cost === undefined) return {};
  if (typeof cost === 'number') return { complexity: cost };
  return {
    complexity: (args: Args) => (cost as (input: unknown) => { field: number; multiplier: number })(inputOf(args)),
  };
}

function extendTime(context: GraphContext, { answerWithinMs }: Operation): void {
  if (answerWithinMs !== undefined) context.answerWithin(answerWithinMs);
}

function nullIfNotFound(error: unknown): null {
  if (error instanceof UserError && error.code === 'not_found') return null;
  throw error;
}

function capitalized(name: string): string {
  return `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;
}

function uncapitalized(name: string): string {
  return `${name.slice(0, 1).toLowerCase()}${name.slice(1)}`;
}
