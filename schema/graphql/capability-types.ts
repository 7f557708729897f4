import type { z } from 'zod';
import { UserError } from '../../core/shared/errors.ts';
import { identifierPrefix } from '../../core/shared/identifiers.ts';
import type {
  Capability,
  Change,
  List,
  Operation,
  Read,
  Resource,
  ResourceRow,
} from '../../operations/capability/capability.ts';
import { parseInput } from '../input-shapes.ts';
import { access } from './access.ts';
import { builder, connectionComplexity } from './builder.ts';
import { fieldShape } from './capability-shapes.ts';
import { connection, totalCount } from './connection.ts';
import { forgetLoaded, type GraphContext } from './context.ts';
import { loadByOwner } from './load-by-owner.ts';
import { addNodeKind } from './node-kinds.ts';
import { loaderOf, nodeTypes, orNull } from './nodes.ts';

type NodeType = ReturnType<typeof implementResource>;

/** Adds the types and fields of a capability to the schema. */
export function addCapability({ resource, operations }: Capability): void {
  const node = implementResource(resource);
  for (const operation of operations) addOperation(operation, resource, node);
}

function implementResource(resource: Resource) {
  const { name, load, isOfDomain, description } = resource;
  const node = builder.loadableNodeRef<ResourceRow, string, string>(name, {
    id: { resolve: ({ id }) => id },
    load: (ids: string[], { reads }) => load(reads, ids).then(orNull),
  });
  addNodeKind(identifierPrefix(resource.identifier), loaderOf(name, node));
  node.implement({
    description,
    isOfDomain,
    fields: (t) => {
      const hidden = new Set(Object.values(resource.references).map(({ insteadOf }) => insteadOf));
      const fields = Object.entries(resource.shape.shape)
        .filter(([field]) => !hidden.has(field))
        .map(([field, shape]) => {
          const { type, isNullable: nullable, description: text } = fieldShape(field, shape);
          const resolve = (row: ResourceRow) => resource.valueOf(row, field);
          return [field, t.field({ type: type as 'JSON', nullable, description: text, resolve })] as const;
        });
      const references = Object.entries(resource.references).map(([field, { to, description: text, idOf }]) => {
        const type = nodeTypes[to];
        if (type === undefined) throw new Error(`${name}.${field} refers to ${to}, which is no node`);
        return [
          field,
          t.field({
            type: type as never,
            nullable: true,
            description: text,
            resolve: (row: ResourceRow) => idOf(row) as never,
          }),
        ] as const;
      });
      const loaded = Object.entries(resource.loaded ?? {}).map(([field, { shape, cost, load: loadValues }]) => {
        const { type, description: text } = fieldShape(field, shape);
        const valueOf = loadByOwner(({ reads }, ids) => loadValues(reads, ids).then((values) => [...values]));
        const resolve = ({ id }: ResourceRow, _args: object, context: GraphContext) => valueOf(context, id, null);
        return [
          field,
          t.field({ type: type as 'JSON', nullable: true, description: text, complexity: cost, resolve }),
        ] as const;
      });
      return Object.fromEntries([...fields, ...references, ...loaded]);
    },
  });
  return node;
}

function addOperation(operation: Operation, resource: Resource, node: NodeType): void {
  if (operation.kind === 'list') addList(operation, resource, node);
  else if (operation.kind === 'read') addRead(operation, node);
  else addChange(operation, resource, node);
}

function addList({ field, filter, description, page, count, ...list }: List, { name }: Resource, node: NodeType): void {
  const words = name.replaceAll(/(?<=.)[A-Z]/g, (letter) => ` ${letter}`).toLowerCase();
  const article = /^[aeiou]/.test(words) ? 'an' : 'a';
  const filterType = builder.inputType(`${name}Filter`, {
    description: `Filters a list of ${plural(words)}. Omit a field or pass null to match all.`,
    fields: (t) => inputFields(t, filter),
  });
  builder.queryField(field, (t) =>
    t.connection(
      {
        type: node,
        access: access[list.access],
        description,
        args: { filter: t.arg({ type: filterType, description: `Filters the ${plural(words)}.` }) },
        complexity: connectionComplexity,
        resolve: async (_root, args, { reads }) => {
          const input = parseInput(filter, given(filter, (args.filter ?? {}) as Record<string, unknown>));
          const found = await connection<ResourceRow>(
            args,
            ({ createdAt, id }) => ({ at: createdAt, id }),
            (span) => page(reads, input, span),
          );
          return { ...found, count: () => count(reads, input) };
        },
      },
      { name: `${name}Connection`, description: `A page of ${plural(words)}.`, fields: (c) => totalCount(c) },
      { name: `${name}Edge`, description: `${article === 'a' ? 'A' : 'An'} ${words} and its cursor.` },
    ),
  );
}

