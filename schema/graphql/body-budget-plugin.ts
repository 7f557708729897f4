import SchemaBuilder, {
  BasePlugin,
  type PothosOutputFieldConfig,
  type PothosOutputFieldType,
  type SchemaTypes,
} from '@pothos/core';
import type { GraphQLFieldResolver } from 'graphql';
import type { GraphContext } from './context.ts';

export const BODY_BUDGET_PLUGIN = 'bodyBudget';

declare global {
  namespace PothosSchemaTypes {
    interface Plugins<Types extends SchemaTypes> {
      bodyBudget: BodyBudgetPlugin<Types>;
    }
  }
}

/** Counts the values of all fields whose values are texts, or lists of texts. */
class BodyBudgetPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override wrapResolve(
    resolve: GraphQLFieldResolver<unknown, Types['Context'], object>,
    { type }: PothosOutputFieldConfig<Types>,
  ): GraphQLFieldResolver<unknown, Types['Context'], object> {
    if (!isText(type)) return resolve;
    return (source, args, context, info) => {
      const { bodies } = context as GraphContext;
      const value = resolve(source, args, context, info);
      if (!(value instanceof Promise)) {
        bodies.count(value);
        return value;
      }
      return value.then((settled: unknown) => {
        bodies.count(settled);
        return settled;
      });
    };
  }
}

/** Scalars whose values are short. */
const SHORT_SCALARS = new Set(['Boolean', 'DateTime', 'Float', 'ID', 'Int']);

function isText<Types extends SchemaTypes>(type: PothosOutputFieldType<Types>): boolean {
  if (type.kind === 'List') return isText(type.type);
  return type.kind === 'Scalar' && !(typeof type.ref === 'string' && SHORT_SCALARS.has(type.ref));
}

SchemaBuilder.registerPlugin(BODY_BUDGET_PLUGIN, BodyBudgetPlugin);
