import SchemaBuilder, {
  type FieldNullability,
  type InputFieldMap,
  type SchemaTypes,
  type TypeParam,
} from '@pothos/core';
import ComplexityPlugin from '@pothos/plugin-complexity';
import DataloaderPlugin from '@pothos/plugin-dataloader';
import ErrorsPlugin from '@pothos/plugin-errors';
import RelayPlugin from '@pothos/plugin-relay';
import WithInputPlugin from '@pothos/plugin-with-input';
import { GraphQLString } from 'graphql';
import { type BodyText, LargeText } from '../../core/shared/large-text.ts';
import { MAX_PAGE_SIZE } from '../../core/shared/page.ts';
import { capitalized } from '../../core/shared/word-case.ts';
import { invalid } from '../../operations/context.ts';
import { access, type FieldAccess } from './access.ts';
import { BODY_BUDGET_PLUGIN } from './body-budget-plugin.ts';
import { Conflict, Forbidden, NotFound, RateLimited, ValidationError } from './client-errors.ts';
import type { GraphContext } from './context.ts';
import { loadNode } from './node-kinds.ts';
import { REFUSAL_PLUGIN } from './refusal-plugin.ts';

declare global {
  namespace PothosSchemaTypes {
    /** see isTypeOfDomain */
    interface BaseTypeOptions<Types extends SchemaTypes = SchemaTypes> {
      isOfDomain?: boolean;
    }
    interface QueryFieldOptions<
      Types extends SchemaTypes,
      Type extends TypeParam<Types>,
      Nullable extends FieldNullability<Type>,
      Args extends InputFieldMap,
      ResolveReturnShape,
    > {
      access: FieldAccess;
    }
    interface MutationFieldOptions<
      Types extends SchemaTypes,
      Type extends TypeParam<Types>,
      Nullable extends FieldNullability<Type>,
      Args extends InputFieldMap,
      ResolveReturnShape,
    > {
      access: FieldAccess;
    }
    interface SubscriptionFieldOptions<
      Types extends SchemaTypes,
      Type extends TypeParam<Types>,
      Nullable extends FieldNullability<Type>,
      Args extends InputFieldMap,
      ResolveShape,
      ResolveReturnShape,
    > {
      access: FieldAccess;
    }
  }
}

/** Rows of a connection if both `first` and `last` are omitted. */
export const DEFAULT_CONNECTION_SIZE = 20;

/**
 * Mutations return a union: `errors: { dataField: { name: 'email' } }` creates `SendEmailResult`, a union of the errors below and
 * `SendEmailPayload`, which has the result in that field. With `directResult: true`, the object type of the field is the payload.
 */
export const builder = new SchemaBuilder<{
  Context: GraphContext;
  DefaultFieldNullability: false;
  Scalars: {
    String: { Input: string; Output: BodyText };
    ID: { Input: string; Output: string };
    DateTime: { Input: Date; Output: Date };
    AddrSpec: { Input: string; Output: string };
    URL: { Input: URL; Output: URL | string };
    JSON: { Input: unknown; Output: unknown };
  };
}>({
  plugins: [
    BODY_BUDGET_PLUGIN,
    ErrorsPlugin,
    ComplexityPlugin,
    DataloaderPlugin,
    RelayPlugin,
    WithInputPlugin,
    REFUSAL_PLUGIN,
  ],
  defaultFieldNullability: false,
  complexity: { defaultComplexity: 1, defaultListMultiplier: 1 },
  errors: {
    defaultTypes: [ValidationError, NotFound, Conflict, Forbidden, RateLimited],
    defaultResultOptions: { name: ({ fieldName }) => `${capitalized(fieldName)}Payload` },
    defaultUnionOptions: { name: ({ fieldName }) => `${capitalized(fieldName)}Result` },
  },
  withInput: {
    typeOptions: { name: ({ fieldName }) => `${capitalized(fieldName)}Input` },
    argOptions: { required: true },
  },
  relay: {
    // The IDs of the REST interface are already global.
    encodeGlobalID: (_typename, id) => String(id),
    decodeGlobalID: (id) => ({ typename: 'Node', id }),
    nodesOnConnection: true,
    nodeTypeOptions: {
      isOfDomain: true,
      description: 'An object with a globally unique ID. REST uses the same IDs.',
    },
    nodeQueryOptions: {
      access: access.read,
      description: 'Returns the object with this ID, or null if the account has no such object.',
      resolve: (_root, { id }, context) => loadNode(String(id.id), context),
    },
    nodesQueryOptions: {
      access: access.read,
      description: 'Returns the objects with these IDs, in the same order. Null where the account has no such object.',
      complexity: ({ ids }) => ({ field: 1, multiplier: ids.length }),
      resolve: (_root, { ids }, context) => ids.map((id) => loadNode(String(id.id), context)),
    },
  },
});

/** The scalar of GraphQL, whose results can also be large texts, which are written as JSON piece by piece (gateway/http/json-stream.ts). */
builder.scalarType('String', {
  serialize: (value) => (value instanceof LargeText ? value : (GraphQLString.coerceOutputValue(value) as string)),
  parseValue: (value) => GraphQLString.coerceInputValue(value) as string,
});

builder.queryType({
  description: 'The root of all queries. Every field is scoped to the account that owns the API key.',
});
builder.mutationType({
  description:
    'The root of all mutations. Each field returns a union of its payload and the errors it can cause. The mutations of one document run one after the other.',
});

/**
 * Returns the values of an enum type from their descriptions. The name of a value in GraphQL is the value in upper case: `catch-all` becomes
 * `CATCH_ALL`. Pass the type of the vocabulary as `Value`, so that the compiler rejects a missing or unknown value.
 */
export function enumValues<Value extends string>(
  descriptions: Readonly<Record<Value, string>>,
): Record<string, { value: Value; description: string }> {
  return Object.fromEntries(
    Object.entries<string>(descriptions).map(([value, description]) => [
      value.replaceAll(/[-. ]/g, '_').toUpperCase(),
      { value: value as Value, description },
    ]),
  );
}

/** Arguments that select the rows of a connection by their number. */
export interface PageSizeArgs {
  first?: number | null | undefined;
  last?: number | null | undefined;
}

/**
 * Returns the cost of a connection: that of its fields, times the maximum number of rows. Throws validation for an invalid page size, so that
 * nothing is executed.
 */
export function connectionComplexity(args: PageSizeArgs) {
  requirePageSize(args);
  return { field: 1, multiplier: args.first ?? args.last ?? DEFAULT_CONNECTION_SIZE };
}

/** Throws validation, naming the argument, for a page size outside of 1 to `most`, and for `first` together with `last`. */
export function requirePageSize({ first, last }: PageSizeArgs, most = MAX_PAGE_SIZE): void {
  for (const [argument, size] of [
    ['first', first],
    ['last', last],
  ] as const)
    if (size != null && (size < 1 || size > most))
      throw invalid(`\`${argument}\` is ${size}. Use a number from 1 to ${most}.`, argument);
  if (first != null && last != null)
    throw invalid(
      '`first` and `last` cannot be combined. Use `first` to page forward or `last` to page backward.',
      'last',
    );
}
