import SchemaBuilder, { BasePlugin, type PothosOutputFieldConfig, type SchemaTypes } from '@pothos/core';
import type { GraphQLFieldResolver } from 'graphql';
import type { GraphContext } from './context.ts';

export const REFUSAL_PLUGIN = 'refusals';

declare global {
  namespace PothosSchemaTypes {
    interface Plugins<Types extends SchemaTypes> {
      refusals: RefusalPlugin<Types>;
    }
  }
}

/** Notes for the audit log what root fields refuse for lack of rights. The last plugin, so that it runs before an error becomes a result. */
class RefusalPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override wrapResolve(
    resolve: GraphQLFieldResolver<unknown, Types['Context'], object>,
    { name, kind }: PothosOutputFieldConfig<Types>,
  ): GraphQLFieldResolver<unknown, Types['Context'], object> {
    if (kind !== 'Mutation' && kind !== 'Query') return resolve;
    const what = `${kind.toLowerCase()} ${name}`;
    return async (source, args, context, info) => {
      try {
        return (await resolve(source, args, context, info)) as unknown;
      } catch (error) {
        const { operations } = context as GraphContext;
        operations.noteRefusal(operations, what, error);
        throw error;
      }
    };
  }
}

SchemaBuilder.registerPlugin(REFUSAL_PLUGIN, RefusalPlugin);
