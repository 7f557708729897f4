import { z } from 'zod';
import { listNeeded, requireRights } from '../../core/accounts/rights.ts';
import { findOwnTypeName, readNotes } from '../../core/shared/field-notes.ts';
import { capitalized, uncapitalized } from '../../core/shared/word-case.ts';
import type { Action, Cost, Fields, OwnedField, Resource } from '../../operations/capability/capability.ts';
import { readIdempotency } from '../../operations/sending/idempotency.ts';
import { access } from './access.ts';
import { builder } from './builder.ts';
import {
  addFieldTo,
  extendTime,
  makeMailReader,
  type NodeType,
  nullIfNotFound,
  parseGiven,
  targetField,
} from './capability-fields.ts';
import {
  fieldShape,
  findOutputType,
  inputFields,
  makeInputReader,
  makePayloadType,
  typeFor,
} from './capability-shapes.ts';
import { SuppressedRecipient } from './client-errors.ts';
import { forgetLoaded, type GraphContext } from './context.ts';
import { loadByOwner } from './load-by-owner.ts';
import { nodeTypes } from './nodes.ts';

/** The input field of the idempotency key. */
export const idempotencyInput = z.object({
  idempotencyKey: z.string().nullish().meta({
    description:
      'A unique key of 1 to 256 characters. For 24 hours, the same request with the same key returns the first response and sends nothing again.',
  }),
});

const ERROR_TYPES = { SuppressedRecipient };

/** Adds an action: a field of Query or Mutation, or of the type that its result belongs to. */
export function addAction(action: Action, resource: Resource | undefined): void {
  const {
    input,
    target,
    description,
    graphqlDescription = description,
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
  const { returns } = action;
  const [linked, link] =
    returns === undefined ? (findLink(output, payloadField, resource) ?? []) : [undefined, findOutputType(returns)];
  const dataField = output === 'resource' && resource !== undefined ? uncapitalized(resource.name) : payloadField;
  const options = {
    type: (link ?? payloadType(action, field, isOfDomain)) as NodeType,
    access: { ...access[action.access], ...(shows === undefined ? {} : { shows }) },
    description: graphqlDescription,
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
          ...(idempotencyOperation === undefined ? {} : inputFields(t.input, idempotencyInput)),
        },
        errors: {
          ...(dataField === undefined ? { directResult: true } : { dataField: { name: dataField } }),
          types: (action.graphqlErrors ?? []).map((name) => ERROR_TYPES[name]),
        },
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
    return makePayloadType(findOwnTypeName(output) ?? `${capitalized(field)}Payload`, output);
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
    const { linksTo, graphqlName = field.replace(/Ids$/, 's').replace(/Id$/, '') } = readNotes(shape);
    const type = nodeTypes[linksTo ?? ''];
    if (type !== undefined && graphqlName === payloadField) return [field, shape instanceof z.ZodArray ? [type] : type];
  }
  return undefined;
}

/** Adds a field of another type, whose values are loaded together for all owners in a response. */
function addOwnedField(action: Action, of: OwnedField, type: unknown): void {
  const { input, description: ownDescription } = action;
  const needed = listNeeded(access[action.access]);
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
      resolve: (row, args, context) => {
        requireRights(context.operations.rights, `The field ${field}`, needed);
        return isAbsent?.(row as never) === true
          ? (null as never)
          : (values(context, String(row.id), parseGiven(input, read(args))) as never);
      },
    }),
  );
}

function makeComplexity<Args>(cost: Cost | undefined, inputOf: (args: Args) => unknown) {
  if (cost === undefined) return {};
  if (typeof cost === 'number') return { complexity: cost };
  return {
    complexity: (args: Args) => (cost as (input: unknown) => { field: number; multiplier: number })(inputOf(args)),
  };
}