function plural(words: string): string {
  return words.endsWith('s') ? `${words}es` : `${words}s`;
}

function addRead(
  { field, argument, argumentDescription, description, read, access: name }: Read,
  node: NodeType,
): void {
  builder.queryField(field, (t) =>
    t.field({
      type: node,
      access: access[name],
      nullable: true,
      description,
      args: {
        [argument]: t.arg({
          type: argument === 'id' ? 'ID' : 'String',
          required: true,
          description: argumentDescription,
        }),
      },
      resolve: async (_root, args, { reads }) => {
        const id = String(args[argument]);
        if (argument === 'id') return id as never;
        return read(reads, id).catch((error: unknown) => {
          if (error instanceof UserError && error.code === 'not_found') return null;
          throw error;
        }) as never;
      },
    }),
  );
}

function addChange(
  { field, input, target, description, deleted, shows, run, access: name }: Change,
  resource: Resource,
  node: NodeType,
): void {
  const payload = deleted === undefined ? node : deletedPayload(field, deleted, resource);
  const dataField = `${resource.name.slice(0, 1).toLowerCase()}${resource.name.slice(1)}`;
  builder.mutationField(field, (t) =>
    t.fieldWithInput({
      type: payload as NodeType,
      access: { ...access[name], ...(shows === undefined ? {} : { shows }) },
      description,
      input: {
        ...(target === undefined
          ? {}
          : {
              [target.argument]: t.input.field({
                type: target.argument === 'id' ? 'ID' : 'String',
                required: true,
                description: target.argumentDescription,
              }),
            }),
        ...inputFields(t.input, input),
      },
      errors: deleted === undefined ? { dataField: { name: dataField } } : { directResult: true },
      resolve: async (_root, args, context) => {
        const values = args.input as Record<string, unknown>;
        const id = target === undefined ? '' : String(values[target.argument]);
        const row = await run(context.operations, parseInput(input, given(input, values)), id);
        forgetLoaded(context);
        return (deleted === undefined ? row.id : row) as never;
      },
    }),
  );
}

function deletedPayload(
  field: string,
  { description, fields }: NonNullable<Change['deleted']>,
  { shape, valueOf }: Resource,
) {
  return builder.objectRef<ResourceRow>(`${field.slice(0, 1).toUpperCase()}${field.slice(1)}Payload`).implement({
    description,
    fields: (t) => ({
      deletedId: t.exposeID('id', { description: 'The ID it had.' }),
      ...Object.fromEntries(
        fields.map((name) => {
          const shaped = shape.shape[name];
          if (shaped === undefined) throw new Error(`${field}: there is no field ${name}`);
          const { type, isNullable: nullable, description: text } = fieldShape(name, shaped);
          return [
            name,
            t.field({ type: type as 'JSON', nullable, description: text, resolve: (row) => valueOf(row, name) }),
          ];
        }),
      ),
    }),
  });
}

type InputBuilder = Parameters<NonNullable<Parameters<typeof builder.inputType>[1]['fields']>>[0];

function inputFields(t: Pick<InputBuilder, 'field'>, shape: Change['input']) {
  return Object.fromEntries(
    Object.entries(shape.shape).map(([name, field]) => {
      const { type, isNullable, description } = fieldShape(name, field);
      return [name, t.field({ type: type as 'JSON', required: !isNullable, description })];
    }),
  );
}

/** Returns the fields of a shape that were given. Null counts as omitted where the shape does not take it. */
function given(shape: Change['input'], values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(shape.shape).flatMap(([name, field]) => {
      const value = values[name];
      const isOmitted = value === undefined || (value === null && !(field as z.ZodType).safeParse(null).success);
      return isOmitted ? [] : [[name, value]];
    }),
  );
}
