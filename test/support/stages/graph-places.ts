import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
  isUnionType,
} from 'graphql';

/** An argument, or a field of an input, that what is somebody's can be named in. */
export interface GraphPlace {
  operation: 'query' | 'mutation' | 'subscription';
  field: string;
  /** from the arguments down */
  path: string[];
  isList: boolean;
}

/** Names of texts by which rows are looked up beside ids. */
const LOOK_UP_NAME = /cursor|^after$|^before$|domain|address|email|endpoint|thread|^from$|^idOrAddress$/i;
/** Inputs nest no deeper. */
const MAX_INPUT_DEPTH = 4;

/** Every place of every field of the three root types. */
export function graphPlaces(schema: GraphQLSchema): GraphPlace[] {
  const roots = [
    ['query', schema.getQueryType()],
    ['mutation', schema.getMutationType()],
    ['subscription', schema.getSubscriptionType()],
  ] as const;
  return roots.flatMap(([operation, root]) =>
    Object.values(root?.getFields() ?? {}).flatMap((field) =>
      field.args.flatMap((argument) =>
        listPlaces(argument, [argument.name]).map((place) => ({ operation, field: field.name, ...place })),
      ),
    ),
  );
}

function listPlaces(input: GraphQLArgument | GraphQLInputField, path: string[]): { path: string[]; isList: boolean }[] {
  const type = getNamedType(input.type);
  if (isInputObjectType(type)) {
    if (path.length > MAX_INPUT_DEPTH) return [];
    return Object.values(type.getFields()).flatMap((field) => listPlaces(field, [...path, field.name]));
  }
  const isPlace = type.name === 'ID' || (type.name === 'String' && LOOK_UP_NAME.test(input.name));
  return isPlace ? [{ path, isList: isList(input.type) }] : [];
}

function isList(type: GraphQLInputType): boolean {
  return isNonNullType(type) ? isList(type.ofType) : isListType(type);
}

/** The arguments that the field cannot do without, filled with `readValue(name, type)`. */
export function requiredArguments(
  field: GraphQLField<unknown, unknown>,
  readValue: (name: string, typeName: string) => unknown,
): Record<string, unknown> {
  return filled(field.args.filter(isRequiredArgument), readValue);
}

function filled(
  inputs: readonly (GraphQLArgument | GraphQLInputField)[],
  readValue: (name: string, typeName: string) => unknown,
): Record<string, unknown> {
  return Object.fromEntries(
    inputs.map((input) => {
      const type = getNamedType(input.type);
      const given = readValue(input.name, type.name);
      const value =
        given === undefined && isInputObjectType(type)
          ? filled(Object.values(type.getFields()).filter(isRequiredInputField), readValue)
          : given === undefined && isEnumType(type)
            ? type.getValues()[0]?.name
            : given;
      return [input.name, isList(input.type) && !Array.isArray(value) ? [value] : value];
    }),
  );
}

/** An operation that asks for one root field with its arguments as variables, and shows what it answers some levels deep. */
export function operationText(
  schema: GraphQLSchema,
  operation: GraphPlace['operation'],
  field: GraphQLField<unknown, unknown>,
  names: readonly string[],
): string {
  const given = field.args.filter((argument) => names.includes(argument.name));
  const variables = given.map(({ name, type }) => `$${name}: ${String(type)}`).join(', ');
  const passed = given.map(({ name }) => `${name}: $${name}`).join(', ');
  return `${operation}${variables === '' ? '' : `(${variables})`} { ${field.name}${passed === '' ? '' : `(${passed})`} ${makeSelection(schema, field.type, 2)} }`;
}

/** All leaves of a type, and the objects behind it down to a depth; fields that need arguments are left out. */
function makeSelection(schema: GraphQLSchema, output: GraphQLOutputType, depth: number): string {
  const type: GraphQLNamedType = getNamedType(output);
  if (isLeafType(type)) return '';
  // Of all types: too much for one operation.
  if (type.name === 'Node') return '{ __typename id }';
  if (isUnionType(type) || isInterfaceType(type)) {
    const parts = schema.getPossibleTypes(type).map((member) => {
      // Fields of errors bear the names of others with another type.
      const isError = member.getInterfaces().some((each) => each.name === 'Error');
      return `... on ${member.name} { ${isError ? 'message code' : readFields(schema, member, depth)} }`;
    });
    return `{ __typename ${parts.join(' ')} }`;
  }
  return `{ __typename ${readFields(schema, type, depth)} }`;
}

function readFields(schema: GraphQLSchema, type: GraphQLNamedType, depth: number): string {
  if (!isObjectType(type) && !isInterfaceType(type)) return '';
  return Object.values(type.getFields())
    .filter((field) => !field.args.some(isRequiredArgument))
    .flatMap((field) => {
      const inner = getNamedType(field.type);
      if (isLeafType(inner)) return [field.name];
      if (depth <= 1 || isUnionType(inner)) return [];
      // A connection shows a few.
      const page = field.args.some((argument) => argument.name === 'first') ? '(first: 3)' : '';
      return [`${field.name}${page} ${makeSelection(schema, field.type, isInterfaceType(inner) ? 1 : depth - 1)}`];
    })
    .join(' ');
}

/** A copy of the arguments with that value in the place. */
export function withValue(args: Record<string, unknown>, { path, isList }: GraphPlace, value: string): object {
  const copy = structuredClone(args);
  let at: Record<string, unknown> = copy;
  for (const name of path.slice(0, -1)) at = (at[name] ??= {}) as Record<string, unknown>;
  const last = path.at(-1) ?? '';
  const former = at[last];
  // What a list holds before its last member stays: threads are merged with others.
  at[last] = isList ? [...(Array.isArray(former) ? former.slice(0, -1) : []), value] : value;
  return copy;
}
