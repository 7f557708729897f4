import { createContextCache } from '@pothos/core';
import DataLoader from 'dataloader';
import { z } from 'zod';
import { readNotes } from '../../core/shared/field-notes.ts';
import { decodeCursor, encodeCursor, type KeysetCursor } from '../../core/shared/page.ts';
import { capitalized, uncapitalized } from '../../core/shared/word-case.ts';
import type {
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
} from '../../operations/capability/capability.ts';
import { loadAllowed } from '../../operations/capability/reading-right.ts';
import { access } from './access.ts';
import { builder, connectionComplexity } from './builder.ts';
import { addAction } from './capability-actions.ts';
import {
  addFieldTo,
  extendTime,
  makeMailReader,
  type NodeType,
  nullIfNotFound,
  parseGiven,
  targetField,
} from './capability-fields.ts';
import { describe, findOutputType, inputFields, makeInputReader, objectFields } from './capability-shapes.ts';
import {
  type ConnectionArgs,
  type CountedConnection,
  type Cursors,
  connectionBy,
  orderedCursors,
  totalCount,
} from './connection.ts';
import { forgetLoaded, type GraphContext } from './context.ts';
import { loadByOwner } from './load-by-owner.ts';
import { declareNode, nodeTypes } from './nodes.ts';

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
  for (const { resource, operations } of capabilities)
    if (resource !== undefined && nodeTypes[resource.name] === undefined)
      declareNode(resource.name, resource.identifier, loadAllowed(resource, operations));
  for (const capability of capabilities) {
    const { resource, operations } = capability;
    if (resource !== undefined && !writtenTypes.includes(resource.name)) implementNode(resource);
    for (const operation of operations) addOperation(operation, capability);
  }
}

function implementNode(resource: Resource): void {
  const { name, isOfDomain, description, shape, loaded = {}, readField } = resource;
  const loads = new Map(Object.values(loaded).map(({ load }) => [load, loadByRow(load)]));
  const readLoaded = (field: string, row: ResourceRow, context: GraphContext) => {
    const { load, of } = loaded[field] ?? {};
    const found = load === undefined ? undefined : loads.get(load)?.(context, row);
    return of === undefined ? found : found?.then((read) => (read as Record<string, unknown> | null)?.[of] ?? null);
  };
  (nodeTypes[name] as NodeType).implement({
    description,
    isOfDomain,
    fields: (t) =>
      objectFields(t as never, shape, {
        isOfDomain,
        read: (row: ResourceRow, field, context) =>
          readLoaded(field, row, context) ?? readField(row, field, context.reads),
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
  const { page, count, order, orderField } = list;
  const description = list.graphqlDescription ?? list.description;
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
            orderField === undefined ? cursors : orderedCursors((input as Record<string, string>)[orderField] ?? ''),
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

/** Returns what the objects of a capability are called in sentences. */
function findNouns({ what }: Capability): string {
  return what.replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase());
}

function addRead(
  { target, description, graphqlDescription, read, isReadAlone = false, access: name }: Read,
  field: string,
  { node }: Parts,
): void {
  builder.queryField(field, (t) =>
    t.field({
      type: node,
      access: access[name],
      nullable: true,
      description: graphqlDescription ?? description,
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
  const { input, target, shows, run, access: name } = change;
  const description = change.graphqlDescription ?? change.description;
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
  const returned = change.returns === undefined ? undefined : findOutputType(change.returns);
  const read = makeMailReader(change);
  builder.mutationField(field, (t) =>
    t.fieldWithInput({
      type: (returned ?? payload) as NodeType,
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
        return (isPlain && returned === undefined ? row.id : row) as never;
      },
    }),
  );
}

function deletedPayload(
  field: string,
  { description, idDescription = 'The ID it had.', fields }: NonNullable<Delete['deleted']>,
  resource: Resource,
) {
  const { shape, readField, isOfDomain } = resource;
  const kept = z.object(Object.fromEntries(fields.map((name) => [name, shape.shape[name] as z.ZodType])));
  return builder.objectRef<ResourceRow>(`${capitalized(field)}Payload`).implement({
    description,
    fields: (t) => ({
      deletedId: t.exposeID('id', { description: idDescription }),
      ...objectFields(t as never, kept, {
        isOfDomain,
        read: (row: ResourceRow, name, { reads }) => readField(row, name, reads),
      }),
    }),
  });
}

/** Returns the payload with what is shown once, and the object. */
function shownPayload(field: string, shownOnce: Fields, resource: Resource, node: NodeType) {
  return builder.objectRef<ResourceRow>(`${capitalized(field)}Payload`).implement({
    description: describe(shownOnce),
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
