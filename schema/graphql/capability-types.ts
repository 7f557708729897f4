import { createContextCache } from '@pothos/core';
import DataLoader from 'dataloader';
import { UserError } from '../../core/shared/errors.ts';
import { identifierPrefix } from '../../core/shared/identifiers.ts';
import { decodeCursor, encodeCursor, type KeysetCursor } from '../../core/shared/page.ts';
import type {
  Action,
  Capability,
  Change,
  Delete,
  Fields,
  List,
  Operation,
  Read,
  Resource,
  ResourceRow,
  Target,
} from '../../operations/capability/capability.ts';
import { parseInput } from '../input-shapes.ts';
import { access } from './access.ts';
import { builder, connectionComplexity } from './builder.ts';
import { fieldShape, inputFields, makeInputReader, objectFields } from './capability-shapes.ts';
import { type ConnectionArgs, type Cursors, connectionBy, totalCount } from './connection.ts';
import { forgetLoaded, type GraphContext } from './context.ts';
import { addNodeKind } from './node-kinds.ts';
import { addNodeType, loaderOf, nodeTypes, orNull } from './nodes.ts';

type NodeType = ReturnType<typeof declareNode>;

interface Parts {
  capability: Capability;
  resource: Resource;
  node: NodeType;
}

/** Adds the types and fields of capabilities to the schema. Their types can link to each other. */
export function addCapabilities(capabilities: readonly Capability[]): void {
  for (const { resource } of capabilities)
    if (resource !== undefined && nodeTypes[resource.name] === undefined) declareNode(resource);
  for (const capability of capabilities) {
    const { resource, operations } = capability;
    if (resource !== undefined && declared.has(resource.name)) implementNode(resource);
    for (const operation of operations)
      if (operation.field !== undefined) addOperation(operation, operation.field, capability);
  }
}

const declared = new Map<string, ReturnType<typeof declareNode>>();

/** Declares the type of a resource, apart from its fields, so that types can link to it. */
function declareNode(resource: Resource) {
  const { name, load } = resource;
  const node = builder.loadableNodeRef<ResourceRow, string, string>(name, {
    id: { resolve: ({ id }) => id },
    load: (ids: string[], { reads }) => load(reads, ids).then(orNull),
  });
  addNodeKind(identifierPrefix(resource.identifier), loaderOf(name, node));
  addNodeType(name, node);
  declared.set(name, node);
  return node;
}

