import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isInterfaceType,
  isObjectType,
} from 'graphql';
import { ACCESS, describeNeeded, listNeeded, type RightAccess } from '../../core/accounts/rights.ts';

/** What a key or a member needs to use a field of Query, Mutation or Subscription. */
export interface FieldAccess extends RightAccess {
  /** `Type.field` of what a mutation creates and therefore shows to keys without `read`, beside ids, statuses and errors */
  shows?: readonly string[];
}

/** The values of the option `access`, which every field of Query, Mutation and Subscription declares. */
export const access = ACCESS satisfies Readonly<Record<string, FieldAccess>>;

interface Declared {
  pothosOptions?: { access?: FieldAccess; isOfDomain?: boolean };
}

/** Returns what a field of a root type declares; null when it declares nothing, as fields of other types do. */
export function readAccess(field: GraphQLField<unknown, unknown>): FieldAccess | null {
  return (field.extensions as Declared).pothosOptions?.access ?? null;
}

/**
 * Whether a payload query of an endpoint with a filter may select from a type: it declares `isOfDomain`.
 * Connections and edges follow their nodes, payloads their mutations.
 */
export function isTypeOfDomain(schema: GraphQLSchema, type: GraphQLNamedType): boolean {
  if (!isObjectType(type) && !isInterfaceType(type)) return false;
  if ((type.extensions as Declared).pothosOptions?.isOfDomain === true || type.name === 'PageInfo') return true;
  const [, kind] = /(Connection|Edge|Payload)$/.exec(type.name) ?? [];
  const fields = type.getFields();
  if (kind === 'Payload') {
    const mutation = `${type.name.slice(0, 1).toLowerCase()}${type.name.slice(1, -'Payload'.length)}`;
    const field = schema.getMutationType()?.getFields()[mutation];
    return field !== undefined && readAccess(field)?.isOfDomain === true;
  }
  const inner = kind === 'Connection' ? fields['edges'] : kind === 'Edge' ? fields['node'] : undefined;
  return inner !== undefined && isTypeOfDomain(schema, getNamedType(inner.type));
}

/** Returns the schema, whose fields of root types say what they need. Throws when one does not declare its access. */
export function describeAccess(schema: GraphQLSchema): GraphQLSchema {
  for (const root of [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()])
    for (const field of Object.values(root?.getFields() ?? {})) {
      const needed = readAccess(field);
      if (needed === null) throw new Error(`The field ${root?.name}.${field.name} declares no access`);
      field.description = `${field.description ?? ''}${describeNeeded({ '': listNeeded(needed) }, needed.isOfDomain)}`;
    }
  return schema;
}
