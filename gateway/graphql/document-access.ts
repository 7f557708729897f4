import {
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLNamedType,
  getNamedType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  Kind,
  type SelectionSetNode,
} from 'graphql';
import { type KeyRights, reachExceeded } from '../../core/accounts/key-rights.ts';
import {
  hasRight,
  isUnrestricted,
  listNeeded,
  type Right,
  requireRights,
  rightMissing,
} from '../../core/accounts/rights.ts';
import { UserError } from '../../core/shared/errors.ts';
import { isTypeOfDomain, readAccess } from '../../schema/graphql/access.ts';
import { schema } from '../../schema/graphql/schema.ts';
import { findOperation, type RequestedOperation, refuseOperations } from './requested-operation.ts';

/**
 * Rejects a document that exceeds the rights of its key or member, before anything is executed: each root field needs its right, even if @skip
 * leaves it out. Without the scope `read`, a mutation returns only what it created. Introspection needs no scope.
 */
export const scopedOperations = refuseOperations(findRefusal);

/** The state of checking one operation. */
interface Walk {
  rights: KeyRights;
  fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  variables: Record<string, unknown>;
}

function findRefusal(requested: RequestedOperation): GraphQLError | null {
  const { document, contextValue, variableValues } = requested;
  const { operations } = contextValue;
  const { rights } = operations;
  if (isUnrestricted(rights)) return null;
  const asked = findOperation(requested);
  const root = asked === null ? undefined : schema.getRootType(asked.operation);
  if (asked === null || root == null) return null;
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions)
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  const walk = { rights, fragments, variables: (variableValues ?? {}) as Record<string, unknown> };
  try {
    for (const { field } of listFields(walk, asked.selectionSet, root)) requireField(walk, root, field);
    return null;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    operations.noteRefusal(operations, `${asked.operation} ${asked.name?.value ?? ''}`.trimEnd(), error);
    return refusal(error);
  }
}

function requireField(walk: Walk, root: GraphQLNamedType, node: FieldNode): void {
  const { rights } = walk;
  const name = node.name.value;
  if (name.startsWith('__') || !isObjectType(root)) return;
  const field = root.getFields()[name];
  const what = `The field ${name}`;
  const access = field === undefined ? null : readAccess(field);
  if (field === undefined || access === null) throw rightMissing(what, toMissing(rights), rights);
  const { isOfDomain, shows = [] } = access;
  if (!endsItself(walk, node)) requireRights(rights, what, listNeeded(access));
  if (rights.reach !== null && !isOfDomain) throw reachExceeded(what, rights);
  if (node.selectionSet === undefined || hasRight(rights, 'read')) return;
  requireShown(walk, node.selectionSet, getNamedType(field.type), { shows, isPayload: true });
}

/** Returns whether the field revokes the key of the request, which every key may do. */
function endsItself({ rights, variables }: Walk, { name, arguments: given }: FieldNode): boolean {
  if (name.value !== 'revokeApiKey' || rights.keyId === null) return false;
  const input = given?.find((each) => each.name.value === 'input')?.value;
  if (input?.kind === Kind.VARIABLE)
    return (variables[input.name.value] as { id?: unknown } | null | undefined)?.id === rights.keyId;
  if (input?.kind !== Kind.OBJECT) return false;
  const id = input.fields.find((each) => each.name.value === 'id')?.value;
  if (id?.kind === Kind.VARIABLE) return variables[id.name.value] === rights.keyId;
  return id?.kind === Kind.STRING && id.value === rights.keyId;
}

/** How much of a mutation's result a key without the scope `read` may see. */
interface Shown {
  /** see FieldAccess */
  shows: readonly string[];
  /** whether the selection is on the payload, not on an object inside */
  isPayload: boolean;
}

