import { ACCESS, hasRight, type Right } from '../../core/accounts/rights.ts';
import type { Operation, Resource } from './capability.ts';

/** Returns the right that reading a resource needs. */
export function readingRight(operations: readonly Operation[]): Right {
  const reading = operations.find(({ kind }) => kind === 'read') ?? operations.find(({ kind }) => kind === 'list');
  return reading === undefined ? 'read' : ACCESS[reading.access].right;
}

/**
 * Returns the loader of a resource by IDs, for `node` and links of GraphQL. It finds nothing for requests without the right that reading the
 * resource needs; `read` itself is checked with the root field.
 */
export function loadAllowed({ load }: Resource, operations: readonly Operation[]): Resource['load'] {
  const right = readingRight(operations);
  if (right === 'read') return load;
  return async (context, ids) => (hasRight(context.rights, right) ? load(context, ids) : ids.map(() => null));
}
