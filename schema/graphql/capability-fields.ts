import { UserError } from '../../core/shared/errors.ts';
import { isIdName, readNotes } from '../../core/shared/field-notes.ts';
import type {
  Action,
  Change,
  Delete,
  Fields,
  Operation,
  ResourceRow,
  Target,
} from '../../operations/capability/capability.ts';
import { invalidInput, limitEntries } from '../input-shapes.ts';
import { builder } from './builder.ts';
import { makeInputReader } from './capability-shapes.ts';
import { type GraphContext } from './context.ts';
import { type declareNode, EndpointInterface, nodeTypes } from './nodes.ts';

/** What the types and fields of capabilities have in common. */

export type NodeType = ReturnType<typeof declareNode<ResourceRow>>;

/** Returns the argument that names the object of an operation. */
export function targetField(
  t: { field: (options: { type: 'ID' | 'String'; required: true; description: string }) => unknown },
  target: Target | undefined,
): Record<string, never> {
  if (target === undefined) return {};
  const { argument, argumentDescription: description } = target;
  return { [argument]: t.field({ type: isIdName(argument) ? 'ID' : 'String', required: true, description }) as never };
}

/** Returns the function that reads the input of a change. Inputs as large as an email are bounded before they are checked. */
export function makeMailReader({ input, isMail = false }: Change | Delete | Action): (given: unknown) => unknown {
  const read = makeInputReader(input);
  if (!isMail) return read;
  return (given) => {
    limitEntries(given);
    return read(given);
  };
}

/** Parses an input. Throws validation with the names that the fields have in GraphQL. */
export function parseGiven(shape: Fields, input: unknown): unknown {
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

type OwnerFieldBuilder = PothosSchemaTypes.ObjectFieldBuilder<typeof builder.$inferSchemaTypes, ResourceRow>;

/** Adds a field to a type that has other fields, too. `Endpoint` is an interface. */
export function addFieldTo(type: string, field: string, make: (t: OwnerFieldBuilder) => unknown): void {
  const owner = nodeTypes[type];
  if (owner === undefined) throw new Error(`There is no type ${type}`);
  if (owner === EndpointInterface) builder.interfaceField(EndpointInterface, field, make as never);
  else builder.objectField(owner as NodeType, field, make as never);
}

export function extendTime(context: GraphContext, { respondWithinMs }: Operation): void {
  if (respondWithinMs !== undefined) context.respondWithin(respondWithinMs);
}

export function nullIfNotFound(error: unknown): null {
  if (error instanceof UserError && error.code === 'not_found') return null;
  throw error;
}
