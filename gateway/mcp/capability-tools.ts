import { z } from 'zod';
import { snakeCase, uncapitalized } from '../../core/shared/word-case.ts';
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
import type { OperationContext } from '../../operations/context.ts';
import { access } from '../admission/access.ts';
import { makeReader, makeWriter, wireInput, wireOutput } from '../rest/capability-shapes.ts';
import { wireObject } from '../rest/wire-object.ts';
import { listedInWords, meansNull } from './json-schema.ts';
import { cutPage, keysetPage, nameFields, nextCursor, pageInput } from './shapes.ts';
import { defineTool, type Tool } from './tool.ts';

/**
 * Tools from capabilities. Their arguments and results have the names of REST in snake_case; a target is named after the resource, such as
 * `reply_address_id`. Results are listed in words, because models read every schema with every conversation.
 */

/** Returns the tools of the operations that have one. */
export function capabilityTools(capabilities: readonly Capability[]): Tool[] {
  return capabilities.flatMap((capability) =>
    capability.operations.flatMap((operation) => {
      const { tool } = operation;
      return tool === undefined ? [] : [makeTool(operation, tool, capability)];
    }),
  );
}

type Body = Record<string, unknown>;

/** A tool without what its operation says of every tool. */
interface Form {
  effect: Parameters<typeof defineTool>[0]['effect'];
  input: Fields;
  output: z.ZodObject;
  run: (context: OperationContext, given: Body) => Promise<object>;
}

function makeTool(operation: Operation, tool: NonNullable<Operation['tool']>, capability: Capability): Tool {
  const { effect, input, output, run } = makeForm(operation, capability);
  return defineTool({
    name: tool.name,
    title: operation.summary,
    description: tool.description,
    access: access[operation.access],
    respondWithinMs: operation.respondWithinMs,
    effect,
    input: input.extend(inWords(input, tool.words ?? {})),
    output,
    run: run as never,
  });
}

/** Returns arguments as they are listed: in the words of the tool if it has some, and with null if they can be null and not omitted. */
function inWords({ shape }: Fields, words: Readonly<Record<string, string>>): z.ZodRawShape {
  const unknown = Object.keys(words).find((name) => !(name in shape));
  if (unknown !== undefined) throw new Error(`there is no argument ${unknown} to describe`);
  return Object.fromEntries(
    Object.entries(shape as Record<string, z.ZodType>).map(([name, field]) => {
      const description = words[name];
      const meta = {
        ...(description === undefined ? {} : { description }),
        ...(field.type === 'nullable' ? meansNull : {}),
      };
      return [name, field.meta(meta)];
    }),
  );
}

function makeForm(operation: Operation, { resource }: Capability): Form {
  if (operation.kind === 'action') return actionForm(operation);
  if (resource === undefined || operation.kind === 'ownedList')
    throw new Error(`${operation.summary}: there is no tool for this kind of operation`);
  if (operation.kind === 'list') return listForm(operation, resource);
  if (operation.kind === 'read') return readForm(operation, resource);
  return changeForm(operation, resource);
}

/** Returns the object in results, in words. */
function listObject(resource: Resource) {
  const { shape, writeOne, writeSeveral } = wireObject(resource, 'snake', { isComponent: false });
  const { object: _, ...fields } = shape.shape as Record<string, unknown>;
  return { listed: shape.meta(listedInWords(nameFields(fields))), writeOne, writeSeveral };
}

function listForm({ filter, page }: List, resource: Resource): Form {
  const { listed, writeSeveral } = listObject(resource);
  const field = `${snakeCase(uncapitalized(resource.name))}${resource.name.endsWith('s') ? 'es' : 's'}`;
  const read = makeReader(filter, 'snake');
  return {
    effect: 'reads own data',
    input: z.object({ ...wireInput(filter, 'snake').shape, ...pageInput }),
    output: z.object({ [field]: z.array(listed), next_cursor: nextCursor }),
    async run(context, { limit, cursor, ...filters }) {
      const size = Number(limit);
      const span = keysetPage({ limit: size, cursor: cursor as string | undefined });
      const rows = await page(context, read(filters), span as never);
      const found = cutPage(rows as (ResourceRow & { createdAt: Date })[], size, ({ createdAt: at, id }) => ({
        at,
        id,
      }));
      return { [field]: await writeSeveral(context, found.rows), next_cursor: found.nextCursor };
    },
  };
}

function readForm({ summary, target, read }: Read, resource: Resource): Form {
  if (read === undefined) throw new Error(`${summary}: a tool reads it with a function`);
  const { listed, writeOne } = listObject(resource);
  const argument = nameArgument(target, resource);
  return {
    effect: 'reads own data',
    input: targetInput(target, argument),
    output: listed,
    run: async (context, given) => writeOne(context, await read(context, readText(given, argument))),
  };
}

const EFFECTS = { create: 'adds', update: 'replaces', delete: 'cancels' } as const;

function changeForm(change: Change | Delete, resource: Resource): Form {
  const { kind, target, input, run } = change;
  const { listed, writeOne } = listObject(resource);
  const argument = target === undefined ? '' : nameArgument(target, resource);
  const read = makeReader(input, 'snake');
  const isDeleted = kind === 'delete' && change.deleted !== undefined;
  return {
    effect: EFFECTS[kind],
    input: z.object({
      ...(target === undefined ? {} : targetInput(target, argument).shape),
      ...wireInput(input, 'snake').shape,
    }),
    output: isDeleted ? z.object({ id: z.string(), deleted: z.literal(true) }) : listed,
    async run(context, given) {
      const row = await run(context, read(given), readText(given, argument));
      return isDeleted ? { id: row.id, deleted: true } : writeOne(context, row);
    },
  };
}

function actionForm({ summary, method, target, input, output, run }: Action): Form {
  if (!(output instanceof z.ZodObject) || run === undefined) throw new Error(`${summary}: a tool returns an object`);
  const argument = target === undefined ? '' : snakeCase(target.argument);
  const read = makeReader(input, 'snake');
  const write = makeWriter(output, 'snake') as (value: unknown) => object;
  return {
    effect: method === 'GET' ? 'reads own data' : 'changes',
    input: z.object({
      ...(target === undefined ? {} : targetInput(target, argument).shape),
      ...wireInput(input, 'snake').shape,
    }),
    output: wireOutput(output, 'snake'),
    run: async (context, given) => write(await run(context, read(given), readText(given, argument), null)),
  };
}

/** Returns an argument that is a text; empty if a tool has none. */
function readText(given: Body, argument: string): string {
  const value = given[argument];
  return typeof value === 'string' ? value : '';
}

/** Returns the name of the argument that names an object: `reply_address_id`, or `id_or_address`. */
function nameArgument({ argument }: Target, resource: Resource): string {
  return argument === 'id' ? `${snakeCase(uncapitalized(resource.name))}_id` : snakeCase(argument);
}

function targetInput({ argument, argumentDescription }: Target, name: string): Fields {
  const id = z.string();
  // `thread_id` says what it is.
  return z.object({
    [name]: argument === 'id' || name.endsWith('_id') ? id : id.meta({ description: argumentDescription }),
  });
}