function implementNode(resource: Resource): void {
  const { name, isOfDomain, description, shape, loaded = {}, valueOf } = resource;
  const loaders = Object.fromEntries(Object.entries(loaded).map(([field, { load }]) => [field, loadByRow(load)]));
  declared.get(name)?.implement({
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

function addOperation(operation: Operation, field: string, capability: Capability): void {
  if (operation.kind === 'action') return addAction(operation, field);
  const { resource } = capability;
  const node = resource === undefined ? undefined : (nodeTypes[resource.name] as NodeType | undefined);
  if (resource === undefined || node === undefined) throw new Error(`${field} has no resource`);
  const parts = { capability, resource, node };
  if (operation.kind === 'list') addList(operation, field, parts);
  else if (operation.kind === 'read') addRead(operation, field, parts);
  else addChange(operation, field, parts);
}

function addList(list: List, field: string, { capability, resource, node }: Parts): void {
  const { filter, filterArguments = 'one', description, page, count, order } = list;
  const { name } = resource;
  const nouns = capability.what.replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase());
  const noun = resource.noun ?? name.replaceAll(/(?<=.)[A-Z]/g, (letter) => ` ${letter}`).toLowerCase();
  const hasFilter = Object.keys(filter.shape).length > 0;
  const filterType =
    filterArguments === 'one' && hasFilter
      ? builder.inputType(`${name}Filter`, {
          description: `Filters a list of ${nouns}. Omit a field or pass null to match all.`,
          fields: (t) => inputFields(t, filter),
        })
      : null;
  const read = makeInputReader(filter);
  const cursorOf =
    order?.cursorOf ?? ((row: ResourceRow) => ({ at: (row as { createdAt?: Date }).createdAt, id: row.id }));
  const cursors = (order?.text ?? { encode: encodeCursor, decode: decodeCursor }) as Cursors<KeysetCursor>;
  builder.queryField(field, (t) =>
    t.connection(
      {
        type: node,
        access: access[list.access],
        description,
        args:
          filterType === null
            ? (inputFields(t.arg as never, filter) as never)
            : { filter: t.arg({ type: filterType, description: `Filters the ${nouns}.` }) },
        complexity: connectionComplexity,
        resolve: async (_root, args, { reads }) => {
          const given = filterType === null ? args : (args.filter ?? {});
          const input = parseInput(filter, read(given));
          const found = await connectionBy<ResourceRow, KeysetCursor>(
            cursors,
            args as ConnectionArgs,
            cursorOf as (row: ResourceRow) => KeysetCursor,
            (span) => page(reads, input, span as never),
          );
          return { ...found, count: () => count(reads, input) };
        },
      },
      { name: `${name}Connection`, description: `A page of ${nouns}.`, fields: (c) => totalCount(c) },
      { name: `${name}Edge`, description: `${/^[aeiou]/i.test(noun) ? 'An' : 'A'} ${noun} and its cursor.` },
    ),
  );
}

/** Returns the argument that names the object of an operation. */
function targetField(
  t: { field: (options: { type: 'ID' | 'String'; required: true; description: string }) => unknown },
  target: Target | undefined,
): Record<string, never> {
  if (target === undefined) return {};
  const { argument, argumentDescription: description } = target;
  return { [argument]: t.field({ type: argument === 'id' ? 'ID' : 'String', required: true, description }) as never };
}

function addRead({ target, description, read, access: name }: Read, field: string, { node }: Parts): void {
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
        if (target.argument === 'id') return id as never;
        return read(reads, id).catch((error: unknown) => {
          if (error instanceof UserError && error.code === 'not_found') return null;
          throw error;
        }) as never;
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
  const read = makeInputReader(input);
  builder.mutationField(field, (t) =>
    t.fieldWithInput({
      type: payload as NodeType,
      access: { ...access[name], ...(shows === undefined ? {} : { shows }) },
      description,
      input: { ...targetField(t.input as never, target), ...inputFields(t.input, input) },
      errors: isPlain ? { dataField: { name: dataField } } : { directResult: true },
      resolve: async (_root, args, context) => {
        const values = args.input as Record<string, unknown>;
        const id = target === undefined ? '' : String(values[target.argument]);
        const row = await run(context.operations, parseInput(input, read(values)), id);
        forgetLoaded(context);
        return (isPlain ? row.id : row) as never;
      },
    }),
  );
}

function deletedPayload(field: string, { description, fields }: NonNullable<Delete['deleted']>, resource: Resource) {
  const { shape, valueOf } = resource;
  return builder.objectRef<ResourceRow>(`${capitalized(field)}Payload`).implement({
    description,
    fields: (t) => ({
      deletedId: t.exposeID('id', { description: 'The ID it had.' }),
      ...Object.fromEntries(
        fields.map((name) => {
          const shaped = shape.shape[name];
          if (shaped === undefined) throw new Error(`${field}: there is no field ${name}`);
          const { type, isNullable: nullable, description: text } = fieldShape(name, shaped);
          const resolve = (row: ResourceRow, _args: object, { reads }: GraphContext) => valueOf(row, name, reads);
          return [name, t.field({ type: type as 'JSON', nullable, description: text, resolve })];
        }),
      ),
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

function addAction(action: Action, field: string): void {
  const { input, target, description, output, payloadField, cost, shows, run, method } = action;
  const type = fieldShape(field, output).type as NodeType;
  const options = {
    type,
    access: { ...access[action.access], ...(shows === undefined ? {} : { shows }) },
    description,
  };
  const read = makeInputReader(input);
  const runOn = (context: GraphContext['operations'], given: Record<string, unknown>) =>
    run(context, parseInput(input, read(given)), target === undefined ? '' : String(given[target.argument]));
  if (method === 'GET')
    builder.queryField(field, (t) =>
      t.field({
        ...options,
        args: { ...targetField({ field: t.arg as never }, target), ...inputFields({ field: t.arg as never }, input) },
        ...(cost === undefined ? {} : { complexity: (args: unknown) => ({ field: 1, multiplier: cost(args) }) }),
        resolve: (_root, args, { reads }) => runOn(reads, args as Record<string, unknown>) as never,
      }),
    );
  else
    builder.mutationField(field, (t) =>
      t.fieldWithInput({
        ...options,
        input: { ...targetField(t.input as never, target), ...inputFields(t.input, input) },
        errors: payloadField === undefined ? { directResult: true } : { dataField: { name: payloadField } },
        ...(cost === undefined
          ? {}
          : { complexity: (args: { input: unknown }) => ({ field: 1, multiplier: cost(args.input) }) }),
        resolve: async (_root, args, context) => {
          const result = await runOn(context.operations, args.input as Record<string, unknown>);
          forgetLoaded(context);
          return result as never;
        },
      }),
    );
}

function capitalized(name: string): string {
  return `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;
}

function uncapitalized(name: string): string {
  return `${name.slice(0, 1).toLowerCase()}${name.slice(1)}`;
}