/** Throws forbidden if a key without the scope `read` selects more than errors, IDs and statuses from the result of a mutation. */
function requireShown(walk: Walk, set: SelectionSetNode, type: GraphQLNamedType, { shows, isPayload }: Shown): void {
  for (const { field: node, parent } of listFields(walk, set, type)) {
    const name = node.name.value;
    if (name === '__typename' || isError(parent)) continue;
    const field = isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[name] : undefined;
    const what = `The field ${parent.name}.${name}`;
    if (field === undefined) throw rightMissing(what, 'read', walk.rights);
    const shown = getNamedType(field.type);
    if (
      shows.includes(`${parent.name}.${name}`) ||
      shown.name === 'ID' ||
      (name === 'status' && !isCompositeType(shown))
    )
      continue;
    if (!isCompositeType(shown) || !isPayload || node.selectionSet === undefined)
      throw rightMissing(what, 'read', walk.rights);
    requireShown(walk, node.selectionSet, shown, { shows, isPayload: false });
  }
}

/**
 * Returns the first field of a type that cannot be limited to domains, outside of the root; null if there is none. Visits each fragment once,
 * since its type is fixed.
 */
export function findBeyondDomain(
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  set: SelectionSetNode,
  root: GraphQLNamedType,
): { name: string; node: FieldNode } | null {
  const spread = new Set<string>();
  const open: { set: SelectionSetNode; parent: GraphQLNamedType }[] = [{ set, parent: root }];
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const { parent } = place;
    for (const selection of place.set.selections) {
      if (selection.kind === Kind.FIELD) {
        const name = selection.name.value;
        if (name.startsWith('__')) continue;
        const isShown = parent === root || isError(parent) || isTypeOfDomain(schema, parent);
        if (!isShown) return { name: `${parent.name}.${name}`, node: selection };
        const field = isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[name] : undefined;
        if (field !== undefined && selection.selectionSet !== undefined)
          open.push({ set: selection.selectionSet, parent: getNamedType(field.type) });
        continue;
      }
      const isSpread = selection.kind === Kind.FRAGMENT_SPREAD;
      if (isSpread && spread.has(selection.name.value)) continue;
      if (isSpread) spread.add(selection.name.value);
      const fragment = isSpread ? fragments.get(selection.name.value) : selection;
      const condition = fragment?.typeCondition?.name.value;
      const named = condition === undefined ? parent : schema.getType(condition);
      if (fragment !== undefined && named !== undefined) open.push({ set: fragment.selectionSet, parent: named });
    }
  }
  return null;
}

function isError(type: GraphQLNamedType): boolean {
  if (type.name === 'Error' || type.name === 'FieldError') return true;
  return isObjectType(type) && type.getInterfaces().some(({ name }) => name === 'Error');
}

/** Yields the fields of a selection and its fragments, each with its parent type. Visits each fragment once. */
function* listFields(
  { fragments }: Walk,
  set: SelectionSetNode,
  type: GraphQLNamedType,
): Generator<{ field: FieldNode; parent: GraphQLNamedType }, void> {
  const spread = new Set<string>();
  const open: { set: SelectionSetNode; parent: GraphQLNamedType }[] = [{ set, parent: type }];
  for (let place = open.pop(); place !== undefined; place = open.pop())
    for (const selection of place.set.selections) {
      if (selection.kind === Kind.FIELD) {
        yield { field: selection, parent: place.parent };
        continue;
      }
      const isSpread = selection.kind === Kind.FRAGMENT_SPREAD;
      if (isSpread && spread.has(selection.name.value)) continue;
      if (isSpread) spread.add(selection.name.value);
      const fragment = isSpread ? fragments.get(selection.name.value) : selection;
      if (fragment === undefined) continue;
      const condition = fragment.typeCondition?.name.value;
      const parent = condition === undefined ? place.parent : (schema.getType(condition) ?? place.parent);
      open.push({ set: fragment.selectionSet, parent });
    }
}

function toMissing(rights: KeyRights): Right {
  return (['erasure', 'send', 'read'] as const).find((right) => !hasRight(rights, right)) ?? 'erasure';
}

function refusal({ message, reason, members }: UserError): GraphQLError {
  return new GraphQLError(message, {
    extensions: { code: 'FORBIDDEN', statusCode: 403, reason, ...members, http: { status: 403 } },
  });
}
